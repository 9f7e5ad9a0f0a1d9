//! The Laplace base with unit variance: density exp(-√2 |u|) / √2.

use super::Family;
use std::f64::consts::{LN_2, SQRT_2};

/// The row.
pub(super) const ROW: Family = Family {
    name: "laplace",
    doc: "independent Laplace coordinates of unit variance, mixed by C",
    parameter: None,
    fill: |_, stream, u| u.iter_mut().for_each(|x| *x = quantile(stream.uniform())),
    quantile: |_, p| quantile(p),
    log_density: |_, u| -SQRT_2 * u.abs() - 0.5 * LN_2,
    score: |_, u| if u == 0.0 { 0.0 } else { -SQRT_2 * u.signum() },
    entropy: |_| 1.0 + 0.5 * LN_2,
    kurtosis: |_| 6.0,
};

fn quantile(p: f64) -> f64 {
    if p < 0.5 { (2.0 * p).ln() / SQRT_2 } else { -(2.0 * (1.0 - p)).ln() / SQRT_2 }
}
