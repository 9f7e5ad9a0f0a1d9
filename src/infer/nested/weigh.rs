//! Importance weights of outer and inner coordinates together, in the proposal that suits them.

use crate::infer::cost::spared;
use crate::infer::fit::Fit;
use crate::infer::gaussian::Gaussian;
use crate::infer::importance::budget;
use crate::infer::importance::elbo::Elbo;
use crate::infer::importance::estimate::estimate;
use crate::infer::importance::pilot::{Judged, judge};
use crate::infer::importance::reached::Reached;
use crate::infer::nested::conditional::Conditional;
use crate::infer::nested::marginal::Marginal;
use crate::infer::nested::partition::How;
use crate::infer::nested::placement::Nested;
use crate::infer::options::Options;
use crate::infer::policy::{KHAT_LIMIT, Policy};
use crate::infer::proposal::grid;
use crate::infer::proposal::placement::Placement;
use crate::infer::search::modes::Mode;
use crate::infer::search::rivals::Rival;
use crate::infer::search::whiten;
use crate::infer::transport::layers::{Bent, LAYERS, grow};
use crate::infer::transport::warped::Warped;
use crate::infer::whole::approach::{Approach, modes};
use crate::infer::whole::complete::best_known;
use crate::infer::whole::ending::ended;
use crate::target::{ModelTarget, Target};
use std::cell::{Cell, OnceCell};

/// Draws that judge what was fitted, and the fewest where each takes long.
pub(super) const PILOT: usize = 512;
const LEAST_PILOT: usize = 256;
/// Fewest pairs of candidates of a group, and half-variance of the log weights of all for each pair where the
/// noise of other groups is smoothed over the draws; most pairs.
const PAIRS: usize = 4;
const MOST_PAIRS: usize = 12;

/// All coordinates together, with what is asked of them for every partition and found once.
pub(super) struct Whole<'a> {
    pub(super) target: &'a ModelTarget,
    pub(super) options: &'a Options,
    /// k̂ and half-variance of the log weights of few draws of the Gaussian at the mode.
    judged: OnceCell<Option<[f64; 2]>>,
    /// To be told where a partition is put off, if that may be.
    put_off: Option<&'a Cell<bool>>,
    /// Whether groups that were looked at one by one reach far from their modes.
    pub(super) reaches_far: Cell<bool>,
}

impl<'a> Whole<'a> {
    /// With nothing asked yet.
    pub(super) fn new(
        target: &'a ModelTarget,
        options: &'a Options,
        put_off: Option<&'a Cell<bool>>,
    ) -> Whole<'a> {
        Whole { target, options, judged: OnceCell::new(), put_off, reaches_far: Cell::new(false) }
    }

    /// Whether a partition is put off with these first weights: where inner coordinates hang together each
    /// draw takes a search, and what comes of thousands with such weights is seldom light, unless the outer
    /// coordinates are so few that a grid serves them.
    fn puts_off(&self, conditional: &Conditional, first: &Judged) -> bool {
        let many = conditional.parts.outer.len() > grid::MOST_SEARCHED;
        let costly = many && conditional.is_smooth() && conditional.is_one_block();
        let policy = &self.options.policy;
        let heavy =
            first.khat >= policy.khat_seldom_light && first.elbo.half_variance >= policy.spread_seldom_light;
        let told = self.put_off.filter(|_| costly && heavy);
        told.inspect(|others| others.set(true)).is_some()
    }

    /// Whether the Gaussian at the mode has even weights, or light ones where that is enough: coordinates
    /// need not be taken apart, which takes many gradients.
    pub(super) fn is_nearly_gaussian(&self, light_is_enough: bool) -> bool {
        self.judged.get_or_init(|| self.judge_at_mode()).is_some_and(|[khat, half_variance]| {
            let policy = &self.options.policy;
            let even = khat < KHAT_LIMIT && half_variance < policy.spread_one_candidate;
            even || light_is_enough && khat < policy.khat_light_at_mode
        })
    }

    fn judge_at_mode(&self) -> Option<[f64; 2]> {
        let found = modes(self.target, 0, self.options).ok()?;
        let Mode { point, curvature } = found.modes.into_iter().next()?;
        let judged = judge(&Warped::flat(self.target), &whiten::dense(point, curvature), PILOT, self.options);
        Some([judged.khat, judged.elbo.half_variance])
    }
}

