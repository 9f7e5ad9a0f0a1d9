//! General linear systems, inverses and determinants, by elimination with row exchanges.

use super::dense::{axpy, copy, dot, square};
use super::wide::wide_lanes;
use super::{Forward, Kernel, Reverse, ShapeError};
use crate::facts::{Shape, show};
use crate::num::real::Packed;
use crate::ops::operand::accumulate;

/// A⁻¹ B for a square A; B is a vector `[K]` or a matrix [K, M]. A singular A gives no finite numbers.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Solve;

/// The inverse of a square matrix.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Inverse;

/// log |det A| of a square matrix.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct LogDet;

impl Kernel for Solve {
    const NAME: &'static str = "solve";

    fn shape(&self, args: &[Shape]) -> Result<Shape, ShapeError> {
        let n = square(&args[0])?;
        match args[1].as_slice() {
            [k] | [k, _] if k.may_equal(&n) => Ok(args[1].clone()),
            _ => Err(ShapeError(format!(
                "the right side of a system with matrix {} must be a vector or matrix with {n} rows, not {}",
                show(&args[0]),
                show(&args[1])
            ))),
        }
    }

    /// Room for the matrix and for the adjoint of the right side.
    fn saved(&self, dims: &[&[usize]]) -> usize {
        dims.iter().map(|d| d.iter().product::<usize>()).sum()
    }

    fn operations(&self, dims: &[&[usize]]) -> usize {
        let n = dims[0].last().copied().unwrap_or(0);
        2 * n.pow(3) / 3 + 2 * n * dims[1].iter().product::<usize>()
    }

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        let n = cx.dims[0][0];
        let work = &mut cx.saved[..n * n];
        copy(cx.args[0], work);
        copy(cx.args[1], cx.out);
        eliminate(work, n, cx.out);
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        // B̄ += A⁻ᵀ X̄ and Ā -= (A⁻ᵀ X̄) Xᵀ.
        let n = cx.dims[0][0];
        let (work, bar) = cx.saved.split_at_mut(n * n);
        (0..n * n).for_each(|p| work[p] = cx.args[0].get(p % n * n + p / n));
        bar.copy_from_slice(cx.adjoint);
        eliminate(work, n, bar);
        if let Some(adjoint) = cx.adjoints[1] {
            bar.iter().enumerate().for_each(|(i, &x)| accumulate(adjoint, i, x));
        }
        let Some(adjoint) = cx.adjoints[0] else { return };
        let m = bar.len() / n.max(1);
        for i in 0..n {
            for j in 0..n {
                let sum = dot(&bar[i * m..(i + 1) * m], &cx.out[j * m..(j + 1) * m]);
                accumulate(adjoint, i * n + j, -sum);
            }
        }
    }
}

impl Kernel for Inverse {
    const NAME: &'static str = "inverse";

    fn shape(&self, args: &[Shape]) -> Result<Shape, ShapeError> {
        let n = square(&args[0])?;
        Ok(vec![n.clone(), n])
    }

    /// Room for a matrix.
    fn saved(&self, dims: &[&[usize]]) -> usize {
        dims[0].iter().product()
    }

    fn operations(&self, dims: &[&[usize]]) -> usize {
        2 * dims[0].last().copied().unwrap_or(0).pow(3)
    }

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        let n = cx.dims[0][0];
        copy(cx.args[0], cx.saved);
        identity(cx.out, n);
        eliminate(cx.saved, n, cx.out);
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        // Ā -= Yᵀ Ȳ Yᵀ for the inverse Y.
        let Some(adjoint) = cx.adjoints[0] else { return };
        let (n, y, work) = (cx.dims[0][0], cx.out, &mut *cx.saved);
        work.fill(T::zero());
        for k in 0..n {
            for i in 0..n {
                axpy(y[k * n + i], &cx.adjoint[k * n..(k + 1) * n], &mut work[i * n..(i + 1) * n]);
            }
        }
        for i in 0..n {
            for j in 0..n {
                let sum = dot(&work[i * n..(i + 1) * n], &y[j * n..(j + 1) * n]);
                accumulate(adjoint, i * n + j, -sum);
            }
        }
    }
}

