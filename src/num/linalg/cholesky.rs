//! The Cholesky factorisation of symmetric positive definite matrices.

use super::product::{Left, Part, Product, Right, dot};
use super::triangular::{solve_lower, solve_lower_transposed};
use crate::num::dispatch::{Work, best};

/// Columns factored at once before the rest is updated by one matrix product.
const BLOCK: usize = 48;

/// The matrix is not positive definite: the leading minor of size `minor` (counted from 1) is not positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the matrix is not positive definite: its leading {minor} × {minor} minor is not positive")]
pub struct NotPositiveDefinite {
    /// Size of the first minor that fails.
    pub minor: usize,
}

/// Factors the columns `first..first + size` of all rows from `first` on, the columns before having been accounted for.
struct Panel<'a> {
    a: &'a mut [f64],
    d: usize,
    first: usize,
    size: usize,
}

impl Work for Panel<'_> {
    type Out = Result<(), NotPositiveDefinite>;

    #[inline(always)]
    fn run(self) -> Self::Out {
        let Panel { a, d, first, size } = self;
        for i in first..d {
            let (above, below) = a.split_at_mut(i * d);
            let row = &mut below[first..first + size];
            for j in first..(first + size).min(i) {
                let pivot_row = &above[j * d + first..j * d + j + 1];
                let at = j - first;
                row[at] = (row[at] - dot(&row[..at], &pivot_row[..at])) / pivot_row[at];
            }
            if i < first + size {
                let at = i - first;
                let square = row[at] - dot(&row[..at], &row[..at]);
                if !(square > 0.0 && square.is_finite()) {
                    return Err(NotPositiveDefinite { minor: i + 1 });
                }
                row[at] = square.sqrt();
            }
        }
        Ok(())
    }
}

/// Replaces the lower triangle of A [d × d] by its Cholesky factor L, A = L Lᵀ. What stands above the diagonal is neither
/// read nor written. On an error the lower triangle holds a part of the factor.
///
/// Up to 48 rows nothing is allocated; beyond, one panel of d × 48.
pub fn cholesky(a: &mut [f64], d: usize) -> Result<(), NotPositiveDefinite> {
    assert!(a.len() >= d * d);
    let mut panel = vec![0.0; if d > BLOCK { (d - BLOCK) * BLOCK } else { 0 }];
    for first in (0..d).step_by(BLOCK) {
        let size = BLOCK.min(d - first);
        best(Panel { a, d, first, size })?;
        let next = first + size;
        for (row, i) in panel.chunks_exact_mut(BLOCK).zip(next..d) {
            row.copy_from_slice(&a[i * d + first..i * d + next]);
        }
        if next < d {
            best(Product {
                scale: -1.0,
                m: d - next,
                n: d - next,
                depth: size,
                left: Left::Rows,
                a: &panel,
                a_stride: BLOCK,
                right: Right::Columns,
                b: &panel,
                b_stride: BLOCK,
                part: Part::Lower,
                c: &mut a[next * d + next..],
                c_stride: d,
            });
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
        for d in [1, 2, 7, 47, 48, 49, 100, 150] {
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
        for i in 0..d {
            let product: f64 = (0..d).map(|j| at(i, j) * x[j]).sum();
            assert!((product - b[i]).abs() < 1e-11);
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
