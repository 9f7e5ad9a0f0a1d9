//! The default fit: a mode, its curvature, a Gaussian fitted in whitened coordinates, importance sampling, summaries.
//!
//! [`fit`] needs no setting. Where the importance weights have a light tail (k̂ below 0.7) the summaries are those of the
//! weighted draws, so the Gaussian is a proposal rather than the answer; where they have not, the fit says so in its flags.

mod assess;
pub mod certified;
mod gaussian;
mod mode;
mod psis;
mod sample;
mod summary;
#[cfg(test)]
mod tests;
mod whiten;

pub use assess::assess;
pub use gaussian::{Ending, Factor, Gaussian};
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
const HELD: usize = 40_000_000;

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
    /// A Gaussian was fitted by variational inference.
    Variational,
}

impl Path {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Path::Gaussian => "gaussian",
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
    let d = target.dimension();
    if d == 0 {
        return Err(Error::NoParameters);
    }
    let dense = d <= options.dense;
    let mut evaluator = target.evaluator();
    let mode = mode::find(&mut *evaluator, d, options.seed, dense).ok_or(Error::NoStart)?;
    let start = if dense {
        whiten::dense(mode.point, mode.curvature)
    } else {
        whiten::diagonal(&mut *evaluator, mode.point)
    };
    let limits = gaussian::Limits {
        seed: options.seed,
        tolerance: options.tolerance,
        gradients: options.gradients.unwrap_or((400 * d).clamp(20_000, 100_000)),
    };
    let fitted = gaussian::fit(target, start, &limits, watch).ok_or(Error::NoNeighbourhood)?;
    let mut fit = check(target, &fitted.q, options);
    fit.status = fitted.ending;
    fit.path = if fitted.ending == Ending::Exact { Path::Gaussian } else { Path::Variational };
    fit.gap_nats = fitted.gap;
    fit.gradients = mode.gradients + fitted.gradients;
    fit.flags.extend(ending_flag(&fitted, options));
    fit.seconds = clock.elapsed().as_secs_f64();
    Ok(fit)
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

/// Importance sampling from the better of two proposals, and the summaries.
fn check(target: &dyn Target, q: &Gaussian, options: &Options) -> Fit {
    let d = q.mean.len();
    let names = target.output_names();
    let most = (HELD / names.len().max(d).max(1)).max(1000);
    let usual = if d <= 60 {
        16_384
    } else if d <= 300 {
        8192
    } else {
        4096
    };
    let draws = options.draws.unwrap_or(usual).min(most).max(64);
    let plain = sample::draw(target, q, Proposal::Gaussian, draws, options.seed);
    let smoothed = smooth(&plain.log_weights);
    let weighted = heavier(target, q, &smoothed, &plain, options.seed);
    let (proposal, weights, khat) = match &weighted {
        Some((_, heavy)) => (Proposal::Student, &heavy.weights, heavy.khat),
        None => (Proposal::Gaussian, &smoothed.weights, smoothed.khat),
    };
    let values = sample::outputs(target, &plain, names.len());
    let even = vec![1.0 / plain.log_weights.len() as f64; plain.log_weights.len()];
    let gaussian = summaries(&names, &values, &even);
    let corrected = match &weighted {
        Some((sample, _)) => summaries(&names, &sample::outputs(target, sample, names.len()), weights),
        None => summaries(&names, &values, weights),
    };
    let trusted = khat < KHAT_LIMIT;
    let flags = (!trusted).then(|| poor(khat, &corrected, &gaussian)).into_iter().collect();
    let outputs = if trusted { corrected } else { gaussian.clone() };
    let [elbo, elbo_se, half_variance] = elbo(&plain.log_weights);
    let log_weights = weighted.as_ref().map_or(&plain.log_weights, |(s, _)| &s.log_weights);
    let finite: Vec<f64> = log_weights.iter().copied().filter(|x| !x.is_nan()).collect();
    let log_evidence = crate::num::special::log_sum_exp(&finite) - (log_weights.len() as f64).ln();
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
        draws: weights.len(),
        gradients: 0,
        seconds: 0.0,
        outputs,
        gaussian,
        flags,
    }
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

/// The Student-t proposal, where a pilot says that its weights have the lighter tail.
fn heavier(
    target: &dyn Target,
    q: &Gaussian,
    plain: &Smoothed,
    sample: &Sample,
    seed: u64,
) -> Option<(Sample, Smoothed)> {
    // Weights as light as these need no help.
    if plain.khat < 0.3 {
        return None;
    }
    let draws = sample.log_weights.len();
    let pilot = (draws / 4).max(64);
    let trial = smooth(&sample::draw(target, q, Proposal::Student, pilot, seed).log_weights);
    let same = smooth(&sample.log_weights[..pilot.min(draws)]);
    if trial.khat >= same.khat.max(plain.khat) {
        return None;
    }
    let heavy = sample::draw(target, q, Proposal::Student, draws, seed);
    let smoothed = smooth(&heavy.log_weights);
    (smoothed.khat < plain.khat).then_some((heavy, smoothed))
}

fn summaries(names: &[String], values: &[f64], weights: &[f64]) -> Vec<Output> {
    use rayon::prelude::*;
    let columns: Vec<&[f64]> = values.chunks_exact(weights.len().max(1)).collect();
    names.par_iter().zip(columns).map(|(n, v)| summary::summarise(n, v, weights)).collect()
}