impl Kernel for LogDet {
    const NAME: &'static str = "logdet";

    fn shape(&self, args: &[Shape]) -> Result<Shape, ShapeError> {
        square(&args[0])?;
        Ok(Shape::new())
    }

    /// Room for the matrix and for its inverse.
    fn saved(&self, dims: &[&[usize]]) -> usize {
        2 * dims[0].iter().product::<usize>()
    }

    fn operations(&self, dims: &[&[usize]]) -> usize {
        2 * dims[0].last().copied().unwrap_or(0).pow(3) / 3
    }

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        let n = cx.dims[0][0];
        let work = &mut cx.saved[..n * n];
        copy(cx.args[0], work);
        eliminate(work, n, &mut []);
        cx.out[0] = (0..n).fold(T::zero(), |sum, i| sum + work[i * n + i].abs().ln());
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        // Ā += ȳ A⁻ᵀ.
        let Some(adjoint) = cx.adjoints[0] else { return };
        let n = cx.dims[0][0];
        let (work, inverse) = cx.saved.split_at_mut(n * n);
        copy(cx.args[0], work);
        identity(inverse, n);
        eliminate(work, n, inverse);
        (0..n * n).for_each(|p| accumulate(adjoint, p, cx.adjoint[0] * inverse[p % n * n + p / n]));
    }
}

fn identity<T: Packed>(a: &mut [T], n: usize) {
    a.fill(T::zero());
    (0..n).for_each(|i| a[i * n + i] = T::one());
}

wide_lanes! {
    /// Replaces b (n rows) by A⁻¹ b, and A by the triangular factor U of its decomposition.
    fn eliminate<'a, T>(a: &'a mut [T], n: usize, b: &'a mut [T]) {
        let m = b.len() / n.max(1);
        for k in 0..n {
            for i in k + 1..n {
                exchange_if_larger(a, b, [n, m], k, i);
            }
            let (top, below) = a.split_at_mut((k + 1) * n);
            let (b_top, b_below) = b.split_at_mut((k + 1) * m);
            let (row, b_row) = (&top[k * n..], &b_top[k * m..]);
            for i in 0..n - k - 1 {
                let line = &mut below[i * n..(i + 1) * n];
                let factor = -(line[k] / row[k]);
                line[k] = T::zero();
                axpy(factor, &row[k + 1..], &mut line[k + 1..]);
                axpy(factor, b_row, &mut b_below[i * m..(i + 1) * m]);
            }
        }
        for k in (0..n).rev() {
            let (above, row) = b.split_at_mut(k * m);
            let row = &mut row[..m];
            let pivot = a[k * n + k];
            row.iter_mut().for_each(|x| *x = *x / pivot);
            for i in 0..k {
                axpy(-a[i * n + k], row, &mut above[i * m..(i + 1) * m]);
            }
        }
    }
}

/// Exchanges rows k and i of both matrices in those lanes where row i has the larger entry in column k: after
/// all rows below k had their turn, each lane has its own largest pivot, whatever the other lanes do.
#[inline(always)]
fn exchange_if_larger<T: Packed>(a: &mut [T], b: &mut [T], [n, m]: [usize; 2], k: usize, i: usize) {
    let (mine, other) = (a[k * n + k].abs(), a[i * n + k].abs());
    if (0..T::WIDTH).all(|l| mine.lane(l) >= other.lane(l)) {
        return;
    }
    let swap = |x: &mut [T], width: usize| {
        let (top, below) = x.split_at_mut(i * width);
        for (p, q) in top[k * width..(k + 1) * width].iter_mut().zip(&mut below[..width]) {
            (*p, *q) = (mine.if_less(other, *q, *p), mine.if_less(other, *p, *q));
        }
    };
    swap(a, n);
    swap(b, m);
}
