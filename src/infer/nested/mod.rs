//! Fits the few coordinates that others depend on, and takes the others given them: a hierarchy's scales,
//! then its effects.
//!
//! Where the log density is quadratic in the inner coordinates x once the outer coordinates θ are given
//! (effects of groups, coefficients of a regression with a normal likelihood), the posterior of x given θ is
//! a Gaussian that one sparse factorisation finds, and the log density of θ alone is known to rounding. Where
//! it is concave, the same with Newton's steps gives Laplace's approximation. Either way importance weights
//! are those of θ and x together, from the log density itself, so what is only nearly Gaussian is corrected,
//! and shows in k̂.

mod anchors;
mod climb;
mod conditional;
mod explore;
mod groups;
mod hessian;
mod lattice;
mod marginal;
mod partition;
mod rule;
mod shoulders;
mod surface;
mod tails;
#[cfg(test)]
mod tests;
mod tune;

use crate::infer::approximate::gaussian::{FIRST, Gaussian};
use crate::infer::approximate::transport::layers::{Bent, Judged, LAYERS, grow, judge};
use crate::infer::approximate::transport::map::Warped;
use crate::infer::effort::spared;
use crate::infer::importance::budget;
use crate::infer::proposal::flow::{Flow, Reached};
use crate::infer::proposal::grid;
use crate::infer::search::modes::{Mode, Modes};
use crate::infer::search::rivals::Rival;
use crate::infer::search::whiten;
use crate::infer::{
    Approach, Finding, Fit, Inner, KHAT_LIMIT, LIGHT, Options, Path, Progress, best_known, better, excuse,
    finish, from_modes, modes, refine,
};
use crate::num::linalg::{cholesky, dot};
use crate::target::{ModelTarget, Target};
use crate::vi::Scale;
use conditional::Conditional;
use marginal::{Marginal, Nested};
use partition::{How, Partition};
use std::cell::{Cell, OnceCell};
use std::ops::ControlFlow;

/// Who draws: inner coordinates given outer ones, and points at which patterns are found.
const PURPOSE: u64 = 0x6e65_7374;
/// A half-variance of log weights below this needs no choice among candidates.
const SMALL: f64 = 0.25;
/// The gap, in nats, at which the fit of the outer coordinates is done: its Gaussian only proposes.
const NEAR: f64 = 0.02;
/// The gap from which on no proposal around that Gaussian serves: of 143 fits tried, none ended well with
/// more than 0.4.
const FAR_OFF: f64 = 3.0;
/// Searches for a mode of the outer coordinates from random points: each gradient there takes many of the
/// model. More where it takes few, and the outer coordinates are not only scales.
const OTHERS: u64 = 1;
const MORE_OTHERS: u64 = 8;
const NOT_ONLY_SCALES: std::ops::RangeInclusive<usize> = 4..=12;
/// Colours of a Hessian from which on it is costly, and the k̂ of weights below which the Gaussian at the
/// mode of all coordinates will do then; and most coordinates where it is looked whether it does that so well
/// that nothing need be taken apart.
const COSTLY: usize = 5;
const LIGHT_AT_MODE: f64 = 0.4;
const SOON_SEEN: usize = 60;
/// How far around the mode of the outer coordinates it is seen what Hessians have in common: in standard
/// deviations, and at most.
const REACH: f64 = 5.0;
const FARTHEST: f64 = 3.0;
/// Weights with a k̂ below this are light where inner coordinates hang together and are not Gaussian: what no
/// draw of all of them together came near has no weight to show.
const LIGHT_TOGETHER: f64 = 0.3;
/// How often modes are searched again from higher places.
const AGAIN: usize = 2;
/// Coordinates of a small group, on average.
const MOST_OF_A_GROUP: usize = 3;
/// First weights with a k̂ and a half-variance from these on are seldom light in the end: few draws do not
/// know k̂ alone.
const NOT_LIGHT: [f64; 2] = [0.5, 0.5];
/// Draws that judge what was fitted, and the fewest where each takes long.
const PILOT: usize = 512;
const LEAST_PILOT: usize = 256;
/// Half-variance of log weights, groups integrated out, from which on many outer coordinates, or inner ones
/// that hang together, are not Gaussian enough.
const HOPELESS: f64 = 1.0;
/// Half-variance below which weights of outer coordinates, groups integrated out, are even enough.
const EVEN: f64 = 0.15;
/// Fewest pairs of candidates of a group, and half-variance of the log weights of all for each pair where the
/// noise of other groups is smoothed over the draws; most pairs.
const PAIRS: usize = 4;
const NATS: f64 = 3.0;
const MOST_PAIRS: usize = 12;

