//! Scales: what multiplies a standard draw, as an approximation or a change of coordinates holds it.

use crate::num::linalg::{
    add_product, add_product_lower, dot, lower_product, lower_transposed_product, mirror, scale_rows,
};
use nalgebra::DMatrix;

/// A matrix: diagonal, or full and by rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// Its diagonal.
    Diagonal(Vec<f64>),
    /// All of it.
    Dense(Vec<f64>),
}

impl Scale {
    /// The identity, in full.
    pub fn identity(d: usize) -> Scale {
        Scale::Dense(Scale::Diagonal(vec![1.0; d]).dense(d))
    }

    /// All `d × d` numbers by rows.
    pub fn dense(&self, d: usize) -> Vec<f64> {
        match self {
            Scale::Dense(all) => all.clone(),
            Scale::Diagonal(s) => (0..d * d).map(|p| if p / d == p % d { s[p / d] } else { 0.0 }).collect(),
        }
    }

    /// The lengths of the rows: the standard deviations of the coordinates of a standard draw that it has
    /// multiplied.
    pub fn lengths(&self, d: usize) -> Vec<f64> {
        match self {
            Scale::Diagonal(s) => s.iter().map(|s| s.abs()).collect(),
            Scale::Dense(all) => all.chunks_exact(d.max(1)).map(|row| dot(row, row).sqrt()).collect(),
        }
    }

    /// The covariance of a standard draw that it has multiplied.
    pub fn covariance(&self, d: usize) -> DMatrix<f64> {
        let (all, mut covariance) = (self.dense(d), vec![0.0; d * d]);
        add_product_lower(1.0, &all, &all, [d, d], &mut covariance);
        mirror(&mut covariance, d);
        // Symmetric, so that rows are columns.
        DMatrix::from_vec(d, d, covariance)
    }

    /// The product with another matrix; of two diagonals it is a diagonal.
    pub(super) fn times(&self, other: &Scale, d: usize) -> Scale {
        match (self, other) {
            (Scale::Diagonal(a), Scale::Diagonal(b)) => {
                Scale::Diagonal(a.iter().zip(b).map(|(a, b)| a * b).collect())
            }
            (Scale::Diagonal(_) | Scale::Dense(_), _) => {
                let mut all = vec![0.0; d * d];
                add_product(1.0, &self.dense(d), &other.dense(d), [d, d, d], &mut all);
                Scale::Dense(all)
            }
        }
    }

    /// out = L x for `n` columns by rows, for a lower triangular L: what stands above the diagonal is not
    /// read.
    pub(crate) fn apply(&self, x: &[f64], [d, n]: [usize; 2], out: &mut [f64]) {
        match self {
            Scale::Dense(l) => lower_product(l, x, [d, n], out),
            Scale::Diagonal(s) => scale_rows(s, x, n, out),
        }
    }

    /// out = Lᵀ x for a lower triangular L.
    pub(crate) fn apply_transposed(&self, x: &[f64], [d, n]: [usize; 2], out: &mut [f64]) {
        match self {
            Scale::Dense(l) => lower_transposed_product(l, x, [d, n], out),
            Scale::Diagonal(s) => scale_rows(s, x, n, out),
        }
    }

    /// log |det L| of a lower triangular L.
    pub(crate) fn log_det(&self, d: usize) -> f64 {
        match self {
            Scale::Dense(l) => (0..d).map(|i| l[i * d + i].abs().ln()).sum(),
            Scale::Diagonal(s) => s.iter().map(|s| s.abs().ln()).sum(),
        }
    }
}
