//! Linear algebra that the vi room borrows until num offers it.

use nalgebra::{DMatrix, SymmetricEigen};

/// Eigenvalues and unit eigenvectors, one a row.
pub(super) fn symmetric_eigen(d: usize, matrix: &[f64], values: &mut [f64], vectors: &mut [f64]) {
    let eigen = SymmetricEigen::new(DMatrix::from_row_slice(d, d, matrix));
    values.copy_from_slice(eigen.eigenvalues.as_slice());
    vectors.copy_from_slice(eigen.eigenvectors.as_slice());
}
