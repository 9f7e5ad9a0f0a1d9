//! How many importance draws, and from what: enough that their Monte Carlo error does not matter.

use super::adapt::{adapt, effective};
use super::cells::{MOST, cells};
use super::flow::{Flow, Reached};
use super::gaussian::Gaussian;
use super::mass::Mass;
use super::psis::{khat_error, smooth};
use super::sample::{Pilot, Proposal, Sample, plain};
use super::summary::{self, Errors, Output};
use super::thrift::{is_heavy, spared};
use super::weigh::Weighed;
use super::{KHAT_LIMIT, Options};
use crate::num::slices::ln;
use crate::num::special::erfc;
use crate::target::Target;
use rayon::prelude::*;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::f64::consts::SQRT_2;
use std::sync::Arc;

/// Most numbers held of outputs of draws.
pub(super) const HELD: usize = 60_000_000;
/// Most work for importance draws: numbers made on the way.
const WORK: usize = 2_000_000_000;
/// Most importance draws.
const MOST_DRAWS: usize = 131_072;
/// Importance draws to begin with: those of the pilot, where they serve.
const FEWEST: usize = PILOT;
/// The same where each draw takes a search, and the fewest where its steps take long too.
const FEWEST_DEAR: usize = 1024;
const LEAST_DEAR: usize = 256;
/// Draws between looks at whether to stop.
const AT_ONCE: usize = 4096;
/// Draws without weights that the difference made by weights is added to, and how much better that must be.
const MANY: usize = 16_384;
const BETTER: f64 = 0.6;
/// Most leading coordinates with heavy tails in a proposal.
const HEAVY: usize = 6;
/// So near to the limit k̂ is not known well enough with fewer draws than this.
const UNSURE: std::ops::Range<f64> = 0.6..1.0;
const DECIDED: usize = 32_768;
/// Weights with a k̂ below this, judged by a pilot, need no heavier tails.
const LIGHT: f64 = 0.4;
/// Weights with a k̂ below this, judged by a pilot, are those of a Gaussian or nearly.
const STRAIGHT: f64 = 0.2;
/// Weights with a k̂ above this, by as many draws as there are to begin with, are compared with those of other proposals; by more draws,
/// a k̂ is known better and may be larger.
const TAILED: f64 = 0.45;
/// Coordinates up to which a grid takes little time, and the half-variance of log weights from which on one is worth it: a Gaussian posterior is often that of much data,
/// and each evaluation costs.
const SOON: usize = 2;
const NEARLY_GAUSSIAN: f64 = 0.005;
/// Coordinates up to which the mixture that adapts is tried first.
pub(super) const FEW_TO_LEARN: usize = 6;
/// A standard error of so many times the one aimed at is large.
const LARGE: f64 = 3.0;
/// So many effective draws for each draw are more than a mixture that adapts has in many coordinates.
const EFFICIENT: f64 = 0.3;
/// A proposal that found less mass than another, by so many standard errors, overlooks a part of the posterior; and the same if the other is a grid, which
/// goes where others do not.
const SURELY: f64 = 4.0;
const PROBABLY: f64 = 1.5;
/// Draws that judge a proposal, and the fewest where each takes long.
pub(super) const PILOT: usize = 2048;
const LEAST_PILOT: usize = 512;

/// Draws that judge a proposal for a model.
pub(super) fn pilot(target: &dyn Target) -> usize {
    spared(target, PILOT, LEAST_PILOT)
}

