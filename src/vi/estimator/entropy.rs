//! The entropy estimator `(π, proj_V(π uᵀ - C⁻ᵀ))` of ∇f: the energy estimator plus the exact ∇h.

use super::{Estimates, Estimator};
use crate::vi::noise::Quadratic;

/// The row. On σ_min(C) ≥ 1/√L the exact ∇h is at most √(dL), here with L = M; the theorem's 2dL, not the dL
/// of its proof.
pub(super) const ROW: Estimator = Estimator {
    name: "entropy",
    doc: "gradient of the free energy plus the exact gradient of the entropy",
    estimates: Estimates::Objective,
    sticks: false,
    inverse: -1.0,
    inverse_apart: -1.0,
    noise: |k| {
        let b = 4.0 * k.scale() * k.to_mode + 2.0 * k.dimension as f64 * k.smoothness;
        Some(Quadratic { a: 4.0 * k.scale(), b })
    },
};
