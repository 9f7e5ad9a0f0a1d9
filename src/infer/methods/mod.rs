//! Methods by name that use modes, Hessians or fixed draws, one a file, registered in one table; and the list
//! of all methods.
//!
//! The methods that follow stochastic gradients step by step are combinations of parts, and live in
//! [`crate::vi`]; [`descend`] starts them at the mode. Those here end with the same Gaussians. All share the
//! checks, corrections and summaries of the default fit: [`fit`], [`fit_by_descent`].

mod batch;
mod batch_and_match;
mod fixed;
mod job;
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

use job::Job;
pub use job::{Approximation, Error, Found, Method, Settings};
pub use judge::{Judged, judge};
pub(super) use polish::{Polished, polish};
pub use stochastic::{Descended, Descent, descend, fit_by_descent};
pub use thin::Thin;

use crate::infer::assess::assess_gaussian;
use crate::infer::fit::{Fit, Origin};
use crate::infer::options::Options;
pub use crate::infer::progress::Watch;
use crate::source::nearest;
use crate::target::Target;
use crate::vi::{self, Row};

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
/// assert!((fit.approximation().unwrap().mean[0] - 3.0).abs() < 1e-9);
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
