//! The Student-t base scaled to unit variance; more than four degrees of freedom, so that the fourth moment
//! exists.

use super::Family;
use crate::num::special::{digamma, inv_student_t_cdf, lgamma};
use crate::num::stream::Stream;
use crate::vi::table::Parameter;

/// The row.
pub(super) const ROW: Family = Family {
    name: "student_t",
    doc: "independent Student-t coordinates of unit variance, mixed by C; more than 4 degrees of freedom",
    parameter: Some(Parameter { name: "degrees of freedom", default: 6.0, range: (4.0, f64::INFINITY) }),
    fill,
    quantile: |nu, p| scale(nu) * inv_student_t_cdf(p, nu),
    log_density: |nu, u| {
        let t = u / scale(nu);
        -log_normaliser(nu) - scale(nu).ln() - 0.5 * (nu + 1.0) * (t * t / nu).ln_1p()
    },
    score: |nu, u| -(nu + 1.0) * u / (nu - 2.0 + u * u),
    entropy: |nu| {
        let half = 0.5 * (nu + 1.0);
        half * (digamma(half) - digamma(0.5 * nu)) + log_normaliser(nu) + scale(nu).ln()
    },
    kurtosis: |nu| 3.0 * (nu - 2.0) / (nu - 4.0),
};

/// The scale at which the variance is 1.
fn scale(nu: f64) -> f64 {
    ((nu - 2.0) / nu).sqrt()
}

/// log of √ν B(ν/2, 1/2).
fn log_normaliser(nu: f64) -> f64 {
    0.5 * nu.ln() + lgamma(0.5 * nu) + lgamma(0.5) - lgamma(0.5 * (nu + 1.0))
}

fn fill(nu: f64, stream: &mut Stream, u: &mut [f64]) {
    for x in u {
        // A normal over the root of a chi-squared; the latter is twice a gamma of half the degrees of
        // freedom.
        *x = stream.normal() * ((nu - 2.0) / (2.0 * stream.gamma(0.5 * nu))).sqrt();
    }
}
