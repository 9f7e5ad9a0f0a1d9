//! A lower triangular matrix times a vector.

use super::dense::{axpy, dot, spread, square};
use super::wide::wide_lanes;
use super::{Forward, Kernel, Reverse, ShapeError};
use crate::facts::Shape;
use crate::num::real::Packed;
use std::cell::Cell;

/// `L v`, where what stands above the diagonal of L is zero and not read: half the work of a full product.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct LowerProduct;

wide_lanes! {
    fn ahead<'a, T>(l: &'a [T], v: &'a [T], out: &'a mut [T]) {
        let n = v.len();
        for (i, (o, row)) in out.iter_mut().zip(l.chunks_exact(n.max(1))).enumerate() {
            *o = dot(&row[..=i], &v[..=i]);
        }
    }
}

wide_lanes! {
    fn back_matrix<'a, T>(v: &'a [T], up: &'a [T], into: &'a [Cell<T>]) {
        for (i, (&u, row)) in up.iter().zip(into.chunks_exact(v.len().max(1))).enumerate() {
            for (cell, &v) in row[..=i].iter().zip(v) {
                cell.set(cell.get() + u * v);
            }
        }
    }
}

wide_lanes! {
    /// The adjoint of the vector, through `sums`, which stay near.
    fn back_vector<'a, T>(l: &'a [T], up: &'a [T], sums: &'a mut [T], into: &'a [Cell<T>]) {
        sums.fill(T::zero());
        for (i, (&u, row)) in up.iter().zip(l.chunks_exact(up.len().max(1))).enumerate() {
            axpy(u, &row[..=i], &mut sums[..=i]);
        }
        for (cell, &sum) in into.iter().zip(sums.iter()) {
            cell.set(cell.get() + sum);
        }
    }
}

impl Kernel for LowerProduct {
    const NAME: &'static str = "lower_product";

    fn shape(&self, args: &[Shape]) -> Result<Shape, ShapeError> {
        Ok(vec![square(&args[0])?])
    }

    /// Room for both sides, where they are constant, and for the adjoint of the vector.
    fn saved(&self, dims: &[&[usize]]) -> usize {
        dims.iter().map(|d| d.iter().product::<usize>()).sum()
    }

    fn operations(&self, dims: &[&[usize]]) -> usize {
        dims[0].iter().product()
    }

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        let (matrix, vector) = cx.saved.split_at_mut(cx.args[0].len());
        ahead(spread(cx.args[0], matrix), spread(cx.args[1], vector), cx.out);
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        let (matrix, room) = cx.saved.split_at_mut(cx.args[0].len());
        if let Some(into) = cx.adjoints[0] {
            back_matrix(spread(cx.args[1], room), cx.adjoint, into);
        }
        if let Some(into) = cx.adjoints[1] {
            back_vector(spread(cx.args[0], matrix), cx.adjoint, room, into);
        }
    }
}
