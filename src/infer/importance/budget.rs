//! How many importance draws: enough that their Monte Carlo error does not matter.

use crate::infer::cost::spared;
use crate::infer::gaussian::Gaussian;
use crate::infer::importance::known::{
    Known, inflation, largest, margin, shapes_of_squares, spread_khat, upper, wary, weights_of,
};
use crate::infer::importance::mass::Mass;
use crate::infer::importance::pilot::Pilot;
use crate::infer::importance::psis::effective;
use crate::infer::importance::sample::{Sample, plain};
use crate::infer::importance::summary::Output;
use crate::infer::importance::weights::Weighed;
use crate::infer::importance::{errors, summary};
use crate::infer::options::Options;
use crate::infer::policy::{KHAT_LIMIT, KHAT_NO_MEAN, Policy};
use crate::infer::proposal::placement::Placement;
use crate::infer::proposal::{Kind, Proposal};
use crate::target::Target;
use rayon::prelude::*;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

/// Most numbers held of outputs of draws.
pub(in crate::infer) const HELD: usize = 60_000_000;
/// Most work for importance draws: numbers made on the way.
const WORK: usize = 2_000_000_000;
/// Most operations of draws that solve equations each: the tails of one parameter are no reason for minutes.
const OF_EQUATIONS: usize = 8_000_000_000;
/// Most importance draws.
const MOST_DRAWS: usize = 131_072;
/// Importance draws to begin with: those of the pilot, where they serve.
const FEWEST: usize = PILOT;
/// The same where each draw takes a search, and the fewest where its steps take long too.
const FEWEST_SEARCHED: usize = 1024;
const LEAST_SEARCHED: usize = 256;
/// Operations of a model that take so little time that draws are cheap even where each takes a search.
const LITTLE: usize = 1000;
/// Draws between looks at whether to stop, and where each solves equations.
const AT_ONCE: usize = 4096;
const AT_ONCE_SOLVED: usize = 512;
/// Draws without weights that the difference made by weights is added to.
const MANY: usize = 16_384;
/// Draws where quantities are derived or predicted from them, which no error decides about, if a log density
/// takes little time and in proportion fewer where it takes more; and most numbers held for that.
const BESIDE: usize = 16_384;
const HELD_BESIDE: usize = 4_000_000;
/// So near to the limit k̂ is not known well enough with fewer draws than this; fewer have to do where each
/// takes a search.
const DECIDED: usize = 32_768;
const DECIDED_SEARCHED: usize = 8192;
/// Coordinates up to which the mixture that adapts is tried first.
pub(in crate::infer) const FEW_TO_LEARN: usize = 6;
/// A standard error of so many times the one aimed at is large.
const LARGE: f64 = 3.0;
/// Draws that judge a proposal, and the fewest where each takes long.
pub(in crate::infer) const PILOT: usize = 2048;
const LEAST_PILOT: usize = 512;

/// Most draws where each solves equations: those of a quarter of a minute or so.
fn affordable(target: &dyn Target) -> usize {
    match target.solves_equations() {
        true => OF_EQUATIONS / target.operations().max(1),
        false => usize::MAX,
    }
}

/// Draws that judge a proposal for a model.
pub(in crate::infer) fn pilot(target: &dyn Target) -> usize {
    spared(target, PILOT, LEAST_PILOT)
}

/// What is drawn from.
pub(in crate::infer) struct Source<'t> {
    pub(in crate::infer) flow: &'t dyn Placement,
    pub(in crate::infer) q: &'t Gaussian,
    pub(in crate::infer) proposal: Arc<dyn Proposal>,
    /// Draws of the Gaussian that were made before.
    pub(in crate::infer) pilot: Option<&'t Pilot>,
}

/// Importance draws with their weights.
pub(in crate::infer) struct Drawn<'t> {
    pub(in crate::infer) sample: Sample<'t>,
    /// What they say of the mass of the posterior.
    pub(in crate::infer) mass: Mass,
    /// Of the points of all draws.
    pub(in crate::infer) weights: Vec<f64>,
    /// Tail shape of the weights, or of the weighted squares of the output that is known worst.
    pub(in crate::infer) khat: f64,
    /// The same, or that of the weighted squares of any output if larger: the standard deviation comes from
    /// these.
    pub(in crate::infer) tail: f64,
    /// What the tail of the output that is known worst adds to the standard errors.
    more: f64,
    /// The largest standard error of a mean or of a log standard deviation, in standard deviations.
    pub(in crate::infer) worst: f64,
    /// The output that has it.
    pub(in crate::infer) least_known: usize,
    /// How many times as large all standard errors could be.
    pub(in crate::infer) margin: f64,
    /// Whether other proposals, which gain in the tail, would lose more where most draws are.
    efficient: bool,
    /// Whether weights differ mostly by the coordinates that are standard normal, which all proposals have in
    /// common.
    inside: bool,
    weighed: Weighed,
    /// How well each output that counts is known.
    known: Vec<Known>,
    /// For each output many draws without weights, if the difference that weights make is known so much
    /// better than the weighted draws themselves that it is added to these.
    many: Vec<Option<Vec<f64>>>,
    /// Most draws that can be held.
    most: usize,
}