/// Which ways to take coordinates apart are tried.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Ways {
    /// Those that are better than a fit of all coordinates together: in few coordinates only what is
    /// quadratic, which costs nothing, for there a mixture for all of them follows any shape.
    Promising,
    /// In few coordinates the others, for shapes that it did not follow; in many those that were put off, for
    /// their first weights were no light ones and each draw takes long.
    Others,
}

/// What came of trying them.
pub(super) struct Tried {
    pub(super) fit: Option<Fit>,
    /// Whether others are left.
    pub(super) others: bool,
}

/// A fit by this way, if the model allows it: the first that can be trusted, or else the best.
pub(super) fn fit(
    target: &ModelTarget,
    ways: Ways,
    options: &Options,
    watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Tried {
    let few = target.dimension() <= budget::FEW_TO_LEARN;
    let mut best: Option<Fit> = None;
    let others = Cell::new(few);
    let put_off = (ways == Ways::Promising && !few).then_some(&others);
    let whole = Whole { target, options, judged: OnceCell::new(), put_off, reaches_far: Cell::new(false) };
    let mut attempt = |conditional: Conditional| -> bool {
        let light = if conditional.is_one_block() { LIGHT_TOGETHER } else { LIGHT };
        // Draws around a mode of all inner coordinates together do not come where groups, one by one, have
        // mass.
        let known = best.as_ref().is_some_and(|fit| fit.khat < KHAT_LIMIT && !fit.is_doubtful());
        if known && whole.reaches_far.get() && conditional.is_one_block() {
            return false;
        }
        let Some(found) = with(&whole, conditional, watch) else { return false };
        let settled = found.khat < light && !found.is_doubtful();
        if best.as_ref().is_none_or(|other| better(&found, other)) {
            best = Some(found);
        }
        settled || options.stop.requested()
    };
    // What hangs together is searched at fewest points where fewest coordinates are left to fit.
    let mut costly: Vec<Conditional> = Vec::new();
    let parts = partition::partitions(target, options.seed).into_iter();
    let is_wanted = |parts: &Partition| match ways {
        Ways::Promising => !few || parts.how == How::Quadratic,
        Ways::Others => parts.how != How::Quadratic,
    };
    for parts in parts.filter(is_wanted) {
        let Some(conditional) = Conditional::new(target, parts, options.seed) else { continue };
        if conditional.costly() {
            costly.push(conditional);
        } else if (few || ways == Ways::Promising) && attempt(conditional) {
            return Tried { fit: best, others: false };
        }
    }
    costly.sort_by_key(|conditional| conditional.parts.outer.len());
    if !costly.into_iter().any(&mut attempt)
        && few == (ways == Ways::Others)
        && let Some(conditional) = small_groups(target, options.seed)
    {
        attempt(conditional);
    }
    Tried { fit: best, others: others.get() }
}

/// Numbers with bounds given all else, where these are in small groups: they are skewed, and only groups of
/// few are weighed one by one.
fn small_groups(target: &ModelTarget, seed: u64) -> Option<Conditional<'_>> {
    let conditional = Conditional::new(target, partition::bounded(target)?, seed)?;
    let small = conditional.group_count() * MOST_OF_A_GROUP >= conditional.parts.inner.len();
    small.then_some(conditional)
}

