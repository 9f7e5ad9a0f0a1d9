//! A draw in every lane, from the caller's coordinates to the caller's gradient, as one piece of work.
//!
//! What small models pay for is getting from one piece to the next: here the draws go in and out, and the
//! sweeps are seeded, in the registers of the processor, which are chosen once. Steps choose for themselves.

use super::code::{Code, Plan, Slot};
use super::program::{Back, Run};
use super::run::Workspace;
use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::real::Packed;
use crate::num::stack::with_room;
use crate::ops::operand::Lane;
use std::cell::Cell;

/// As many draws as there are lanes, among those of the caller: the coordinates of all draws stand side by
/// side, one coordinate after another, and so do the gradients.
pub struct Draws<'a> {
    /// The coordinates.
    pub z: &'a [f64],
    /// Number of draws of the caller.
    pub count: usize,
    /// The first that is meant here.
    pub first: usize,
    /// A log density for each draw of the caller.
    pub log_density: &'a mut [f64],
    /// As many gradients, if they are wanted.
    pub gradient: Option<&'a mut [f64]>,
}

/// Log densities and gradients, where there is a draw for every lane of scalars without tangents.
pub(super) fn evaluate<T: Lane>(workspace: &mut Workspace<T>, plan: &Plan, draws: &mut Draws) {
    with_room(|| best_lanes(Batch { workspace, plan, draws }));
}

/// References alone: what is larger would be copied on the way, see
/// [`lanes_at`](crate::num::dispatch::lanes_at).
struct Batch<'a, 'd, T> {
    workspace: &'a mut Workspace<T>,
    plan: &'a Plan,
    draws: &'a mut Draws<'d>,
}

impl<T: Lane> LaneWork<T> for Batch<'_, '_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let Batch { workspace: at, plan, draws } = self;
        let lanes = Lanes { scalars: plan.inputs, count: draws.count, first: draws.first };
        let slopes = draws.gradient.is_some();
        lanes.read(draws.z, view.slice_mut(&mut at.values));
        Spread { plan, data: &at.data, values: &mut at.values }.run(view);
        if slopes && plan.summed {
            Seed { plan, adjoints: &mut at.adjoints }.run(view);
        }
        for step in &plan.steps {
            if let Code::Program(code) = &step.code {
                let (values, adjoints) = (cells(&mut at.values), cells(&mut at.adjoints));
                best_lanes(Run { code, values, adjoints, slopes });
            } else {
                at.step_forward(step, slopes);
            }
        }
        let total = Total { roots: &plan.roots, values: &at.values, data: &at.data }.run(view);
        Lanes { scalars: 1, ..lanes }.write(&[view.value(total)], draws.log_density);
        let Some(gradient) = draws.gradient.as_deref_mut() else { return };
        if !plan.summed {
            Seed { plan, adjoints: &mut at.adjoints }.run(view);
        }
        for step in plan.steps.iter().rev() {
            if let Code::Program(code) = &step.code {
                best_lanes(Back { code, values: cells(&mut at.values), adjoints: cells(&mut at.adjoints) });
            } else {
                at.step_reverse(step);
            }
        }
        lanes.write(view.slice(&at.adjoints), gradient);
    }
}

fn cells<T>(x: &mut [T]) -> &[Cell<T>] {
    Cell::from_mut(x).as_slice_of_cells()
}

/// The places of `scalars` among the numbers of all draws, `count` for each scalar, from draw `first` on.
#[derive(Clone, Copy)]
struct Lanes {
    scalars: usize,
    count: usize,
    first: usize,
}

impl Lanes {
    /// Looks once whether there is a number for every lane of every scalar.
    #[inline(always)]
    fn fit<U: Packed>(self, numbers: &[f64]) {
        assert!(!U::TANGENT && size_of::<U>() == U::WIDTH * size_of::<f64>());
        let last = self.scalars.saturating_sub(1).saturating_mul(self.count).saturating_add(self.first);
        assert!(self.scalars == 0 || last.saturating_add(U::WIDTH) <= numbers.len());
    }

    /// Reads all scalars, in pieces of their own registers, so that what reads one next finds it whole.
    #[inline(always)]
    fn read<U: Packed>(self, from: &[f64], to: &mut [U]) {
        self.fit::<U>(from);
        for (i, x) in to[..self.scalars].iter_mut().enumerate() {
            // SAFETY: `fit` has seen that as many numbers follow, and that the scalar is just its lanes.
            *x = unsafe { from.as_ptr().add(i * self.count + self.first).cast::<U>().read_unaligned() };
        }
    }

    /// Writes all scalars.
    #[inline(always)]
    fn write<U: Packed>(self, from: &[U], to: &mut [f64]) {
        self.fit::<U>(to);
        for (i, &x) in from[..self.scalars].iter().enumerate() {
            // SAFETY: `fit` has seen that as many numbers follow, and that the scalar is just its lanes.
            unsafe { to.as_mut_ptr().add(i * self.count + self.first).cast::<U>().write_unaligned(x) };
        }
    }
}

/// Puts data that instructions read into every lane.
pub(super) struct Spread<'a, T> {
    pub(super) plan: &'a Plan,
    pub(super) data: &'a [f64],
    pub(super) values: &'a mut [T],
}

impl<T: Packed> LaneWork<T> for Spread<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let values = view.slice_mut(self.values);
        for (from, to) in &self.plan.spread {
            for (value, &x) in values[*to..].iter_mut().zip(&self.data[from.clone()]) {
                *value = U::splat(x);
            }
        }
    }
}

/// One for the adjoint of each root that is not a term, zero for all others that somebody adds to or reads.
pub(super) struct Seed<'a, T> {
    pub(super) plan: &'a Plan,
    pub(super) adjoints: &'a mut [T],
}

impl<T: Packed> LaneWork<T> for Seed<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let adjoints = view.slice_mut(self.adjoints);
        if !self.plan.cleared.is_empty() {
            // A zero that the compiler does not know: it would call the library to clear the few numbers of a
            // small model.
            let zero = std::hint::black_box(U::zero());
            for range in &self.plan.cleared {
                for a in &mut adjoints[range.clone()] {
                    *a = zero;
                }
            }
        }
        for (range, count) in &self.plan.seeds {
            for a in &mut adjoints[range.clone()] {
                *a = U::splat(*count);
            }
        }
    }
}

/// The sum of the first elements of roots.
pub(super) struct Total<'a, T> {
    pub(super) roots: &'a [Slot],
    pub(super) values: &'a [T],
    pub(super) data: &'a [f64],
}

impl<T: Packed> LaneWork<T> for Total<'_, T> {
    type Out = T;

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) -> T {
        let values = view.slice(self.values);
        let mut sum = U::zero();
        for root in self.roots {
            sum += match root {
                Slot::Const(c) => U::splat(c[0]),
                Slot::Data { at, .. } => U::splat(self.data[*at]),
                Slot::Var { at, .. } => values[*at],
            };
        }
        view.back(sum)
    }
}
