//! Linear predictors: a constant, dense and sparse design operator applied to one vector of coefficients.

use super::sparse::Sparse;
use super::{Forward, Kernel, Reverse, ShapeError};
use crate::facts::{Shape, Size};
use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::linalg::design::{ByColumn, Fetch, add_columns, add_rows, fetch_beside, total};
use crate::num::real::Packed;
use crate::ops::operand::{Arg, accumulate};
use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// `offset + X v`, where some columns of X are dense, some the same number in every row, and the rest have a
/// few entries in each row.
#[derive(Clone, Debug)]
pub struct Design(pub Arc<Operator>);

/// What a [`Design`] adds up.
#[derive(Clone, Debug)]
pub struct Operator {
    /// Number of rows.
    pub rows: usize,
    /// Number of coefficients.
    pub coefficients: usize,
    /// What stands beside the coefficients, row by row.
    pub offset: Option<Arc<[f64]>>,
    /// Coefficients that count the same in every row, with how much.
    pub everywhere: Vec<(usize, f64)>,
    /// Columns for the first coefficients, row by row.
    pub dense: Option<Arc<[f64]>>,
    /// Number of dense columns.
    pub columns: usize,
    /// The same columns one after another, for one draw.
    pub by_column: ByColumn,
    /// The rest.
    pub sparse: Sparse,
}

/// Rows of a linear predictor that are handled at a time, from the predictor to its adjoint.
pub const ROWS: usize = 32;

/// Parts of a large operator, each summed by itself.
const MOST_BLOCKS: usize = 16;

/// Numbers from which an operator is large.
const LARGE: usize = 1 << 19;

impl Operator {
    /// Into how many blocks of rows its sums are split, whatever the number of threads.
    pub fn blocks(&self) -> usize {
        if self.rows * (self.columns + self.sparse.entries) >= LARGE { MOST_BLOCKS } else { 1 }
    }

    /// Additions and multiplications for one draw, one way.
    pub fn operations(&self) -> usize {
        2 * self.rows * (self.columns + self.sparse.entries)
    }

    /// Bytes of its numbers.
    pub fn bytes(&self) -> usize {
        let offset = self.offset.as_ref().map_or(0, |o| o.len());
        let dense = self.dense.as_ref().map_or(0, |d| d.len());
        8 * (offset + dense + self.sparse.factors.len()) + 4 * self.sparse.places.len()
    }

    /// The sum of each column.
    pub fn column_sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.coefficients];
        for row in self.dense.iter().flat_map(|x| x.chunks_exact(self.columns.max(1))) {
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        for &(c, x) in &self.everywhere {
            sums[c] += x * self.rows as f64;
        }
        for (&c, x) in self.sparse.places.iter().zip(&self.sparse.factors) {
            sums[c as usize] += x;
        }
        sums
    }

    /// Rows `start..start + out.len()`.
    #[inline(always)]
    pub fn forward<U: Packed>(&self, v: &[U], start: usize, out: &mut [U], fetch: Fetch) {
        let n = out.len();
        let mut everywhere = U::zero();
        for &(c, x) in &self.everywhere {
            everywhere += v[c].scale(x);
        }
        match &self.offset {
            Some(offset) => {
                fetch_beside(&offset[start..], n);
                for (o, &x) in out.iter_mut().zip(&offset[start..start + n]) {
                    *o = everywhere.shift(x);
                }
            }
            None => out.fill(everywhere),
        }
        if let Some(x) = &self.dense {
            let k = self.columns;
            if self.by_column.add_rows(x, start, &v[..k], out).is_none() {
                add_rows(&x[start * k..(start + n) * k], &v[..k], out, fetch);
            }
        }
        if self.sparse.entries > 0 {
            self.sparse.forward(v, start, out);
        }
    }

    /// Adds what rows `start..start + up.len()` take back to the coefficients.
    #[inline(always)]
    pub fn reverse<U: Packed>(&self, start: usize, up: &[U], into: &[Cell<U>], fetch: Fetch) {
        let n = up.len();
        if !self.everywhere.is_empty() {
            let sum = total(up);
            for &(c, x) in &self.everywhere {
                accumulate(into, c, sum.scale(x));
            }
        }
        if let Some(x) = &self.dense {
            let k = self.columns;
            if self.by_column.add_columns(x, start, up, &into[..k]).is_none() {
                add_columns(&x[start * k..(start + n) * k], up, &into[..k], fetch);
            }
        }
        if self.sparse.entries > 0 {
            self.sparse.reverse(start, up, into);
        }
    }
}

/// Two are the same only if they share their numbers: comparing large matrices would cost more than it saves.
impl PartialEq for Design {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Hash for Design {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl Kernel for Design {
    const NAME: &'static str = "design";

    fn shape(&self, _: &[Shape]) -> Result<Shape, ShapeError> {
        Ok(vec![Size::known(self.0.rows)])
    }

    /// Room for the coefficients, where they are constant.
    fn saved(&self, _: &[&[usize]]) -> usize {
        self.0.coefficients
    }

    fn operations(&self, _: &[&[usize]]) -> usize {
        self.0.operations()
    }

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        let v = match cx.args[0] {
            Arg::Var(v) => v,
            Arg::Const(c) => {
                cx.saved.iter_mut().zip(c).for_each(|(r, &x)| *r = T::splat(x));
                &*cx.saved
            }
        };
        best_lanes(Rows { operator: &self.0, v, start: 0, out: cx.out, fetch: Fetch::All });
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        let Some(into) = cx.adjoints[0] else { return };
        best_lanes(Back { operator: &self.0, up: cx.adjoint, into });
    }
}

/// Computes some rows of a linear predictor.
pub struct Rows<'a, T> {
    /// The design.
    pub operator: &'a Operator,
    /// The coefficients.
    pub v: &'a [T],
    /// The first row.
    pub start: usize,
    /// The rows.
    pub out: &'a mut [T],
    /// What is fetched on the way.
    pub fetch: Fetch,
}

impl<T: Packed> LaneWork<T> for Rows<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        self.operator.forward(view.slice(self.v), self.start, view.slice_mut(self.out), self.fetch);
    }
}

struct Back<'a, T> {
    operator: &'a Operator,
    up: &'a [T],
    into: &'a [Cell<T>],
}

impl<T: Packed> LaneWork<T> for Back<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let (up, into) = (view.slice(self.up), view.cells(self.into));
        // A few rows at a time: their lines serve all columns while they are near.
        for (start, up) in (0..).step_by(ROWS).zip(up.chunks(ROWS)) {
            self.operator.reverse(start, up, into, Fetch::All);
        }
    }
}
