//! Cholesky's elimination and the triangular solves, of several matrices of one pattern at once.
//!
//! Columns are eliminated one after another, each taken from those to its right, until what is left is dense.
//! That tail is eliminated block by block, so that a column is read from memory once for many that it is
//! taken from. Every entry has its products taken away in the same order as without blocks: the bits are the
//! same.

use super::Pattern;
use crate::num::dispatch::{LaneWork, View};
use crate::num::real::{F16, Packed};

/// Numbers of several matrices that registers hold together. As arrays of numbers the compiler would handle
/// them one by one.
pub trait Held {
    /// What holds them.
    type Numbers: Packed;
}

impl Held for [f64; 1] {
    type Numbers = f64;
}
impl Held for [f64; 16] {
    type Numbers = F16;
}

/// Columns of a block of the dense tail: the entries of four rows and of a block's columns fit the first
/// cache, and those of as many rows as columns the second.
pub(super) const BLOCK: usize = 48;
/// Entries held in registers at once: rows, and columns.
const TALL: usize = 4;
const BROAD: usize = 2;

/// Matrices laid out as their factors, which replace them.
pub(super) struct Eliminate<'a, const W: usize> {
    pub(super) pattern: &'a Pattern,
    pub(super) diagonal: &'a mut [[f64; W]],
    pub(super) below: &'a mut [[f64; W]],
}

impl<T: Packed, const W: usize> LaneWork<T> for Eliminate<'_, W>
where
    [f64; W]: Held<Numbers = T>,
{
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let Eliminate { pattern, diagonal, below } = self;
        let Pattern { start, rows: all_rows, tail, .. } = pattern;
        for j in 0..*tail {
            let pivot = view.load(&diagonal[j]).sqrt();
            view.store(pivot, &mut diagonal[j]);
            let (first, last) = (start[j], start[j + 1]);
            let (done, later) = below.split_at_mut(last);
            let column = &mut done[first..];
            for x in &mut *column {
                view.store(view.load(x) / pivot, x);
            }
            let rows = &all_rows[first..last];
            for (a, &p) in rows.iter().enumerate() {
                let factor = view.load(&column[a]);
                subtract(view, &mut diagonal[p], factor, factor);
                let mut at = start[p];
                for (b, &q) in rows.iter().enumerate().skip(a + 1) {
                    if p >= *tail {
                        at = start[p] + q - p - 1;
                    }
                    while all_rows[at] < q {
                        at += 1;
                    }
                    subtract(view, &mut later[at - last], factor, view.load(&column[b]));
                }
            }
        }
        let from = start.get(*tail).copied().unwrap_or(0);
        let (diagonal, below) = (&mut diagonal[*tail..], &mut below[from..]);
        let n = diagonal.len();
        let held = if n > 0 { BLOCK } else { 0 };
        let (left, top) = (vec![[[0.0; W]; TALL]; held], vec![[[0.0; W]; BROAD]; held * BLOCK / BROAD]);
        let mut dense = Dense { n, diagonal, below, left, top };
        for first in (0..dense.n).step_by(BLOCK) {
            dense.eliminate(view, first, dense.n.min(first + BLOCK));
        }
    }
}

/// Matrices without zeros: the diagonal, and what is below it column by column.
struct Dense<'a, const W: usize> {
    n: usize,
    diagonal: &'a mut [[f64; W]],
    below: &'a mut [[f64; W]],
    /// Columns that are done, side by side: some rows of a tile, and the rows of a block, in pairs.
    left: Vec<[[f64; W]; TALL]>,
    top: Vec<[[f64; W]; BROAD]>,
}

