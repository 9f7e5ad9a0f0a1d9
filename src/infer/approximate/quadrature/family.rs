//! What is asked of the precision matrices `Σ w_i a_i a_iᵀ` of all weights of some rows.

use crate::num::linalg::{add_product, dot};

/// What gives `Cᵀ e` for the unit vectors of some columns.
pub(in crate::infer) type Columns<'r> = Box<dyn Fn(&[u32]) -> Vec<f64> + Sync + 'r>;

/// Matrices of one family, each a vector of numbers; so are the roots of their inverses.
pub(in crate::infer) trait Family: Sync {
    /// A matrix that is zero.
    fn zero(&self) -> Vec<f64>;

    /// A multiple of the identity.
    fn identity(&self, times: f64) -> Vec<f64>;

    /// Adds the part of a run of rows with these columns, `h` between them, to a matrix.
    fn add(&self, run: usize, columns: &[u32], h: &[f64], to: &mut [f64]);

    /// A root C of the inverse, C Cᵀ; None if the matrix is not positive definite.
    fn root(&self, matrix: &[f64]) -> Option<Vec<f64>>;

    /// The root that is lower triangular, row by row.
    fn triangle(&self, matrix: &[f64], root: Vec<f64>) -> Option<Vec<f64>>;

    /// The logarithm of the determinant of a root.
    fn log_det(&self, root: &[f64]) -> f64;

    /// `C Cᵀ x`, and the square of `Cᵀ x`.
    fn solve(&self, root: &[f64], x: &[f64]) -> (Vec<f64>, f64);

    /// What gives `Cᵀ e` for the unit vectors of any columns, one after another, as far as it is not zero for
    /// all of them.
    fn columns<'r>(&'r self, root: &'r [f64]) -> Columns<'r>;

    /// What going to the matrix of this root gains, in nats, if it differs by so much from the last one: ¼
    /// ‖Cᵀ Δ C‖².
    fn gain(&self, root: &[f64], difference: &[f64]) -> f64;
}

/// The standard deviations `‖Cᵀ a‖` of rows, whose coefficients come one row after another, from what
/// [`Family::columns`] gives for theirs.
pub(in crate::infer) fn spreads(chosen: &[f64], rows: &[f64], [count, k]: [usize; 2]) -> Vec<f64> {
    let width = chosen.len() / k.max(1);
    if width == 0 {
        return vec![0.0; count];
    }
    let mut product = vec![0.0; count * width];
    add_product(1.0, rows, chosen, [count, k, width], &mut product);
    product.chunks_exact(width).map(|x| dot(x, x).sqrt()).collect()
}
