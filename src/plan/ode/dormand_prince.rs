//! Dormand and Prince's explicit Runge-Kutta method of order 5(4).

use super::system::{System, add_scaled};
use crate::num::real::{Dual, Real};

/// Where in the step each stage stands.
const NODES: [f64; 7] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];

/// How each stage follows from those before it; the last line gives the new state.
const STAGES: [&[f64]; 7] = [
    &[],
    &[1.0 / 5.0],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
    &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
    &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];

/// The difference between the results of order 5 and 4.
const ERROR: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];

/// The stages of a step.
#[derive(Clone, Debug)]
pub(super) struct DormandPrince {
    rates: Vec<Dual>,
    error: Vec<Dual>,
}

impl DormandPrince {
    /// For systems of `len` numbers.
    pub(super) fn new(len: usize) -> Self {
        let zero = Dual::zero();
        Self { rates: vec![zero; 7 * len], error: vec![zero; len] }
    }

    /// Readies the first step.
    pub(super) fn begin(&mut self, system: &mut System, t: f64, states: &[Dual]) {
        system.rate(t, states, &mut self.rates[..states.len()]);
    }

    /// The rates at the beginning of the step.
    pub(super) fn first_rates(&self, len: usize) -> &[Dual] {
        &self.rates[..len]
    }

    /// Computes the state after a step of size h; returns the size of its error.
    pub(super) fn step(
        &mut self,
        system: &mut System,
        t: f64,
        h: f64,
        from: &[Dual],
        to: &mut [Dual],
    ) -> f64 {
        let len = from.len();
        for (stage, line) in STAGES.iter().enumerate().skip(1) {
            to.copy_from_slice(from);
            for (rates, &weight) in self.rates.chunks_exact(len).zip(*line) {
                add_scaled(to, h * weight, rates);
            }
            let rates = &mut self.rates[stage * len..(stage + 1) * len];
            system.rate(t + NODES[stage] * h, to, rates);
        }
        self.error.fill(Dual::zero());
        for (rates, weight) in self.rates.chunks_exact(len).zip(ERROR) {
            add_scaled(&mut self.error, h * weight, rates);
        }
        system.size(&self.error, from, to)
    }

    /// The last stage of an accepted step is the first of the next.
    pub(super) fn accept(&mut self, len: usize) {
        self.rates.copy_within(6 * len..7 * len, 0);
    }
}