/// Draws from a grid where coordinates are few, from the Gaussian where its weights are light, from a mixture with heavier tails where
/// they are not: by the pilot, or by the draws themselves, because a few draws do not see a far tail.
pub(super) fn draw<'t>(reached: &Reached<'t>, outputs: usize, options: &Options) -> (Proposal, Drawn<'t>) {
    let mut trials = Trials { reached, outputs, options, masses: Vec::new(), best: None };
    // What was fitted at one mode sees nothing of others, and has light weights all the same.
    if trials.modes() {
        return trials.best(Proposal::Gaussian);
    }
    // Where there are few coordinates, and the posterior is not Gaussian in them, a grid overlooks nothing.
    let (flow, q) = trials.unbent();
    let curved = reached.judged.elbo[2] > NEARLY_GAUSSIAN;
    let soon = q.mean.len() <= SOON && !flow.model().solves_equations()
        || q.mean.len() < MOST && reached.judged.khat >= STRAIGHT;
    let at_first = !flow.cheap() || curved && soon;
    if at_first {
        trials.grid();
    }
    let mut others = trials.tailed();
    let first = others[0].clone();
    let (flow, khat) = (reached.bent.0, reached.judged.khat);
    // In few coordinates that nothing has bent a mixture has little to learn, and its weights are the most even. Few draws of weights that hardly differ
    // do not know their tail.
    let bent = khat >= STRAIGHT && (curved || !is_heavy(flow.model()));
    let few = flow.cheap() && flow.leaders() == 0 && q.mean.len() <= FEW_TO_LEARN && bent;
    if few && !trials.settled() {
        trials.adapted();
    }
    // Where each draw takes a search, a proposal that is likely to fail is not tried before the one that adapts.
    let likely = !flow.dear() || flow.leaders() == 0 || khat < TAILED;
    if likely && !trials.settled() {
        let khat = trials.attempt(trials.around(first.clone()), true);
        // What has a long tail by the first draws has one by more of them.
        others.retain(|other| !(khat >= UNSURE.end && *other == first));
    }
    if !few && !trials.settled() {
        trials.adapted();
    }
    for other in others {
        if !trials.settled() && !trials.fair() {
            trials.attempt(trials.around(other), false);
        }
    }
    // Few draws saw a Gaussian, and more of them something else far away; or there are as many coordinates as a grid can serve, and nothing else did
    // (which was tried before these were bent).
    let again = q.mean.len() == MOST && reached.bent.0.leaders() > 0;
    if !at_first && !again && !trials.settled() && !trials.fair() {
        trials.grid();
    }
    trials.best(first)
}

/// Proposals tried for what was reached, and the best of them.
struct Trials<'a, 't> {
    reached: &'a Reached<'t>,
    outputs: usize,
    options: &'a Options,
    /// The mass that proposals found, where their weights have short tails; and by how many standard errors another must be below it to overlook something.
    masses: Vec<(Mass, f64)>,
    best: Option<(Proposal, Drawn<'t>)>,
}

impl<'t> Trials<'_, 't> {
    /// Where a mixture or a grid is drawn from: it follows a bend by itself, and knows nothing of what bending does to tails.
    fn unbent(&self) -> (&'t dyn Flow, &'t Gaussian) {
        let Reached { plain, bent, .. } = self.reached;
        if bent.0.cheap() && plain.0.cheap() { *plain } else { *bent }
    }

