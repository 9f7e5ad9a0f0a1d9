//! The standard normal base: the family of the paper.

use super::Family;
use crate::num::real::HALF_LN_2PI;
use crate::num::special::inv_phi;

/// The row.
pub(super) const ROW: Family = Family {
    name: "normal",
    doc: "Gaussian N(m, CCᵀ), the family of the theorems",
    parameter: None,
    fill: |_, stream, u| stream.fill_normal(u),
    quantile: |_, p| inv_phi(p),
    log_density: |_, u| -0.5 * u * u - HALF_LN_2PI,
    score: |_, u| -u,
    entropy: |_| 0.5 + HALF_LN_2PI,
    kurtosis: |_| 3.0,
};
