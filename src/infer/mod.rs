//! The default fit: a mode, its curvature, a Gaussian fitted in whitened coordinates, importance sampling,
//! summaries.
//!
//! [`fit`] needs no setting. Where the importance weights have a light tail (k̂ below 0.7) the summaries are
//! those of the weighted draws, so the Gaussian is a proposal rather than the answer; where they have not,
//! the fit says so in its findings.
//!
//! Files and folders use only those above them in this list; `tests/cli/house.rs` holds that.
//!
//! | file or folder | what is there |
//! |---|---|
//! | `policy` | every threshold of quality, once |
//! | `attempt` | the ways to fit a model |
//! | `options` | what can be chosen, and how a fit is told to stop |
//! | `progress` | what a fit tells while it goes on, how it ends, and why there may be none |
//! | `finding` | what a fit found out about its own answer |
//! | `gaussian` | a normal distribution on the unconstrained scale |
//! | `cost` | how much is looked at where a gradient takes long |
//! | `model` | a model with its data, in any coordinates of its effects |
//! | `search` | modes, other modes, whitening |
//! | `approximate` | the best Gaussian, by sampling or by quadrature |
//! | `proposal` | what draws come from: the Gaussian, it with tails, mixtures of Student-t's, grids |
//! | `importance` | draws, weights, how many are needed, summaries |
//! | `transport` | maps that bring a posterior closer to a Gaussian |
//! | `sampling` | NUTS and its chains |
//! | `trace` | attempts, and what came of them |
//! | `fit` | the answer |
//! | `moments` | means and covariances in nalgebra's types |
//! | `choose` | which of two answers is to be preferred |
//! | `assess` | checks and corrections of a Gaussian found by any method |
//! | `methods` | methods by name |
//! | `whole` | all coordinates fitted together |
//! | `nested` | coordinates integrated out given others: partition, Hessian, modes, groups |
//! | `diagnose` | what may be wrong with an answer, or with the posterior itself |
//! | `strategy` | what is known of a model, the attempts that this calls for, and the runner |
//! | `certified` | runs with a theorem's guarantee |
//! | `compare` | all methods on one model |

mod approximate;
mod assess;
mod attempt;
pub mod certified;
mod choose;
pub mod compare;
mod cost;
mod diagnose;
mod finding;
mod fit;
mod gaussian;
mod importance;
pub mod methods;
mod model;
mod moments;
mod nested;
mod options;
mod policy;
mod progress;
mod proposal;
mod sampling;
mod search;
mod strategy;
#[cfg(test)]
mod tests;
mod trace;
mod transport;
mod whole;

pub use assess::assess;
pub use attempt::{Attempt, Rule};
pub(crate) use diagnose::doubt::doubt;
pub(crate) use finding::first_few;
pub use finding::{Finding, Inner, Kind, Severity};
pub use fit::{Fit, Origin, Path};
pub use gaussian::Gaussian;
pub use importance::summary::Output;
pub use model::Model;
pub use moments::NotGaussian;
pub use options::{Nuts, Options, Stop};
pub use policy::{KHAT_LIMIT, Policy, Threshold, UnknownThreshold};
pub use progress::{Ending, Error, Progress, Watch};
pub use proposal::Kind as ProposalKind;
pub use sampling::chains::Chains;
pub(crate) use sampling::chains::{EFFECTIVE, RHAT};
pub use strategy::{Enough, Facts, Planned, Strategy, fit_model, plan, strategy};
pub use trace::{Outcome, Preference, Tried};

use crate::target::Target;
use whole::additive::approach;
use whole::complete::complete;

/// Fits a target.
///
/// ```
/// use stickler::{infer, target::from_fn};
/// let target = from_fn(1, |z: &[f64], g: &mut [f64]| {
///     g[0] = 3.0 - z[0];
///     -0.5 * (z[0] - 3.0) * (z[0] - 3.0)
/// });
/// let go_on = &mut |_: &infer::Progress| std::ops::ControlFlow::Continue(());
/// let fit = infer::fit(&target, &infer::Options::default(), go_on).unwrap();
/// assert!((fit.outputs[0].mean - 3.0).abs() < 1e-3);
/// ```
pub fn fit(target: &dyn Target, options: &Options, watch: Watch) -> Result<Fit, Error> {
    Ok(complete(target, &approach(target, options, watch)?, options))
}