    /// A mixture or a grid to draw from.
    fn own(&self, proposal: Proposal) -> Source<'t> {
        let (flow, q) = self.unbent();
        Source { flow, q, proposal, pilot: None }
    }

    /// The Gaussian, or it with other tails, to draw from.
    fn around(&self, proposal: Proposal) -> Source<'t> {
        let (flow, q) = self.reached.bent;
        Source { flow, q, proposal, pilot: Some(&self.reached.judged.pilot) }
    }

    /// The Gaussian or it with other tails, the most promising first.
    fn tailed(&self) -> Vec<Proposal> {
        let (flow, q) = self.reached.bent;
        let (leaders, d) = (flow.leaders(), q.mean.len());
        let heavy = leaders == d && d <= HEAVY;
        let mixture = if heavy { Proposal::Heavy } else { Proposal::Mixture(leaders.min(HEAVY)) };
        let khat = self.reached.judged.khat;
        // Coordinates that lead others are logarithms of scales, more often than not, and their tails are long; not so where many data tell them.
        let told = is_heavy(flow.model()) && khat < STRAIGHT;
        let light = khat < LIGHT && (flow.cheap() || leaders == 0) || told;
        let first = if light { vec![Proposal::Gaussian] } else { Vec::new() };
        first.into_iter().chain([mixture, Proposal::Student]).collect()
    }

    /// Tries a grid, where there is one.
    fn grid(&mut self) {
        let (flow, q) = self.unbent();
        let thorough = self.reached.judged.khat >= STRAIGHT;
        if let Some(grid) = cells(flow, q, self.reached.rivals, thorough) {
            self.attempt(self.own(Proposal::Cells(Arc::new(grid))), true);
        }
    }

    /// Tries a mixture that adapts, where there is one and nothing before it was fair.
    fn adapted(&mut self) {
        let (flow, q) = self.unbent();
        if !self.fair()
            && let Some(proposal) = adapt(flow, q, &[], self.options)
        {
            self.attempt(self.own(proposal), false);
        }
    }

    /// Tries a mixture begun at all modes, where there are several; whether its weights can be relied on.
    fn modes(&mut self) -> bool {
        let ((flow, q), rivals) = (self.unbent(), self.reached.rivals);
        if rivals.is_empty() {
            return false;
        }
        let Some(proposal) = adapt(flow, q, rivals, self.options) else { return false };
        self.attempt(self.own(proposal), false);
        self.best.as_ref().is_some_and(|best| best.1.khat < KHAT_LIMIT && best.1.tail < KHAT_LIMIT)
    }

    /// Draws, keeps what is better than what there is, and tells the tail shape of its weights.
    fn attempt(&mut self, source: Source<'t>, look: bool) -> f64 {
        let drawn = enough(&source, self.outputs, look, self.options);
        let khat = drawn.khat;
        if khat < TAILED {
            let grid = matches!(source.proposal, Proposal::Cells(_));
            self.masses.push((drawn.mass, if grid { PROBABLY } else { SURELY }));
        }
        let overlooks = self.best.as_ref().is_some_and(|best| self.overlooks(&best.1));
        let preferred = |best: &(Proposal, Drawn)| drawn.good() || overlooks || drawn.tail < best.1.tail;
        if !self.overlooks(&drawn) && self.best.as_ref().is_none_or(preferred) {
            self.best = Some((source.proposal, drawn));
        }
        khat
    }

    /// Whether another proposal found more of the posterior.
    fn overlooks(&self, drawn: &Drawn) -> bool {
        self.masses.iter().any(|(mass, sure)| mass.exceeds(&drawn.mass, *sure))
    }

    /// Whether no other proposal is worth a try, or someone wants an end.
    fn settled(&self) -> bool {
        self.best.as_ref().is_some_and(|best| best.1.good() || self.options.stop.requested())
    }

    /// Whether no more proposals of other kinds are.
    fn fair(&self) -> bool {
        self.best.as_ref().is_some_and(|best| best.1.fair())
    }

    /// The best, or draws of another if none was tried.
    fn best(self, other: Proposal) -> (Proposal, Drawn<'t>) {
        let source = self.around(other);
        match self.best {
            Some(best) => best,
            None => (source.proposal.clone(), enough(&source, self.outputs, false, self.options)),
        }
    }
}

/// What is drawn from.
struct Source<'t> {
    flow: &'t dyn Flow,
    q: &'t Gaussian,
    proposal: Proposal,
    /// Draws of the Gaussian that were made before.
    pilot: Option<&'t Pilot>,
}

/// Importance draws with their weights.
pub(super) struct Drawn<'t> {
    pub(super) sample: Sample<'t>,
    /// What they say of the mass of the posterior.
    pub(super) mass: Mass,
    /// Of the points of all draws.
    pub(super) weights: Vec<f64>,
    /// Tail shape of the weights, or of the weighted squares of the output that is known worst.
    pub(super) khat: f64,
    /// The same, or that of the weighted squares of any output if larger: the standard deviation comes from these.
    pub(super) tail: f64,
    /// What the tail of the output that is known worst adds to the standard errors.
    more: f64,
    /// The largest standard error of a mean or of a log standard deviation, in standard deviations.
    pub(super) worst: f64,
    /// The output that has it.
    pub(super) least_known: usize,
    /// How many times as large all standard errors could be.
    pub(super) margin: f64,
    /// Whether other proposals, which gain in the tail, would lose more where most draws are.
    efficient: bool,
    /// Whether weights differ mostly by the coordinates that are standard normal, which all proposals have in common.
    inside: bool,
    weighed: Weighed,
    /// How well each output that counts is known.
    known: Vec<Known>,
    /// For each output many draws without weights, if the difference that weights make is known so much better than the
    /// weighted draws themselves that it is added to these.
    many: Vec<Option<Vec<f64>>>,
    /// Most draws that can be held.
    most: usize,
}

