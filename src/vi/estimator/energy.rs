//! The energy estimator `(π, proj_V(π uᵀ))` of ∇l.

use super::{Estimates, Estimator};
use crate::vi::noise::Quadratic;

/// The row. Bounded everywhere, without regard to σ_min(C).
pub(super) const ROW: Estimator = Estimator {
    name: "energy",
    doc: "gradient of the free energy alone; the entropy is left to the prox",
    estimates: Estimates::FreeEnergy,
    sticks: false,
    inverse: 0.0,
    inverse_apart: 0.0,
    noise: |k| Some(Quadratic { a: 2.0 * k.scale(), b: 2.0 * k.scale() * k.to_mode }),
};
