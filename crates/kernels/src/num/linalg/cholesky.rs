//! The Cholesky factorisation of symmetric positive definite matrices.

use super::product::{Left, Part, Product, Right, Rows};
use super::triangular::{solve_block, solve_lower, solve_lower_transposed};

/// Columns factored at once before the rest is updated by one matrix product; the blocks on the diagonal are
/// factored in the same way with the next size.
const BLOCKS: [usize; 2] = [64, 16];

/// The matrix is not positive definite: the leading minor of size `minor` (counted from 1) is not positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the matrix is not positive definite: its leading {minor} × {minor} minor is not positive")]
pub struct NotPositiveDefinite {
    /// Size of the first minor that fails.
    pub minor: usize,
}

/// Replaces the lower triangle of A [d × d] by its Cholesky factor L, A = L Lᵀ. What stands above the
/// diagonal is neither read nor written. On an error the lower triangle holds a part of the factor.
///
/// Up to 16 rows nothing is allocated; beyond, one panel.
pub fn cholesky(a: &mut [f64], d: usize) -> Result<(), NotPositiveDefinite> {
    cholesky_in(a, d, &mut Vec::new())
}

/// The same with room that is kept from one factorisation to the next.
pub fn cholesky_in(a: &mut [f64], d: usize, room: &mut Vec<f64>) -> Result<(), NotPositiveDefinite> {
    assert!(a.len() >= d * d);
    let panel = if d > BLOCKS[1] { d * BLOCKS[0] } else { 0 };
    room.resize(room.len().max(panel), 0.0);
    factor(a, d, [0, d], &BLOCKS, room)
}

/// Factors the square block from row `from` to row `to` of a matrix of `stride` columns.
fn factor(
    a: &mut [f64],
    stride: usize,
    [from, to]: [usize; 2],
    sizes: &[usize],
    panel: &mut [f64],
) -> Result<(), NotPositiveDefinite> {
    let Some((&size, inner)) = sizes.split_first() else {
        return factor_small(a, stride, from, to);
    };
    for first in (from..to).step_by(size) {
        let next = (first + size).min(to);
        factor(a, stride, [first, next], inner, panel)?;
        let (width, height) = (next - first, to - next);
        if height == 0 {
            break;
        }
        // The rows below, transposed: Pᵀ with L P = Aᵀ, then A -= P Pᵀ.
        let panel = &mut panel[..width * height];
        for (r, row) in a[next * stride..].chunks(stride).take(height).enumerate() {
            for (c, x) in row[first..next].iter().enumerate() {
                panel[c * height + r] = *x;
            }
        }
        solve_block(a, stride, [first, width], panel, height);
        for (r, row) in a[next * stride..].chunks_mut(stride).take(height).enumerate() {
            for (c, x) in row[first..next].iter_mut().enumerate() {
                *x = panel[c * height + r];
            }
        }
        Product {
            scale: -1.0,
            m: height,
            n: height,
            depth: width,
            left: Left::Columns,
            a: panel,
            a_rows: Rows::Every(height),
            right: Right::Rows,
            b: panel,
            b_stride: height,
            part: Part::Lower,
            c: &mut a[next * stride + next..],
            c_rows: Rows::Every(stride),
        }
        .add();
    }
    Ok(())
}

/// The same for a small block, row by row.
fn factor_small(a: &mut [f64], stride: usize, from: usize, to: usize) -> Result<(), NotPositiveDefinite> {
    for i in from..to {
        for j in from..=i {
            let (row, other) = (&a[i * stride..], &a[j * stride..]);
            let sum: f64 = row[from..j].iter().zip(&other[from..j]).map(|(x, y)| x * y).sum();
            let rest = row[j] - sum;
            if j < i {
                a[i * stride + j] = rest / a[j * stride + j];
            } else if rest > 0.0 && rest.is_finite() {
                a[i * stride + i] = rest.sqrt();
            } else {
                return Err(NotPositiveDefinite { minor: i + 1 });
            }
        }
    }
    Ok(())
}

/// log det A = 2 Σ log L_ii, from the Cholesky factor.
pub fn log_det_cholesky(l: &[f64], d: usize) -> f64 {
    2.0 * (0..d).map(|i| l[i * d + i].ln()).sum::<f64>()
}

/// Solves A x = b in place, from the Cholesky factor of A.
pub fn solve_cholesky(l: &[f64], d: usize, x: &mut [f64]) {
    solve_lower(l, d, x);
    solve_lower_transposed(l, d, x);
}

#[cfg(test)]
mod tests {
    use super::super::add_product_lower;
    use super::*;
    use crate::num::stream::Stream;

    fn positive_definite(d: usize, seed: u64) -> Vec<f64> {
        let mut root = vec![0.0; d * d];
        Stream::new(seed, 1, 0).fill_normal(&mut root);
        let mut a = vec![f64::NAN; d * d];
        for i in 0..d {
            a[i * d..=i * d + i].fill(0.0);
            a[i * d + i] = 1.0;
        }
        add_product_lower(1.0 / d as f64, &root, &root, [d, d], &mut a);
        a
    }

    #[test]
    fn factor_times_its_transpose_is_the_matrix() {
        for d in [1, 2, 15, 16, 17, 63, 64, 65, 100, 150] {
            let a = positive_definite(d, 3);
            let mut l = a.clone();
            cholesky(&mut l, d).unwrap();
            for i in 0..d {
                for j in 0..=i {
                    let product: f64 = (0..=j).map(|k| l[i * d + k] * l[j * d + k]).sum();
                    assert!((product - a[i * d + j]).abs() < 1e-12, "d = {d}, ({i}, {j})");
                }
            }
        }
    }

    #[test]
    fn solve_and_determinant() {
        let d = 60;
        let a = positive_definite(d, 4);
        let mut l = a.clone();
        cholesky(&mut l, d).unwrap();
        let b: Vec<f64> = (0..d).map(|i| (i as f64).sin()).collect();
        let mut x = b.clone();
        solve_cholesky(&l, d, &mut x);
        let at = |i: usize, j: usize| a[i.max(j) * d + i.min(j)];
        for (i, b) in b.iter().enumerate() {
            let product: f64 = (0..d).map(|j| at(i, j) * x[j]).sum();
            assert!((product - b).abs() < 1e-11);
        }
        // det(2 A) = 2^d det A
        let mut twice: Vec<f64> = a.iter().map(|x| 2.0 * x).collect();
        cholesky(&mut twice, d).unwrap();
        let difference = log_det_cholesky(&twice, d) - log_det_cholesky(&l, d);
        assert!((difference - d as f64 * 2f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn names_the_minor_that_fails() {
        for (d, bad) in [(3, 1), (60, 55), (100, 30)] {
            let mut a = positive_definite(d, 5);
            a[(bad - 1) * d + bad - 1] = -1.0;
            assert_eq!(cholesky(&mut a, d), Err(NotPositiveDefinite { minor: bad }));
        }
        assert!(cholesky(&mut [f64::NAN], 1).is_err());
    }
}
