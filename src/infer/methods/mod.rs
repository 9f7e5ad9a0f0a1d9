//! Methods by name that use modes, Hessians or fixed draws, one a file, registered in one table; and the list
//! of all methods.
//!
//! The methods that follow stochastic gradients step by step are combinations of parts, and live in
//! [`crate::vi`]; [`descend`] starts them at the mode. Those here end with the same Gaussians. All share the
//! checks, corrections and summaries of the default fit: [`fit`], [`fit_by_descent`].

mod batch;
mod batch_and_match;
mod fixed;
mod judge;
mod laplace;
mod low_rank;
mod mixture;
mod multi_pathfinder;
mod pathfinder;
mod polish;
mod saa;
mod sqrt_natural_gradient;
mod start;
mod stepping;
mod stochastic;
mod thin;

pub use judge::{Judged, judge};
pub(super) use polish::{Polished, polish};
pub use stochastic::{Descended, Descent, descend, fit_by_descent};
pub use thin::Thin;

use crate::infer::assess::assess_gaussian;
use crate::infer::finding::Finding;
use crate::infer::fit::{Fit, Origin};
use crate::infer::gaussian::Gaussian;
use crate::infer::options::Options;
use crate::infer::progress::Ending;
pub use crate::infer::progress::Watch;
use crate::source::nearest;
use crate::target::Target;
use crate::vi::{self, Row};
use thiserror::Error;

/// A row of the table of methods.
pub struct Method {
    /// Name.
    pub name: &'static str,
    /// One line of explanation.
    pub doc: &'static str,
    /// Whether it takes steps and draws a step that can be chosen.
    pub tunable: bool,
    run: fn(&Job, Watch) -> Result<Found, Error>,
}

/// The methods of this room.
pub static TABLE: [&Method; 7] = [
    &laplace::ROW,
    &pathfinder::ROW,
    &multi_pathfinder::ROW,
    &batch_and_match::ROW,
    &sqrt_natural_gradient::ROW,
    &saa::ROW,
    &low_rank::ROW,
];

/// A method of either table.
#[derive(Clone, Copy)]
pub enum Named {
    /// A method of this room.
    Direct(&'static Method),
    /// A method of stochastic gradients.
    Stochastic(&'static vi::Method),
}

impl Named {
    /// Name.
    pub fn name(self) -> &'static str {
        match self {
            Named::Direct(m) => m.name,
            Named::Stochastic(m) => m.name,
        }
    }

    /// One line of explanation.
    pub fn doc(self) -> &'static str {
        match self {
            Named::Direct(m) => m.doc,
            Named::Stochastic(m) => m.doc,
        }
    }
}

/// Every method, in the order in which lists print them.
pub fn all() -> impl Iterator<Item = Named> {
    let stochastic = <vi::Method as Row>::table().iter().map(Named::Stochastic);
    TABLE.into_iter().map(Named::Direct).chain(stochastic)
}

/// The method of that name.
pub fn find(name: &str) -> Result<Named, vi::Error> {
    all().find(|m| m.name() == name).ok_or_else(|| vi::Error::UnknownName {
        kind: vi::Method::KIND,
        name: name.into(),
        known: all().map(Named::name).collect(),
        nearest: nearest(name, all().map(Named::name)),
    })
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
    fn new(approximation: Approximation, gradients: usize, ending: Ending) -> Found {
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
struct Job<'a> {
    target: &'a dyn Target,
    d: usize,
    options: &'a Options,
    settings: &'a Settings,
}

impl Job<'_> {
    /// Refuses a target that is too large for a full covariance.
    fn holds_a_matrix(&self) -> Result<(), Error> {
        let (found, most) = (self.d, self.options.dense);
        if found > most { Err(Error::TooMany { found, most }) } else { Ok(()) }
    }
}

/// Runs a method, without checks on its answer.
pub fn approximate(
    target: &dyn Target,
    method: &Method,
    settings: &Settings,
    options: &Options,
    watch: Watch,
) -> Result<Found, Error> {
    let d = target.dimension();
    if d == 0 {
        return Err(crate::infer::progress::Error::NoParameters.into());
    }
    let chosen = [settings.steps, settings.batch];
    if !method.tunable && chosen != [None, None] {
        return Err(Error::NotTunable);
    }
    if chosen.contains(&Some(0)) {
        return Err(Error::Nothing);
    }
    (method.run)(&Job { target, d, options, settings }, watch)
}

/// Fits a target by a method, with the checks, corrections and summaries of the default fit.
///
/// ```
/// use stickler::{infer::{self, methods}, target::from_fn};
/// let target = from_fn(1, |z: &[f64], g: &mut [f64]| {
///     g[0] = 3.0 - z[0];
///     -0.5 * (z[0] - 3.0) * (z[0] - 3.0)
/// });
/// let Ok(methods::Named::Direct(laplace)) = methods::find("laplace") else { panic!() };
/// let (settings, options) = (methods::Settings::default(), infer::Options::default());
/// let go_on = &mut |_: &infer::Progress| std::ops::ControlFlow::Continue(());
/// let fit = methods::fit(&target, laplace, &settings, &options, go_on).unwrap();
/// assert!((fit.mean[0] - 3.0).abs() < 1e-9);
/// ```
pub fn fit(
    target: &dyn Target,
    method: &Method,
    settings: &Settings,
    options: &Options,
    watch: Watch,
) -> Result<Fit, Error> {
    let clock = std::time::Instant::now();
    let Found { approximation, gradients, ending, gap, findings } =
        approximate(target, method, settings, options, watch)?;
    let origin = Origin { findings, ..Origin::new(ending, gap, gradients, clock) };
    Ok(match &approximation {
        Approximation::Gaussian(q) => assess_gaussian(target, q, origin, options),
        Approximation::Thin(q) => thin::assess(target, q, origin, options),
        Approximation::Mixture(parts) => mixture::assess(target, parts, origin, options),
    })
}
