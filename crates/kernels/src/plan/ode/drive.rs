//! Chooses the steps: from the start to each of the times, as large as the tolerance allows.

use super::radau::Radau;
use super::system::{System, add_scaled};
use crate::graph::Ode;
use crate::num::real::{Dual, Zero};

/// One over the order to which a step's error goes with its size.
const EXPONENT: f64 = 1.0 / 4.0;

/// Everything a solution needs beside the equation: buffers and the steps taken.
#[derive(Clone, Debug)]
pub(super) struct Driver {
    method: Radau,
    states: Vec<Dual>,
    next: Vec<Dual>,
    spare: Vec<Dual>,
    /// Size of each step taken, and whether it ended at one of the times.
    steps: Vec<(f64, bool)>,
}

impl Driver {
    /// For an equation whose derivatives take this many groups of directions.
    pub(super) fn new(ode: &Ode, groups: usize) -> Self {
        let len = groups * ode.states;
        let buffer = vec![Dual::zero(); len];
        Self {
            method: Radau::new(ode.states, len),
            states: buffer.clone(),
            next: buffer.clone(),
            spare: buffer,
            steps: Vec::with_capacity(1024),
        }
    }

    /// Solves the equation from `point` (initial state, then theta) and calls `store(k, states)` at each
    /// time. False if it cannot be solved.
    pub(super) fn solve(
        &mut self,
        system: &mut System,
        point: &[f64],
        wanted: [bool; 2],
        mut store: impl FnMut(usize, &[Dual]),
    ) -> bool {
        let ode = system.ode;
        system.start(point, wanted, &mut self.states);
        self.steps.clear();
        let (mut t, mut done) = (ode.start, 0);
        self.method.begin(system, t, &self.states);
        let Some(&end) = ode.times.last() else { return true };
        let mut h = self.first_step(system, t, end);
        let mut tries = 0;
        while done < ode.times.len() {
            let target = ode.times[done];
            if target <= t {
                store(done, &self.states);
                done += 1;
                continue;
            }
            // A step that would end just short of the time goes all the way.
            let hits = t + 1.01 * h >= target;
            let size = if hits { target - t } else { h };
            tries += 1;
            if tries > ode.tolerance.most_steps || t + 0.1 * size == t || !size.is_finite() {
                return false;
            }
            let error = self.step(system, t, size, false);
            let factor = self.growth(error);
            if error <= 1.0 {
                t = if hits { target } else { t + size };
                self.steps.push((size, hits));
                self.accept(system, t);
                // A step that was cut short to end at a time says little about the next.
                h = if hits { h.max(size * factor) } else { size * factor };
            } else {
                h = size * factor.min(1.0);
            }
        }
        true
    }

    /// Solves it again with the steps of the last solution: the result is then a smooth function of `point`.
    pub(super) fn repeat(
        &mut self,
        system: &mut System,
        point: &[f64],
        wanted: [bool; 2],
        mut store: impl FnMut(usize, &[Dual]),
    ) -> bool {
        let ode = system.ode;
        system.start(point, wanted, &mut self.states);
        let (mut t, mut done) = (ode.start, 0);
        self.method.begin(system, t, &self.states);
        for i in 0..=self.steps.len() {
            while done < ode.times.len() && ode.times[done] <= t {
                store(done, &self.states);
                done += 1;
            }
            let Some(&(size, hits)) = self.steps.get(i) else { break };
            if !self.step(system, t, size, true).is_finite() {
                return false;
            }
            t = if hits { ode.times[done] } else { t + size };
            self.accept(system, t);
        }
        done == ode.times.len()
    }

    /// Tries a step into `next`; returns the size of its error.
    ///
    /// What estimates it is a method of order 3, and its error is that of the step to the power 2/3 or so: as
    /// in Hairer and Wanner's RADAU5 a tolerance r is one of r^(2/3) / 10 for the estimate.
    fn step(&mut self, system: &mut System, t: f64, h: f64, exact: bool) -> f64 {
        let error = self.method.step(system, t, h, &self.states, &mut self.next, exact);
        error * 10.0 * system.ode.tolerance.relative.cbrt().min(0.1)
    }

    fn accept(&mut self, system: &mut System, t: f64) {
        std::mem::swap(&mut self.states, &mut self.next);
        self.method.begin(system, t, &self.states);
    }

    /// By how much the next step may be larger or must be smaller.
    fn growth(&self, error: f64) -> f64 {
        if !error.is_finite() {
            return 0.25;
        }
        (0.9 * error.max(1e-10).powf(-EXPONENT)).clamp(0.2, 5.0)
    }

    /// A first step from the sizes of states, rates and change of rates (Hairer, Nørsett and Wanner, section
    /// II.4).
    fn first_step(&mut self, system: &mut System, t: f64, end: f64) -> f64 {
        let rates = self.method.first_rates();
        let states = &self.states;
        let (d0, d1) = (system.size(states, states, states), system.size(rates, states, states));
        let short = if d0 < 1e-5 || d1 < 1e-5 || !d1.is_finite() { 1e-6 } else { 0.01 * d0 / d1 };
        let short = short.min(end - t);
        self.next.copy_from_slice(states);
        add_scaled(&mut self.next, short, rates);
        system.rate(t + short, &self.next, &mut self.spare);
        add_scaled(&mut self.spare, -1.0, rates);
        let d2 = system.size(&self.spare, states, states) / short;
        let steep = d1.max(d2);
        let long = if steep <= 1e-15 { (short * 1e-3).max(1e-6) } else { (0.01 / steep).powf(EXPONENT) };
        (100.0 * short).min(long).min(end - t).max(short * 1e-3)
    }
}
