//! From unconstrained coordinates to constrained values and back, one constraint a file, with log-Jacobians.
//! All are Stan's.

mod affine;
mod cholesky_corr;
mod cholesky_cov;
mod corr_matrix;
mod cov_matrix;
mod identity;
mod interval;
mod lower;
mod ordered;
mod positive_ordered;
mod row;
mod simplex;
mod sum_to_zero;
mod unit_vector;
mod upper;

pub use interval::LOG_JACOBIAN as INTERVAL_JACOBIAN;
pub use row::{Constrained, Transform};

/// Every transform, in the order of the manual.
pub static TABLE: &[&Transform] = &[
    &identity::ROW,
    &lower::ROW,
    &upper::ROW,
    &interval::ROW,
    &affine::ROW,
    &simplex::ROW,
    &ordered::ROW,
    &positive_ordered::ROW,
    &unit_vector::ROW,
    &sum_to_zero::ROW,
    &corr_matrix::ROW,
    &cov_matrix::ROW,
    &cholesky_corr::ROW,
    &cholesky_cov::ROW,
];

/// Transforms whose values have a finite volume, so that a flat density on them is a distribution.
const BOUNDED: [&Transform; 5] =
    [&interval::ROW, &simplex::ROW, &unit_vector::ROW, &corr_matrix::ROW, &cholesky_corr::ROW];

/// Whether the values of a transform have a finite volume.
pub fn is_bounded(row: &Transform) -> bool {
    BOUNDED.iter().any(|bounded| bounded.name == row.name)
}

/// The transform called `name`.
pub fn find(name: &str) -> Option<&'static Transform> {
    TABLE.iter().copied().find(|row| row.name == name)
}
