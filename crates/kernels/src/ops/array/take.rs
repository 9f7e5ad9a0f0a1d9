//! Indexing of every kind: the result's elements are listed elements of the argument.

use super::{Forward, Kernel, Reverse, ShapeError};
use crate::facts::{Shape, Size};
use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::real::Packed;
use crate::ops::operand::{Arg, accumulate};
use std::cell::Cell;
use std::sync::Arc;

/// `out[i] = in[table[i]]`: scalar index, slice, gather by group, transpose, reshape, repetition.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Take {
    /// Flat positions in the argument.
    pub table: Arc<[u32]>,
    /// Shape of the result.
    pub dims: Vec<usize>,
}

impl Take {
    /// First position, when the table is consecutive.
    pub fn consecutive(&self) -> Option<usize> {
        let first = *self.table.first()? as usize;
        let last = *self.table.last()? as usize;
        let plain = last.checked_sub(first)? + 1 == self.table.len()
            && self.table.windows(2).all(|w| w[1] == w[0] + 1);
        plain.then_some(first)
    }

    /// Whether it only gives the elements another shape.
    pub fn is_reshape(&self, size: usize) -> bool {
        all_in_order(&self.table, size)
    }
}

/// Whether a table lists all of so many elements, in their order.
pub fn all_in_order(table: &[u32], size: usize) -> bool {
    table.len() == size && table.iter().zip(0..).all(|(&place, i)| place == i)
}

impl Kernel for Take {
    const NAME: &'static str = "take";

    fn shape(&self, _: &[Shape]) -> Result<Shape, ShapeError> {
        Ok(self.dims.iter().map(|&n| Size::known(n)).collect())
    }

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        match cx.args[0] {
            Arg::Var(x) => best_lanes(Gather { x, table: &self.table, out: cx.out }),
            Arg::Const(x) => {
                for (o, &p) in cx.out.iter_mut().zip(self.table.iter()) {
                    *o = T::splat(x[p as usize]);
                }
            }
        }
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        let Some(adjoint) = cx.adjoints[0] else { return };
        best_lanes(Scatter { up: cx.adjoint, table: &self.table, adjoint });
    }
}

struct Gather<'a, T> {
    x: &'a [T],
    table: &'a [u32],
    out: &'a mut [T],
}

impl<T: Packed> LaneWork<T> for Gather<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let x = view.slice(self.x);
        for (o, &p) in view.slice_mut(self.out).iter_mut().zip(self.table) {
            *o = x[p as usize];
        }
    }
}

struct Scatter<'a, T> {
    up: &'a [T],
    table: &'a [u32],
    adjoint: &'a [Cell<T>],
}

impl<T: Packed> LaneWork<T> for Scatter<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let adjoint = view.cells(self.adjoint);
        for (&a, &p) in view.slice(self.up).iter().zip(self.table) {
            accumulate(adjoint, p as usize, a);
        }
    }
}
