//! Gradient estimators by reparameterisation.
//!
//! With `z = m + C u`, `π = -∇log p(z, x)` and `s` the score of the base at `u` (`-u` for the normal), each is
//!
//! ```text
//!     (v, proj_V(v uᵀ + e C⁻ᵀ)),   v = π            or   v = π + C⁻ᵀ s
//! ```
//!
//! so a row is a choice of `v` and of `e`.

mod energy;
mod entropy;
mod stl;
mod stl_energy;

use super::noise::{Geometry, Quadratic};
use super::table::Row;

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