impl<'t> Drawn<'t> {
    /// The draws and their weights where so many are to be kept, with more of them where that takes more: what is said of the first does not
    /// depend on how many are kept.
    pub(super) fn into_kept(self, keep: usize) -> (Sample<'t>, Vec<f64>) {
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
    fn good(&self) -> bool {
        let draws = self.sample.log_weights().len();
        self.khat < KHAT_LIMIT && upper(self.khat, draws) < upper(TAILED, FEWEST) && self.tail < KHAT_LIMIT
    }

    /// Whether no more proposals of other kinds are: a tail of moderate length, and errors that are small all the same or that no
    /// other would make smaller.
    fn fair(&self) -> bool {
        self.khat < UNSURE.start
            && self.tail < KHAT_LIMIT
            && (self.margin >= 1.0 || self.efficient || self.inside)
    }

    /// The weights of all points for output `j`.
    fn weights_of(&self, j: usize) -> Cow<'_, [f64]> {
        weights_of(&self.sample, &self.weighed, &self.weights, j)
    }

    /// Statistics of output `j`.
    pub(super) fn summary(&self, name: &str, j: usize) -> Output {
        let (values, weights) = (self.sample.column(j), self.weights_of(j));
        let Some(known) = self.known.get(j) else {
            let errors = summary::errors(&values, &weights, self.sample.layout(), false);
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

/// The weights of all points for output `j`, where those of what belongs to no group are known.
fn weights_of<'w>(sample: &Sample, weighed: &Weighed, weights: &'w [f64], j: usize) -> Cow<'w, [f64]> {
    let own = sample.group_of(j).and_then(|group| weighed.of_group(group));
    own.map_or(Cow::Borrowed(weights), |own| Cow::Owned(sample.spread(own)))
}

/// How far off a mean, in standard deviations, or the logarithm of a standard deviation should be at most, where parameters are
/// few and draws cost little, and elsewhere; and a quantile, in multiples of that.
const OFF: [f64; 2] = [0.02, 0.035];
const MANY_OUTPUTS: usize = 40;
const QUANTILE: f64 = 3.0;
/// Of all outputs so many, on average, may be further off.
const FEW: f64 = 0.1;

/// How many times as large all of these standard errors could be: below one where they should be smaller. More is allowed
/// where each draw takes a search, or solves an equation.
pub(super) fn margin(errors: impl Iterator<Item = f64>, dear: bool) -> f64 {
    let errors: Vec<f64> = errors.filter(|e| *e > 0.0).collect();
    let off = OFF[usize::from(dear || errors.len() > MANY_OUTPUTS)];
    let further = |times: f64| errors.iter().map(|e| erfc(off / (times * e * SQRT_2))).sum::<f64>();
    // Between 1e-6 and 1e6, by halving the logarithm.
    let (mut low, mut high) = (1e-6_f64, 1e6_f64);
    for _ in 0..40 {
        let middle = (low * high).sqrt();
        (low, high) = if further(middle) < FEW { (middle, high) } else { (low, middle) };
    }
    low
}

/// Draws until the standard error of everything inferred is small, or no more can be held. Derived quantities and predictions do
/// not count: their tails, and an event that is rare, say nothing about the fit. With `look` the first draws are all where their tails, or
/// those of an output, are long.
fn enough<'t>(source: &Source<'t>, outputs: usize, look: bool, options: &Options) -> Drawn<'t> {
    let Source { flow, q, proposal, pilot } = source;
    let (d, copies) = (q.mean.len(), flow.copies());
    let dear = flow.dear() || flow.model().solves_equations();
    let judged = outputs.saturating_sub(flow.model().beside());
    let fewest = match flow.dear() {
        true => spared(flow.model(), FEWEST_DEAR, LEAST_DEAR),
        false => spared(flow.model(), FEWEST, LEAST_PILOT),
    };
    let most = (HELD / (copies * outputs.max(1)))
        .min(WORK / (d * d + 50 * outputs))
        .clamp(fewest, MOST_DRAWS)
        .min(flow.most_draws());
    let many = if *proposal == Proposal::Gaussian { MANY.min(HELD / outputs.max(1)) } else { 0 };
    let mut sample = Sample::new(*flow, q, proposal.clone(), options.seed);
    if let (None, Some(pilot)) = (options.draws, pilot) {
        sample.begin(pilot);
    }
    let mut count = options.draws.unwrap_or(fewest).max(64);
    loop {
        while sample.log_weights().len() < count {
            sample.extend(count.min(sample.log_weights().len() + AT_ONCE));
            if options.stop.requested() && sample.log_weights().len() >= fewest {
                break;
            }
        }
        let weighed = sample.weigh();
        let weights = sample.spread(&weighed.weights);
        let have = sample.log_weights().len();
        let times = many as f64 / have as f64;
        let known = |j: usize| {
            let weights = weights_of(&sample, &weighed, &weights, j);
            let errors = summary::errors(&sample.column(j), &weights, sample.layout(), times > 1.0);
            let group = sample.group_of(j);
            Known::new(&errors, times, inflation(weighed.khat_of(group)), weighed.noise_of(group))
        };
        let errors: Vec<Known> = (0..judged).into_par_iter().map(known).collect();
        let (place, largest) = largest(&errors);
        let margin = margin(errors.iter().map(|e| e.error), dear);
        // Where errors stay large, the tail of the output that is known worst counts too.
        let heavy = have > fewest && margin * LARGE < 1.0;
        // Of several heaps a small one far away makes squares look as if they had a long tail. A grid whose weights have a short one has seen
        // them all.
        let seen = matches!(proposal, Proposal::Cells(_)) && weighed.khat < TAILED;
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
        let margin = if margin < 1.0 { margin } else { wary(&errors, shapes(), dear) / more };
        // A k̂ near the limit is decided by more draws; one far above it is not.
        let unsure = UNSURE.contains(&khat) && have < DECIDED;
        let tail = || shapes().iter().copied().fold(khat, f64::max);
        let done =
            options.draws.is_some() || options.stop.requested() || have >= most || (margin >= 1.0 && !unsure);
        let long = || upper(khat, have) >= upper(TAILED, FEWEST) || tail() >= KHAT_LIMIT;
        let efficient = flow.dear()
            && d > FEW_TO_LEARN
            && khat < UNSURE.start
            && effective(&weighed.weights) > EFFICIENT * have as f64;
        if done || (look && !efficient && long()) || (khat >= KHAT_LIMIT && !unsure) || d == 0 {
            // So near to the limit, with errors still large, the upper end of what it may be counts.
            let open = UNSURE.contains(&khat) && margin * LARGE < 1.0;
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
        let needed = have as f64 * (1.1 / margin.powi(2)).clamp(1.25, 8.0);
        // Weights that are likely to fail get as many draws as decide that, and not as many as what they say would take.
        count = (needed as usize).min(if khat >= KHAT_LIMIT { most.min(DECIDED) } else { most });
    }
}

