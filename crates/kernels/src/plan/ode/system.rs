//! A differential equation together with the derivatives of its states in where it starts and what it depends
//! on.
//!
//! The states are carried as [`Dual`] numbers, once for each direction: their value, and their derivative in
//! it. The rate of such states is their rate and the rate of their derivatives: one forward sweep of the
//! right-hand side gives y' and one column of S' = (∂f/∂y) S + ∂f/∂theta.

use super::super::code::Plan;
use super::super::run::Workspace;
use super::rate_of;
use crate::graph::Ode;
use crate::num::real::{Dual, Real};

/// The equation and the buffers that computing its rate needs.
pub(super) struct System<'a> {
    pub(super) ode: &'a Ode,
    pub(super) plan: &'a Plan,
    /// One for each direction, and a last one for the Jacobian.
    pub(super) work: &'a mut [Workspace<Dual>],
}

impl System<'_> {
    /// Number of directions, at least one.
    pub(super) fn groups(&self) -> usize {
        self.work.len() - 1
    }

    /// Sets theta and writes the initial states; `directions` are those of the initial state, then those of
    /// theta, of which `[initial, theta]` says whether they are wanted.
    pub(super) fn start(&mut self, point: &[f64], wanted: [bool; 2], states: &mut [Dual]) {
        let (n, p) = (self.ode.states, self.ode.parameters);
        let groups = self.groups();
        let unit = |x: f64, direction: Option<usize>, group: usize| Dual {
            v: x,
            d: f64::from(group < groups && direction == Some(group)),
        };
        for group in 0..groups {
            for i in 0..n {
                states[group * n + i] = unit(point[i], wanted[0].then_some(i), group);
            }
        }
        let first = if wanted[0] { n } else { 0 };
        for (group, work) in self.work.iter_mut().enumerate() {
            for j in 0..p {
                let direction = wanted[1].then_some(first + j);
                work.inputs(self.plan)[1 + n + j] = unit(point[n + j], direction, group);
            }
        }
    }

    /// The rates of states with their derivatives.
    pub(super) fn rate(&mut self, t: f64, states: &[Dual], rates: &mut [Dual]) {
        let n = self.ode.states;
        for group in 0..self.groups() {
            let range = group * n..(group + 1) * n;
            rate_of(
                &mut self.work[group],
                self.plan,
                Dual::splat(t),
                &states[range.clone()],
                &mut rates[range],
            );
        }
    }

    /// ∂f/∂y, [n, n]; the first n of `room` are overwritten.
    pub(super) fn jacobian(&mut self, t: f64, states: &[Dual], room: &mut [Dual], out: &mut [f64]) {
        let n = self.ode.states;
        let (point, rates) = room.split_at_mut(n);
        let last = self.groups();
        for j in 0..n {
            for i in 0..n {
                point[i] = Dual { v: states[i].v, d: f64::from(i == j) };
            }
            rate_of(&mut self.work[last], self.plan, Dual::splat(t), point, &mut rates[..n]);
            (0..n).for_each(|i| out[i * n + j] = rates[i].d);
        }
    }

    /// The size of an error in states that went from `a` to `b`, where 1 is what the tolerance allows: the
    /// root mean square over the states of the worst column, values and derivatives alike. Infinite if
    /// anything is not a number.
    pub(super) fn size(&self, error: &[Dual], a: &[Dual], b: &[Dual]) -> f64 {
        let n = self.ode.states;
        let column = |value: &dyn Fn(&Dual) -> f64, group: usize| {
            let range = group * n..(group + 1) * n;
            let squares: f64 = range
                .map(|i| {
                    let scale = self.ode.tolerance.absolute
                        + self.ode.tolerance.relative * value(&a[i]).abs().max(value(&b[i]).abs());
                    (value(&error[i]) / scale).powi(2)
                })
                .sum();
            (squares / n.max(1) as f64).sqrt()
        };
        let mut worst = column(&|x| x.v, 0);
        for direction in 0..self.groups() {
            let here = column(&|x| x.d, direction);
            worst = if here <= worst { worst } else { here };
        }
        if worst.is_nan() { f64::INFINITY } else { worst }
    }
}

/// y += factor · x, values and derivatives.
#[inline(always)]
pub(super) fn add_scaled(y: &mut [Dual], factor: f64, x: &[Dual]) {
    for (y, x) in y.iter_mut().zip(x) {
        y.v += x.v.scale(factor);
        y.d += x.d.scale(factor);
    }
}
