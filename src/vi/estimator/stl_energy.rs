//! The sticking-the-landing estimator with ∇h taken out again, `(π - C⁻ᵀu, proj_V(π uᵀ - C⁻ᵀu uᵀ + C⁻ᵀ))`.

use super::{Estimates, Estimator};

/// The row. It is the energy estimator plus a term of mean zero, so it estimates ∇l and belongs with the
/// prox; at the optimum of a Gaussian target it is the constant -∇h. No theorem of the paper bounds it
/// without a floor on σ_min(C).
pub(super) const ROW: Estimator = Estimator {
    name: "stl_energy",
    doc: "sticking the landing for the free energy alone, for use with the prox",
    estimates: Estimates::FreeEnergy,
    sticks: true,
    inverse: 1.0,
    inverse_apart: 0.0,
    noise: |_| None,
};
