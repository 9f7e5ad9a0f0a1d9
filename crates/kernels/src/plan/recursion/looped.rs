//! Loops whose step is instructions alone: they read and write in the buffers of the plan itself, at places
//! that move on with the steps, so that nothing is copied.

use super::super::code::{Code, Plan, Slot};
use super::super::program::{ANY, Instruction, MOST_READ, Primitive, Shift, UNKNOWN, apply, pull};
use super::RecursionCode;
use super::feed::{self, Feed};
use super::linear::{self, Linear};
use crate::graph::Origin;
use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::real::Packed;
use crate::num::stack::with_room;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// A loop in place.
#[derive(Clone, Debug)]
pub(in crate::plan) struct LoopCode {
    steps: usize,
    /// The way of each step; empty if there is only one.
    way: Vec<u8>,
    ways: Vec<Vec<Moving>>,
    /// Data that each step reads: where they are put, and how many for a step.
    loads: Vec<(usize, Arc<[f64]>, usize)>,
    /// What stands before the first step, and where it is put.
    initial: Vec<(Slot, usize)>,
    /// Where a step puts what it computes on the way, if the next one puts it there too: then it is computed
    /// again for the reverse sweep. Empty if every step has a place of its own.
    room: Range<usize>,
    linear: Option<Linear>,
    /// What computes b where a step is h ← a · h + b; none if b is read like everything else.
    feed: Option<Feed>,
}

/// Most numbers that are kept of all steps; where there are more, they are computed again.
const MOST_KEPT: usize = 1 << 14;

/// An instruction with how far its places move from one step to the next: those of its arguments, and that of
/// the result.
#[derive(Clone, Debug)]
pub(super) struct Moving {
    pub(super) first: Instruction,
    pub(super) strides: [usize; MOST_READ],
    pub(super) out: usize,
}

/// The places of an instruction in a step.
#[derive(Clone, Copy)]
struct AtStep<'a> {
    moving: &'a Moving,
    step: usize,
}

impl Shift for AtStep<'_> {
    #[inline(always)]
    fn arg(self, k: usize) -> usize {
        self.step * self.moving.strides[k]
    }

    #[inline(always)]
    fn out(self) -> usize {
        self.step * self.moving.out
    }
}

impl Moving {
    /// Whether the result has a place of its own for every step.
    #[inline(always)]
    fn is_kept(&self) -> bool {
        self.out > 0
    }
}

/// A piece of the buffer that a step was scheduled for, and where it is in that of the plan.
#[derive(Clone, Copy)]
struct Region {
    from: usize,
    len: usize,
    at: usize,
    stride: usize,
    varies: bool,
}

impl Region {
    fn meets(&self, at: usize, n: usize) -> bool {
        at < self.from + self.len && self.from < at + n
    }

    fn holds(&self, at: usize, n: usize) -> bool {
        self.from <= at && at + n <= self.from + self.len
    }
}

impl LoopCode {
    /// The loop in place, with its result from `at` on and room from `room` on, and how much room it needs;
    /// None if its step is more than instructions, or does not write its results by them. With a `feed` the
    /// step must be linear, and the argument that has what the steps add is not read.
    pub(in crate::plan) fn new(
        code: &RecursionCode,
        args: &[Slot],
        [at, room]: [usize; 2],
        fixed: &mut Vec<(usize, f64)>,
        feed: Option<Feed>,
    ) -> Option<(LoopCode, usize)> {
        // What is set before each sweep is no part of the buffer that it reads.
        if args.iter().any(|slot| matches!(slot, Slot::Data { .. })) {
            return None;
        }
        let on_the_way: usize = code.bodies.iter().map(|body| body.values - body.inputs).sum();
        let keeps = on_the_way * code.recursion.steps <= MOST_KEPT;
        let mut maker = Maker { code, args, at, keeps, next: room, loads: Vec::new(), fixed: Vec::new() };
        let feeds = maker.feeds()?;
        let constants = code.bodies.iter().map(|body| maker.constants(body)).collect::<Vec<_>>();
        let start = maker.next;
        let mut ways = Vec::with_capacity(code.bodies.len());
        for (body, constants) in code.bodies.iter().zip(constants) {
            ways.push(maker.way(body, &feeds, constants)?);
        }
        let initial = code.initial.iter().zip(&code.starts);
        let initial = initial.filter_map(|(k, start)| Some((args.get((*k)?)?.clone(), at + start)));
        let code = LoopCode {
            steps: code.recursion.steps,
            way: code.recursion.way.clone(),
            linear: Linear::of(&ways, !maker.loads.is_empty()),
            ways,
            loads: maker.loads,
            initial: initial.collect(),
            room: if keeps { start..start } else { start..maker.next },
            feed,
        };
        fixed.extend(maker.fixed);
        Some((code, maker.next - room))
    }

