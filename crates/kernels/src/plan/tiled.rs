//! Chains of functions over many rows, a few rows at a time: from the arrays they read to the adjoints of
//! these, in the first-level cache.
//!
//! What is computed for a row is a small plan of its own, the body, whose coordinates are the elements that
//! the rows read. At the end of a chain stands a sum over the rows, so that nothing with as many elements as
//! there are rows is stored, or an array that is wanted; of that the reverse sweep computes the chain again.

use super::code::{Plan, Slot};
use super::run::Workspace;
use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::linalg::design::Fetch;
use crate::num::real::Packed;
use crate::ops::array::{Operator, Rows};
use crate::ops::operand::{Adjoint, Arg, Broadcast, Index, Lane, accumulate};
use std::cell::Cell;
use std::sync::Arc;

/// Rows at a time where draws stand side by side, and for one draw: few enough for everything to stay in the
/// first-level cache.
const SIZES: [usize; 2] = [32, 256];

/// How rows read an array.
#[derive(Clone, Debug)]
pub(super) enum Reading {
    /// An element each, or one for all.
    Elements(Broadcast),
    /// As coefficients of a linear predictor.
    Predictor(Arc<Operator>),
}

/// An array that the rows read.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// Which argument of the step it is.
    pub(super) arg: usize,
    pub(super) reading: Reading,
    /// Whether it depends on the parameters.
    pub(super) varies: bool,
}

impl Leaf {
    /// Whether one number serves all rows. Data are written out row by row.
    pub(super) fn is_one(&self) -> bool {
        self.varies && matches!(self.reading, Reading::Elements(Broadcast::One))
    }
}

/// Where the elements of leaves stand among the coordinates of a body, or among its data after them.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) offsets: Vec<usize>,
    pub(super) coordinates: usize,
}

impl Layout {
    /// For so many rows.
    fn new(leaves: &[Leaf], rows: usize) -> Self {
        let size = |leaf: &Leaf| if leaf.is_one() { 1 } else { rows };
        let mut offsets = vec![0; leaves.len()];
        let mut place = |varies: bool, start: usize| {
            leaves.iter().zip(&mut offsets).filter(|(leaf, _)| leaf.varies == varies).fold(
                start,
                |at, (leaf, offset)| {
                    *offset = at;
                    at + size(leaf)
                },
            )
        };
        let coordinates = place(true, 0);
        place(false, coordinates);
        Self { offsets, coordinates }
    }
}

/// What is done for so many rows at a time.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) rows: usize,
    pub(super) plan: Plan,
    layout: Layout,
}

/// Chains over the same rows.
#[derive(Clone, Debug)]
pub(super) struct TiledCode {
    rows: usize,
    /// Whether arrays are at the ends, and not sums.
    arrays: bool,
    leaves: Vec<Leaf>,
    /// For each argument where its slopes stand among those that are kept.
    starts: Vec<usize>,
    /// For each of the [`SIZES`] what is done for a whole tile, and for the rows that are left over.
    bodies: [Vec<Body>; 2],
}

impl TiledCode {
    /// For so many rows, more than any of the [`SIZES`], that read `args`; `plan` makes the body for a number
    /// of rows.
    pub(super) fn new(
        (rows, arrays): (usize, bool),
        leaves: Vec<Leaf>,
        args: &[Slot],
        plan: impl Fn(usize, &Layout) -> Plan,
    ) -> Self {
        let body = |rows: usize| {
            let layout = Layout::new(&leaves, rows);
            Body { rows, plan: plan(rows, &layout), layout }
        };
        let bodies = SIZES.map(|size| [size, rows % size].into_iter().filter(|&n| n > 0).map(body).collect());
        let varying = |slot: &Slot| if matches!(slot, Slot::Var { .. }) { slot.len() } else { 0 };
        let starts = (0..args.len()).map(|k| args[..k].iter().map(varying).sum()).collect();
        Self { rows, arrays, leaves, starts, bodies }
    }

    /// What it does, for dumps and profiles.
    pub(super) fn name(&self) -> String {
        format!("{} over {} rows in tiles", if self.arrays { "arrays" } else { "sums" }, self.rows)
    }

    /// Whether arrays are at the ends, and not sums.
    pub(super) fn gives_arrays(&self) -> bool {
        self.arrays
    }

