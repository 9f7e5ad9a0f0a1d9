//! The default fit: a mode, its curvature, a Gaussian fitted in whitened coordinates, importance sampling, summaries.
//!
//! [`fit`] needs no setting. Where the importance weights have a light tail (k̂ below 0.7) the summaries are those of the
//! weighted draws, so the Gaussian is a proposal rather than the answer; where they have not, the fit says so in its flags.

mod assess;
mod bend;
pub mod certified;
mod gaussian;
mod mode;
mod model;
mod psis;
mod quadrature;
mod sample;
mod shape;
mod summary;
#[cfg(test)]
mod tests;
mod warp;
mod whiten;

pub use assess::assess;
pub use gaussian::{Ending, Factor, Gaussian};
pub use model::{Model, fit_model};
pub use psis::{Smoothed, smooth};
pub use sample::Proposal;
pub use summary::Output;

use crate::target::Target;
use sample::Sample;
use std::ops::ControlFlow;
use thiserror::Error;

/// From this k̂ on importance weights cannot be relied on.
pub const KHAT_LIMIT: f64 = 0.7;
/// Quantities named in a flag.
const NAMED: usize = 3;
/// Most numbers held of outputs of draws.
const HELD: usize = 60_000_000;
/// Most importance draws.
const MOST_DRAWS: usize = 400_000;
/// Importance draws to begin with.
const FEWEST: usize = 8192;
/// Draws that judge a proposal.
const PILOT: usize = 2048;
/// Draws that summarise the Gaussian itself.
const PLAIN: usize = 4096;

/// What can be chosen; the defaults are meant for everything.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Seed of everything random.
    pub seed: u64,
    /// The optimisation gap, in nats, at which the fit is done.
    pub tolerance: f64,
    /// Most gradients of the fit; by default from the dimension.
    pub gradients: Option<usize>,
    /// Draws for importance sampling; by default from the dimension.
    pub draws: Option<usize>,
    /// Dimension up to which the covariance is full; beyond, diagonal.
    pub dense: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { seed: 1, tolerance: 0.005, gradients: None, draws: None, dense: 1200 }
    }
}

/// The fit as a watcher sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Batches evaluated.
    pub iteration: u64,
    /// Gradients evaluated.
    pub gradients: usize,
    /// ELBO estimate of the latest batch.
    pub elbo: f64,
    /// Its standard error.
    pub elbo_se: f64,
    /// Upper estimate of the optimisation gap.
    pub gap_nats: f64,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// Nothing to infer.
    #[error("the model has no parameters, so there is nothing to fit; declare at least one with `param`")]
    NoParameters,
    /// No starting point.
    #[error(
        "the log density is not finite at the origin of the unconstrained scale or at any random point near it; check \
         that the data lie in the support of their distributions"
    )]
    NoStart,
    /// No Gaussian, however narrow, has finite draws.
    #[error(
        "the log density or its gradient is not finite around the starting point, however narrow the approximation; \
         check the model for values outside their support"
    )]
    NoNeighbourhood,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// The posterior is Gaussian: mode and curvature are the answer.
    Gaussian,
    /// The log density is a sum of functions of affine forms: the best Gaussian was found by quadrature, without sampling.
    Quadrature,
    /// A Gaussian was fitted by variational inference.
    Variational,
}

impl Path {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Path::Gaussian => "gaussian",
            Path::Quadrature => "quadrature",
            Path::Variational => "variational",
        }
    }
}

/// An answer, with what is known of its quality.
#[derive(Clone, Debug)]
pub struct Fit {
    /// How the optimisation ended.
    pub status: Ending,
    /// What was done.
    pub path: Path,
    /// Mean of the Gaussian on the unconstrained scale.
    pub mean: Vec<f64>,
    /// Its factor.
    pub factor: Factor,
    /// ELBO of the Gaussian.
    pub elbo: f64,
    /// Its standard error.
    pub elbo_se: f64,
    /// Estimate of log p(x) from the importance weights.
    pub log_evidence: f64,
    /// Upper estimate (two standard errors) of the ELBO still to gain.
    pub gap_nats: f64,
    /// `½ Var_q[log p - log q]`, an estimate of the distance of the Gaussian from the posterior in nats.
    pub half_variance: f64,
    /// Tail shape of the importance weights behind `outputs`.
    pub khat: f64,
    /// What the importance draws came from.
    pub proposal: Proposal,
    /// Importance draws.
    pub draws: usize,
    /// Gradients evaluated.
    pub gradients: usize,
    /// Time taken.
    pub seconds: f64,
    /// Summaries: of the weighted draws if k̂ < 0.7, of the Gaussian if not.
    pub outputs: Vec<Output>,
    /// Summaries of the Gaussian.
    pub gaussian: Vec<Output>,
    /// What a user should know before trusting the answer.
    pub flags: Vec<String>,
    /// What was done that a user did not ask for.
    pub notes: Vec<String>,
}

