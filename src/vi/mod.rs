//! Variational inference by stochastic gradients: the algorithms of Domke, Garrigos and Gower (2023), and
//! their relatives.
//!
//! A fit approximates `p(z | x)` by `z = m + C u` ([`family`], [`factor`]) and minimises the negative ELBO
//!
//! ```text
//!     f(w) = l(w) + h(w),   l(w) = -E log p(m + C u, x),   h(w) = -log det C - d · (entropy of the base)
//! ```
//!
//! A step is a gradient estimate ([`estimator`]) from a batch of draws ([`draws`]), a step size ([`step`]),
//! an operator ([`operator`]), and a running average ([`average`]). What a theorem says of it is in [`noise`]
//! and [`bound`]. The sets of parts are open: one row a file, listed in one table each, from which help and
//! error messages are printed. [`method`] names combinations, `check` refuses those that make no sense,
//! [`fit`] is the loop; [`coordinates`] lets it run where the target has a better shape.
//!
//! ```
//! use std::ops::ControlFlow;
//! use stickler::{target::from_fn, vi::{fit, Config}};
//!
//! // A Gaussian posterior with mean (1, -2) and standard deviations (1, 0.5).
//! let target = from_fn(2, |z: &[f64], g: &mut [f64]| {
//!     (g[0], g[1]) = (1.0 - z[0], -4.0 * (z[1] + 2.0));
//!     -0.5 * (g[0] * g[0] + 0.25 * g[1] * g[1])
//! });
//! let config = Config::named("proj-stl")?;
//! let run = fit(&target, &config, &mut |_| ControlFlow::Continue(()))?;
//! assert!((run.mean[1] + 2.0).abs() < 1e-3 && (run.factor()[3] - 0.5).abs() < 1e-3);
//! # Ok::<(), stickler::vi::Error>(())
//! ```

pub mod average;
mod batch;
pub mod bound;
mod check;
pub mod coordinates;
mod cut;
pub mod draws;
mod error;
mod estimate;
pub mod estimator;
pub mod factor;
pub mod family;
mod finish;
mod fit;
pub mod license;
pub mod method;
pub mod noise;
pub mod observations;
pub mod operator;
mod run;
mod scale;
mod start;
mod state;
pub mod step;
pub mod subsample;
pub mod table;

pub use check::Resolved;
pub use coordinates::Coordinates;
pub use error::Error;
pub use estimate::Estimate;
pub use fit::{Watch, fit, fit_subsampled};
pub use method::{Config, Method, Start};
pub use noise::Constants;
pub use observations::{NotSeparable, Observations};
pub use run::{Progress, Record, Run};
pub use scale::Scale;
pub use table::{Choice, Row};