    /// The bodies for sixteen draws, each with how often it is run.
    pub(super) fn runs(&self) -> impl Iterator<Item = (usize, &Plan)> {
        let whole = self.rows / SIZES[0];
        self.bodies[0].iter().zip([whole, 1]).map(|(body, times)| (times, &body.plan))
    }

    /// The linear predictors among what is read.
    pub(super) fn operators(&self) -> impl Iterator<Item = &Arc<Operator>> {
        self.leaves.iter().filter_map(|leaf| match &leaf.reading {
            Reading::Predictor(operator) => Some(operator),
            Reading::Elements(_) => None,
        })
    }

    /// Where the slopes in an argument stand among those that are kept.
    pub(super) fn start(&self, arg: usize) -> usize {
        self.starts[arg]
    }

    fn bodies<T: Lane>(&self) -> &[Body] {
        &self.bodies[usize::from(T::WIDTH == 1)]
    }

    /// Buffers for the bodies.
    pub(super) fn rooms<T: Lane>(&self) -> Vec<Workspace<T>> {
        self.bodies::<T>().iter().map(|body| Workspace::new(&body.plan)).collect()
    }

    /// The tiles: the first row of each, and which body it has.
    fn tiles<T: Lane>(&self) -> impl Iterator<Item = (usize, usize)> {
        let (rows, size) = (self.rows, self.bodies::<T>()[0].rows);
        (0..rows).step_by(size).map(move |start| (start, usize::from(rows - start < size)))
    }

    /// Computes the sums; with somewhere to add them, also their slopes in each argument.
    pub(super) fn sums<'a, T: Lane>(
        &self,
        rooms: &mut [Workspace<T>],
        arg: impl Fn(usize) -> Arg<'a, T>,
        out: &mut [T],
        into: Option<impl Fn(usize) -> Adjoint<'a, T>>,
    ) {
        self.load_shared(rooms, &arg);
        out.fill(T::zero());
        for (start, which) in self.tiles::<T>() {
            let (body, room) = (&self.bodies::<T>()[which], &mut rooms[which]);
            self.load(body, room, &arg, start, if into.is_some() { Fetch::Half } else { Fetch::All });
            room.steps_forward(&body.plan, into.is_some());
            if let Some(into) = &into {
                room.steps_reverse(&body.plan, &mut |at| at.seed(&body.plan));
                self.hand_on(body, room.adjoints(), into, start);
            }
            out.iter_mut().enumerate().for_each(|(s, sum)| *sum += room.root(&body.plan, s, 0));
        }
    }

    /// Computes the arrays, one after another.
    pub(super) fn arrays<'a, T: Lane>(
        &self,
        rooms: &mut [Workspace<T>],
        arg: impl Fn(usize) -> Arg<'a, T>,
        out: &mut [T],
    ) {
        self.load_shared(rooms, &arg);
        for (start, which) in self.tiles::<T>() {
            let (body, room) = (&self.bodies::<T>()[which], &mut rooms[which]);
            self.load(body, room, &arg, start, Fetch::All);
            room.steps_forward(&body.plan, false);
            for (r, array) in out.chunks_exact_mut(self.rows).enumerate() {
                let rows = room.root_values(&body.plan, r);
                array[start..start + body.rows].iter_mut().enumerate().for_each(|(i, o)| *o = rows.get(i));
            }
        }
    }

    /// Adds the slopes of the arrays times their adjoints `up`.
    pub(super) fn pull<'a, T: Lane>(
        &self,
        rooms: &mut [Workspace<T>],
        arg: impl Fn(usize) -> Arg<'a, T>,
        up: &[T],
        into: impl Fn(usize) -> Adjoint<'a, T>,
    ) {
        self.load_shared(rooms, &arg);
        for (start, which) in self.tiles::<T>() {
            let (body, room) = (&self.bodies::<T>()[which], &mut rooms[which]);
            self.load(body, room, &arg, start, Fetch::Half);
            room.steps_forward(&body.plan, true);
            room.reverse_part(&body.plan, 0, |adjoints| {
                for (root, up) in body.plan.roots.iter().zip(up.chunks_exact(self.rows)) {
                    let Slot::Var { at, len } = root else { continue };
                    adjoints[*at..at + len].iter_mut().zip(&up[start..]).for_each(|(a, &u)| *a += u);
                }
            });
            self.hand_on(body, room.adjoints(), &into, start);
        }
    }

    /// Sets what is the same in every row.
    fn load_shared<'a, T: Lane>(&self, rooms: &mut [Workspace<T>], arg: &impl Fn(usize) -> Arg<'a, T>) {
        for (body, room) in self.bodies::<T>().iter().zip(rooms) {
            let leaves = self.leaves.iter().zip(&body.layout.offsets);
            for (leaf, &at) in leaves.filter(|(leaf, _)| leaf.is_one()) {
                room.inputs(&body.plan)[at] = arg(leaf.arg).get(0);
            }
        }
    }

    /// Sets what the rows from `start` on read.
    fn load<'a, T: Lane>(
        &self,
        body: &Body,
        room: &mut Workspace<T>,
        arg: &impl Fn(usize) -> Arg<'a, T>,
        start: usize,
        fetch: Fetch,
    ) {
        for (leaf, &at) in self.leaves.iter().zip(&body.layout.offsets).filter(|(leaf, _)| !leaf.is_one()) {
            match (arg(leaf.arg), &leaf.reading) {
                (Arg::Var(v), Reading::Predictor(operator)) => {
                    let out = &mut room.inputs(&body.plan)[at..at + body.rows];
                    best_lanes(Rows { operator, v, start, out, fetch });
                }
                (Arg::Var(v), Reading::Elements(index)) => {
                    let out = &mut room.inputs(&body.plan)[at..at + body.rows];
                    best_lanes(Gather { v, index: index.index(), start, out });
                }
                (Arg::Const(c), Reading::Elements(index)) => {
                    let at = at - body.layout.coordinates;
                    let out = &mut room.data()[at..at + body.rows];
                    out.iter_mut().enumerate().for_each(|(i, x)| *x = c[index.at(start + i)]);
                }
                (Arg::Const(_), Reading::Predictor(_)) => {}
            }
        }
    }

    /// Adds the adjoints of the elements that rows have read to those of the arrays.
    fn hand_on<'a, T: Lane>(
        &self,
        body: &Body,
        adjoints: &[T],
        into: &impl Fn(usize) -> Adjoint<'a, T>,
        start: usize,
    ) {
        for (leaf, &at) in self.leaves.iter().zip(&body.layout.offsets) {
            let Some(into) = into(leaf.arg) else { continue };
            let n = if leaf.is_one() { 1 } else { body.rows };
            best_lanes(Scatter { up: &adjoints[at..at + n], reading: &leaf.reading, start, into });
        }
    }
}