impl<'t> Drawn<'t> {
    /// The draws and their weights where so many are to be kept, with more of them where that takes more:
    /// what is said of the first does not depend on how many are kept.
    pub(in crate::infer) fn into_kept(self, keep: usize) -> (Sample<'t>, Vec<f64>) {
        let Drawn { mut sample, weights, most, .. } = self;
        let wanted = (2 * keep).div_ceil(sample.copies).min(most);
        if sample.log_weights().len() >= wanted {
            return (sample, weights);
        }
        while sample.log_weights().len() < wanted {
            sample.extend(wanted.min(sample.log_weights().len() + AT_ONCE));
        }
        let weights = sample.spread(&sample.weigh().weights);
        (sample, weights)
    }

    /// Whether no other proposal is worth a try.
    pub(in crate::infer) fn good(&self, policy: &Policy) -> bool {
        let draws = self.sample.log_weights().len();
        self.khat < KHAT_LIMIT
            && upper(self.khat, draws) < upper(policy.khat_tailed, FEWEST)
            && self.tail < KHAT_LIMIT
    }

    /// Whether no more proposals of other kinds are: a tail of moderate length, and errors that are small all
    /// the same or that no other would make smaller.
    pub(in crate::infer) fn fair(&self, policy: &Policy) -> bool {
        self.khat < policy.khat_unsure
            && self.tail < KHAT_LIMIT
            && (self.margin >= 1.0 || self.efficient || self.inside)
    }

    /// The weights of all points for output `j`.
    fn weights_of(&self, j: usize) -> Cow<'_, [f64]> {
        weights_of(&self.sample, &self.weighed, &self.weights, j)
    }

    /// Statistics of output `j`.
    pub(in crate::infer) fn summary(&self, name: &str, j: usize) -> Output {
        let (values, weights) = (self.sample.column(j), self.weights_of(j));
        let Some(known) = self.known.get(j) else {
            let errors = errors::errors(&values, &weights, self.sample.layout(), false);
            let known = Known::new(&errors, 0.0, inflation(self.weighed.khat), self.weighed.noise_of(None));
            return summary::summarise(name, &values, &weights, self.more * known.of_mean);
        };
        let error = self.more * known.of_mean;
        match self.many.get(j).and_then(Option::as_ref) {
            Some(many) => summary::shift(name, &values, &weights, many, error),
            None => summary::summarise(name, &values, &weights, error),
        }
    }
}

