//! Runs loops whose steps need the steps before them, and differentiates them.
//!
//! Of long loops only the sequences themselves are kept: the reverse sweep goes through the steps backwards
//! and computes what else it needs of a step again from them, so that memory grows with the sequences alone.
//! Of short ones everything is kept.

mod feed;
mod linear;
mod looped;
#[cfg(test)]
mod tests;

pub(super) use feed::Feed;
pub(super) use looped::LoopCode;

use super::code::{Code, Plan, Slot};
use super::program::Primitive;
use super::run::Workspace;
use crate::graph::{Origin, Recursion};
use crate::ops::operand::{Adjoint, Arg, Lane, accumulate};
use std::sync::Arc;

/// A loop with its step scheduled, once for each way that a step may go.
#[derive(Clone, Debug)]
pub(super) struct RecursionCode {
    recursion: Arc<Recursion>,
    bodies: Vec<Plan>,
    /// For each feed its first coordinate.
    offsets: Vec<usize>,
    /// For each feed its argument.
    arguments: Vec<Option<usize>>,
    /// For each sequence the argument with its elements before the first step.
    initial: Vec<Option<usize>>,
    /// For each sequence where it begins in the result.
    starts: Vec<usize>,
    /// Number of coordinates that are the same in every step; they come first.
    fixed: usize,
}

/// Most numbers that are kept of all steps; where there are more, they are computed again.
const MOST_KEPT: usize = 1 << 16;

impl RecursionCode {
    /// How many numbers the forward sweep keeps for the reverse sweep beside the sequences; none if there
    /// were too many.
    pub(super) fn saved(&self) -> usize {
        let all = self.kept() * self.recursion.steps;
        // Equations keep more than numbers.
        let plain = self.bodies.iter().all(|body| body.odes.is_empty() && body.recursions.is_empty());
        if plain && all <= MOST_KEPT { all } else { 0 }
    }

    /// How many numbers a step computes.
    fn kept(&self) -> usize {
        self.bodies.iter().map(Workspace::<f64>::kept).max().unwrap_or(0)
    }

    /// Schedules the step.
    pub(super) fn new(recursion: &Arc<Recursion>) -> Self {
        let size = |fixed: bool| {
            let of = recursion.feeds.iter().filter(|f| !fixed || f.origin == Origin::Fixed);
            of.map(|f| f.size).sum()
        };
        let bodies = recursion.ways.iter().map(|way| Plan::new(&recursion.graph, way, size(false)));
        Self {
            bodies: bodies.collect(),
            offsets: recursion.offsets(),
            arguments: recursion.arguments(),
            initial: recursion.initial(),
            starts: (0..recursion.sequences.len()).map(|s| recursion.start(s)).collect(),
            fixed: size(true),
            recursion: recursion.clone(),
        }
    }

    /// Number of steps.
    pub(super) fn steps(&self) -> usize {
        self.recursion.steps
    }

    /// The step, once for each way it may go.
    pub(super) fn bodies(&self) -> &[Plan] {
        &self.bodies
    }

    /// The argument with a number for each step, where a step is h ← a · h + b, that number is b and a is the
    /// same in every step.
    pub(super) fn linear_feed(&self) -> Option<usize> {
        let [body] = self.bodies.as_slice() else { return None };
        let [only] = body.steps.as_slice() else { return None };
        let Code::Program(code) = &only.code else { return None };
        let ([i], [sequence]) = (code.as_slice(), self.recursion.sequences.as_slice()) else { return None };
        let of = |origin: Origin| {
            let mut found = self.recursion.feeds.iter().enumerate().filter(|(_, f)| f.origin == origin);
            found.next().map(|(k, _)| (k, self.offsets[k]))
        };
        let (_, a) = of(Origin::Fixed)?;
        let (step, b) = of(Origin::Step)?;
        let (_, h) = of(Origin::Earlier { sequence: 0, lag: 1 })?;
        let places = i.args.map(|source| source.at);
        let fits = i.op == Primitive::MulAdd
            && i.n == 1
            && self.recursion.feeds.len() == 3
            && self.recursion.feeds.iter().all(|f| f.size == 1)
            && (sequence.size, sequence.lags) == (1, 1)
            && i.args[..3].iter().all(|source| source.varies)
            && (places[..2] == [a, h] || places[..2] == [h, a])
            && places[2] == b;
        self.arguments[step].filter(|_| fits)
    }

    /// Buffers for the step, once for each way.
    pub(super) fn rooms<T: Lane>(&self) -> Vec<Workspace<T>> {
        self.bodies.iter().map(Workspace::new).collect()
    }

    /// The sequences, where no argument depends on parameters.
    pub(super) fn constant(&self, args: &[Slot]) -> Option<Vec<f64>> {
        let of = |slot: &Slot| match slot {
            Slot::Const(values) => Some(values.clone()),
            Slot::Data { .. } | Slot::Var { .. } => None,
        };
        let args: Vec<Arc<[f64]>> = args.iter().map(of).collect::<Option<_>>()?;
        let mut out = vec![0.0; self.recursion.len()];
        self.forward::<f64>(&mut self.rooms(), |k| Arg::Const(&args[k]), &mut out, &mut []);
        Some(out)
    }

    /// Where an element of a sequence stands: that of a step, or one `lag` steps before it.
    fn place(&self, sequence: usize, step: usize, lag: usize) -> usize {
        let s = &self.recursion.sequences[sequence];
        self.starts[sequence] + (s.lags + step - lag) * s.size
    }