/// Copies the elements that rows read.
struct Gather<'a, T> {
    v: &'a [T],
    index: Index<'a>,
    start: usize,
    out: &'a mut [T],
}

impl<T: Packed> LaneWork<T> for Gather<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let (v, out) = (view.slice(self.v), view.slice_mut(self.out));
        match self.index {
            Index::Each => out.iter_mut().zip(&v[self.start..]).for_each(|(o, &x)| *o = x),
            Index::One => out.iter_mut().for_each(|o| *o = v[0]),
            Index::Table(t) => out.iter_mut().zip(&t[self.start..]).for_each(|(o, &p)| *o = v[p as usize]),
        }
    }
}

/// Adds the adjoints of what rows have read to where it was read.
struct Scatter<'a, T> {
    up: &'a [T],
    reading: &'a Reading,
    start: usize,
    into: &'a [Cell<T>],
}

impl<T: Packed> LaneWork<T> for Scatter<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let (up, into) = (view.slice(self.up), view.cells(self.into));
        match self.reading {
            Reading::Predictor(operator) => operator.reverse(self.start, up, into, Fetch::Half),
            Reading::Elements(Broadcast::Each) => {
                for (cell, &u) in into[self.start..].iter().zip(up) {
                    cell.set(cell.get() + u);
                }
            }
            Reading::Elements(Broadcast::One) => accumulate(into, 0, up[0]),
            Reading::Elements(Broadcast::Table(t)) => {
                for (&p, &u) in t[self.start..].iter().zip(up) {
                    accumulate(into, p as usize, u);
                }
            }
        }
    }
}