/// Whether the copies of a draw, which have its place in common, differ so much that their mean explains most of what the weights of draws, which sum
/// to one, differ by.
fn inside(sample: &Sample, weights: &[f64]) -> bool {
    let copies = sample.copies as f64;
    let between = weights.len() as f64 * weights.iter().map(|w| w * w).sum::<f64>() - 1.0;
    let shares = sample.shares().chunks_exact(sample.copies);
    let squares = shares.map(|shares| shares.iter().map(|s| s * s).sum::<f64>());
    let among: f64 = squares.zip(weights).map(|(s, w)| w * (copies * s - 1.0)).sum();
    among / copies > 0.5 * between
}

/// How well an output is known.
struct Known {
    /// The largest of the standard errors of its mean, of the logarithm of its standard deviation and of a quantile, the latter
    /// for less, in standard deviations.
    error: f64,
    /// That of its mean alone.
    of_mean: f64,
    /// Whether that is by the difference that weights make to so many more draws without weights.
    shifted: bool,
}

impl Known {
    fn new(errors: &Errors, times: f64, inflation: f64, noise: f64) -> Known {
        let weighted = worst(errors.weighted);
        let by_difference = errors.shifted(times);
        let shifted = times > 1.0 && worst(by_difference) < BETTER * weighted && by_difference[0].is_finite();
        let (error, of_mean) = match shifted {
            true => (worst(by_difference), by_difference[0]),
            false => (weighted, errors.weighted[0]),
        };
        // What does not vary has no error.
        let noise = if error > 0.0 { noise } else { 0.0 };
        Known {
            error: (inflation * error).hypot(noise),
            of_mean: (inflation * of_mean).hypot(noise),
            shifted,
        }
    }
}

