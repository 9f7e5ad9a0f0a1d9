//! The sticking-the-landing estimator `(π - C⁻ᵀu, proj_V(π uᵀ - C⁻ᵀu uᵀ))` of ∇f.

use super::{Estimates, Estimator};
use crate::vi::noise::Quadratic;

/// The row. At the optimum of a Gaussian target π = C⁻ᵀu for every u: no noise at all. The bound is proved
/// for the normal base, whose fourth moment is 3.
pub(super) const ROW: Estimator = Estimator {
    name: "stl",
    doc: "sticking the landing: the noise vanishes as the approximation becomes exact",
    estimates: Estimates::Objective,
    sticks: true,
    inverse: 0.0,
    inverse_apart: -1.0,
    noise: |k| {
        let (d, k2, m2) = (k.dimension as f64, k.residual.powi(2), k.smoothness.powi(2));
        // With K = 0 the residual has every point stationary, and the distance to one of them does not
        // matter.
        let b = if k.residual == 0.0 { 0.0 } else { 4.0 * (d + 3.0) * k2 * k.to_residual_mode };
        (k.kurtosis == 3.0).then_some(Quadratic { a: 4.0 * (d + 3.0) * (k2 + 2.0 * m2), b })
    },
};
