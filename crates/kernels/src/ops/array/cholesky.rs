//! The Cholesky factor of a positive definite matrix, whole or with its entries listed.

use super::dense::{axpy, copy, dot, square};
use super::wide::wide_lanes;
use super::{Forward, Kernel, Reverse, ShapeError};
use crate::facts::{Shape, Size};
use crate::num::real::Packed;
use crate::ops::operand::{Arg, accumulate};
use std::cell::Cell;
use std::sync::Arc;

/// The lower triangular L with L Lᵀ = A. Only the lower triangle of A is read, and only it has a derivative;
/// where A is not positive definite the factor is not a number from the row on that shows it.
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

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        let n = cx.dims[0][0];
        copy(cx.args[0], cx.out);
        factor(cx.out, n);
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        let Some(adjoint) = cx.adjoints[0] else { return };
        let n = cx.dims[0][0];
        let (l, work) = (cx.out, &mut *cx.saved);
        work.copy_from_slice(cx.adjoint);
        pull(l, work, n);
        hand_on(work, adjoint, n);
    }
}

/// [`Cholesky`] of the matrix whose entries are listed elements of the argument: those above the diagonal are
/// not even fetched.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct ListedCholesky {
    /// The element for each entry, row by row.
    pub table: Arc<[u32]>,
    /// Number of rows.
    pub rows: usize,
}

impl Kernel for ListedCholesky {
    const NAME: &'static str = "cholesky.listed";

    fn shape(&self, _: &[Shape]) -> Result<Shape, ShapeError> {
        Ok(vec![Size::known(self.rows), Size::known(self.rows)])
    }

    /// Room for the adjoint of the matrix.
    fn saved(&self, _: &[&[usize]]) -> usize {
        self.rows * self.rows
    }

    fn operations(&self, _: &[&[usize]]) -> usize {
        self.rows.pow(3) / 3
    }

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        match cx.args[0] {
            Arg::Var(elements) => fetch(elements, &self.table, cx.out, self.rows),
            Arg::Const(c) => {
                cx.out.iter_mut().zip(self.table.iter()).for_each(|(o, &e)| *o = T::splat(c[e as usize]))
            }
        }
        factor(cx.out, self.rows);
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        let Some(adjoint) = cx.adjoints[0] else { return };
        cx.saved.copy_from_slice(cx.adjoint);
        pull(cx.out, cx.saved, self.rows);
        hand_on_listed(cx.saved, &self.table, adjoint, self.rows);
    }
}

wide_lanes! {
    /// Lists the elements of the lower triangle.
    fn fetch<'a, T>(elements: &'a [T], table: &'a [u32], out: &'a mut [T], n: usize) {
        for i in 0..n {
            for entry in i * n..i * n + i + 1 {
                out[entry] = elements[table[entry] as usize];
            }
        }
    }
}

wide_lanes! {
    /// Adds the lower triangle of an adjoint.
    fn hand_on<'a, T>(bar: &'a [T], into: &'a [Cell<T>], n: usize) {
        for i in 0..n {
            for entry in i * n..i * n + i + 1 {
                accumulate(into, entry, bar[entry]);
            }
        }
    }
}

wide_lanes! {
    /// The same to the elements that were listed.
    fn hand_on_listed<'a, T>(bar: &'a [T], table: &'a [u32], into: &'a [Cell<T>], n: usize) {
        for i in 0..n {
            for entry in i * n..i * n + i + 1 {
                accumulate(into, table[entry] as usize, bar[entry]);
            }
        }
    }
}

wide_lanes! {
    /// Replaces a matrix by its factor, column by column, so that rows do not wait for each other. Divisions
    /// by the pivot, not products with its inverse: these would add a rounding to each element, which
    /// matrices that are nearly singular make thousands of millions of times larger.
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
    /// Turns the adjoint of the factor (lower triangle of `bar`) into that of the matrix: Murray (2016),
    /// 'Differentiation of the Cholesky decomposition', the unblocked algorithm.
    fn pull<'a, T>(l: &'a [T], bar: &'a mut [T], n: usize) {
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
