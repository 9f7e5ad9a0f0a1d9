//! The Cholesky factor of a positive definite matrix.

use super::dense::{axpy, copy, dot, square};
use super::wide::wide_lanes;
use super::{Forward, Kernel, Reverse, ShapeError};
use crate::facts::Shape;
use crate::num::real::Real;
use crate::ops::operand::accumulate;
use std::cell::Cell;

/// The lower triangular L with L Lᵀ = A. Only the lower triangle of A is read, and only it has a derivative; where A is
/// not positive definite the factor is not a number from the row on that shows it.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Cholesky;

impl Kernel for Cholesky {
    const NAME: &'static str = "cholesky";

    fn shape(&self, args: &[Shape]) -> Result<Shape, ShapeError> {
        let n = square(&args[0])?;
        Ok(vec![n.clone(), n])
    }

    /// Room for the adjoint of the matrix.
    fn saved(&self, dims: &[&[usize]]) -> usize {
        dims[0].iter().product()
    }

    fn operations(&self, dims: &[&[usize]]) -> usize {
        dims[0].last().copied().unwrap_or(0).pow(3) / 3
    }

    fn forward<T: Real>(&self, cx: &mut Forward<T>) {
        let n = cx.dims[0][0];
        copy(cx.args[0], cx.out);
        factor(cx.out, n);
    }

    fn reverse<T: Real>(&self, cx: &mut Reverse<T>) {
        let Some(adjoint) = cx.adjoints[0] else { return };
        let n = cx.dims[0][0];
        let (l, work) = (cx.out, &mut *cx.saved);
        work.copy_from_slice(cx.adjoint);
        pull(l, work, adjoint, n);
    }
}

wide_lanes! {
    /// Replaces a matrix by its factor, column by column, so that rows do not wait for each other. Divisions by the pivot, not
    /// products with its inverse: these would add a rounding to each element, which matrices that are nearly singular make
    /// thousands of millions of times larger.
    fn factor<'a, T>(a: &'a mut [T], n: usize) {
        let (zero, never) = (T::zero(), T::splat(f64::NAN));
        for j in 0..n {
            let (head, below) = a.split_at_mut((j + 1) * n);
            let row = &mut head[j * n..];
            let pivot = row[j] - dot(&row[..j], &row[..j]);
            row[j] = zero.if_less(pivot, pivot, never).sqrt();
            row[j + 1..n].fill(zero);
            for other in below.chunks_exact_mut(n) {
                other[j] = (other[j] - dot(&other[..j], &row[..j])) / row[j];
            }
        }
    }
}

wide_lanes! {
    /// Adds to `into` the adjoint of the matrix, from that of the factor (lower triangle of `bar`, which is overwritten): Murray
    /// (2016), 'Differentiation of the Cholesky decomposition', the unblocked algorithm.
    fn pull<'a, T>(l: &'a [T], bar: &'a mut [T], into: &'a [Cell<T>], n: usize) {
        for j in (0..n).rev() {
            let pivot = l[j * n + j];
            let (head, below) = bar.split_at_mut((j + 1) * n);
            let row = &mut head[j * n..];
            let mut diagonal = row[j];
            for (i, line) in below.chunks_exact_mut(n).enumerate() {
                let other = &l[(j + 1 + i) * n..(j + 2 + i) * n];
                line[j] = line[j] / pivot;
                diagonal -= other[j] * line[j];
                axpy(-line[j], &other[..j], &mut row[..j]);
                axpy(-line[j], &l[j * n..j * n + j], &mut line[..j]);
            }
            diagonal = diagonal / pivot;
            axpy(-diagonal, &l[j * n..j * n + j], &mut row[..j]);
            row[j] = diagonal.scale(0.5);
        }
        for i in 0..n {
            for j in 0..i + 1 {
                accumulate(into, i * n + j, bar[i * n + j]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::operand::Arg;

    fn cholesky(a: &[f64], n: usize) -> Vec<f64> {
        let mut out = vec![0.0; n * n];
        let mut cx: Forward<f64> =
            Forward { args: &[Arg::Const(a)], dims: &[&[n, n]], out: &mut out, saved: &mut [] };
        Kernel::forward(&Cholesky, &mut cx);
        out
    }

    #[test]
    fn a_known_factor() {
        let l = cholesky(&[4.0, 2.0, -2.0, 2.0, 5.0, 3.0, -2.0, 3.0, 14.0], 3);
        assert_eq!(l, [2.0, 0.0, 0.0, 1.0, 2.0, 0.0, -1.0, 2.0, 3.0]);
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_factor() {
        assert!(cholesky(&[1.0, 2.0, 2.0, 1.0], 2)[3].is_nan());
        assert!(cholesky(&[0.0, 0.0, 0.0, 1.0], 2)[0].is_nan());
        assert!(cholesky(&[1.0, 1.0, 1.0, 1.0], 2)[3].is_nan());
    }
}
