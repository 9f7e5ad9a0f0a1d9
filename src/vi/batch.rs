//! One part of a batch of draws: its buffers, and the work on it that threads share out.
//!
//! A batch is cut into parts of [`PART`] draws whatever the number of threads, each part is worked on by one
//! thread with buffers of its own, and the gradient is made of all of them in their order: the same bits on
//! any number of threads.

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

/// Buffers for some draws of a batch. Draws are the fastest axis: coordinate i of draw b stands at `i * draws
/// + b`.
pub(super) struct Part<'a> {
    oracle: Oracle<'a>,
    d: usize,
    first: usize,
    draws: usize,
    /// The base draws.
    u: Vec<f64>,
    /// The vector of the estimator for each draw.
    v: Vec<f64>,
    z: Vec<f64>,
    /// The gradient of the target, and room for draws that stand one after the other.
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
        job.source.fill(job.family, job.key, self.first, d, &mut self.gradient);
        transpose(&self.gradient, n, d, &mut self.u);
        self.z.chunks_exact_mut(n).zip(job.w).for_each(|(z, m)| z.fill(*m));
        job.factor.multiply(&job.w[d..], &self.u, n, &mut self.z);
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
        let (base, value) = (job.family.row.log_density, job.family.value);
        self.log_ratio.fill(0.0);
        for u in self.u.chunks_exact(self.draws) {
            self.log_ratio.iter_mut().zip(u).for_each(|(r, u)| *r += base(value, *u));
        }
        for (ratio, log_density) in self.log_ratio.iter_mut().zip(&self.log_density) {
            *ratio = log_density + log_det - *ratio;
        }
    }

    /// Fills `v` with the vector of the estimator for each draw (see [`super::estimator`]), with the path
    /// term or without, and `log_ratio`.
    pub(super) fn gradient(&mut self, job: &Job<'_>, sticks: bool) {
        self.sample(job);
        if self.fault.is_some() {
            return;
        }
        self.weigh(job);
        if sticks {
            let (score, value) = (job.family.row.score, job.family.value);
            self.v.iter_mut().zip(&self.u).for_each(|(v, u)| *v = score(value, *u));
            job.factor.solve_transposed(&job.w[self.d..], &mut self.v, self.draws);
            self.v.iter_mut().zip(&self.gradient).for_each(|(v, g)| *v -= g);
        } else {
            self.v.iter_mut().zip(&self.gradient).for_each(|(v, g)| *v = -g);
        }
    }

    /// ‖C⁻ᵀs‖² at one draw, and its mean for C = I.
    pub(super) fn path_term(&mut self, job: &Job<'_>) -> (f64, f64) {
        let path = &mut self.scratch[..];
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

    /// The largest curvature of the free energy along `m`, `λ_max(E ∇²log p)` in size, by power iteration on
    /// differences of gradients at the same draws; `direction` is the start and keeps the answer's vector.
    /// Nothing if a value was not finite.
    pub(super) fn curvature(&mut self, job: &Job<'_>, direction: &mut [f64], rounds: usize) -> Option<f64> {
        self.sample(job);
        if self.fault.is_some() {
            return None;
        }
        let n = self.draws;
        self.v.copy_from_slice(&self.z);
        let size = self.v.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        let h = f64::EPSILON.cbrt() * size;
        let mut curvature = 0.0;
        for _ in 0..rounds {
            let norm = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
            direction.iter_mut().for_each(|x| *x /= norm);
            self.scratch.fill(0.0);
            for sign in [h, -h] {
                for ((z, v), x) in self.z.chunks_exact_mut(n).zip(self.v.chunks_exact(n)).zip(&*direction) {
                    z.iter_mut().zip(v).for_each(|(z, v)| *z = v + sign * x);
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

/// The draws of all parts side by side, so that the gradient is one matrix product whatever their number.
#[derive(Default)]
pub(super) struct Joined {
    u: Vec<f64>,
    v: Vec<f64>,
}

impl Joined {
    /// Room for a batch in so many parts of a target.
    pub(super) fn new(parts: &[Part<'_>]) -> Joined {
        let room = if parts.len() < 2 { 0 } else { parts.iter().map(|p| p.u.len()).sum() };
        Joined { u: vec![0.0; room], v: vec![0.0; room] }
    }

    /// The gradient estimate in packed coordinates: the mean over the draws of all parts.
    pub(super) fn gather(
        &mut self,
        parts: &[Part<'_>],
        factor: &mut dyn Factor,
        estimator: &Estimator,
        sticks: bool,
        w: &[f64],
        gradient: &mut [f64],
    ) {
        let Some(first) = parts.first() else { return };
        let (d, draws) = (first.d, parts.iter().map(|p| p.draws).sum::<usize>());
        let (u, v) = match parts {
            [only] => (&only.u, &only.v),
            _ => {
                self.join(parts, draws);
                (&self.u, &self.v)
            }
        };
        gradient.fill(0.0);
        let (mean, scale) = gradient.split_at_mut(d);
        let share = 1.0 / draws as f64;
        for (g, v) in mean.iter_mut().zip(v.chunks_exact(draws)) {
            *g = share * v.iter().sum::<f64>();
        }
        factor.add_outer(share, v, u, draws, scale);
        let inverse = if sticks { estimator.inverse } else { estimator.inverse_apart };
        if inverse != 0.0 {
            factor.add_inverse_transposed(inverse, &w[d..], scale);
        }
    }

    fn join(&mut self, parts: &[Part<'_>], draws: usize) {
        let mut column = 0;
        for part in parts {
            for (to, from) in [(&mut self.u, &part.u), (&mut self.v, &part.v)] {
                for (to, from) in to.chunks_exact_mut(draws).zip(from.chunks_exact(part.draws)) {
                    to[column..column + part.draws].copy_from_slice(from);
                }
            }
            column += part.draws;
        }
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