/// The fit with importance weights: from the Gaussian as it is where that will do, or else in bent
/// coordinates, whichever is better.
pub(super) fn weigh(
    whole: &Whole,
    conditional: &Conditional,
    scales: &[f64],
    found: &Approach,
    options: &Options,
) -> Option<Fit> {
    let (q, target) = (&found.fitted.q, whole.target);
    let marginal = Marginal::new(conditional, scales);
    let owners = owners(target, conditional);
    let straight = Nested::new(conditional, Warped::flat(&marginal), 1, &owners);
    let pilot = spared(target, PILOT, LEAST_PILOT);
    let before = judge(&straight, q, pilot, options);
    let quadratic = conditional.parts.how == How::Quadratic;
    // Where the marginal is an approximation the fit has seen its ELBO, and draws that of the model.
    let as_fitted = quadratic && target.limits().is_empty();
    let first = match as_fitted || !before.elbo.mean.is_finite() {
        true => best_known(&found.fitted, &before),
        false => before.elbo,
    };
    let [few, many] =
        if quadratic { [1, 1] } else { candidates(conditional, first.half_variance, &options.policy) };
    let chosen = (few > 1).then(|| Nested::new(conditional, Warped::flat(&marginal), few, &owners));
    let flow = chosen.as_ref().unwrap_or(&straight);
    let after = (few > 1).then(|| judge(flow, q, pilot, options));
    let judged = after.as_ref().unwrap_or(&before);
    // Of many outer coordinates no other proposal makes up for so much, and inner ones that hang together are
    // none the better for any.
    let left = conditional.parts.leaves_many();
    let together = conditional.is_one_block() && !conditional.is_smooth();
    let hopeless = (left || together)
        && judged.elbo.half_variance > options.policy.spread_hopeless
        && judged.khat >= KHAT_LIMIT;
    if hopeless || whole.puts_off(conditional, judged) {
        return None;
    }
    let common = Common { found, plain: &straight, before: &before, first, options };
    let as_it_is = || common.weighed((flow, q), judged, &found.rivals);
    // Where each draw takes a search and an integral, what bending takes is less than what the weights of the
    // Gaussian as it is ask for.
    let mut fit =
        (few == 1 && !left || judged.elbo.half_variance < options.policy.spread_even).then(as_it_is);
    // Light weights need no bending, which takes thousands of gradients, each many of the model.
    let light = |fit: &Fit| fit.khat < options.policy.khat_light || options.stop.requested();
    if !fit.as_ref().is_some_and(light) {
        let draws = if conditional.integrates() { pilot } else { budget::pilot(target) };
        let bent = grow(Bent::judged_by(draws, &marginal, q, options), LAYERS, options);
        let is_bent = !bent.target.layers.is_empty();
        // What nothing has bent was weighed, or will be.
        if is_bent || few != many || !found.rivals.is_empty() {
            let curved = Nested::new(conditional, bent.target, many, &owners);
            let other = common.weighed((&curved, &bent.q), &judge(&curved, &bent.q, pilot, options), &[]);
            fit = fit.filter(|fit| fit.khat <= other.khat).or(Some(other));
        }
    }
    Some(fit.unwrap_or_else(as_it_is))
}

/// What all fits of the same outer coordinates have in common.
struct Common<'a> {
    found: &'a Approach,
    /// The coordinates as they are, and what draws of the Gaussian in them tell.
    plain: &'a dyn Placement,
    before: &'a Judged,
    first: Elbo,
    options: &'a Options,
}

impl Common<'_> {
    /// The fit with the weights of draws from a Gaussian in coordinates of its own.
    fn weighed(&self, bent: (&dyn Placement, &Gaussian), judged: &Judged, rivals: &[Rival]) -> Fit {
        let plain = (self.plain, &self.found.fitted.q);
        let (plain_draws, first) = (Some(&self.before.pilot), self.first);
        let reached = Reached { plain, plain_draws, rivals, bent, first, judged };
        ended(self.found, estimate(&reached, self.options), None, 0, self.options)
    }
}

/// How many candidates the groups of inner coordinates should have, where log weights have this
/// half-variance: one where it is small or all coordinates hang together. First where the noise of groups can
/// be smoothed, then where it cannot; small groups have none.
pub(super) fn candidates(conditional: &Conditional, half_variance: f64, policy: &Policy) -> [usize; 2] {
    if conditional.groups.apart.is_none()
        || half_variance < policy.spread_one_candidate && !conditional.reaches_far()
    {
        return [1, 1];
    }
    if let Some(lattice) = conditional.lattice() {
        return [lattice.points; 2];
    }
    let pairs = |each: f64| 2 * ((half_variance / each).ceil() as usize).clamp(PAIRS, MOST_PAIRS);
    [pairs(policy.spread_of_a_pair), pairs(1.0)]
}

/// The group of inner coordinates that each output follows from: that of the coordinate with the same place
/// in a parameter made element by element.
pub(super) fn owners(target: &ModelTarget, conditional: &Conditional) -> Vec<Option<usize>> {
    let lowered = target.lowered();
    let inner = &conditional.parts.inner;
    let mut out = Vec::new();
    for parameter in &lowered.parameters {
        let count = lowered.graph.node(parameter.named.node).len();
        let group =
            |i: usize| inner.binary_search(&(parameter.offset + i)).ok().map(|at| conditional.groups.of[at]);
        out.extend((0..count).map(|i| if count == parameter.size { group(i) } else { None }));
    }
    out
}
