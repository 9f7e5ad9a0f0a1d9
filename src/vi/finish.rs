//! The end of a fit: the average, its ELBO on fresh draws, and the record of the run.

use super::Error;
use super::batch::Problem;
use super::draws::{Key, Purpose};
use super::run::{Run, Tally};
use super::state::{State, each, job};

impl State<'_> {
    /// The answer.
    pub(super) fn finish(mut self, problem: Problem<'_>, stopped: bool) -> Result<Run, Error> {
        let steps = self.trace.last().map_or(0, |r| r.step).max(self.taken);
        self.factor.load(&self.average[self.d..]);
        let everything: Vec<usize> = match problem {
            Problem::Whole(_) => Vec::new(),
            Problem::Part(target) => (0..target.observations()).collect(),
        };
        let elbo = self.final_elbo(&everything);
        let scale = self.factor.scale(&self.average[self.d..]);
        Ok(Run {
            mean: self.average[..self.d].to_vec(),
            scale,
            elbo: elbo.mean(),
            elbo_se: elbo.standard_error(),
            elbo_draws: self.config.elbo_draws,
            steps,
            gradients: self.gradients,
            rejected: self.rejected,
            stopped,
            trace: self.trace,
            family: self.config.family,
            step: self.resolved.step,
            average: self.resolved.average,
            last: self.w,
            averaged: self.average,
        })
    }

    /// The ELBO at the average, from independent draws.
    fn final_elbo(&mut self, rows: &[usize]) -> Tally {
        let mut tally = Tally::default();
        let mut left = self.config.elbo_draws;
        for step in 0.. {
            let key = Key { seed: self.config.seed, purpose: Purpose::Elbo, step, attempt: 0 };
            let source = super::draws::independent();
            let job = job(self.config, &self.average, &*self.factor, source, key, rows);
            each(&self.pool, &mut self.parts, |part| part.elbo(&job));
            for ratio in self.parts.iter().flat_map(|p| &p.log_ratio).take(left) {
                tally.add(*ratio);
            }
            left = left.saturating_sub(self.config.batch);
            if left == 0 {
                break;
            }
        }
        tally
    }
}
