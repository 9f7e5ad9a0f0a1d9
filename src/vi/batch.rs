//! One part of a batch of draws: its buffers, and the work on it that threads share out.
//!
//! A batch is cut into parts of [`PART`] draws whatever the number of threads, each part is worked on by one thread with
//! buffers of its own, and the parts are added up in their order: the same bits on any number of threads.

use super::draws::{Key, Source};
use super::estimator::Estimator;
use super::factor::Factor;
use super::family::Family;
use super::subsample::{Subsample, SubsetEvaluator};
use super::table::Choice;
use crate::target::{Evaluator, Target};

/// Draws in a part.
pub(super) const PART: usize = 16;

/// The target as the fit sees it.
#[derive(Clone, Copy)]
pub(super) enum Problem<'a> {
    Whole(&'a dyn Target),
    Part(&'a dyn Subsample),
}

impl<'a> Problem<'a> {
    pub(super) fn dimension(self) -> usize {
        match self {
            Problem::Whole(target) => target.dimension(),
            Problem::Part(target) => target.dimension(),
        }
    }

    pub(super) fn coordinate_names(self) -> Vec<String> {
        match self {
            Problem::Whole(target) => target.coordinate_names(),
            Problem::Part(target) => target.coordinate_names(),
        }
    }

    fn oracle(self) -> Oracle<'a> {
        match self {
            Problem::Whole(target) => Oracle::Whole(target.evaluator()),
            Problem::Part(target) => Oracle::Part(target.subset_evaluator()),
        }
    }
}

enum Oracle<'a> {
    Whole(Box<dyn Evaluator + 'a>),
    Part(Box<dyn SubsetEvaluator + 'a>),
}

/// What all parts of a batch have in common.
pub(super) struct Job<'a> {
    pub w: &'a [f64],
    pub factor: &'a dyn Factor,
    pub family: &'a Choice<Family>,
    pub source: &'a dyn Source,
    pub key: Key,
    /// The observations to use, for a target that can be sub-sampled.
    pub rows: &'a [usize],
}

/// Buffers for some draws of a batch. Draws stand one after the other in `u` and `v`; in what the evaluator sees they are
/// the fastest axis.
pub(super) struct Part<'a> {
    oracle: Oracle<'a>,
    d: usize,
    first: usize,
    draws: usize,
    pub(super) u: Vec<f64>,
    pub(super) v: Vec<f64>,
    path: Vec<f64>,
    z: Vec<f64>,
    gradient: Vec<f64>,
    log_density: Vec<f64>,
    scratch: Vec<f64>,
    /// log p(z) - log q(z) of each draw.
    pub(super) log_ratio: Vec<f64>,
    /// The first coordinate at which something was not finite, or d for the log density itself.
    pub(super) fault: Option<usize>,
}

impl<'a> Part<'a> {
    pub(super) fn new(problem: Problem<'a>, first: usize, draws: usize) -> Self {
        let d = problem.dimension();
        let room = || vec![0.0; d * draws];
        Part {
            oracle: problem.oracle(),
            d,
            first,
            draws,
            u: room(),
            v: room(),
            path: room(),
            z: room(),
            gradient: room(),
            log_density: vec![0.0; draws],
            scratch: vec![0.0; d],
            log_ratio: vec![0.0; draws],
            fault: None,
        }
    }

