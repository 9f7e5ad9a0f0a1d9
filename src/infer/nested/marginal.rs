//! The outer coordinates alone, as a target to fit; and with the inner ones given them, as a way to draw from
//! the model.

use crate::infer::nested::blocks::places;
use crate::infer::nested::conditional::Conditional;
use crate::infer::nested::lanes;
use crate::infer::nested::lanes::{LANES, Lanes, part};
use crate::infer::nested::partition::How;
use crate::infer::nested::solver::{Solver, slope};
use crate::target::{Evaluator, Target};

/// Half-widths of the differences that give the gradient: this share of a standard deviation, within these
/// bounds. The value is known to about 1e-11, and a difference over 0.05 standard deviations has an error of
/// 0.0004 of its third derivative.
const SHARE: f64 = 0.05;
const NARROWEST: f64 = 1e-7;
const WIDEST: f64 = 2e-3;
/// How much wider the differences of gradients are that give the Hessian.
const WIDER: f64 = 10.0;

/// The outer coordinates, inner ones integrated out.
pub(super) struct Marginal<'c> {
    pub(super) conditional: &'c Conditional<'c>,
    /// Half-widths of the differences that give the gradient.
    widths: Vec<f64>,
    /// The place of each standard normal number within its group, where differences along these give it
    /// instead.
    directions: Option<Vec<usize>>,
    /// Whether each evaluation begins where the last one ended.
    follows: bool,
}

impl<'c> Marginal<'c> {
    /// With differences that suit outer coordinates of these scales.
    pub(super) fn new(conditional: &'c Conditional<'c>, scales: &[f64]) -> Marginal<'c> {
        Marginal { conditional, widths: widths(scales), directions: directions(conditional), follows: false }
    }

    /// The same for a search of one thread, whose points follow each other.
    pub(super) fn followed(self) -> Marginal<'c> {
        Marginal { follows: true, ..self }
    }
}

/// The place of each standard normal number of a draw within its group, where gradients of the outer
/// coordinates come from differences along these: where no rule and no surface gives them, and they are
/// fewer than those of log densities.
pub(super) fn directions(conditional: &Conditional) -> Option<Vec<usize>> {
    if conditional.integrates() || conditional.is_smooth() || conditional.held.is_some() {
        return None;
    }
    let places = places(&conditional.drawn_group());
    let largest = places.iter().max().map_or(0, |place| place + 1);
    let pays = slope::pays(
        conditional.parts.how,
        conditional.gradients_each(),
        conditional.parts.outer.len(),
        largest,
    );
    pays.then_some(places)
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
        Box::new(MarginalEvaluator {
            solver: if self.conditional.integrates() {
                Solver::new(self.conditional).anchoring()
            } else {
                Solver::new(self.conditional)
            },
            of: self,
        })
    }

    /// Of one gradient of the model: how many a search takes is not known.
    fn operations(&self) -> usize {
        self.conditional.target.operations()
    }

    fn searches(&self) -> bool {
        self.conditional.parts.how != How::Quadratic
    }

    fn coordinate_names(&self) -> Vec<String> {
        let names = self.conditional.target.coordinate_names();
        self.conditional.parts.outer.iter().map(|&i| names[i].clone()).collect()
    }
}

struct MarginalEvaluator<'c> {
    of: &'c Marginal<'c>,
    solver: Solver<'c>,
}

impl Evaluator for MarginalEvaluator<'_> {
    fn evaluate(&mut self, z: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]) {
        let Marginal { conditional, directions, .. } = self.of;
        let (integrates, smooth) = (conditional.integrates(), conditional.is_smooth());
        if !integrates && !smooth && directions.is_none() {
            return self.by_differences(z, draws, log_density, gradient);
        }
        for first in (0..draws).step_by(LANES) {
            let lanes = first..draws.min(first + LANES);
            let (width, points) = (lanes.len(), part(z, draws, lanes.clone()));
            let weights = self.solve(&points, width);
            log_density[lanes.clone()].copy_from_slice(&self.solver.log_marginal[..width]);
            let outer = lanes::lanes(&points, width);
            let slopes = match directions {
                Some(places) => self.solver.laplace_slope(&outer, places),
                None if integrates => self.solver.mean_slope(&outer, weights),
                None => self.solver.outer_slope(&outer),
            };
            for (row, slope) in gradient.chunks_exact_mut(draws).zip(slopes) {
                row[lanes.clone()].copy_from_slice(&slope[..width]);
            }
        }
    }

    fn log_density(&mut self, z: &[f64], draws: usize, log_density: &mut [f64]) {
        for first in (0..draws).step_by(LANES) {
            let lanes = first..draws.min(first + LANES);
            let width = lanes.len();
            self.solve(&part(z, draws, lanes.clone()), width);
            log_density[lanes].copy_from_slice(&self.solver.log_marginal[..width]);
        }
    }

    fn hessian_vectors(&mut self, z: &[f64], v: &[f64], count: usize, out: &mut [f64]) {
        let d = z.len();
        let mut points = vec![0.0; d * 2 * count];
        let length =
            |k: usize| (0..d).map(|i| (v[i * count + k] / self.of.widths[i]).powi(2)).sum::<f64>().sqrt();
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

impl MarginalEvaluator<'_> {
    /// The log density at up to sixteen points; where groups are integrated out, how much each point of the
    /// rule counts.
    fn solve(&mut self, points: &[f64], width: usize) -> Vec<Vec<Lanes>> {
        self.solver.solve(points, width);
        if self.of.follows {
            self.solver.remember();
        }
        self.solver.correct(&lanes::lanes(points, width))
    }

    /// The gradient by central differences: the value is known to rounding, and there are few coordinates.
    fn by_differences(&mut self, z: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]) {
        let d = z.len() / draws;
        let around = 1 + 2 * d;
        let count = around * draws;
        let mut points = vec![0.0; d * count];
        for (row, z) in points.chunks_exact_mut(count).zip(z.chunks_exact(draws)) {
            row.chunks_exact_mut(draws).for_each(|part| part.copy_from_slice(z));
        }
        for i in 0..d {
            for (side, by) in [(1, self.of.widths[i]), (2, -self.of.widths[i])] {
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
                gradient[i * draws + b] = (up - down) / (2.0 * self.of.widths[i]);
            }
        }
    }
}
