//! Solutions of triangular systems.

use super::dense::{copy, dot, solve_columns, solve_rows, spread, square};
use super::wide::wide_lanes;
use super::{Forward, Kernel, Reverse, ShapeError};
use crate::facts::{Shape, show};
use crate::num::real::Packed;
use crate::ops::operand::accumulate;
use std::cell::Cell;

/// L⁻¹ b for a lower triangular L, the first argument; the second is one vector `[K]` or many. What stands
/// above the diagonal of L is not read.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct TriangularSolve {
    /// Whether it is L⁻ᵀ b instead.
    pub transposed: bool,
    /// Whether many right sides are the rows [N, K] of the second argument; they are its columns [K, M]
    /// otherwise.
    pub rows: bool,
}

wide_lanes! {
    /// In place L⁻¹ x or L⁻ᵀ x.
    fn solve<'a, T>(l: &'a [T], n: usize, x: &'a mut [T], rows: bool, transposed: bool) {
        if rows {
            solve_rows(l, n, x, transposed);
        } else {
            solve_columns(l, n, x, transposed);
        }
    }
}

wide_lanes! {
    /// Takes tril(left rightᵀ), summed over the vectors, from the adjoint of L.
    fn subtract_outer<'a, T>(left: &'a [T], right: &'a [T], n: usize, rows: bool, adjoint: &'a [Cell<T>]) {
        if rows {
            for (left, right) in left.chunks_exact(n.max(1)).zip(right.chunks_exact(n.max(1))) {
                for (i, &a) in left.iter().enumerate() {
                    let row = &adjoint[i * n..i * n + i + 1];
                    for (cell, &b) in row.iter().zip(right) {
                        cell.set(cell.get() - a * b);
                    }
                }
            }
        } else {
            let m = left.len() / n.max(1);
            for i in 0..n {
                for j in 0..=i {
                    let sum = dot(&left[i * m..(i + 1) * m], &right[j * m..(j + 1) * m]);
                    accumulate(adjoint, i * n + j, -sum);
                }
            }
        }
    }
}

impl Kernel for TriangularSolve {
    const NAME: &'static str = "triangular_solve";

    fn shape(&self, args: &[Shape]) -> Result<Shape, ShapeError> {
        let n = square(&args[0])?;
        let side = match (args[1].as_slice(), self.rows) {
            ([k], _) | ([k, _], false) | ([_, k], true) => k,
            _ => {
                return Err(ShapeError(format!(
                    "the right side must be a vector or a matrix, not {}",
                    show(&args[1])
                )));
            }
        };
        if !side.may_equal(&n) {
            return Err(ShapeError(format!(
                "the sizes of {} and {} differ: {n} against {side}",
                show(&args[0]),
                show(&args[1])
            )));
        }
        Ok(args[1].clone())
    }

    /// Room for L, where it is constant, and for the adjoint of the right side.
    fn saved(&self, dims: &[&[usize]]) -> usize {
        dims.iter().map(|d| d.iter().product::<usize>()).sum()
    }

    fn operations(&self, dims: &[&[usize]]) -> usize {
        dims[0].last().copied().unwrap_or(0) * dims[1].iter().product::<usize>()
    }

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        let n = cx.dims[0][0];
        copy(cx.args[1], cx.out);
        let l = spread(cx.args[0], cx.saved);
        solve(l, n, cx.out, self.rows, self.transposed);
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        let n = cx.dims[0][0];
        let (room, bar) = cx.saved.split_at_mut(n * n);
        let l = spread(cx.args[0], room);
        bar.copy_from_slice(cx.adjoint);
        solve(l, n, bar, self.rows, !self.transposed);
        if let Some(adjoint) = cx.adjoints[1] {
            bar.iter().enumerate().for_each(|(i, &x)| accumulate(adjoint, i, x));
        }
        let Some(adjoint) = cx.adjoints[0] else { return };
        // With X = L⁻¹ B: L̄ = -tril(B̄ Xᵀ); with X = L⁻ᵀ B: L̄ = -tril(X B̄ᵀ).
        let (left, right): (&[T], &[T]) = if self.transposed { (cx.out, bar) } else { (bar, cx.out) };
        subtract_outer(left, right, n, self.rows, adjoint);
    }
}