/// Fits a target.
///
/// ```
/// use stickler::{infer, target::from_fn};
/// let target = from_fn(1, |z: &[f64], g: &mut [f64]| {
///     g[0] = 3.0 - z[0];
///     -0.5 * (z[0] - 3.0) * (z[0] - 3.0)
/// });
/// let fit = infer::fit(&target, &infer::Options::default(), &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
/// assert!((fit.outputs[0].mean - 3.0).abs() < 1e-3);
/// ```
pub fn fit(
    target: &dyn Target,
    options: &Options,
    watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Fit, Error> {
    let clock = std::time::Instant::now();
    let found = approach(target, options, watch)?;
    let mut fit = complete(target, found, options);
    fit.seconds = clock.elapsed().as_secs_f64();
    Ok(fit)
}

/// A fitted Gaussian with what was seen on the way.
struct Approach {
    fitted: gaussian::Fitted,
    path: Path,
    gradients: usize,
    /// Other modes of comparable mass.
    rivals: Vec<f64>,
}

/// Mode, whitening and the Gaussian fit.
fn approach(
    target: &dyn Target,
    options: &Options,
    watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Approach, Error> {
    let d = target.dimension();
    if d == 0 {
        return Err(Error::NoParameters);
    }
    let dense = d <= options.dense;
    if dense && let Some(found) = without_sampling(target, d) {
        return Ok(found);
    }
    let mut evaluator = target.evaluator();
    let mode = mode::find(&mut *evaluator, d, options.seed, dense).ok_or(Error::NoStart)?;
    let start = if dense {
        whiten::dense(mode.point, mode.curvature)
    } else {
        whiten::diagonal(&mut *evaluator, mode.point)
    };
    let fitted = refine(target, start, gaussian::FIRST, options, watch)?;
    let gradients = mode.gradients + fitted.gradients;
    Ok(Approach { fitted, path: Path::Variational, gradients, rivals: mode.rivals })
}

/// The best Gaussian by quadrature, where the structure of the log density allows it.
fn without_sampling(target: &dyn Target, d: usize) -> Option<Approach> {
    let solution = quadrature::solve(&target.separable()?, d)?;
    let (path, ending) = match solution.quadratic {
        true => (Path::Gaussian, Ending::Exact),
        false => (Path::Quadrature, Ending::Converged),
    };
    let fitted = gaussian::Fitted {
        q: solution.q,
        gap: solution.gap,
        elbo: solution.elbo,
        elbo_se: 0.0,
        gradients: solution.evaluations,
        batch: gaussian::FIRST,
        ending,
    };
    Some(Approach { gradients: fitted.gradients, fitted, path, rivals: Vec::new() })
}

/// The Gaussian fit from a start, with batches of this size.
fn refine(
    target: &dyn Target,
    start: Gaussian,
    batch: usize,
    options: &Options,
    watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<gaussian::Fitted, Error> {
    let limits = gaussian::Limits {
        seed: options.seed,
        tolerance: options.tolerance,
        gradients: options.gradients.unwrap_or((400 * start.mean.len()).clamp(20_000, 100_000)),
        batch,
    };
    gaussian::fit(target, start, &limits, watch).ok_or(Error::NoNeighbourhood)
}

/// Bent coordinates, importance sampling, summaries and flags for a fitted Gaussian.
fn complete(target: &dyn Target, found: Approach, options: &Options) -> Fit {
    let exact = found.fitted.ending == Ending::Exact;
    let mut fit = check(target, &found.fitted.q, options, !exact);
    fit.status = found.fitted.ending;
    fit.path = if exact { Path::Gaussian } else { found.path };
    fit.elbo = found.fitted.elbo;
    fit.elbo_se = found.fitted.elbo_se;
    fit.gap_nats = found.fitted.gap;
    fit.gradients += found.gradients;
    fit.flags.extend(ending_flag(&found.fitted, options));
    fit.flags.extend(rival_flag(&found.rivals));
    fit
}

fn rival_flag(rivals: &[f64]) -> Option<String> {
    let nearest = rivals.iter().copied().fold(f64::INFINITY, f64::min);
    nearest.is_finite().then(|| {
        format!(
            "the posterior has {} other mode(s) found from other starting points, the nearest with a mass of about {:.2} \
             of the one that was fitted; the answer describes one mode alone",
            rivals.len(),
            (-nearest).exp()
        )
    })
}

fn ending_flag(fitted: &gaussian::Fitted, options: &Options) -> Option<String> {
    let (gap, tolerance) = (fitted.gap, options.tolerance);
    match fitted.ending {
        Ending::Exact | Ending::Converged => None,
        Ending::Budget => Some(format!(
            "the fit used up its {} gradients with an estimated gap of {gap:.3} nats; {tolerance} was asked for",
            fitted.gradients
        )),
        Ending::Stopped => Some(format!("the fit was stopped at an estimated gap of {gap:.3} nats")),
    }
}

/// Mean of `log p - log q`, its standard error, and half the variance, under the Gaussian; infinite if a draw fell outside
/// the support.
fn elbo(log_weights: &[f64]) -> [f64; 3] {
    if log_weights.iter().any(|x| !x.is_finite()) {
        return [f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY];
    }
    let n = log_weights.len() as f64;
    let mean = log_weights.iter().sum::<f64>() / n;
    let variance = log_weights.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    [mean, (variance / n).sqrt(), 0.5 * variance]
}

/// Importance sampling from the better proposal, and the summaries.
fn check(target: &dyn Target, q: &Gaussian, options: &Options, may_bend: bool) -> Fit {
    let names = target.output_names();
    let pilot = pilot(target, q, Proposal::Gaussian, options.seed);
    let [elbo, elbo_se, half_variance] = elbo(&pilot.log_weights);
    let plain = sample::plain(target, q, PLAIN, names.len(), options.seed);
    let even = vec![1.0 / PLAIN as f64; PLAIN];
    let gaussian = summaries(&names, |j| plain[j].clone(), &even, 1.0);
    let bent = if may_bend { bend::bend(target, q, half_variance, options) } else { None };
    let gradients = bent.as_ref().map_or(0, |b| b.gradients);
    let (flow, base) = match &bent {
        Some(b) => (&b.target as &dyn Target, &b.q),
        None => (target, q),
    };
    let proposal = proposal(flow, base, options.seed);
    let drawn = enough(flow, base, proposal, names.len(), options);
    let Drawn { sample, smoothed, inflation, worst } = drawn;
    let corrected = summaries(&names, |j| sample.column(j), &smoothed.weights, inflation);
    let khat = smoothed.khat;
    let trusted = khat < KHAT_LIMIT;
    let mut flags: Vec<String> = (!trusted).then(|| poor(khat, &corrected, &gaussian)).into_iter().collect();
    if trusted && worst > 2.0 * precision(names.len()) {
        flags.push(format!(
            "the importance draws were used up with standard errors of up to {worst:.3} standard deviations"
        ));
    }
    let finite: Vec<f64> = sample.log_weights.iter().copied().filter(|x| !x.is_nan()).collect();
    let log_evidence = crate::num::special::log_sum_exp(&finite) - (sample.log_weights.len() as f64).ln();
    Fit {
        status: Ending::Budget,
        path: Path::Variational,
        mean: q.mean.clone(),
        factor: q.factor.clone(),
        elbo,
        elbo_se,
        log_evidence,
        gap_nats: f64::INFINITY,
        half_variance,
        khat,
        proposal,
        draws: sample.log_weights.len(),
        gradients,
        seconds: 0.0,
        outputs: if trusted { corrected } else { gaussian.clone() },
        gaussian,
        flags,
        notes: Vec::new(),
    }
}

/// A few draws, to judge a proposal.
fn pilot<'t>(target: &'t dyn Target, q: &'t Gaussian, proposal: Proposal, seed: u64) -> Sample<'t> {
    let mut sample = Sample::new(target, q, proposal, seed);
    sample.extend(PILOT);
    sample
}

/// The proposal whose weights have the lighter tail.
fn proposal(target: &dyn Target, q: &Gaussian, seed: u64) -> Proposal {
    let khat = |p: Proposal| smooth(&pilot(target, q, p, seed).log_weights).khat;
    let plain = khat(Proposal::Gaussian);
    // Weights as light as these need no help.
    if plain >= 0.3 && khat(Proposal::Student) < plain { Proposal::Student } else { Proposal::Gaussian }
}

/// Importance draws with their weights.
struct Drawn<'t> {
    sample: Sample<'t>,
    smoothed: Smoothed,
    /// What heavy tails add to the standard errors.
    inflation: f64,
    /// The largest standard error of a mean or of a log standard deviation, in standard deviations.
    worst: f64,
}

/// The standard error to reach: the largest of so many errors should stay below 0.04 standard deviations.
fn precision(outputs: usize) -> f64 {
    0.04 / (2.0 * (2.0 * outputs.max(1) as f64).ln()).sqrt().max(2.0)
}

/// Draws until the standard error of everything reported is small, or no more can be held.
fn enough<'t>(
    target: &'t dyn Target,
    q: &'t Gaussian,
    proposal: Proposal,
    outputs: usize,
    options: &Options,
) -> Drawn<'t> {
    use rayon::prelude::*;
    let d = q.mean.len();
    let most = (HELD / outputs.max(1)).clamp(FEWEST, MOST_DRAWS);
    let mut sample = Sample::new(target, q, proposal, options.seed);
    let mut count = options.draws.unwrap_or(FEWEST).max(64);
    loop {
        sample.extend(count);
        let smoothed = smooth(&sample.log_weights);
        let errors: Vec<[f64; 2]> = (0..outputs)
            .into_par_iter()
            .map(|j| summary::errors(&sample.column(j), &smoothed.weights))
            .filter(|e| e[0].is_finite() && e[1].is_finite())
            .collect();
        let inflation = inflation(smoothed.khat);
        let largest = errors.iter().flatten().fold(0.0_f64, |m, e| m.max(*e));
        let worst = inflation * largest;
        let goal = precision(outputs);
        let have = sample.log_weights.len();
        // A k̂ near the limit is decided by more draws; one far above it is not.
        let unsure = (smoothed.khat - KHAT_LIMIT).abs() < 0.15 && have < 4 * FEWEST;
        let hopeless = smoothed.khat > KHAT_LIMIT + 0.15;
        let done = options.draws.is_some() || have >= most || hopeless || (worst <= goal && !unsure);
        if done || (smoothed.khat >= KHAT_LIMIT && !unsure) || d == 0 {
            return Drawn { sample, smoothed, inflation, worst };
        }
        let needed = have as f64 * ((worst / goal).powi(2) * 1.1).clamp(2.0, 8.0);
        count = (needed as usize).min(most);
    }
}