    /// Number of steps.
    pub(in crate::plan) fn steps(&self) -> usize {
        self.steps
    }

    /// The instructions of the first step of each way.
    pub(in crate::plan) fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.ways.iter().flatten().map(|i| &i.first)
    }

    /// What computes b where a step is h ← a · h + b: one instruction for all steps, or none.
    pub(in crate::plan) fn fed(&self) -> impl Iterator<Item = &Instruction> {
        self.feed.iter().map(|feed| &feed.instruction)
    }

    /// Notes where the constants that it reads begin in the buffer.
    pub(in crate::plan) fn constants_from(&mut self, start: usize) {
        self.feed.iter_mut().for_each(|feed| feed.constants_from(start));
    }

    /// Computes the sequences.
    pub(in crate::plan) fn forward<T: Packed>(&self, values: &mut [T]) {
        for (slot, to) in &self.initial {
            match slot {
                Slot::Const(c) => c.iter().enumerate().for_each(|(i, &x)| values[to + i] = T::splat(x)),
                Slot::Var { at, len } => values.copy_within(*at..at + len, *to),
                Slot::Data { .. } => {}
            }
        }
        let values = Cell::from_mut(values).as_slice_of_cells();
        with_room(|| best_lanes(Ahead { code: self, values, steps: 0..self.steps, again: false }));
    }

    /// Goes backwards through the steps.
    pub(in crate::plan) fn reverse<T: Packed>(&self, values: &mut [T], adjoints: &mut [T]) {
        let values = Cell::from_mut(values).as_slice_of_cells();
        let sums = Cell::from_mut(&mut *adjoints).as_slice_of_cells();
        with_room(|| best_lanes(Backwards { code: self, values, adjoints: sums }));
        for (slot, from) in &self.initial {
            let Slot::Var { at, len } = slot else { continue };
            for i in 0..*len {
                let a = adjoints[from + i];
                adjoints[at + i] += a;
            }
        }
    }

    #[inline(always)]
    fn way(&self, step: usize) -> &[Moving] {
        &self.ways[self.way.get(step).map_or(0, |&w| w as usize)]
    }

    /// Puts the data of a step in place.
    #[inline(always)]
    fn load<U: Packed>(&self, values: &[Cell<U>], step: usize) {
        for (to, data, size) in &self.loads {
            for i in 0..*size {
                values[to + i].set(U::splat(data[step * size + i]));
            }
        }
    }
}

struct Ahead<'a, T> {
    code: &'a LoopCode,
    values: &'a [Cell<T>],
    steps: Range<usize>,
    /// Whether only that is computed, again, which has no place of its own for every step.
    again: bool,
}

impl<T: Packed> LaneWork<T> for Ahead<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let values = view.cells(self.values);
        if let Some(linear) = self.code.linear {
            let (moving, steps) = (&self.code.ways[0][0], self.code.steps);
            let fed = linear::Ahead { linear, moving, steps, values };
            return feed::run(self.code.feed.as_ref(), moving, values, fed);
        }
        for step in self.steps {
            self.code.load(values, step);
            for moving in self.code.way(step) {
                if !self.again || !moving.is_kept() {
                    apply(&moving.first, AtStep { moving, step }, values);
                }
            }
        }
    }
}

struct Backwards<'a, T> {
    code: &'a LoopCode,
    values: &'a [Cell<T>],
    adjoints: &'a [Cell<T>],
}

impl<T: Packed> LaneWork<T> for Backwards<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let (values, adjoints) = (view.cells(self.values), view.cells(self.adjoints));
        if let Some(linear) = self.code.linear {
            let (moving, steps) = (&self.code.ways[0][0], self.code.steps);
            let fed = linear::Back { ahead: linear::Ahead { linear, moving, steps, values }, adjoints };
            return feed::run(self.code.feed.as_ref(), moving, values, fed);
        }
        for step in (0..self.code.steps).rev() {
            if self.code.room.is_empty() {
                self.code.load(values, step);
            } else {
                best_lanes(Ahead {
                    code: self.code,
                    values: self.values,
                    steps: step..step + 1,
                    again: true,
                });
                for adjoint in &adjoints[self.code.room.clone()] {
                    adjoint.set(U::zero());
                }
            }
            for moving in self.code.way(step).iter().rev() {
                let up = adjoints[moving.first.out + step * moving.out].get();
                pull(&moving.first, AtStep { moving, step }, values, adjoints, up);
            }
        }
    }
}

