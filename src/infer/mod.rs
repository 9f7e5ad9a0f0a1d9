//! The default fit: a mode, its curvature, a Gaussian fitted in whitened coordinates, importance sampling,
//! summaries.
//!
//! [`fit`] needs no setting. Where the importance weights have a light tail (k̂ below 0.7) the summaries are
//! those of the weighted draws, so the Gaussian is a proposal rather than the answer; where they have not,
//! the fit says so in its findings.
//!
//! | folder | what is there |
//! |---|---|
//! | `strategy` | what is known of a model, the attempts that this calls for, and which answer is kept |
//! | `search` | modes, other modes, whitening |
//! | `approximate` | the best Gaussian, by sampling or by quadrature, and transport maps that bring a posterior closer to one |
//! | `nested` | coordinates integrated out given others: partition, Hessian, modes, groups |
//! | `proposal` | what importance draws come from: the Gaussian, mixtures of Student-t's, grids |
//! | `importance` | draws, weights, how many are needed, summaries |
//! | `diagnose` | what may be wrong with an answer, or with the posterior itself |
//! | `sampling` | NUTS and its chains |
//! | `methods` | methods by name |

mod approximate;
mod assess;
pub mod certified;
pub mod compare;
mod coordinates;
mod diagnose;
mod effort;
mod finding;
mod importance;
pub mod methods;
mod model;
mod nested;
mod options;
mod proposal;
mod sampling;
mod screen;
mod search;
mod strategy;
#[cfg(test)]
mod tests;

pub use approximate::gaussian::{Ending, Gaussian};
pub use assess::assess;
pub use diagnose::doubt::doubt;
pub use finding::{Finding, Inner, Kind, Severity, first_few};
pub use importance::psis::{Smoothed, smooth};
pub use importance::sample::Proposal;
pub use importance::summary::Output;
pub use model::{Model, fit_model};
pub use options::{Nuts, Options, Stop};
pub use proposal::grid::Cells;
pub use proposal::student::Students;
pub use sampling::chains::{Chains, EFFECTIVE, RHAT};
pub use strategy::{Attempt, Enough, Facts, Outcome, Planned, Preference, Strategy, Tried, plan, strategy};

use crate::num::linalg::{dot, solve_lower};
use crate::num::real::LN_2PI;
use crate::target::Target;
use crate::vi::Scale;
use approximate::transport::layers;
use approximate::transport::layers::Bent;
use approximate::transport::map::Warped;
use approximate::{gaussian, quadrature};
use diagnose::ending::{ended, excuse};
use importance::check::check;
use importance::summary::Layout;
use importance::{budget, summary};
use proposal::flow::Reached;
use search::rivals::Rival;
use search::{modes as search_modes, whiten};
use std::ops::ControlFlow;
use strategy::better;
use thiserror::Error;

/// From this k̂ on importance weights cannot be relied on.
pub const KHAT_LIMIT: f64 = 0.7;
/// Weights with a k̂ below this are light.
const LIGHT: f64 = 0.55;
/// Gradients of a fit that decides between starts.
const SHORT: usize = 2000;
/// A tolerance above this, in nats, asks for a rough answer.
const FINE: f64 = 0.05;
/// Coordinates up to which an answer is polished.
const FEW: usize = 40;
/// A mode further from the mean, in standard deviations beside what the dimension makes usual, is another.
const ELSEWHERE: f64 = 3.0;
/// A posterior further from the Gaussian, in half-variances of the log weights, has an ELBO with a curvature
/// of its own.
const FAR: f64 = 0.05;
/// Fewest draws that tell so, where each takes long.
const FEW_DRAWS: usize = 256;

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
        "the log density or its gradient is not finite at the origin of the unconstrained scale, nor at any random point near it; check \
         that the data lie in the support of their distributions, and that parameters are expected near 1 rather than \
         near a million, where exponentials overflow"
    )]
    NoStart,
    /// No posterior.
    #[error(
        "the log density is the same however far one goes along a direction of {0}: neither data nor priors hold them, and \
         without an end there is no posterior; give them priors that are distributions, or leave one of them out"
    )]
    Level(String),
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
    /// The log density is a sum of functions of affine forms: the best Gaussian was found by quadrature,
    /// without sampling.
    Quadrature,
    /// A Gaussian was fitted by variational inference to the coordinates that others depend on, with the
    /// others integrated out given them.
    Nested,
    /// A Gaussian was fitted by variational inference.
    Variational,
    /// The posterior was sampled with NUTS, because importance weights could not be relied on.
    Nuts,
}

