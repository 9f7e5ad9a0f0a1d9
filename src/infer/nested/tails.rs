//! Directions in which inner coordinates reach further than the Gaussian that they are drawn from, where all
//! of them hang together: an effect with a Student-t prior in a group where all events are alike.
//!
//! A standard normal number u of such a direction is stretched to u exp(h u²/2) (Tukey's h): hardly where
//! most draws are, and a tail that falls by the power 1/h far out. h is that with the least ∫ p²/q along the
//! line through the mode, on each side of it for itself.

use crate::infer::gaussian::Gaussian;
use crate::infer::nested::conditional::Conditional;
use crate::infer::nested::lanes::{LANES, Lanes};
use crate::infer::nested::solver::Solver;
use crate::infer::nested::stretch::Tails;
use crate::target::Evaluator;
use std::f64::consts::TAU;

/// Places, in standard deviations, at which it is seen whether a direction has a long tail.
const FAR: [f64; 8] = [5.0, 6.0, 7.5, 9.5, 12.0, 16.0, 22.0, 30.0];
/// Shares of the mass, and of the variance, beyond the first of them that call for a longer tail.
const OF_MASS: f64 = 2e-4;
const OF_VARIANCE: f64 = 0.005;
/// Places of a line, how far it goes, and the values of h that are tried.
const PLACES: usize = 96;
const REACH: f64 = 60.0;
const STRETCHES: [f64; 10] = [0.02, 0.04, 0.07, 0.1, 0.14, 0.18, 0.22, 0.27, 0.34, 0.45];
/// Steps of Newton's to the number that is stretched so far.
const STEPS: usize = 20;

impl Tails {
    /// Looks along each direction at the mean of a Gaussian for the outer coordinates.
    pub(super) fn seen(conditional: &Conditional, q: &Gaussian) -> Tails {
        let k = conditional.parts.inner.len();
        let outer: Vec<Lanes> = q.mean.iter().map(|x| [*x; LANES]).collect();
        let mut solver = Solver::new(conditional).roughly();
        solver.solve(&q.mean, 1);
        if !solver.log_marginal[0].is_finite() {
            return Tails::default();
        }
        let mut lines = Lines { solver, outer, evaluator: conditional.target.evaluator() };
        let sides: Vec<(usize, usize)> = (0..k).flat_map(|at| [(at, 0), (at, 1)]).collect();
        let screened = lines.walk(&sides, &FAR);
        let long = sides.iter().zip(screened.chunks_exact(FAR.len())).filter(|(_, there)| matters(there));
        let long: Vec<(usize, usize)> = long.map(|(side, _)| *side).collect();
        if long.is_empty() {
            return Tails::default();
        }
        let places: Vec<f64> = (0..PLACES).map(place).collect();
        let walked = lines.walk(&long, &places);
        let mut out = vec![[0.0; 2]; k];
        for (&(at, side), there) in long.iter().zip(walked.chunks_exact(PLACES)) {
            out[at][side] = best(&places, there);
        }
        Tails(out)
    }
}

/// Places of a line: denser near the mode.
fn place(j: usize) -> f64 {
    let share = j as f64 / (PLACES - 1) as f64;
    REACH * share * share
}

/// Whether so much lies beyond the first of the places that draws of a Gaussian would miss it, from densities
/// relative to that at the mode.
fn matters(densities: &[f64]) -> bool {
    let beyond = |power: i32| integral(&FAR, |j| FAR[j].powi(power) * densities[j]) / TAU.sqrt();
    beyond(0) > OF_MASS || beyond(2) > OF_VARIANCE
}

/// The stretch with the least ∫ p²/q.
fn best(places: &[f64], densities: &[f64]) -> f64 {
    let cost = |h: f64| {
        let proposal = |x: f64| {
            let u = stretched_to(x, h);
            (-0.5 * (1.0 + h) * u * u).exp() / (1.0 + h * u * u)
        };
        integral(places, |j| densities[j].powi(2) / proposal(places[j]).max(f64::MIN_POSITIVE))
    };
    let costs = STRETCHES.map(|h| (h, cost(h)));
    costs.into_iter().fold((0.0, f64::INFINITY), |a, b| if b.1 < a.1 { b } else { a }).0
}

/// The number u >= 0 with u exp(h u²/2) = x, by Newton's steps in log u, of which log u + h u²/2 is a convex
/// function.
fn stretched_to(x: f64, h: f64) -> f64 {
    if x == 0.0 {
        return 0.0;
    }
    // Begun above the root, where steps lead down to it.
    let mut log_u = x.ln();
    for _ in 0..STEPS {
        let square = h * (2.0 * log_u).exp();
        log_u -= (log_u + 0.5 * square - x.ln()) / (1.0 + square);
    }
    log_u.exp()
}

/// The integral of what has these values at places, by trapezia.
fn integral(places: &[f64], value: impl Fn(usize) -> f64) -> f64 {
    (1..places.len()).map(|j| 0.5 * (places[j] - places[j - 1]) * (value(j) + value(j - 1))).sum()
}

/// Lines through the mode at one outer point.
struct Lines<'c> {
    solver: Solver<'c>,
    outer: Vec<Lanes>,
    evaluator: Box<dyn Evaluator + 'c>,
}

impl Lines<'_> {
    /// Densities, relative to that at the mode, at these places of each line: a standard normal number and a
    /// side.
    fn walk(&mut self, lines: &[(usize, usize)], places: &[f64]) -> Vec<f64> {
        let top = self.log_densities(&[], &[0.0])[0];
        let values = self.log_densities(lines, places);
        let known = |v: &f64| if v.is_nan() { 0.0 } else { (v - top).min(1.0).exp() };
        values.iter().map(known).collect()
    }

    fn log_densities(&mut self, lines: &[(usize, usize)], places: &[f64]) -> Vec<f64> {
        let k = self.solver.y.len();
        let count = (lines.len() * places.len()).max(1);
        let mut out = Vec::with_capacity(count.next_multiple_of(LANES));
        for first in (0..count).step_by(LANES) {
            let mut u = vec![[0.0; LANES]; k];
            for lane in 0..LANES.min(count - first) {
                let point = first + lane;
                if let Some(&(at, side)) = lines.get(point / places.len()) {
                    let x = places[point % places.len()];
                    u[at][lane] = if side == 0 { x } else { -x };
                }
            }
            let away = self.solver.away(u);
            let points = self.solver.places(&self.outer, |_| 0, |at, lane| away[at][lane]);
            let mut values = [0.0; LANES];
            self.evaluator.log_density(&points, LANES, &mut values);
            out.extend(values);
        }
        out.truncate(count);
        out
    }
}
