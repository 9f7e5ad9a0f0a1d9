//! Products of matrices and vectors.

use super::{Forward, Kernel, Reverse, ShapeError};
use crate::facts::{Shape, show};
use crate::num::dispatch::{Work, best};
use crate::num::real::Real;
use crate::ops::operand::{Arg, accumulate};
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

    fn forward<T: Real>(&self, cx: &mut Forward<T>) {
        let (n, k, m) = extents(cx.dims);
        let (a, b) = (cx.args[0], cx.args[1]);
        if let (Arg::Const(a), Arg::Var(b), 1) = (a, b, m) {
            return best(DesignForward { a, b, out: cx.out });
        }
        for i in 0..n {
            for j in 0..m {
                cx.out[i * m + j] =
                    (0..k).fold(T::zero(), |sum, l| sum + a.get(i * k + l) * b.get(l * m + j));
            }
        }
    }

    fn reverse<T: Real>(&self, cx: &mut Reverse<T>) {
        let (n, k, m) = extents(cx.dims);
        if let Some(adjoint) = cx.adjoints[0] {
            for i in 0..n {
                for l in 0..k {
                    let sum =
                        (0..m).fold(T::zero(), |s, j| s + cx.adjoint[i * m + j] * cx.args[1].get(l * m + j));
                    accumulate(adjoint, i * k + l, sum);
                }
            }
        }
        let Some(adjoint) = cx.adjoints[1] else { return };
        if let (Arg::Const(a), 1) = (cx.args[0], m) {
            return best(DesignReverse { a, up: cx.adjoint, into: adjoint });
        }
        for l in 0..k {
            for j in 0..m {
                let sum =
                    (0..n).fold(T::zero(), |s, i| s + cx.args[0].get(i * k + l) * cx.adjoint[i * m + j]);
                accumulate(adjoint, l * m + j, sum);
            }
        }
    }
}

/// A constant matrix times a vector of variables: the linear predictor of a regression.
struct DesignForward<'a, T> {
    a: &'a [f64],
    b: &'a [T],
    out: &'a mut [T],
}

impl<T: Real> Work for DesignForward<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        for (o, row) in self.out.iter_mut().zip(self.a.chunks_exact(self.b.len().max(1))) {
            let mut sum = T::zero();
            for (&x, &y) in row.iter().zip(self.b) {
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

impl<T: Real> Work for DesignReverse<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        for (row, &g) in self.a.chunks_exact(self.into.len().max(1)).zip(self.up) {
            for (cell, &x) in self.into.iter().zip(row) {
                cell.set(cell.get() + g.scale(x));
            }
        }
    }
}