/// A fit with this partition.
fn with(
    whole: &Whole,
    mut conditional: Conditional,
    watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Option<Fit> {
    let Whole { target, options, .. } = *whole;
    let note = describe(target, &conditional.parts);
    conditional.hold_outer(target);
    let start = begin(whole, &mut conditional).filter(|_| !options.stop.requested())?;
    let options = &Options {
        gradients: Some(conditional.affordable()),
        tolerance: options.tolerance.max(NEAR),
        ..options.clone()
    };
    let scales = start.scales();
    let found = start.fit(&Marginal::new(&conditional, &scales), options, watch)?;
    // A grid in few outer coordinates looks everywhere, wherever that Gaussian is.
    let parts = &conditional.parts;
    let everywhere = parts.how == How::Quadratic && parts.outer.len() <= grid::MOST_UNCUT;
    if found.fitted.gap > FAR_OFF && !everywhere {
        return None;
    }
    let q = &found.fitted.q;
    conditional.anchor(q, options.seed);
    conditional.look_how_far(q, options.seed);
    let aside = shoulders::aside(&conditional, q, options.seed);
    if aside.is_wide {
        conditional.reach_far();
    }
    if conditional.reaches_far() {
        whole.reaches_far.set(true);
    }
    if conditional.is_smooth() && conditional.parts.how != How::Quadratic {
        tune::tune(&mut conditional, q, options.seed);
    }
    if conditional.is_one_block() && !conditional.is_large() {
        conditional.lengthen(q);
    }
    let mut fit = weigh(whole, &conditional, &scales, &found, options)?;
    excuse(&mut fit, &found.fitted);
    fit.findings.extend(aside.other.map(|(at, mass)| other_mode(target, conditional.parts.inner[at], mass)));
    fit.gradients = conditional.gradients();
    fit.path = Path::Nested;
    fit.as_declared = false;
    fit.findings.push(note);
    Some(fit)
}

/// The finding of another mode of a coordinate.
fn other_mode(target: &ModelTarget, coordinate: usize, mass: f64) -> Finding {
    Finding::OtherModeOf { name: target.coordinate_names()[coordinate].clone(), mass }
}

/// Where the fit of the outer coordinates begins; None where they had better not be taken apart from the
/// others.
fn begin(whole: &Whole, conditional: &mut Conditional) -> Option<Start> {
    let Whole { target, options, .. } = *whole;
    if conditional.parts.how != How::Quadratic {
        let costly = conditional.hessian_gradients() >= COSTLY;
        if (costly || target.dimension() <= SOON_SEEN) && whole.is_nearly_gaussian(costly) {
            return None;
        }
        conditional.tell_groups_apart(target);
        // Groups of one coordinate take few points, and what Laplace's approximation misses of many may be
        // more than it has.
        let alone = conditional.group_count() == conditional.parts.inner.len();
        let many = conditional.parts.leaves_many();
        let integrated = (alone || many) && conditional.integrate_groups();
        if many && !integrated {
            return None;
        }
    }
    if !conditional.costly() {
        return centred(conditional, options);
    }
    let q = explore::explore(conditional, options.seed)?;
    conditional.smooth(&q, options.seed).then_some(Start::Explored(q))
}

/// The fit with importance weights: from the Gaussian as it is where that will do, or else in bent
/// coordinates, whichever is better.
fn weigh(
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
    let first = match quadratic || !before.elbo[0].is_finite() {
        true => best_known(&found.fitted, &before),
        false => before.elbo,
    };
    let [few, many] = if quadratic { [1, 1] } else { candidates(conditional, first[2]) };
    let chosen = (few > 1).then(|| Nested::new(conditional, Warped::flat(&marginal), few, &owners));
    let flow = chosen.as_ref().unwrap_or(&straight);
    let after = (few > 1).then(|| judge(flow, q, pilot, options));
    let judged = after.as_ref().unwrap_or(&before);
    // Of many outer coordinates no other proposal makes up for so much, and inner ones that hang together are
    // none the better for any.
    let left = conditional.parts.leaves_many();
    let together = conditional.is_one_block() && !conditional.is_smooth();
    let hopeless = (left || together) && judged.elbo[2] > HOPELESS && judged.khat >= KHAT_LIMIT;
    if hopeless || whole.puts_off(conditional, judged) {
        return None;
    }
    let common = Common { found, plain: &straight, before: &before, first, options };
    let as_it_is = || common.weighed((flow, q), judged, &found.rivals);
    // Where each draw takes a search and an integral, what bending takes is less than what the weights of the
    // Gaussian as it is ask for.
    let mut fit = (few == 1 && !left || judged.elbo[2] < EVEN).then(as_it_is);
    // Light weights need no bending, which takes thousands of gradients, each many of the model.
    let light = |fit: &Fit| fit.khat < LIGHT || options.stop.requested();
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
    plain: &'a dyn Flow,
    before: &'a Judged,
    /// ELBO, its standard error and half the variance of the log weights.
    first: [f64; 3],
    options: &'a Options,
}

impl Common<'_> {
    /// The fit with the weights of draws from a Gaussian in coordinates of its own.
    fn weighed(&self, bent: (&dyn Flow, &Gaussian), judged: &Judged, rivals: &[Rival]) -> Fit {
        let plain = (self.plain, &self.found.fitted.q);
        let (plain_draws, first) = (Some(&self.before.pilot), self.first);
        let reached = Reached { plain, plain_draws, rivals, bent, first, judged, gradients: 0 };
        finish(self.found.clone(), &reached, self.options)
    }
}