impl<const W: usize> Dense<'_, W> {
    /// Where the entry below the diagonal in a row and a column stands.
    #[inline(always)]
    fn at(&self, row: usize, column: usize) -> usize {
        column * (2 * self.n - column - 1) / 2 + row - column - 1
    }

    #[inline(always)]
    fn entry<T: Packed, U: Packed>(&self, view: View<T, U>, row: usize, column: usize) -> U {
        match row == column {
            true => view.load(&self.diagonal[row]),
            false => view.load(&self.below[self.at(row, column)]),
        }
    }

    #[inline(always)]
    fn put<T: Packed, U: Packed>(&mut self, view: View<T, U>, row: usize, column: usize, x: U) {
        match row == column {
            true => view.store(x, &mut self.diagonal[row]),
            false => {
                let at = self.at(row, column);
                view.store(x, &mut self.below[at]);
            }
        }
    }

    /// Takes all columns before these from them, and then eliminates them: rows of the block itself first.
    #[inline(always)]
    fn eliminate<T: Packed, U: Packed>(&mut self, view: View<T, U>, first: usize, last: usize) {
        for from in (0..first).step_by(BLOCK) {
            self.take(view, first..last, &(from..first.min(from + BLOCK)));
        }
        for column in first..last {
            self.take_some(view, [column..last, column..column + 1], &(first..column));
            let pivot = view.load(&self.diagonal[column]).sqrt();
            view.store(pivot, &mut self.diagonal[column]);
            self.divide(view, column + 1..last, column);
        }
        for row in (last..self.n).step_by(TALL) {
            let rows = row..self.n.min(row + TALL);
            for column in first..last {
                match rows.len() == TALL {
                    true => self.take_stripe(view, row, column, &(first..column)),
                    false => self.take_some(view, [rows.clone(), column..column + 1], &(first..column)),
                }
                self.divide(view, rows.clone(), column);
            }
        }
    }

    /// Divides rows below the diagonal by the pivot of a column.
    #[inline(always)]
    fn divide<T: Packed, U: Packed>(
        &mut self,
        view: View<T, U>,
        rows: std::ops::Range<usize>,
        column: usize,
    ) {
        let pivot = view.load(&self.diagonal[column]);
        for row in rows {
            let at = self.at(row, column);
            view.store(view.load(&self.below[at]) / pivot, &mut self.below[at]);
        }
    }

    /// Takes columns that are done from others, all rows on and below the diagonal.
    #[inline(always)]
    fn take<T: Packed, U: Packed>(
        &mut self,
        view: View<T, U>,
        columns: std::ops::Range<usize>,
        done: &std::ops::Range<usize>,
    ) {
        self.take_some(view, [columns.clone(), columns.clone()], done);
        let pairs = columns.len() / BROAD;
        for pair in 0..pairs {
            for (i, k) in done.clone().enumerate() {
                let from = self.at(columns.start + pair * BROAD, k);
                self.top[pair * BLOCK + i].copy_from_slice(&self.below[from..from + BROAD]);
            }
        }
        for row in (columns.end..self.n).step_by(TALL) {
            let rows = row..self.n.min(row + TALL);
            if rows.len() < TALL {
                self.take_some(view, [rows, columns.clone()], done);
                continue;
            }
            for (i, k) in done.clone().enumerate() {
                let from = self.at(row, k);
                self.left[i].copy_from_slice(&self.below[from..from + TALL]);
            }
            for pair in 0..pairs {
                self.take_tile(view, row, columns.start + pair * BROAD, pair, done.len());
            }
            self.take_some(view, [rows, columns.start + pairs * BROAD..columns.end], done);
        }
    }

    /// Takes so many columns that lie side by side from a tile below the diagonal, in registers.
    #[inline(always)]
    fn take_tile<T: Packed, U: Packed>(
        &mut self,
        view: View<T, U>,
        row: usize,
        column: usize,
        pair: usize,
        count: usize,
    ) {
        let starts: [usize; BROAD] = std::array::from_fn(|b| self.at(row, column + b));
        let mut sums = [[view.load(&self.below[starts[0]]); TALL]; BROAD];
        for b in 0..BROAD {
            for a in 0..TALL {
                sums[b][a] = view.load(&self.below[starts[b] + a]);
            }
        }
        let (left, top) = (&self.left[..count], &self.top[pair * BLOCK..pair * BLOCK + count]);
        for k in 0..count {
            for b in 0..BROAD {
                let y = view.load(&top[k][b]);
                for a in 0..TALL {
                    sums[b][a] -= y * view.load(&left[k][a]);
                }
            }
        }
        for b in 0..BROAD {
            for a in 0..TALL {
                view.store(sums[b][a], &mut self.below[starts[b] + a]);
            }
        }
    }

    /// Takes columns that are done from some rows below the diagonal of one column, in registers.
    #[inline(always)]
    fn take_stripe<T: Packed, U: Packed>(
        &mut self,
        view: View<T, U>,
        row: usize,
        column: usize,
        done: &std::ops::Range<usize>,
    ) {
        let start = self.at(row, column);
        let mut sums = [view.load(&self.below[start]); TALL];
        for a in 0..TALL {
            sums[a] = view.load(&self.below[start + a]);
        }
        for k in done.clone() {
            let (y, from) = (view.load(&self.below[self.at(column, k)]), self.at(row, k));
            let left = &self.below[from..from + TALL];
            for a in 0..TALL {
                sums[a] -= y * view.load(&left[a]);
            }
        }
        for a in 0..TALL {
            view.store(sums[a], &mut self.below[start + a]);
        }
    }

    /// The same for any rows and columns, on and below the diagonal.
    #[inline(always)]
    fn take_some<T: Packed, U: Packed>(
        &mut self,
        view: View<T, U>,
        [rows, columns]: [std::ops::Range<usize>; 2],
        done: &std::ops::Range<usize>,
    ) {
        for column in columns {
            for row in rows.start.max(column)..rows.end {
                let mut x = self.entry(view, row, column);
                for k in done.clone() {
                    let y = view.load(&self.below[self.at(column, k)]);
                    x -= y * view.load(&self.below[self.at(row, k)]);
                }
                self.put(view, row, column, x);
            }
        }
    }
}

