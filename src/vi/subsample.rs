//! Sub-sampling of observations: a target that is a prior and a sum over observations, evaluated on some of
//! them.

use super::draws::Purpose;
use crate::num::stream::Stream;
use crate::target::Target;

/// A target `log p(z) + Σ_n log p(x_n | z)` whose terms can be evaluated apart. The target itself says how
/// many observations there are; the user only says how many to use at a time.
pub trait Subsample: Target {
    /// Number of observations `N`.
    fn observations(&self) -> usize;

    /// An evaluator on subsets, with buffers of its own.
    fn subset_evaluator(&self) -> Box<dyn SubsetEvaluator + '_>;
}

/// Evaluates a [`Subsample`] target on a subset of its observations.
pub trait SubsetEvaluator: Send {
    /// As [`crate::target::Evaluator::evaluate`], for `log p(z) + (N/|rows|) Σ_{n ∈ rows} log p(x_n | z)`,
    /// which is unbiased for the whole when `rows` is a random subset.
    fn evaluate_subset(
        &mut self,
        rows: &[usize],
        z: &[f64],
        draws: usize,
        log_density: &mut [f64],
        gradient: &mut [f64],
    );
}

/// Subsets by reshuffling: each pass over the data goes through a fresh random order, in slices of the given
/// size (the last of a pass may be shorter). Every slice is a uniformly random subset, so each step is
/// unbiased.
pub(super) struct Shuffle {
    seed: u64,
    size: usize,
    pass: Option<usize>,
    order: Vec<usize>,
}

impl Shuffle {
    pub(super) fn new(seed: u64, observations: usize, size: usize) -> Self {
        Shuffle {
            seed,
            size: size.clamp(1, observations.max(1)),
            pass: None,
            order: (0..observations).collect(),
        }
    }

    /// The rows of a step; they depend on the seed and the step alone.
    pub(super) fn rows(&mut self, step: usize) -> &[usize] {
        let slices = self.order.len().div_ceil(self.size).max(1);
        let (pass, slice) = (step / slices, step % slices);
        if self.pass != Some(pass) {
            self.reshuffle(pass);
        }
        let start = slice * self.size;
        &self.order[start..(start + self.size).min(self.order.len())]
    }

    fn reshuffle(&mut self, pass: usize) {
        let mut stream = Stream::new(self.seed, Purpose::Shuffle as u64, pass as u64);
        self.order.iter_mut().enumerate().for_each(|(i, x)| *x = i);
        stream.shuffle(&mut self.order);
        self.pass = Some(pass);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pass_visits_every_observation_once_in_a_fresh_order() {
        let mut shuffle = Shuffle::new(7, 10, 4);
        let mut pass =
            |k: usize| -> Vec<usize> { (0..3).flat_map(|s| shuffle.rows(3 * k + s).to_vec()).collect() };
        let (first, second, again) = (pass(0), pass(1), pass(0));
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..10).collect::<Vec<_>>());
        assert_ne!(first, second);
        assert_eq!(first, again);
    }
}
