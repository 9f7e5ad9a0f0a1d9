//! One gradient estimate at given draws: the piece of a fit that theorems speak of, by itself.

use super::Error;
use super::batch::{Job, Joined, Part, Problem};
use super::draws::{Key, Purpose, Source};
use super::estimator::Estimator;
use super::factor::Space;
use super::family::Family;
use super::table::Choice;
use crate::target::Target;

/// Evaluates an estimator at parameters `w` and base draws `u` of the caller's choice.
pub struct Estimate<'a> {
    family: Choice<Family>,
    estimator: &'static Estimator,
    factor: Box<dyn super::factor::Factor>,
    target: &'a dyn Target,
    part: Part<'a>,
    draws: usize,
}

impl<'a> Estimate<'a> {
    /// For batches of `draws` draws.
    pub fn new(
        target: &'a dyn Target,
        family: Choice<Family>,
        space: &'static Space,
        estimator: &'static Estimator,
        draws: usize,
    ) -> Self {
        let factor = (space.make)(target.dimension());
        let part = Part::new(Problem::Whole(target), 0, draws);
        Estimate { family, estimator, factor, target, part, draws }
    }

    /// The mean over the draws of the estimate at `w = (m, c)`, in packed coordinates, and of `log p - log
    /// q`. The draws stand one after the other in `u`.
    pub fn at(&mut self, w: &[f64], u: &[f64], gradient: &mut [f64]) -> Result<f64, Error> {
        let d = self.target.dimension();
        let sizes = [("w", w.len(), d + self.factor.count()), ("u", u.len(), d * self.draws)];
        let sizes = sizes.into_iter().chain([("gradient", gradient.len(), d + self.factor.count())]);
        for (field, found, expected) in sizes {
            if found != expected {
                let expected = format!("{expected} numbers");
                return Err(Error::Configuration { field, expected, found: found.to_string() });
            }
        }
        if !self.factor.load(&w[d..]) {
            let (expected, found) = ("such that C is positive definite".into(), "one that is not".into());
            return Err(Error::Configuration { field: "w", expected, found });
        }
        let key = Key { seed: 0, purpose: Purpose::Gradient, step: 0, attempt: 0 };
        let source = Given(u);
        let job = Job { w, factor: &*self.factor, family: &self.family, source: &source, key, rows: &[] };
        self.part.gradient(&job, self.estimator.sticks);
        if self.part.fault.is_some() {
            let place = "a draw of the caller's".into();
            return Err(Error::NonFinite { step: 0, tries: 1, place });
        }
        let part = std::slice::from_ref(&self.part);
        let (estimator, factor) = (self.estimator, &mut *self.factor);
        Joined::default().gather(part, factor, estimator, estimator.sticks, w, gradient);
        Ok(self.part.log_ratio.iter().sum::<f64>() / self.draws as f64)
    }
}

struct Given<'a>(&'a [f64]);

impl Source for Given<'_> {
    fn fill(&self, _: &Choice<Family>, _: Key, _: usize, _: usize, out: &mut [f64]) {
        out.copy_from_slice(self.0);
    }
}
