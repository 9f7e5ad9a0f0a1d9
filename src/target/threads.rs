//! Several threads for a batch of draws: they share the draws, or the rows of large sums where the draws are
//! too few. Small models stay on one.

use super::{Evaluator, ModelTarget, Target};
use crate::num::real::{F16, Packed};
use rayon::prelude::*;

/// Operations of a gradient from which as many draws as there are lanes are worth handing over to another
/// thread.
const WORTH: usize = 1 << 14;
/// Operations of a gradient from which rows of sums may be.
const LARGE: usize = 1 << 19;

/// An evaluator within a pool of threads.
struct Threaded<'a> {
    pool: rayon::ThreadPool,
    target: &'a ModelTarget,
    alone: Box<dyn Evaluator + 'a>,
}

impl ModelTarget {
    /// An evaluator that may use several threads for a batch; the numbers do not depend on how many.
    pub fn evaluator_with_threads(&self, threads: usize) -> Box<dyn Evaluator + '_> {
        if threads < 2 || self.operations() < WORTH {
            return self.evaluator();
        }
        match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) => Box::new(Threaded { pool, target: self, alone: self.evaluator() }),
            Err(_) => self.evaluator(),
        }
    }
}

impl Evaluator for Threaded<'_> {
    fn evaluate(&mut self, z: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]) {
        if draws > F16::WIDTH {
            return self.by_draws(z, draws, log_density, gradient);
        }
        let alone = &mut self.alone;
        match self.target.operations() < LARGE {
            true => alone.evaluate(z, draws, log_density, gradient),
            false => self.pool.install(|| alone.evaluate(z, draws, log_density, gradient)),
        }
    }

    fn log_density(&mut self, z: &[f64], draws: usize, log_density: &mut [f64]) {
        self.alone.log_density(z, draws, log_density);
    }

    fn hessian_vectors(&mut self, z: &[f64], v: &[f64], count: usize, out: &mut [f64]) {
        let alone = &mut self.alone;
        self.pool.install(|| alone.hessian_vectors(z, v, count, out));
    }
}

impl Threaded<'_> {
    /// As many draws as there are lanes at a time, on any thread.
    fn by_draws(&self, z: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]) {
        let target = self.target;
        let one = |first: usize| {
            let n = F16::WIDTH.min(draws - first);
            let points: Vec<f64> =
                z.chunks_exact(draws).flat_map(|c| &c[first..first + n]).copied().collect();
            let (mut value, mut slopes) = (vec![0.0; n], vec![0.0; points.len()]);
            target.evaluator().evaluate(&points, n, &mut value, &mut slopes);
            (first, value, slopes)
        };
        let blocks = draws.div_ceil(F16::WIDTH);
        let done: Vec<_> =
            self.pool.install(|| (0..blocks).into_par_iter().map(|block| one(block * F16::WIDTH)).collect());
        for (first, value, slopes) in done {
            let n = value.len();
            log_density[first..first + n].copy_from_slice(&value);
            for (to, from) in gradient.chunks_exact_mut(draws).zip(slopes.chunks_exact(n)) {
                to[first..first + n].copy_from_slice(from);
            }
        }
    }
}