impl Path {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Path::Gaussian => "gaussian",
            Path::Quadrature => "quadrature",
            Path::Nested => "nested",
            Path::Variational => "variational",
            Path::Nuts => "nuts",
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
    pub factor: Scale,
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
    /// Tail shape of the importance weights behind `outputs`, or of the weighted squares of the output that
    /// is known worst, if that is heavier.
    pub khat: f64,
    /// What the importance draws came from.
    pub proposal: Proposal,
    /// Importance draws.
    pub draws: usize,
    /// Gradients evaluated.
    pub gradients: usize,
    /// Time taken.
    pub seconds: f64,
    /// Whether `mean` and `factor` are in the coordinates of the target as given.
    pub as_declared: bool,
    /// Summaries: of the weighted draws if k̂ < 0.7, of the Gaussian if not (or of NUTS draws, where that was
    /// the path).
    pub outputs: Vec<Output>,
    /// Summaries of the Gaussian.
    pub gaussian: Vec<Output>,
    /// Posterior draws of each output, as many as were to be kept: the weighted draws resampled, or those of
    /// the Gaussian where the weights are not trusted.
    pub kept: Vec<Vec<f64>>,
    /// The chains of NUTS, where that was the path.
    pub chains: Option<Chains>,
    /// What it found out about its own answer.
    pub findings: Vec<Finding>,
    /// What was tried on the way, in order; the last attempt that was preferred is this answer.
    pub trace: Vec<Tried>,
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
#[derive(Clone)]
struct Approach {
    fitted: gaussian::Fitted,
    path: Path,
    gradients: usize,
    /// Other modes that matter.
    rivals: Vec<Rival>,
}

/// The best Gaussian: by quadrature where that is possible, or else modes, whitening and the Gaussian fit
/// from the best.
fn approach(
    target: &dyn Target,
    options: &Options,
    watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Approach, Error> {
    match without_sampling(target, options) {
        Some(found) => Ok(found),
        None => by_sampling(target, options, watch),
    }
}

/// The same where the structure of the log density does not help.
fn by_sampling(
    target: &dyn Target,
    options: &Options,
    watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Approach, Error> {
    if target.dimension() == 0 {
        return Err(Error::NoParameters);
    }
    let found = from_modes(target, modes(target, search_modes::others(target), options)?, options, watch)?;
    let gradients = found.gradients - found.fitted.gradients;
    let fitted = polished(target, found.fitted, options);
    Ok(Approach { gradients: gradients + fitted.gradients, fitted, ..found })
}

/// Where searches for a mode end, from the origin and from so many random points.
fn modes(target: &dyn Target, others: u64, options: &Options) -> Result<search_modes::Modes, Error> {
    search_modes::find(target, options, target.dimension() <= options.dense, others).ok_or(Error::NoStart)
}

/// Whitening at each mode and the Gaussian fit from the best.
fn from_modes(
    target: &dyn Target,
    found: search_modes::Modes,
    options: &Options,
    watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Approach, Error> {
    let dense = target.dimension() <= options.dense;
    let mut evaluator = target.evaluator();
    let mut gradients = found.gradients;
    let mut starts: Vec<Gaussian> = Vec::new();
    for mode in found.modes {
        starts.push(if dense {
            whiten::dense(mode.point, mode.curvature)
        } else {
            whiten::diagonal(&mut *evaluator, mode.point)
        });
    }
    let (start, batch, mut rivals) =
        best_start(target, starts, !found.parts.is_empty(), options, &mut gradients)?;
    rivals.extend(of_parts(target, &start, found.parts, &rivals));
    // Of more than a mixture can hold those are left out that matter least; that there are so many is told.
    rivals.sort_by(|a, b| b.importance.total_cmp(&a.importance));
    let fitted = refine(target, start.0, batch, options, watch)?;
    gradients += fitted.gradients;
    Ok(Approach { fitted, path: Path::Variational, gradients, rivals })
}

/// The parts of a mixture that matter beside what was found, without those that were: by their own curvature,
/// for a part may have mass where the sum has no mode.
fn of_parts(
    target: &dyn Target,
    start: &(Gaussian, f64),
    parts: Vec<search_modes::Part>,
    known: &[Rival],
) -> Vec<Rival> {
    let constant = 0.5 * start.0.mean.len() as f64 * LN_2PI;
    let mut new: Vec<Rival> = Vec::new();
    for part in parts {
        let q = whiten::dense(part.mode.point, part.mode.curvature);
        let behind = (start.1 - part.log_mass - constant).max(0.0);
        if let Some(rival) = Rival::of_part(target, &start.0, q, behind)
            && known.iter().chain(&new).all(|other| rival.differs(other))
        {
            new.push(rival);
        }
    }
    new
}

/// The best Gaussian by quadrature, where the structure of the log density allows it.
fn without_sampling(target: &dyn Target, options: &Options) -> Option<Approach> {
    let d = target.dimension();
    if d == 0 || d > options.dense {
        return None;
    }
    let solution = quadrature::solve(&target.separable()?, d)?;
    // Under a narrow Gaussian any function looks quadratic, and so concave: the graph alone proves that it
    // is.
    let proved = solution.quadratic && target.is_gaussian();
    let concave = proved || solution.concave && !solution.quadratic;
    if !concave && d <= search_modes::SEVERAL && has_other_modes(target, &solution.q, options) {
        return None;
    }
    let (path, ending) = if proved {
        (Path::Gaussian, Ending::Exact)
    } else if solution.gap <= options.tolerance {
        (Path::Quadrature, Ending::Converged)
    } else {
        (Path::Quadrature, Ending::Budget)
    };
    let fitted = gaussian::Fitted {
        q: solution.q,
        gap: solution.gap,
        elbo: solution.elbo,
        elbo_se: 0.0,
        draws: usize::MAX,
        gradients: solution.evaluations,
        noise: 0.0,
        batch: gaussian::FIRST,
        ending,
    };
    Some(Approach { gradients: fitted.gradients, fitted, path, rivals: Vec::new() })
}

/// Whether searches end at places that a Gaussian does not know of.
fn has_other_modes(target: &dyn Target, q: &Gaussian, options: &Options) -> bool {
    let d = q.mean.len();
    let factor = q.factor.dense(d);
    let is_other = |mode: &search_modes::Mode| {
        let mut away: Vec<f64> = mode.point.iter().zip(&q.mean).map(|(z, m)| z - m).collect();
        solve_lower(&factor, d, &mut away);
        dot(&away, &away).sqrt() > ELSEWHERE + (d as f64).sqrt()
    };
    modes(target, search_modes::others(target), options).is_ok_and(|found| {
        let apart =
            |a: &search_modes::Mode, b: &search_modes::Mode| a.distance(b).is_some_and(|far| far > ELSEWHERE);
        // A Gaussian over several modes is near each, and a good one for none.
        let several =
            found.modes.iter().enumerate().any(|(k, a)| found.modes[..k].iter().any(|b| apart(a, b)));
        several || found.modes.iter().any(is_other) || found.parts.iter().any(|part| is_other(&part.mode))
    })
}

/// Of several starts the one that a short fit takes furthest, with its ELBO, and the others that ended
/// elsewhere and matter. A single one is not fitted, if nothing is to be compared with it.
fn best_start(
    target: &dyn Target,
    mut starts: Vec<Gaussian>,
    compared: bool,
    options: &Options,
    gradients: &mut usize,
) -> Result<((Gaussian, f64), usize, Vec<Rival>), Error> {
    if starts.len() == 1
        && !compared
        && let Some(only) = starts.pop()
    {
        return Ok(((only, f64::NAN), gaussian::FIRST, Vec::new()));
    }
    let short = Options { tolerance: 0.5, gradients: Some(SHORT), ..options.clone() };
    let mut tried: Vec<gaussian::Fitted> = Vec::new();
    for start in starts {
        if options.stop.requested() && !tried.is_empty() {
            break;
        }
        if let Ok(fitted) = refine(target, start, gaussian::FIRST, &short, &mut |_| ControlFlow::Continue(()))
        {
            *gradients += fitted.gradients;
            tried.push(fitted);
        }
    }
    tried.sort_by(|a, b| b.elbo.total_cmp(&a.elbo));
    let mut tried = tried.into_iter();
    let best = tried.next().ok_or(Error::NoNeighbourhood)?;
    let rivals = tried.filter_map(|other| Rival::new(target, &best, other)).collect();
    Ok(((best.q, best.elbo), best.batch, rivals))
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
        stop: options.stop.clone(),
    };
    let fitted = gaussian::fit(target, start, &limits, watch).ok_or(Error::NoNeighbourhood)?;
    // A density may be Gaussian wherever draws come, and have another mode elsewhere: only the graph proves
    // that it is Gaussian.
    let unproved = fitted.ending == Ending::Exact && !target.is_gaussian();
    Ok(if unproved { gaussian::Fitted { ending: Ending::Converged, ..fitted } } else { fitted })
}

/// The Gaussian polished, where the posterior is so far from Gaussian that natural gradients do not tell what
/// is left to gain.
fn polished(target: &dyn Target, fitted: gaussian::Fitted, options: &Options) -> gaussian::Fitted {
    let done = match fitted.ending {
        Ending::Exact | Ending::Stopped => true,
        Ending::Converged | Ending::Budget => false,
    };
    if done || options.tolerance > FINE || fitted.q.mean.len() > FEW || options.stop.requested() {
        return fitted;
    }
    let draws = effort::spared(target, budget::PILOT, FEW_DRAWS);
    let judged = layers::judge(&Warped::flat(target), &fitted.q, draws, options);
    if !(judged.elbo[2] > FAR) {
        return fitted;
    }
    let mut gradients = fitted.gradients;
    let better = methods::polish(target, &fitted, options, &mut gradients);
    let Some(better) = better else { return gaussian::Fitted { gradients, ..fitted } };
    let ending = if better.gap <= options.tolerance { Ending::Converged } else { Ending::Budget };
    let methods::Polished { q, gap, elbo, elbo_se, draws } = better;
    gaussian::Fitted { q, gap, elbo, elbo_se, draws, gradients, ending, ..fitted }
}

/// Bent coordinates, importance sampling, summaries and findings for a fitted Gaussian.
fn complete(target: &dyn Target, found: Approach, options: &Options) -> Fit {
    let mut straight = Bent::straight(target, &found.fitted.q, options);
    straight.first = best_known(&found.fitted, &straight.judged);
    if found.fitted.ending == Ending::Exact {
        return conclude(target, found, &straight, options);
    }
    let early = without_bends(target, &found, &straight, options);
    if let Some(fit) = early.as_ref().filter(|fit| !fit.is_doubtful()) {
        return ended(fit.clone(), &found, options);
    }
    let bent = layers::grow(straight, layers::LAYERS, options);
    let fit = check(&bent.reached(&Warped::flat(target), &found.fitted.q, &found.rivals), options);
    let worse = |early: &Fit| fit.path != Path::Nuts && fit.is_doubtful() && early.khat < fit.khat;
    ended(early.filter(worse).unwrap_or(fit), &found, options)
}

/// ELBO, its standard error and half the variance of the log weights: by the draws that judge the Gaussian,
/// or as it was fitted where more tell it.
fn best_known(fitted: &gaussian::Fitted, judged: &layers::Judged) -> [f64; 3] {
    let [elbo, _, half_variance] = judged.elbo;
    match fitted.draws > judged.pilot.ratios.len() || !elbo.is_finite() {
        true => [fitted.elbo, fitted.elbo_se, half_variance],
        false => judged.elbo,
    }
}

/// Importance sampling as fitted, where coordinates are so few that draws of a mixture may do without bends.
fn without_bends(target: &dyn Target, found: &Approach, straight: &Bent, options: &Options) -> Option<Fit> {
    let q = &found.fitted.q;
    let few = q.mean.len() <= budget::FEW_TO_LEARN && options.nuts != Nuts::Always;
    let options = Options { nuts: Nuts::Never, ..options.clone() };
    few.then(|| check(&straight.reached(&Warped::flat(target), q, &found.rivals), &options))
}

/// Importance sampling in bent coordinates, summaries and findings.
fn conclude(target: &dyn Target, found: Approach, bent: &Bent, options: &Options) -> Fit {
    let flat = Warped::flat(target);
    let (q, rivals) = (found.fitted.q.clone(), found.rivals.clone());
    finish(found, &bent.reached(&flat, &q, &rivals), options)
}

/// Importance sampling, summaries and findings for what was reached.
fn finish(found: Approach, reached: &Reached, options: &Options) -> Fit {
    ended(check(reached, options), &found, options)
}

/// Mean of `log p - log q`, its standard error, and half the variance, under the Gaussian; infinite if a draw
/// fell outside the support.
fn elbo(log_weights: &[f64], layout: Layout) -> [f64; 3] {
    if log_weights.iter().any(|x| !x.is_finite()) {
        return [f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY];
    }
    let n = log_weights.len() as f64;
    let mean = log_weights.iter().sum::<f64>() / n;
    let variance = log_weights.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    [mean, summary::error_of_mean(log_weights, layout), 0.5 * variance]
}