/// Where the fit of the outer coordinates begins.
enum Start {
    /// At their modes, with the scales at the highest.
    Modes(Modes, Vec<f64>),
    /// At a Gaussian.
    Explored(Gaussian),
}

impl Start {
    /// The scales of the outer coordinates.
    fn scales(&self) -> Vec<f64> {
        match self {
            Start::Modes(_, scales) => scales.clone(),
            Start::Explored(q) => q.scales(),
        }
    }

    /// The fit.
    fn fit(
        self,
        marginal: &Marginal,
        options: &Options,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Option<Approach> {
        match self {
            Start::Modes(modes, _) => from_modes(marginal, modes, options, watch).ok(),
            Start::Explored(q) => {
                let fitted = refine(marginal, q, FIRST, options, watch).ok()?;
                let gradients = fitted.gradients;
                Some(Approach { fitted, path: Path::Nested, gradients, rivals: Vec::new() })
            }
        }
    }
}

/// Modes of the outer coordinates, at the highest of which the conditional is centred from then on. Where
/// inner coordinates have higher places than their modes there, they are searched from these.
fn centred(conditional: &mut Conditional, options: &Options) -> Option<Start> {
    let mut again = 0;
    loop {
        let scales = conditional.outer_scales();
        let others = others(&conditional.parts);
        let found = modes(&Marginal::new(conditional, &scales).followed(), others, options).ok()?;
        let scales = scales_at(found.modes.first()?, &scales)?;
        let top = &found.modes.first()?.point;
        conditional.recentre(top, &marginal::widths(&scales));
        let reach: Vec<f64> = scales.iter().map(|s| (REACH * s).min(FARTHEST)).collect();
        conditional.look_around(top, &reach, options.seed);
        let higher = shoulders::higher(conditional, top);
        if higher.is_empty() || again == AGAIN {
            return Some(Start::Modes(found, scales));
        }
        conditional.search_from(&higher);
        again += 1;
    }
}

/// How many random points modes of the outer coordinates are searched from.
fn others(parts: &Partition) -> u64 {
    let more = parts.how == How::Quadratic && NOT_ONLY_SCALES.contains(&parts.outer.len());
    if more { MORE_OTHERS } else { OTHERS }
}

/// All coordinates together, with what is asked of them for every partition and found once.
struct Whole<'a> {
    target: &'a ModelTarget,
    options: &'a Options,
    /// k̂ and half-variance of the log weights of few draws of the Gaussian at the mode.
    judged: OnceCell<Option<[f64; 2]>>,
    /// To be told where a partition is put off, if that may be.
    put_off: Option<&'a Cell<bool>>,
    /// Whether groups that were looked at one by one reach far from their modes.
    reaches_far: Cell<bool>,
}

impl Whole<'_> {
    /// Whether a partition is put off with these first weights: where inner coordinates hang together each
    /// draw takes a search, and what comes of thousands with such weights is seldom light, unless the outer
    /// coordinates are so few that a grid serves them.
    fn puts_off(&self, conditional: &Conditional, first: &Judged) -> bool {
        let many = conditional.parts.outer.len() > grid::MOST_SEARCHED;
        let costly = many && conditional.is_smooth() && conditional.is_one_block();
        let heavy = first.khat >= NOT_LIGHT[0] && first.elbo[2] >= NOT_LIGHT[1];
        let told = self.put_off.filter(|_| costly && heavy);
        told.inspect(|others| others.set(true)).is_some()
    }

    /// Whether the Gaussian at the mode has even weights, or light ones where that is enough: coordinates
    /// need not be taken apart, which takes many gradients.
    fn is_nearly_gaussian(&self, light_is_enough: bool) -> bool {
        self.judged.get_or_init(|| self.judge_at_mode()).is_some_and(|[khat, half_variance]| {
            let even = khat < KHAT_LIMIT && half_variance < SMALL;
            even || light_is_enough && khat < LIGHT_AT_MODE
        })
    }

    fn judge_at_mode(&self) -> Option<[f64; 2]> {
        let found = modes(self.target, 0, self.options).ok()?;
        let Mode { point, curvature } = found.modes.into_iter().next()?;
        let judged = judge(&Warped::flat(self.target), &whiten::dense(point, curvature), PILOT, self.options);
        Some([judged.khat, judged.elbo[2]])
    }
}

