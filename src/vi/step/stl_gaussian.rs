//! The constant step under which projected SGD with STL converges exponentially to a Gaussian posterior.

use super::{Guarantee, Needs, Rule, fixed};
use crate::vi::bound::Measure;

/// The row. For a Gaussian posterior K = 0, so `a = 8(d+3)M²`, a third of what is assumed when K is not
/// known.
pub(super) const ROW: Rule = Rule {
    name: "stl_gaussian",
    doc: "min(μ/2a, 2/μ) with a = 8(d+3)M²: exponential convergence of STL on a Gaussian posterior",
    parameter: None,
    needs: Needs::StrongConcavity,
    each: false,
    guarantee: Some(Guarantee {
        measure: Measure::Distance,
        operator: "projection",
        average: "last",
        bound: |b, _, steps| {
            let mu = b.strong_concavity;
            Some(b.proj_constant((0.5 * mu / b.noise.a).min(2.0 / mu), steps))
        },
    }),
    average: "last",
    make: |s| {
        let (mu, a) = (s.strong_concavity, 8.0 * (s.dimension as f64 + 3.0) * s.smoothness.powi(2));
        fixed((0.5 * mu / a).min(2.0 / mu))
    },
};