    /// The parts of a batch.
    pub(super) fn split(problem: Problem<'a>, batch: usize) -> Vec<Part<'a>> {
        (0..batch).step_by(PART).map(|first| Part::new(problem, first, PART.min(batch - first))).collect()
    }

    pub(super) fn draws(&self) -> usize {
        self.draws
    }

    /// Draws `u`, and the target's value and gradient at `z = m + C u`.
    fn sample(&mut self, job: &Job<'_>) {
        let (d, n) = (self.d, self.draws);
        job.source.fill(job.family, job.key, self.first, d, &mut self.u);
        self.v.chunks_exact_mut(d).for_each(|v| v.copy_from_slice(&job.w[..d]));
        job.factor.multiply(&job.w[d..], &self.u, n, &mut self.v);
        transpose(&self.v, n, d, &mut self.z);
        self.evaluate(job.rows);
        self.fault = self.find_fault();
    }

    fn evaluate(&mut self, rows: &[usize]) {
        let (n, z, lp, g) = (self.draws, &self.z, &mut self.log_density, &mut self.gradient);
        match &mut self.oracle {
            Oracle::Whole(evaluator) => evaluator.evaluate(z, n, lp, g),
            Oracle::Part(evaluator) => evaluator.evaluate_subset(rows, z, n, lp, g),
        }
    }

    fn find_fault(&self) -> Option<usize> {
        if self.log_density.iter().any(|x| !x.is_finite()) {
            return Some(self.d);
        }
        self.gradient.iter().position(|x| !x.is_finite()).map(|k| k / self.draws)
    }

    /// `log p - log q` of each draw.
    fn weigh(&mut self, job: &Job<'_>) {
        let log_det = job.factor.log_det(&job.w[self.d..]);
        let base = job.family.row.log_density;
        for (b, u) in self.u.chunks_exact(self.d).enumerate() {
            let log_base: f64 = u.iter().map(|u| base(job.family.value, *u)).sum();
            self.log_ratio[b] = self.log_density[b] + log_det - log_base;
        }
    }

    /// Fills `v` with the vector of the estimator for each draw (see [`super::estimator`]), with the path term or without,
    /// and `log_ratio`.
    pub(super) fn gradient(&mut self, job: &Job<'_>, sticks: bool) {
        self.sample(job);
        if self.fault.is_some() {
            return;
        }
        self.weigh(job);
        transpose(&self.gradient, self.d, self.draws, &mut self.v);
        self.v.iter_mut().for_each(|v| *v = -*v);
        if sticks {
            let score = job.family.row.score;
            self.path.iter_mut().zip(&self.u).for_each(|(p, u)| *p = score(job.family.value, *u));
            job.factor.solve_transposed(&job.w[self.d..], &mut self.path, self.draws);
            self.v.iter_mut().zip(&self.path).for_each(|(v, p)| *v += p);
        }
    }

    /// ‖C⁻ᵀs‖² at one draw, and its mean for C = I.
    pub(super) fn path_term(&mut self, job: &Job<'_>) -> (f64, f64) {
        let path = &mut self.path[..self.d];
        job.source.fill(job.family, job.key, 0, self.d, path);
        path.iter_mut().for_each(|u| *u = (job.family.row.score)(job.family.value, *u));
        let plain = path.iter().map(|p| p * p).sum();
        job.factor.solve_transposed(&job.w[self.d..], path, 1);
        (path.iter().map(|p| p * p).sum(), plain)
    }

    /// Fills `log_ratio` alone. A draw outside the support has minus infinity.
    pub(super) fn elbo(&mut self, job: &Job<'_>) {
        self.sample(job);
        self.weigh(job);
    }

    /// The largest curvature of the free energy along `m`, `λ_max(E ∇²log p)` in size, by power iteration on differences
    /// of gradients at the same draws; `direction` is the start and keeps the answer's vector. Nothing if a value was not
    /// finite.
    pub(super) fn curvature(&mut self, job: &Job<'_>, direction: &mut [f64], rounds: usize) -> Option<f64> {
        self.sample(job);
        if self.fault.is_some() {
            return None;
        }
        let (d, n) = (self.d, self.draws);
        let size = self.v.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        let h = f64::EPSILON.cbrt() * size;
        let mut curvature = 0.0;
        for _ in 0..rounds {
            let norm = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
            direction.iter_mut().for_each(|x| *x /= norm);
            self.scratch.fill(0.0);
            for sign in [h, -h] {
                transpose(&self.v, n, d, &mut self.z);
                for (z, x) in self.z.chunks_exact_mut(n).zip(&*direction) {
                    z.iter_mut().for_each(|z| *z += sign * x);
                }
                self.evaluate(job.rows);
                for (sum, g) in self.scratch.iter_mut().zip(self.gradient.chunks_exact(n)) {
                    *sum += g.iter().sum::<f64>() / (2.0 * sign * n as f64);
                }
            }
            curvature = self.scratch.iter().map(|x| x * x).sum::<f64>().sqrt();
            if !curvature.is_finite() {
                return None;
            }
            if curvature == 0.0 {
                return Some(0.0);
            }
            direction.copy_from_slice(&self.scratch);
        }
        Some(curvature)
    }
}

/// The gradient estimate in packed coordinates: the mean over the draws of all parts, added up in their order.
pub(super) fn gather(
    parts: &[Part<'_>],
    factor: &mut dyn Factor,
    estimator: &Estimator,
    sticks: bool,
    w: &[f64],
    gradient: &mut [f64],
) {
    let Some(d) = parts.first().map(|p| p.d) else { return };
    gradient.fill(0.0);
    let (mean, scale) = gradient.split_at_mut(d);
    let share = 1.0 / parts.iter().map(|p| p.draws).sum::<usize>() as f64;
    for part in parts {
        for v in part.v.chunks_exact(d) {
            mean.iter_mut().zip(v).for_each(|(g, v)| *g += share * v);
        }
        factor.add_outer(share, &part.v, &part.u, part.draws, scale);
    }
    let inverse = if sticks { estimator.inverse } else { estimator.inverse_apart };
    if inverse != 0.0 {
        factor.add_inverse_transposed(inverse, &w[d..], scale);
    }
}

/// `to[j * rows + i] = from[i * columns + j]`.
fn transpose(from: &[f64], rows: usize, columns: usize, to: &mut [f64]) {
    for (i, row) in from.chunks_exact(columns).enumerate() {
        for (j, x) in row.iter().enumerate() {
            to[j * rows + i] = *x;
        }
    }
}
