//! The outer coordinates alone, as a target to fit; and with the inner ones given them, as a way to draw from the model.

use super::super::flow::Flow;
use super::super::warp::Warped;
use super::conditional::{self, Conditional, LANES, Lanes, Solver, part};
use super::groups::pick;
use crate::num::real::LN_2PI;
use crate::target::{Evaluator, Target};
use std::sync::Mutex;

/// Half-widths of the differences that give the gradient: this share of a standard deviation, within these bounds. The value
/// is known to about 1e-11, and a difference over 0.05 standard deviations has an error of 0.0004 of its third derivative.
const SHARE: f64 = 0.05;
const NARROWEST: f64 = 1e-7;
const WIDEST: f64 = 2e-3;
/// Most draws that take a search for a mode each.
const SEARCHED: usize = 16_384;
/// How much wider the differences of gradients are that give the Hessian.
const WIDER: f64 = 10.0;

/// The outer coordinates, inner ones integrated out.
pub(super) struct Marginal<'c> {
    pub(super) conditional: &'c Conditional<'c>,
    /// Half-widths of the differences that give the gradient.
    widths: Vec<f64>,
}

impl<'c> Marginal<'c> {
    /// With differences that suit outer coordinates of these scales.
    pub(super) fn new(conditional: &'c Conditional<'c>, scales: &[f64]) -> Marginal<'c> {
        Marginal { conditional, widths: widths(scales) }
    }
}

/// Widths of differences for coordinates of these scales.
pub(super) fn widths(scales: &[f64]) -> Vec<f64> {
    scales.iter().map(|s| (SHARE * s).clamp(NARROWEST, WIDEST)).collect()
}

impl Target for Marginal<'_> {
    fn dimension(&self) -> usize {
        self.conditional.parts.outer.len()
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        Box::new(MarginalEvaluator { solver: Solver::new(self.conditional), widths: &self.widths })
    }

    fn coordinate_names(&self) -> Vec<String> {
        let names = self.conditional.target.coordinate_names();
        self.conditional.parts.outer.iter().map(|&i| names[i].clone()).collect()
    }
}

struct MarginalEvaluator<'c> {
    solver: Solver<'c>,
    widths: &'c [f64],
}

impl Evaluator for MarginalEvaluator<'_> {
    /// The gradient is by central differences: the value is known to rounding, and there are few coordinates.
    fn evaluate(&mut self, z: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]) {
        let d = z.len() / draws;
        let around = 1 + 2 * d;
        let count = around * draws;
        let mut points = vec![0.0; d * count];
        for (row, z) in points.chunks_exact_mut(count).zip(z.chunks_exact(draws)) {
            row.chunks_exact_mut(draws).for_each(|part| part.copy_from_slice(z));
        }
        for i in 0..d {
            for (side, by) in [(1, self.widths[i]), (2, -self.widths[i])] {
                let from = i * count + (2 * i + side) * draws;
                points[from..from + draws].iter_mut().for_each(|x| *x += by);
            }
        }
        let mut values = vec![0.0; count];
        self.log_density(&points, count, &mut values);
        log_density.copy_from_slice(&values[..draws]);
        for i in 0..d {
            for b in 0..draws {
                let (up, down) = (values[(2 * i + 1) * draws + b], values[(2 * i + 2) * draws + b]);
                gradient[i * draws + b] = (up - down) / (2.0 * self.widths[i]);
            }
        }
    }

    fn log_density(&mut self, z: &[f64], draws: usize, log_density: &mut [f64]) {
        for first in (0..draws).step_by(LANES) {
            let lanes = first..draws.min(first + LANES);
            let width = lanes.len();
            self.solver.solve(&part(z, draws, lanes.clone()), width);
            log_density[lanes].copy_from_slice(&self.solver.log_marginal[..width]);
        }
    }

    fn hessian_vectors(&mut self, z: &[f64], v: &[f64], count: usize, out: &mut [f64]) {
        let d = z.len();
        let mut points = vec![0.0; d * 2 * count];
        let length =
            |k: usize| (0..d).map(|i| (v[i * count + k] / self.widths[i]).powi(2)).sum::<f64>().sqrt();
        let widths: Vec<f64> = (0..count).map(|k| WIDER / length(k).max(f64::MIN_POSITIVE)).collect();
        for i in 0..d {
            for k in 0..count {
                let by = widths[k] * v[i * count + k];
                points[i * 2 * count + k] = z[i] + by;
                points[i * 2 * count + count + k] = z[i] - by;
            }
        }
        let (mut values, mut gradients) = (vec![0.0; 2 * count], vec![0.0; d * 2 * count]);
        self.evaluate(&points, 2 * count, &mut values, &mut gradients);
        for i in 0..d {
            let row = &gradients[i * 2 * count..(i + 1) * 2 * count];
            (0..count).for_each(|k| out[i * count + k] = (row[k] - row[count + k]) / (2.0 * widths[k]));
        }
    }
}

