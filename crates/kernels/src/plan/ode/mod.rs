//! Solves differential equations and differentiates the solutions.
//!
//! Each draw has its own steps, so its result does not depend on those beside it. An equation that cannot be
//! solved gives numbers that are none. Explicit solutions run for a whole batch at once and are
//! differentiated backwards through their steps (`explicit`); implicit ones run draw by draw and carry their
//! derivatives along (`implicit`).

mod drive;
mod explicit;
mod implicit;
mod kernels;
mod radau;
mod system;
mod tableau;
#[cfg(test)]
mod tests;

use super::code::Plan;
use super::run::Workspace;
use crate::graph::{Ode, OdeMethod};
use crate::ops::operand::{Adjoint, Arg, Lane};
use explicit::Explicit;
use implicit::Implicit;
use std::sync::Arc;

/// Steps that a solution is thought to take beside one for each of its times: an implicit one takes those of
/// a method of order 3, which its error is estimated by.
const EXPLICIT_STEPS: usize = 30;
const IMPLICIT_STEPS: usize = 150;
/// How often a step looks at the rates: stages of the explicit method; stages of the implicit one, with the
/// iterations that solve for them.
const EXPLICIT_RATES: usize = 12;
const IMPLICIT_RATES: usize = 12;

/// An equation with its right-hand side scheduled.
#[derive(Clone, Debug)]
pub(super) struct OdeCode {
    ode: Arc<Ode>,
    rate: Plan,
    /// Whether the initial state and theta depend on parameters.
    wanted: [bool; 2],
}

/// The buffers of one thread for one equation.
#[derive(Clone, Debug)]
pub(super) enum OdeRoom<T> {
    /// For the explicit method.
    Explicit(Box<Explicit<T>>),
    /// For the implicit one.
    Implicit(Box<Implicit>),
}

impl OdeCode {
    /// Schedules the right-hand side.
    pub(super) fn new(ode: &Arc<Ode>, wanted: [bool; 2]) -> Self {
        let rate = Plan::new(&ode.graph, &[ode.rate], 1 + ode.states + ode.parameters);
        Self { ode: ode.clone(), rate, wanted }
    }

    /// Number of directions in which the states are differentiated.
    fn directions(&self) -> usize {
        let count = |wanted: bool, n: usize| if wanted { n } else { 0 };
        count(self.wanted[0], self.ode.states) + count(self.wanted[1], self.ode.parameters)
    }

    /// How many numbers the forward sweep keeps beside the room.
    pub(super) fn saved(&self) -> usize {
        match self.ode.method {
            OdeMethod::DormandPrince => 0,
            OdeMethod::Radau => self.ode.times.len() * self.ode.states * self.directions(),
        }
    }

    /// About how many additions and multiplications a gradient takes, where the equation is tame: nobody
    /// knows the number of steps before they are taken.
    pub(super) fn operations(&self) -> usize {
        let (rate, states) = (self.rate.operations(), self.ode.states);
        let (steps, each) = match self.ode.method {
            // Each stage is a sum over those before it.
            OdeMethod::DormandPrince => {
                (EXPLICIT_STEPS, EXPLICIT_RATES * (rate + 2 * EXPLICIT_RATES * states))
            }
            // A system of three times the states is factored once, and solved for each direction and
            // iteration.
            OdeMethod::Radau => {
                let (factor, solved) = (18 * states.pow(3), 18 * states * states);
                let groups = 1 + self.directions();
                (IMPLICIT_STEPS, factor + IMPLICIT_RATES * groups * (rate + 2 * states) + 4 * groups * solved)
            }
        };
        (steps + self.ode.times.len()) * each
    }

    /// Number of states.
    pub(super) fn states(&self) -> usize {
        self.ode.states
    }

    /// The solution from constants.
    pub(super) fn constant(&self, initial: &[f64], theta: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.ode.times.len() * self.ode.states];
        let args: [Arg<f64>; 2] = [Arg::Const(initial), Arg::Const(theta)];
        self.forward(&mut OdeRoom::new(self), args, &mut out, &mut [], false);
        out
    }

    /// The states at the times; with `slopes`, what the reverse sweep needs as well.
    pub(super) fn forward<T: Lane>(
        &self,
        room: &mut OdeRoom<T>,
        args: [Arg<T>; 2],
        out: &mut [T],
        saved: &mut [T],
        slopes: bool,
    ) {
        match room {
            OdeRoom::Explicit(room) => room.forward(self, args, out, slopes),
            OdeRoom::Implicit(room) => room.forward(self, args, out, saved),
        }
    }

    /// Adds the adjoints of the states, times their derivatives, to those of the arguments.
    pub(super) fn reverse<T: Lane>(
        &self,
        room: &mut OdeRoom<T>,
        saved: &[T],
        up: &[T],
        adjoints: [Adjoint<T>; 2],
    ) {
        match room {
            OdeRoom::Explicit(room) => room.reverse(self, up, adjoints),
            OdeRoom::Implicit(_) => implicit::reverse(self, saved, up, adjoints),
        }
    }
}

impl<T: Lane> OdeRoom<T> {
    /// Buffers for an equation.
    pub(super) fn new(code: &OdeCode) -> Self {
        match code.ode.method {
            OdeMethod::DormandPrince => OdeRoom::Explicit(Box::new(Explicit::new(code))),
            OdeMethod::Radau => OdeRoom::Implicit(Box::new(Implicit::new(code))),
        }
    }
}

/// The rates of states at a time; theta stands in the workspace already.
fn rate_of<T: Lane>(work: &mut Workspace<T>, plan: &Plan, t: T, states: &[T], rates: &mut [T]) {
    let inputs = work.inputs(plan);
    inputs[0] = t;
    inputs[1..1 + states.len()].copy_from_slice(states);
    work.steps_forward(plan, false);
    rates.iter_mut().enumerate().for_each(|(i, r)| *r = work.root(plan, 0, i));
}
