//! What a method is given, and what it ends with.

use crate::infer::finding::Finding;
use crate::infer::gaussian::Gaussian;
use crate::infer::methods::thin::Thin;
use crate::infer::options::Options;
use crate::infer::progress::{Ending, Watch};
use crate::target::Target;
use crate::vi;
use thiserror::Error;

/// A row of the table of methods.
pub struct Method {
    /// Name.
    pub name: &'static str,
    /// One line of explanation.
    pub doc: &'static str,
    /// Whether it takes steps and draws a step that can be chosen.
    pub tunable: bool,
    pub(super) run: fn(&Job, Watch) -> Result<Found, Error>,
}

/// What can be chosen of a method; the defaults are its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Most steps.
    pub steps: Option<usize>,
    /// Draws a step.
    pub batch: Option<usize>,
    /// The Gaussian to start from, for methods that start from one: by default the mode and the curvature
    /// there.
    pub start: Option<Gaussian>,
}

/// What a method ends with.
#[derive(Clone, Debug)]
pub enum Approximation {
    /// A Gaussian.
    Gaussian(Gaussian),
    /// A Gaussian whose covariance is diagonal but for a few directions.
    Thin(Thin),
    /// A mixture of such Gaussians with equal weights.
    Mixture(Vec<Thin>),
}

/// An approximation with what is known of how it was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The approximation.
    pub approximation: Approximation,
    /// Gradients evaluated; a log density alone counts as one, a product with a Hessian as two.
    pub gradients: usize,
    /// How the method ended.
    pub ending: Ending,
    /// What is left to gain as the method itself sees it, in nats; not a number where it does not say.
    pub gap: f64,
    /// What it found out about its answer.
    pub findings: Vec<Finding>,
}

impl Found {
    pub(super) fn new(approximation: Approximation, gradients: usize, ending: Ending) -> Found {
        Found { approximation, gradients, ending, gap: f64::NAN, findings: Vec::new() }
    }
}

/// Why a method has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// There is nothing to fit, or nowhere to start.
    #[error(transparent)]
    Start(#[from] crate::infer::progress::Error),
    /// The searches for a mode run off.
    #[error(
        "the log density has no mode that can be found: the search for one runs away, or ends on a slope"
    )]
    NoMode,
    /// The Hessian at the mode has no Gaussian.
    #[error("the curvature at the mode is not positive definite, so no Gaussian has it")]
    Flat,
    /// The covariance is too large to hold.
    #[error(
        "its covariance is a full matrix, for at most {most} coordinates, and this model has {found}; `low-rank` and \
         `mean-field` have no such limit"
    )]
    TooMany {
        /// Coordinates of the target.
        found: usize,
        /// Coordinates that are allowed.
        most: usize,
    },
    /// Draws are not finite.
    #[error(
        "the log density or its gradient is not finite at draws of the approximation, however small the step"
    )]
    NotFinite,
    /// No Gaussian along a path.
    #[error("no point on the path to the mode has a Gaussian with a finite ELBO")]
    NoPath,
    /// A setting that the method does not have.
    #[error("it has no steps or batches that could be chosen: leave out --steps and --batch")]
    NotTunable,
    /// Parts that do not go together, or draws that are not finite.
    #[error(transparent)]
    Descent(#[from] vi::Error),
    /// A setting without meaning.
    #[error("steps and draws a step are at least 1")]
    Nothing,
}

/// What a method is to do.
pub(super) struct Job<'a> {
    pub(super) target: &'a dyn Target,
    pub(super) d: usize,
    pub(super) options: &'a Options,
    pub(super) settings: &'a Settings,
}

impl Job<'_> {
    /// Refuses a target that is too large for a full covariance.
    pub(super) fn holds_a_matrix(&self) -> Result<(), Error> {
        let (found, most) = (self.d, self.options.dense);
        if found > most { Err(Error::TooMany { found, most }) } else { Ok(()) }
    }
}