/// The model at outer coordinates, bent, and standard normal ones that become the inner ones given the outer.
pub(super) struct Nested<'c> {
    conditional: &'c Conditional<'c>,
    outer: Warped<'c>,
    /// Candidates for each group of inner coordinates.
    candidates: usize,
    /// Buffers that are not in use.
    idle: Mutex<Vec<Solver<'c>>>,
}

impl<'c> Nested<'c> {
    pub(super) fn new(conditional: &'c Conditional<'c>, outer: Warped<'c>, candidates: usize) -> Nested<'c> {
        Nested { conditional, outer, candidates, idle: Mutex::new(Vec::new()) }
    }
}

impl<'c> Nested<'c> {
    /// Inner coordinates of which each group is one of several candidates, and what takes the place of a log determinant: with
    /// it the log density of the whole point, less that of `u`, is that of the outer point with the inner ones integrated
    /// out and corrected by the candidates' weights.
    fn choose(
        &self,
        solver: &mut Solver<'c>,
        outer: &[f64],
        u: Vec<Lanes>,
        count: usize,
    ) -> (Vec<Lanes>, Lanes) {
        let parts = &self.conditional.parts;
        let log_q = |b: usize| u.iter().map(|u| -0.5 * (u[b] * u[b] + LN_2PI)).sum::<f64>();
        let log_q: Lanes = std::array::from_fn(log_q);
        let (x, gain) =
            pick(solver, &conditional::lanes(outer, count), u, &self.conditional.group, self.candidates);
        let mut whole = vec![0.0; self.conditional.target.dimension() * count];
        for (&i, x) in parts.inner.iter().zip(&x) {
            whole[i * count..(i + 1) * count].copy_from_slice(&x[..count]);
        }
        for (&i, row) in parts.outer.iter().zip(outer.chunks_exact(count)) {
            whole[i * count..(i + 1) * count].copy_from_slice(row);
        }
        let mut value = [0.0; LANES];
        solver.evaluator.log_density(&whole, count, &mut value[..count]);
        let swell = |b: usize| solver.log_marginal[b] + gain[b] - value[b] + log_q[b];
        let finite = |x: f64| if x.is_finite() { x } else { f64::NEG_INFINITY };
        (x, std::array::from_fn(|b| finite(swell(b))))
    }
}

impl Flow for Nested<'_> {
    fn model(&self) -> &dyn Target {
        self.conditional.target
    }

    fn standard(&self) -> usize {
        self.conditional.parts.inner.len()
    }

    fn most_draws(&self) -> usize {
        if self.conditional.parts.quadratic { usize::MAX } else { SEARCHED }
    }

    fn cheap(&self) -> bool {
        false
    }

    /// All outer coordinates: logarithms of scales have tails that no Student-t in all coordinates together follows.
    fn leaders(&self) -> usize {
        self.conditional.parts.outer.len()
    }

    fn place(&self, mut w: Vec<f64>, n: usize) -> (Vec<f64>, Vec<f64>) {
        let parts = &self.conditional.parts;
        let u = w.split_off(parts.outer.len() * n);
        let (outer, mut log_det) = self.outer.place(w, n);
        let mut z = vec![0.0; self.conditional.target.dimension() * n];
        for (&i, row) in parts.outer.iter().zip(outer.chunks_exact(n)) {
            z[i * n..(i + 1) * n].copy_from_slice(row);
        }
        let kept = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        let mut solver = kept.unwrap_or_else(|| Solver::new(self.conditional));
        for first in (0..n).step_by(LANES) {
            let lanes = first..n.min(first + LANES);
            solver.solve(&part(&outer, n, lanes.clone()), lanes.len());
            let u = conditional::lanes(&part(&u, n, lanes.clone()), lanes.len());
            let (x, swell) = match self.candidates {
                1 => (solver.inner(solver.away(u)), solver.swell()),
                _ => self.choose(&mut solver, &part(&outer, n, lanes.clone()), u, lanes.len()),
            };
            for (&i, x) in parts.inner.iter().zip(&x) {
                z[i * n..(i + 1) * n][lanes.clone()].copy_from_slice(&x[..lanes.len()]);
            }
            log_det[lanes].iter_mut().zip(&swell).for_each(|(l, s)| *l += s);
        }
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(solver);
        }
        (z, log_det)
    }
}