/// The largest of standard errors of a mean, a log standard deviation and a quantile; zero for what does not vary.
pub(super) fn worst([mean, sd, quantile]: [f64; 3]) -> f64 {
    let largest = mean.max(sd).max(quantile / QUANTILE);
    if mean.is_finite() && sd.is_finite() { largest } else { 0.0 }
}

/// Which output has the largest error, and how large it is.
fn largest(errors: &[Known]) -> (usize, f64) {
    let one = |m: (usize, f64), (j, e): (usize, &Known)| if e.error > m.1 { (j, e.error) } else { m };
    errors.iter().enumerate().fold((0, 0.0), one)
}

/// The tail shape of the weights times the squared deviation of one output: what its standard deviation is estimated from.
fn spread_khat(sample: &Sample, weighed: &Weighed, weights: &[f64], output: usize) -> f64 {
    let values = sample.column(output);
    let weights = weights_of(sample, weighed, weights, output);
    let mean: f64 = values.iter().zip(&*weights).map(|(x, w)| x * w).sum();
    let square = |(x, s): (&f64, &f64)| s * (x - mean).powi(2);
    let points = values.chunks_exact(sample.copies).zip(sample.shares().chunks_exact(sample.copies));
    let spread = points.map(|(x, shares)| x.iter().zip(shares).map(square).sum::<f64>());
    let mut logs: Vec<f64> = spread.collect();
    ln(&mut logs);
    logs.iter_mut().zip(&*weighed.logs(sample.group_of(output))).for_each(|(log, weight)| *log += weight);
    let khat = smooth(&logs).khat;
    if khat.is_finite() { khat } else { f64::NEG_INFINITY }
}

/// The tail shape of the weighted squares of each output, where outputs are few: among many some would look long by chance.
fn shapes_of_squares(errors: &[Known], spread: &(impl Fn(usize) -> f64 + Sync)) -> Vec<f64> {
    let few = errors.len() <= MANY_OUTPUTS;
    let one = |j: usize| if few && errors[j].error > 0.0 { spread(j) } else { f64::NEG_INFINITY };
    (0..errors.len()).into_par_iter().map(one).collect()
}

/// How many times as large all standard errors could be if each missed what the tail of its squares hides.
fn wary(errors: &[Known], shapes: &[f64], dear: bool) -> f64 {
    margin(errors.iter().zip(shapes).map(|(e, shape)| e.error * inflation(*shape)), dear)
}

/// The upper end of what a k̂ from so many draws may be.
fn upper(khat: f64, draws: usize) -> f64 {
    khat + khat_error(khat, draws)
}

/// Standard errors from the weights of a sample miss what its tail hides; the factor is from the mean of a generalised
/// Pareto tail beyond the sample.
fn inflation(khat: f64) -> f64 {
    1.0 + (2.0 * (khat - 0.3)).max(0.0)
}
