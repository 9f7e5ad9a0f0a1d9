//! Gradient estimators by reparameterisation.
//!
//! With `z = m + C u`, `π = -∇log p(z, x)` and `s` the score of the base at `u` (`-u` for the normal), each
//! is
//!
//! ```text
//!     (v, proj_V(v uᵀ + e C⁻ᵀ)),   v = π            or   v = π + C⁻ᵀ s
//! ```
//!
//! so a row is a choice of `v` and of `e`.
//!
//! # Sticking only within reach
//!
//! The term `C⁻ᵀ s` has mean zero (with its part of `e`) whether it is used or not. Near the optimum it
//! cancels noise; far from it, where nothing keeps a triangular C from being nearly singular, it is noise
//! without bound. At the optimum `E‖C⁻ᵀs‖² = tr E[-∇²log p] ≤ d M`. So where no projection keeps σ_min(C) ≥
//! 1/√M, a fit compares `‖C⁻ᵀs'‖²`, at a draw that is used for nothing else, with [`REACH`] times that, and
//! goes without the term in a batch where it is larger. The choice depends on nothing that the batch depends
//! on, so the estimator stays unbiased.

mod energy;
mod entropy;
mod stl;
mod stl_energy;

use super::noise::{Geometry, Quadratic};
use super::table::Row;

/// How many times its size at the optimum the path term may have.
pub const REACH: f64 = 4.0;

/// What the mean of an estimator is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimates {
    /// ∇l, the gradient of the free energy: the entropy is left to the prox.
    FreeEnergy,
    /// ∇f, the gradient of the whole negative ELBO.
    Objective,
}

/// A row of the table of estimators.
#[derive(Debug)]
pub struct Estimator {
    /// Name.
    pub name: &'static str,
    /// One line of explanation.
    pub doc: &'static str,
    /// Its mean.
    pub estimates: Estimates,
    /// Whether `v` has the term `C⁻ᵀ s`, the path derivative of `log q`.
    pub sticks: bool,
    /// `e`, the multiple of `C⁻ᵀ`.
    pub inverse: f64,
    /// `e` when `v` goes without the term `C⁻ᵀ s`: the mean is the same.
    pub inverse_apart: f64,
    /// Bounds on its noise where a theorem gives them, for σ_min(C) ≥ 1/√M.
    pub noise: fn(&Geometry) -> Option<Quadratic>,
}

impl Row for Estimator {
    const KIND: &'static str = "estimator";

    fn table() -> &'static [Estimator] {
        static TABLE: [Estimator; 4] = [energy::ROW, entropy::ROW, stl::ROW, stl_energy::ROW];
        &TABLE
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }
}