    /// Computes the sequences; with room to keep what the reverse sweep needs, that too.
    pub(super) fn forward<'a, T: Lane>(
        &self,
        rooms: &mut [Workspace<T>],
        arg: impl Fn(usize) -> Arg<'a, T>,
        out: &mut [T],
        saved: &mut [T],
    ) {
        let kept = self.kept();
        for (&start, initial) in self.starts.iter().zip(&self.initial) {
            let Some(k) = initial else { continue };
            let from = arg(*k);
            (0..from.len()).for_each(|i| out[start + i] = from.get(i));
        }
        self.load_fixed(rooms, &arg);
        for step in 0..self.recursion.steps {
            let way = self.recursion.way_of(step);
            let (body, room) = (&self.bodies[way], &mut rooms[way]);
            self.load(room.inputs(body), &arg, out, step);
            room.steps_forward(body, !saved.is_empty());
            if !saved.is_empty() {
                room.keep(body, &mut saved[step * kept..]);
            }
            for (s, sequence) in self.recursion.sequences.iter().enumerate() {
                let to = self.place(s, step, 0);
                (0..sequence.size).for_each(|i| out[to + i] = room.root(body, s, i));
            }
        }
    }

    /// Goes backwards through the steps; `up` is the adjoint of the sequences, and is added to.
    pub(super) fn reverse<'a, T: Lane>(
        &self,
        rooms: &mut [Workspace<T>],
        arg: impl Fn(usize) -> Arg<'a, T>,
        (out, saved): (&[T], &[T]),
        up: &mut [T],
        adjoint: impl Fn(usize) -> Adjoint<'a, T>,
    ) {
        let kept = self.kept();
        self.load_fixed(rooms, &arg);
        rooms.iter_mut().for_each(|room| room.adjoints()[..self.fixed].fill(T::zero()));
        for step in (0..self.recursion.steps).rev() {
            let way = self.recursion.way_of(step);
            let (body, room) = (&self.bodies[way], &mut rooms[way]);
            self.load(room.inputs(body), &arg, out, step);
            match saved.is_empty() {
                true => room.steps_forward(body, true),
                false => room.recall(body, &saved[step * kept..]),
            }
            room.reverse_part(body, self.fixed, |adjoints| {
                for (s, root) in body.roots.iter().enumerate() {
                    let Slot::Var { at, len } = root else { continue };
                    let from = self.place(s, step, 0);
                    (0..*len).for_each(|i| adjoints[at + i] += up[from + i]);
                }
            });
            self.hand_on(room.adjoints(), up, &adjoint, step);
        }
        for ((feed, &offset), &argument) in
            self.recursion.feeds.iter().zip(&self.offsets).zip(&self.arguments)
        {
            let (Origin::Fixed, Some(into)) = (feed.origin, argument.and_then(&adjoint)) else { continue };
            for room in rooms.iter_mut() {
                let of = &room.adjoints()[offset..offset + feed.size];
                of.iter().enumerate().for_each(|(i, &a)| accumulate(into, i, a));
            }
        }
        for (&start, initial) in self.starts.iter().zip(&self.initial) {
            let Some(into) = initial.and_then(&adjoint) else { continue };
            (0..into.len()).for_each(|i| accumulate(into, i, up[start + i]));
        }
    }

    /// Sets the coordinates that are the same in every step.
    fn load_fixed<'a, T: Lane>(&self, rooms: &mut [Workspace<T>], arg: &impl Fn(usize) -> Arg<'a, T>) {
        for (room, body) in rooms.iter_mut().zip(&self.bodies) {
            let inputs = room.inputs(body);
            for ((feed, &offset), &argument) in
                self.recursion.feeds.iter().zip(&self.offsets).zip(&self.arguments)
            {
                let (Origin::Fixed, Some(k)) = (feed.origin, argument) else { continue };
                let from = arg(k);
                (0..feed.size).for_each(|i| inputs[offset + i] = from.get(i));
            }
        }
    }

    /// Sets the coordinates of a step.
    #[inline]
    fn load<'a, T: Lane>(
        &self,
        inputs: &mut [T],
        arg: &impl Fn(usize) -> Arg<'a, T>,
        out: &[T],
        step: usize,
    ) {
        for ((feed, &offset), &argument) in
            self.recursion.feeds.iter().zip(&self.offsets).zip(&self.arguments)
        {
            let to = &mut inputs[offset..offset + feed.size];
            match (feed.origin, argument) {
                (Origin::Step, Some(k)) => {
                    let from = arg(k);
                    to.iter_mut().enumerate().for_each(|(i, x)| *x = from.get(step * feed.size + i));
                }
                (Origin::Earlier { sequence, lag }, _) => {
                    let from = self.place(sequence, step, lag);
                    to.copy_from_slice(&out[from..from + feed.size]);
                }
                (Origin::Fixed | Origin::Step, _) => {}
            }
        }
    }

    /// Adds the adjoints of a step's coordinates to those of what they were read from.
    #[inline]
    fn hand_on<'a, T: Lane>(
        &self,
        adjoints: &[T],
        up: &mut [T],
        adjoint: &impl Fn(usize) -> Adjoint<'a, T>,
        step: usize,
    ) {
        for ((feed, &offset), &argument) in
            self.recursion.feeds.iter().zip(&self.offsets).zip(&self.arguments)
        {
            let of = &adjoints[offset..offset + feed.size];
            match feed.origin {
                Origin::Fixed => {}
                Origin::Step => {
                    let Some(into) = argument.and_then(adjoint) else { continue };
                    of.iter().enumerate().for_each(|(i, &a)| accumulate(into, step * feed.size + i, a));
                }
                Origin::Earlier { sequence, lag } => {
                    let to = self.place(sequence, step, lag);
                    of.iter().enumerate().for_each(|(i, &a)| up[to + i] += a);
                }
            }
        }
    }
}
