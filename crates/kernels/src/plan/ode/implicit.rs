//! Implicit solutions, draw by draw, with their derivatives integrated beside them under the same tolerance
//! and kept for the reverse sweep.
//!
//! Where tangents are carried (Hessian-vector products), the derivative of those derivatives is a central
//! difference of two more solutions that repeat the same steps, which makes them smooth in the point: about
//! nine digits.

use super::super::run::Workspace;
use super::OdeCode;
use super::drive::Driver;
use super::system::System;
use crate::num::real::{Dual, Packed};
use crate::ops::operand::{Adjoint, Arg, accumulate};

/// The buffers of one thread for one equation.
#[derive(Clone, Debug)]
pub(in crate::plan) struct Implicit {
    work: Vec<Workspace<Dual>>,
    driver: Driver,
    /// The draw at hand: initial state, then theta.
    point: Vec<f64>,
    direction: Vec<f64>,
    base: Track,
    moved: [Track; 2],
}

/// A solution at the times asked for.
#[derive(Clone, Debug)]
struct Track {
    /// Where it started.
    point: Vec<f64>,
    /// States, [times, states].
    states: Vec<f64>,
    /// Their derivatives, [times, states, directions].
    slopes: Vec<f64>,
}

impl Implicit {
    /// Buffers for an equation.
    pub(super) fn new(code: &OdeCode) -> Self {
        let ode = &code.ode;
        let (coordinates, states) = (ode.states + ode.parameters, ode.times.len() * ode.states);
        let groups = code.directions().max(1);
        let track = Track {
            point: vec![f64::NAN; coordinates],
            states: vec![0.0; states],
            slopes: vec![0.0; states * code.directions()],
        };
        Self {
            work: vec![Workspace::new(&code.rate); groups + 1],
            driver: Driver::new(ode, groups),
            point: vec![0.0; coordinates],
            direction: vec![0.0; coordinates],
            base: track.clone(),
            moved: [track.clone(), track],
        }
    }

    /// Solves from the point at hand, or again from one `h` away from it in the direction at hand into track
    /// `which`.
    fn solve(&mut self, code: &OdeCode, moved: Option<(usize, f64)>) {
        let Self { work, driver, point, direction, base, moved: tracks } = self;
        let mut system = System { ode: &code.ode, plan: &code.rate, work };
        let track = match moved {
            None => base,
            Some((which, _)) => &mut tracks[which],
        };
        track.point.copy_from_slice(point);
        if let Some((_, h)) = moved {
            track.point.iter_mut().zip(direction).for_each(|(x, d)| *x += h * *d);
        }
        let (n, q) = (code.ode.states, code.directions());
        let Track { point, states, slopes } = track;
        let store = |k: usize, at: &[Dual]| {
            for i in 0..n {
                states[k * n + i] = at[i].lane(0);
                for (j, slope) in slopes[(k * n + i) * q..(k * n + i + 1) * q].iter_mut().enumerate() {
                    *slope = at[j * n + i].d;
                }
            }
        };
        let solved = match moved {
            None => driver.solve(&mut system, point, code.wanted, store),
            Some(_) => driver.repeat(&mut system, point, code.wanted, store),
        };
        if !solved {
            track.states.fill(f64::NAN);
            track.slopes.fill(f64::NAN);
        }
    }

    /// States, lane by lane, and their derivatives.
    pub(super) fn forward<T: Packed>(
        &mut self,
        code: &OdeCode,
        args: [Arg<T>; 2],
        out: &mut [T],
        saved: &mut [T],
    ) {
        let n = code.ode.states;
        let get = |i: usize| if i < n { args[0].get(i) } else { args[1].get(i - n) };
        for lane in 0..T::WIDTH {
            self.point.iter_mut().enumerate().for_each(|(i, x)| *x = get(i).lane(lane));
            // Idle lanes repeat the one before them, and so may those of a Hessian-vector product.
            let same = lane > 0 && self.point == self.base.point;
            if !same {
                self.solve(code, None);
            }
            out.iter_mut().zip(&self.base.states).for_each(|(o, &x)| o.set_lane(lane, x));
            saved.iter_mut().zip(&self.base.slopes).for_each(|(s, &x)| s.set_lane(lane, x));
            if T::TANGENT {
                let moves = (0..self.direction.len()).any(|i| self.direction[i] != get(i).tangent(lane));
                self.direction.iter_mut().enumerate().for_each(|(i, d)| *d = get(i).tangent(lane));
                self.tangents(code, lane, !same || moves, out, saved);
            }
        }
    }

    /// Tangents of states and derivatives in one lane; unless they are those of the lane before, from new
    /// solutions.
    fn tangents<T: Packed>(
        &mut self,
        code: &OdeCode,
        lane: usize,
        new: bool,
        out: &mut [T],
        saved: &mut [T],
    ) {
        let Some(h) = difference_step(&self.point, &self.direction) else { return };
        let first = if code.wanted[0] { 0 } else { code.ode.states };
        let direction = &self.direction[first..];
        let q = code.directions();
        for (o, slopes) in out.iter_mut().zip(self.base.slopes.chunks_exact(q.max(1))) {
            o.set_tangent(lane, slopes.iter().zip(direction).map(|(s, d)| s * d).sum());
        }
        if new {
            self.solve(code, Some((0, h)));
            self.solve(code, Some((1, -h)));
        }
        let [plus, minus] = &self.moved;
        for (s, (p, m)) in saved.iter_mut().zip(plus.slopes.iter().zip(&minus.slopes)) {
            s.set_tangent(lane, (p - m) / (2.0 * h));
        }
    }
}

/// Adds the adjoints of the states, times their derivatives, to those of the arguments.
pub(super) fn reverse<T: Packed>(code: &OdeCode, saved: &[T], up: &[T], adjoints: [Adjoint<T>; 2]) {
    let q = code.directions();
    let mut from = 0;
    for (adjoint, wanted) in adjoints.iter().zip(code.wanted) {
        let Some(adjoint) = adjoint.filter(|_| wanted) else { continue };
        for k in 0..adjoint.len() {
            let terms = up.iter().enumerate();
            let sum = terms.fold(T::zero(), |sum, (i, &u)| sum + u * saved[i * q + from + k]);
            accumulate(adjoint, k, sum);
        }
        from += adjoint.len();
    }
}

/// The step of a difference along `direction`: 1e-5 of the size of the coordinate that moves most for its
/// size. None where nothing moves.
fn difference_step(point: &[f64], direction: &[f64]) -> Option<f64> {
    let most = point.iter().zip(direction).map(|(x, d)| d.abs() / x.abs().max(1e-3)).fold(0.0_f64, f64::max);
    (most > 0.0 && most.is_finite()).then(|| 1e-5 / most)
}
