//! Products of matrices and vectors.

use super::{Forward, Kernel, Reverse, ShapeError};
use crate::facts::{Shape, show};
use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::real::Packed;
use crate::ops::operand::{Adjoint, Arg, accumulate};
use std::cell::Cell;

/// `A B` for matrices; `A v` and `v A` for a matrix and a vector.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct MatMul;

/// Rows of the left side, inner size, columns of the right side.
fn extents(dims: &[&[usize]]) -> (usize, usize, usize) {
    match (dims[0], dims[1]) {
        ([n, k], [_, m]) => (*n, *k, *m),
        ([n, k], _) => (*n, *k, 1),
        (left, right) => (1, left.iter().product(), right.last().copied().unwrap_or(1)),
    }
}

impl Kernel for MatMul {
    const NAME: &'static str = "matmul";

    fn shape(&self, args: &[Shape]) -> Result<Shape, ShapeError> {
        let (a, b) = (&args[0], &args[1]);
        let (inner_a, inner_b, out) = match (a.as_slice(), b.as_slice()) {
            ([n, k], [l, m]) => (k, l, vec![n.clone(), m.clone()]),
            ([n, k], [l]) => (k, l, vec![n.clone()]),
            ([k], [l, m]) => (k, l, vec![m.clone()]),
            _ => {
                return Err(ShapeError(format!(
                    "a matrix product needs a matrix and a matrix or vector, not {} and {}",
                    show(a),
                    show(b)
                )));
            }
        };
        if !inner_a.may_equal(inner_b) {
            return Err(ShapeError(format!(
                "the inner sizes of {} and {} differ: {inner_a} against {inner_b}",
                show(a),
                show(b)
            )));
        }
        Ok(out)
    }

    fn operations(&self, dims: &[&[usize]]) -> usize {
        let (n, k, m) = extents(dims);
        2 * n * k * m
    }

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        let sizes = extents(cx.dims);
        if let (Arg::Const(a), Arg::Var(b), 1) = (cx.args[0], cx.args[1], sizes.2) {
            return best_lanes(DesignForward { a, b, out: cx.out });
        }
        best_lanes(General { sizes, a: cx.args[0], b: cx.args[1], out: cx.out });
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        let sizes = extents(cx.dims);
        if let (Arg::Const(a), Some(into), 1) = (cx.args[0], cx.adjoints[1], sizes.2) {
            return best_lanes(DesignReverse { a, up: cx.adjoint, into });
        }
        let (a, b) = (cx.args[0], cx.args[1]);
        best_lanes(GeneralReverse { sizes, a, b, up: cx.adjoint, into: [cx.adjoints[0], cx.adjoints[1]] });
    }
}

/// Any product.
struct General<'a, T> {
    sizes: (usize, usize, usize),
    a: Arg<'a, T>,
    b: Arg<'a, T>,
    out: &'a mut [T],
}

impl<T: Packed> LaneWork<T> for General<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let ((n, k, m), a, b) = (self.sizes, self.a.seen(view), self.b.seen(view));
        let out = view.slice_mut(self.out);
        for i in 0..n {
            for j in 0..m {
                let mut sum = U::zero();
                for l in 0..k {
                    sum += a.get(i * k + l) * b.get(l * m + j);
                }
                out[i * m + j] = sum;
            }
        }
    }
}

/// The adjoints of both sides.
struct GeneralReverse<'a, T> {
    sizes: (usize, usize, usize),
    a: Arg<'a, T>,
    b: Arg<'a, T>,
    up: &'a [T],
    into: [Adjoint<'a, T>; 2],
}

impl<T: Packed> LaneWork<T> for GeneralReverse<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let ((n, k, m), a, b) = (self.sizes, self.a.seen(view), self.b.seen(view));
        let up = view.slice(self.up);
        if let (Arg::Var(a), Arg::Var(b), [Some(left), Some(right)], 1) = (a, b, self.into, m) {
            return matrix_times_vector(a, b, up, view.cells(left), view.cells(right));
        }
        if let Some(into) = self.into[0] {
            let into = view.cells(into);
            for i in 0..n {
                for l in 0..k {
                    let mut sum = U::zero();
                    for j in 0..m {
                        sum += up[i * m + j] * b.get(l * m + j);
                    }
                    accumulate(into, i * k + l, sum);
                }
            }
        }
        if let Some(into) = self.into[1] {
            let into = view.cells(into);
            for l in 0..k {
                for j in 0..m {
                    let mut sum = U::zero();
                    for i in 0..n {
                        sum += a.get(i * k + l) * up[i * m + j];
                    }
                    accumulate(into, l * m + j, sum);
                }
            }
        }
    }
}

/// The adjoints of a matrix and of a vector, row by row of the matrix.
#[inline(always)]
fn matrix_times_vector<U: Packed>(a: &[U], b: &[U], up: &[U], left: &[Cell<U>], right: &[Cell<U>]) {
    let k = b.len().max(1);
    for ((&u, row), left) in up.iter().zip(a.chunks_exact(k)).zip(left.chunks_exact(k)) {
        for ((&x, &y), (left, right)) in row.iter().zip(b).zip(left.iter().zip(right)) {
            left.set(left.get() + u * y);
            right.set(right.get() + x * u);
        }
    }
}

/// A constant matrix times a vector of variables: the linear predictor of a regression.
struct DesignForward<'a, T> {
    a: &'a [f64],
    b: &'a [T],
    out: &'a mut [T],
}

impl<T: Packed> LaneWork<T> for DesignForward<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let b = view.slice(self.b);
        for (o, row) in view.slice_mut(self.out).iter_mut().zip(self.a.chunks_exact(b.len().max(1))) {
            let mut sum = U::zero();
            for (&x, &y) in row.iter().zip(b) {
                sum += y.scale(x);
            }
            *o = sum;
        }
    }
}

/// The adjoint of the vector: the transposed matrix times the adjoint of the product.
struct DesignReverse<'a, T> {
    a: &'a [f64],
    up: &'a [T],
    into: &'a [Cell<T>],
}

impl<T: Packed> LaneWork<T> for DesignReverse<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let into = view.cells(self.into);
        for (row, &g) in self.a.chunks_exact(into.len().max(1)).zip(view.slice(self.up)) {
            for (cell, &x) in into.iter().zip(row) {
                cell.set(cell.get() + g.scale(x));
            }
        }
    }
}