/// Draws until the standard error of everything inferred is small, or no more can be held. Derived quantities
/// and predictions do not count: their tails, and an event that is rare, say nothing about the fit. With
/// `look` the first draws are all where their tails, or those of an output, are long.
pub(in crate::infer) fn enough<'t>(
    source: &Source<'t>,
    outputs: usize,
    look: bool,
    options: &Options,
) -> Drawn<'t> {
    let Source { flow, q, proposal, pilot } = source;
    let policy = &options.policy;
    let is_unsure = |khat: f64| (policy.khat_unsure..KHAT_NO_MEAN).contains(&khat);
    let (d, copies) = (q.mean.len(), flow.copies());
    let costly =
        flow.searches_each_draw() && flow.model().operations() > LITTLE || flow.model().solves_equations();
    let judged = outputs.saturating_sub(flow.model().beside());
    let fewest = match flow.searches_each_draw() {
        true => spared(flow.model(), FEWEST_SEARCHED, LEAST_SEARCHED),
        false => spared(flow.model(), FEWEST, LEAST_PILOT),
    };
    let most = (HELD / (copies * outputs.max(1)))
        .min(WORK / (d * d + 50 * outputs))
        .clamp(fewest, MOST_DRAWS)
        .min(flow.most_draws())
        .min(affordable(flow.model()).max(fewest));
    let many = if proposal.kind() == Kind::Gaussian { MANY.min(HELD / outputs.max(1)) } else { 0 };
    let mut sample = Sample::new(*flow, q, proposal.clone(), options.seed);
    if let (None, Some(pilot)) = (options.draws, pilot) {
        sample.begin(pilot);
    }
    let beside = match flow.model().beside() {
        0 => 0,
        _ if !flow.places_cheaply() || flow.model().solves_equations() => 0,
        _ => {
            (BESIDE / flow.model().operations().div_ceil(LITTLE).max(1)).min(HELD_BESIDE / outputs).min(most)
        }
    };
    let mut count = options.draws.unwrap_or(fewest).max(64);
    let at_once = if flow.model().solves_equations() { AT_ONCE_SOLVED } else { AT_ONCE };
    loop {
        while sample.log_weights().len() < count {
            sample.extend(count.min(sample.log_weights().len() + at_once));
            if options.stop.requested() && sample.log_weights().len() >= fewest {
                break;
            }
        }
        let grid = proposal.kind() == Kind::Grid;
        let mut weighed = sample.weigh();
        if grid {
            weighed.trust_even(policy);
        }
        let weights = sample.spread(&weighed.weights);
        let have = sample.log_weights().len();
        let times = many as f64 / have as f64;
        let known = |j: usize| {
            let weights = weights_of(&sample, &weighed, &weights, j);
            let errors = errors::errors(&sample.column(j), &weights, sample.layout(), times > 1.0);
            let group = sample.group_of(j);
            Known::new(&errors, times, inflation(weighed.khat_of(group)), weighed.noise_of(group))
        };
        let errors: Vec<Known> = (0..judged).into_par_iter().map(known).collect();
        let (place, largest) = largest(&errors);
        let margin = margin(errors.iter().map(|e| e.error), costly, policy);
        // Where errors stay large, the tail of the output that is known worst counts too.
        let heavy = have > fewest && margin * LARGE < 1.0;
        // Of several heaps a small one far away makes squares look as if they had a long tail. A grid whose
        // weights have a short one has seen them all.
        let seen = grid && weighed.khat < policy.khat_tailed;
        let spread = |j: usize| match proposal.modes() > 1 || seen {
            true => f64::NEG_INFINITY,
            false => spread_khat(&sample, &weighed, &weights, j),
        };
        let khat = if heavy { weighed.khat.max(spread(place)) } else { weighed.khat };
        let more = inflation(khat) / inflation(weighed.khat);
        let (worst, margin) = (more * largest, margin / more);
        // Where squares have a long tail, a sample that misses it takes a standard deviation to be known.
        let shapes = OnceCell::new();
        let shapes = || shapes.get_or_init(|| shapes_of_squares(&errors, &spread));
        let margin = if margin < 1.0 { margin } else { wary(&errors, shapes(), costly, policy) / more };
        // A k̂ near the limit is decided by more draws; one far above it is not.
        let decided = if flow.searches_each_draw() { DECIDED_SEARCHED } else { DECIDED };
        let unsure = is_unsure(khat) && have < decided;
        let tail = || shapes().iter().copied().fold(khat, f64::max);
        let done = options.draws.is_some()
            || options.stop.requested()
            || have >= most
            || (margin >= 1.0 && !unsure && have >= beside);
        let long = || upper(khat, have) >= upper(policy.khat_tailed, FEWEST) || tail() >= KHAT_LIMIT;
        let efficient = flow.searches_each_draw()
            && d > FEW_TO_LEARN
            && khat < policy.khat_unsure
            && effective(&weighed.weights) > policy.share_efficient * have as f64;
        if done || (look && !efficient && long()) || (khat >= KHAT_LIMIT && !unsure) || d == 0 {
            // So near to the limit, with errors still large, the upper end of what it may be counts.
            let open = is_unsure(khat) && margin * LARGE < 1.0;
            let khat = if open { upper(khat, have) } else { khat };
            let khat = khat.max(weighed.worst_khat());
            let tail = tail().max(khat);
            let shifted: Vec<usize> = (0..judged).filter(|&j| errors[j].shifted).collect();
            let mut columns = plain(*flow, q, many, &shifted, options.seed).into_iter();
            let many = errors.iter().map(|e| if e.shifted { columns.next() } else { None }).collect();
            let (known, inside) = (errors, inside(&sample, &weighed.weights));
            return Drawn {
                mass: Mass::new(sample.log_weights()),
                sample,
                weights,
                khat,
                tail,
                more,
                worst,
                least_known: place,
                margin,
                efficient,
                inside,
                weighed,
                known,
                many,
                most,
            };
        }
        let needed = (have as f64 * (1.1 / margin.powi(2)).clamp(1.25, 8.0)).max(beside as f64);
        // Weights that are likely to fail get as many draws as decide that, and not as many as what they say
        // would take.
        count = (needed as usize).min(if khat >= KHAT_LIMIT { most.min(decided) } else { most });
    }
}

/// Whether the copies of a draw, which have its place in common, differ so much that their mean explains most
/// of what the weights of draws, which sum to one, differ by.
fn inside(sample: &Sample, weights: &[f64]) -> bool {
    let copies = sample.copies as f64;
    let between = weights.len() as f64 * weights.iter().map(|w| w * w).sum::<f64>() - 1.0;
    let shares = sample.shares().chunks_exact(sample.copies);
    let squares = shares.map(|shares| shares.iter().map(|s| s * s).sum::<f64>());
    let among: f64 = squares.zip(weights).map(|(s, w)| w * (copies * s - 1.0)).sum();
    among / copies > 0.5 * between
}
