//! Eigenvalues and eigenvectors of symmetric matrices.

use nalgebra::DMatrix;

/// A = Σ_k values[k] v_k v_kᵀ, values in ascending order.
#[derive(Clone, Debug, PartialEq)]
pub struct Eigen {
    /// Eigenvalues, smallest first.
    pub values: Vec<f64>,
    /// Unit eigenvectors as rows: v_k stands at `k * d..(k + 1) * d`.
    pub vectors: Vec<f64>,
}

/// The eigendecomposition of the symmetric matrix A [d × d], of which the lower triangle is read. None if it holds a
/// number that is not finite.
pub fn symmetric_eigen(a: &[f64], d: usize) -> Option<Eigen> {
    assert!(a.len() >= d * d);
    let lower = |i: usize, j: usize| a[i.max(j) * d + i.min(j)];
    if (0..d).any(|i| (0..=i).any(|j| !lower(i, j).is_finite())) {
        return None;
    }
    let found = DMatrix::from_fn(d, d, lower).symmetric_eigen();
    let mut order: Vec<usize> = (0..d).collect();
    order.sort_by(|&i, &j| found.eigenvalues[i].total_cmp(&found.eigenvalues[j]));
    let values = order.iter().map(|&k| found.eigenvalues[k]).collect();
    let vectors =
        order.iter().flat_map(|&k| (0..d).map(move |i| (i, k))).map(|at| found.eigenvectors[at]).collect();
    Some(Eigen { values, vectors })
}