/// How many candidates the groups of inner coordinates should have, where log weights have this
/// half-variance: one where it is small or all coordinates hang together. First where the noise of groups can
/// be smoothed, then where it cannot; small groups have none.
fn candidates(conditional: &Conditional, half_variance: f64) -> [usize; 2] {
    if conditional.grouped.is_none() || half_variance < SMALL && !conditional.reaches_far() {
        return [1, 1];
    }
    if let Some(lattice) = conditional.lattice() {
        return [lattice.points; 2];
    }
    let pairs = |each: f64| 2 * ((half_variance / each).ceil() as usize).clamp(PAIRS, MOST_PAIRS);
    [pairs(NATS), pairs(1.0)]
}

/// The group of inner coordinates that each output follows from: that of the coordinate with the same place
/// in a parameter made element by element.
fn owners(target: &ModelTarget, conditional: &Conditional) -> Vec<Option<usize>> {
    let lowered = target.lowered();
    let inner = &conditional.parts.inner;
    let mut out = Vec::new();
    for parameter in &lowered.parameters {
        let count = lowered.graph.node(parameter.named.node).len();
        let group =
            |i: usize| inner.binary_search(&(parameter.offset + i)).ok().map(|at| conditional.group[at]);
        out.extend((0..count).map(|i| if count == parameter.size { group(i) } else { None }));
    }
    out
}

/// A fit by quadrature whose importance weights spread because many groups each add a little: weights group
/// by group, if the model has groups and that is so.
pub(super) fn by_groups(target: &ModelTarget, found: &Approach, options: &Options) -> Option<Fit> {
    let q = &found.fitted.q;
    let mut conditional = Conditional::given(target, partition::effects(target)?, q)?;
    conditional.tell_groups_apart(target);
    let flat = Warped::flat(target);
    let first = best_known(&found.fitted, &judge(&flat, q, PILOT, options));
    let [candidates, _] = candidates(&conditional, first[2]);
    if candidates == 1 {
        return None;
    }
    let owners = owners(target, &conditional);
    let outer = outer_part(q, &conditional.parts.outer)?;
    let marginal = Marginal::new(&conditional, &outer.scales());
    let flow = Nested::new(&conditional, Warped::flat(&marginal), candidates, &owners);
    let judged = &judge(&flow, &outer, PILOT, options);
    let (plain, plain_draws): ((&dyn Flow, _), _) = ((&flat, q), None);
    let reached =
        Reached { plain, plain_draws, rivals: &[], bent: (&flow, &outer), first, judged, gradients: 0 };
    let mut fit = finish(found.clone(), &reached, options);
    fit.gradients += conditional.gradients();
    fit.findings.push(describe(target, &conditional.parts));
    Some(fit)
}

/// What a Gaussian says of some coordinates alone.
fn outer_part(q: &Gaussian, outer: &[usize]) -> Option<Gaussian> {
    let (d, k) = (q.mean.len(), outer.len());
    let Scale::Dense(c) = &q.factor else { return None };
    let row = |i: usize| &c[outer[i] * d..(outer[i] + 1) * d];
    let mut factor: Vec<f64> = (0..k * k).map(|p| dot(row(p / k), row(p % k))).collect();
    cholesky(&mut factor, k).ok()?;
    (0..k).for_each(|i| factor[i * k + i + 1..(i + 1) * k].fill(0.0));
    Some(Gaussian { mean: outer.iter().map(|&i| q.mean[i]).collect(), factor: Scale::Dense(factor) })
}

/// The scales of coordinates by the curvature at a mode, or as they were where that says nothing; None if
/// there is no curvature.
fn scales_at(mode: &Mode, before: &[f64]) -> Option<Vec<f64>> {
    let diagonal = mode.curvature.as_ref()?.iter().step_by(before.len() + 1);
    Some(diagonal.zip(before).map(|(h, s)| if *h > 0.0 { h.sqrt().recip() } else { *s }).collect())
}

/// What was fitted, and what follows from it.
fn describe(target: &ModelTarget, parts: &Partition) -> Finding {
    let names = |of: &[usize]| {
        let has = |p: &&crate::lower::Parameter| of.binary_search(&p.offset).is_ok();
        let names = target.lowered().parameters.iter().filter(has).map(|p| p.named.name.clone());
        names.collect::<Vec<_>>()
    };
    let (outer, inner) = (names(&parts.outer), names(&parts.inner));
    let how = match parts.how {
        How::Quadratic => Inner::Exactly,
        How::Searched => Inner::Laplace,
        How::Given => Inner::GroupByGroup,
    };
    Finding::TakenApart { outer, inner, how }
}