/// Solves L y = x.
pub(super) struct Forward<'a, const W: usize> {
    pub(super) pattern: &'a Pattern,
    pub(super) factor: &'a [[f64; W]],
    pub(super) y: &'a mut [[f64; W]],
}

impl<T: Packed, const W: usize> LaneWork<T> for Forward<'_, W>
where
    [f64; W]: Held<Numbers = T>,
{
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let Forward { pattern, factor, y } = self;
        let (pivots, below) = factor.split_at(pattern.dimension());
        for (j, pivot) in pivots.iter().enumerate() {
            let value = view.load(&y[j]) / view.load(pivot);
            view.store(value, &mut y[j]);
            for at in pattern.start[j]..pattern.start[j + 1] {
                subtract(view, &mut y[pattern.rows[at]], value, view.load(&below[at]));
            }
        }
    }
}

/// Solves Lᵀ x = y.
pub(super) struct Backward<'a, const W: usize> {
    pub(super) pattern: &'a Pattern,
    pub(super) factor: &'a [[f64; W]],
    pub(super) y: &'a mut [[f64; W]],
}

impl<T: Packed, const W: usize> LaneWork<T> for Backward<'_, W>
where
    [f64; W]: Held<Numbers = T>,
{
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let Backward { pattern, factor, y } = self;
        let (pivots, below) = factor.split_at(pattern.dimension());
        for (j, pivot) in pivots.iter().enumerate().rev() {
            let mut value = view.load(&y[j]);
            for at in pattern.start[j]..pattern.start[j + 1] {
                value -= view.load(&y[pattern.rows[at]]) * view.load(&below[at]);
            }
            view.store(value / view.load(pivot), &mut y[j]);
        }
    }
}

#[inline(always)]
fn subtract<T: Packed, U: Packed, const W: usize>(view: View<T, U>, from: &mut [f64; W], a: U, b: U) {
    view.store(view.load(from) - a * b, from);
}