/// Moves the instructions of a step into the buffer of the plan.
struct Maker<'a> {
    code: &'a RecursionCode,
    args: &'a [Slot],
    at: usize,
    /// Whether every step has a place of its own for what it computes on the way.
    keeps: bool,
    /// The first place that is free.
    next: usize,
    loads: Vec<(usize, Arc<[f64]>, usize)>,
    fixed: Vec<(usize, f64)>,
}

impl Maker<'_> {
    fn take(&mut self, len: usize) -> usize {
        self.next += len;
        self.next - len
    }

    /// Where the coordinates of a step are.
    fn feeds(&mut self) -> Option<Vec<Region>> {
        let code = self.code;
        let mut regions = Vec::with_capacity(code.recursion.feeds.len());
        for ((feed, &from), &argument) in code.recursion.feeds.iter().zip(&code.offsets).zip(&code.arguments)
        {
            let slot = argument.and_then(|k| self.args.get(k));
            let (at, stride, varies) = match (feed.origin, slot) {
                (Origin::Fixed, Some(Slot::Var { at, .. })) => (*at, 0, true),
                (Origin::Step, Some(Slot::Var { at, .. })) => (*at, feed.size, true),
                (Origin::Fixed, Some(Slot::Const(c))) => {
                    let at = self.take(feed.size);
                    self.fixed.extend(c.iter().enumerate().map(|(i, &x)| (at + i, x)));
                    (at, 0, false)
                }
                (Origin::Step, Some(Slot::Const(c))) => {
                    let at = self.take(feed.size);
                    self.loads.push((at, c.clone(), feed.size));
                    (at, 0, false)
                }
                (Origin::Earlier { sequence, lag }, _) => {
                    (self.at + code.place(sequence, 0, lag), feed.size, true)
                }
                (Origin::Fixed | Origin::Step, None | Some(Slot::Data { .. })) => return None,
            };
            regions.push(Region { from, len: feed.size, at, stride, varies });
        }
        Some(regions)
    }

    /// Where the constants that a step's instructions read are.
    fn constants(&mut self, body: &Plan) -> Region {
        let len = body.buffer - body.values;
        let at = self.take(len);
        let constants = body.fixed.iter().filter(|(place, _)| *place >= body.values);
        self.fixed.extend(constants.map(|&(place, x)| (at + place - body.values, x)));
        Region { from: body.values, len, at, stride: 0, varies: false }
    }

    /// The instructions of a step that goes this way.
    fn way(&mut self, body: &Plan, feeds: &[Region], constants: Region) -> Option<Vec<Moving>> {
        let mut regions = feeds.to_vec();
        regions.push(constants);
        for (s, root) in body.roots.iter().enumerate() {
            let Slot::Var { at: from, len } = *root else { return None };
            if from < body.inputs || regions.iter().any(|r| r.meets(from, len)) {
                return None;
            }
            let at = self.at + self.code.place(s, 0, 0);
            regions.push(Region { from, len, at, stride: len, varies: true });
        }
        // Constants among what is computed would have to be put in place for every step.
        if body.fixed.iter().any(|(place, _)| *place < body.values) {
            return None;
        }
        let len = body.values - body.inputs;
        let (stride, all) = if self.keeps { (len, len * self.code.recursion.steps) } else { (0, len) };
        let room = Region { from: body.inputs, len, at: self.next, stride, varies: true };
        let used = Cell::new(false);
        let find = |at: usize, n: usize| match regions.iter().find(|r| r.meets(at, n)) {
            Some(region) => region.holds(at, n).then_some(*region),
            None => {
                used.set(true);
                Some(room)
            }
        };
        let mut code = Vec::new();
        for step in &body.steps {
            let Code::Program(instructions) = &step.code else { return None };
            for instruction in instructions {
                code.push(moved(instruction, find)?);
            }
        }
        // A step that computes its results and nothing else needs no room.
        if used.get() {
            self.take(all);
        }
        Some(code)
    }
}

/// An instruction of a step at the places of the plan.
fn moved(i: &Instruction, find: impl Fn(usize, usize) -> Option<Region>) -> Option<Moving> {
    if matches!(i.op, Primitive::Call(_)) {
        return None;
    }
    let mut moving =
        Moving { first: Instruction { shape: ANY, end: UNKNOWN, ..*i }, strides: [0; MOST_READ], out: 0 };
    let to = find(i.out, i.op.written(i.n))?;
    moving.first.out = to.at + i.out - to.from;
    moving.out = to.stride;
    for (k, arg) in i.args.iter().enumerate().take(i.op.arity()) {
        let from = find(arg.at, if arg.step == 0 { 1 } else { i.n })?;
        moving.first.args[k].at = from.at + arg.at - from.from;
        moving.first.args[k].varies = arg.varies && from.varies;
        moving.strides[k] = from.stride;
    }
    Some(moving)
}
