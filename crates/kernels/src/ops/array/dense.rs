//! Dense row-major matrices of any scalar, in place: what the linear algebra kernels share.

use super::ShapeError;
use crate::facts::{Shape, Size, show};
use crate::num::real::Packed;
use crate::ops::operand::Arg;

/// The numbers of an argument as a slice; constants are spread into `room` first.
#[inline(always)]
pub(super) fn spread<'a, T: Packed>(arg: Arg<'a, T>, room: &'a mut [T]) -> &'a [T] {
    match arg {
        Arg::Var(x) => x,
        Arg::Const(c) => {
            let room = &mut room[..c.len()];
            room.iter_mut().zip(c).for_each(|(r, &x)| *r = T::splat(x));
            room
        }
    }
}

/// Copies an argument.
#[inline(always)]
pub(super) fn copy<T: Packed>(arg: Arg<T>, into: &mut [T]) {
    match arg {
        Arg::Var(x) => into.copy_from_slice(x),
        Arg::Const(c) => into.iter_mut().zip(c).for_each(|(r, &x)| *r = T::splat(x)),
    }
}

/// Σ a_i b_i
#[inline(always)]
pub(super) fn dot<T: Packed>(a: &[T], b: &[T]) -> T {
    let mut sum = T::zero();
    for (&x, &y) in a.iter().zip(b) {
        sum += x * y;
    }
    sum
}

/// y += factor · x
#[inline(always)]
pub(super) fn axpy<T: Packed>(factor: T, x: &[T], y: &mut [T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

/// The size of a square matrix, or why it is none.
pub(super) fn square(shape: &Shape) -> Result<Size, ShapeError> {
    match shape.as_slice() {
        [n, m] if n.may_equal(m) => Ok(if *n == Size::Any { m.clone() } else { n.clone() }),
        _ => Err(ShapeError(format!("a square matrix is needed, not {}", show(shape)))),
    }
}

/// In place L⁻¹ X or, `transposed`, L⁻ᵀ X for a lower triangular n×n matrix L, where the columns of X are the
/// vectors.
#[inline(always)]
pub(super) fn solve_columns<T: Packed>(l: &[T], n: usize, x: &mut [T], transposed: bool) {
    let m = x.len() / n.max(1);
    if transposed {
        for i in (0..n).rev() {
            let (above, row) = x.split_at_mut(i * m);
            let row = &mut row[..m];
            let pivot = l[i * n + i];
            for r in row.iter_mut() {
                *r = *r / pivot;
            }
            for (k, above) in above.chunks_exact_mut(m).enumerate() {
                axpy(-l[i * n + k], row, above);
            }
        }
    } else {
        for i in 0..n {
            let (above, row) = x.split_at_mut(i * m);
            let row = &mut row[..m];
            for (k, above) in above.chunks_exact(m).enumerate() {
                axpy(-l[i * n + k], above, row);
            }
            let pivot = l[i * n + i];
            for r in row.iter_mut() {
                *r = *r / pivot;
            }
        }
    }
}

/// The same where the rows of X are the vectors.
#[inline(always)]
pub(super) fn solve_rows<T: Packed>(l: &[T], n: usize, x: &mut [T], transposed: bool) {
    for x in x.chunks_exact_mut(n.max(1)) {
        if transposed {
            for i in (0..n).rev() {
                let (above, rest) = x.split_at_mut(i);
                rest[0] = rest[0] / l[i * n + i];
                axpy(-rest[0], &l[i * n..i * n + i], above);
            }
        } else {
            for i in 0..n {
                let (above, rest) = x.split_at_mut(i);
                rest[0] = (rest[0] - dot(&l[i * n..i * n + i], above)) / l[i * n + i];
            }
        }
    }
}
