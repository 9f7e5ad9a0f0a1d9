//! What a fit tells while it goes on, how it ends, and why there may be none.

use std::ops::ControlFlow;
use thiserror::Error;

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

/// Called as a fit goes on; `Break` ends it with what it has.
pub type Watch<'a> = &'a mut dyn FnMut(&Progress) -> ControlFlow<()>;

/// How a fit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The target is Gaussian to rounding.
    Exact,
    /// The gap is below the tolerance.
    Converged,
    /// The gradients were used up first.
    Budget,
    /// The watcher stopped it.
    Stopped,
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