/// Standard errors from the weights of a sample miss what its tail hides; the factor is from the mean of a generalised
/// Pareto tail beyond the sample.
fn inflation(khat: f64) -> f64 {
    1.0 + (2.0 * (khat - 0.3)).max(0.0)
}

/// Says that k̂ is too large, naming the quantities whose means the weights move most, in standard deviations.
fn poor(khat: f64, corrected: &[Output], gaussian: &[Output]) -> String {
    let moved = |(c, g): (&Output, &Output)| ((c.mean - g.mean).abs() / g.sd, g.name.clone());
    let mut moves: Vec<(f64, String)> =
        corrected.iter().zip(gaussian).map(moved).filter(|(size, _)| size.is_finite()).collect();
    moves.sort_by(|a, b| b.0.total_cmp(&a.0));
    let worst: Vec<&str> = moves.iter().take(NAMED).map(|(_, name)| name.as_str()).collect();
    format!(
        "k-hat is {khat:.2}, not below {KHAT_LIMIT}: the Gaussian may be a poor approximation, most of all for {}, and \
         its summaries are not corrected; try another parameterisation (centred or non-centred), or sample",
        worst.join(", ")
    )
}

fn summaries(
    names: &[String],
    column: impl Fn(usize) -> Vec<f64> + Sync,
    weights: &[f64],
    inflation: f64,
) -> Vec<Output> {
    use rayon::prelude::*;
    let one = |(j, name): (usize, &String)| summary::summarise(name, &column(j), weights, inflation);
    names.par_iter().enumerate().map(one).collect()
}
