//! What the weights of importance draws say of the mass of the posterior: proposals that find less than
//! others overlook a part of it.

use crate::num::special::log_sum_exp;

/// The mass of a posterior, by draws of one proposal.
#[derive(Clone, Copy)]
pub(in crate::infer) struct Mass {
    /// Its logarithm.
    pub(in crate::infer) log: f64,
    /// The standard error of that.
    error: f64,
}

impl Mass {
    /// By the logarithms of the weights of draws.
    pub(in crate::infer) fn new(log_weights: &[f64]) -> Mass {
        let n = log_weights.len() as f64;
        let log_weights: Vec<f64> = log_weights.iter().copied().filter(|l| !l.is_nan()).collect();
        let sum = log_sum_exp(&log_weights);
        let squares: f64 = log_weights.iter().map(|l| (2.0 * (l - sum)).exp()).sum();
        Mass { log: sum - n.ln(), error: (squares - 1.0 / n).max(0.0).sqrt() }
    }

    /// Whether it is larger by more than so many standard errors, and by so much.
    pub(in crate::infer) fn exceeds(&self, other: &Mass, errors: f64, least: f64) -> bool {
        self.log - other.log > least.max(errors * self.error.hypot(other.error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stream::Stream;

    /// Weights of draws that miss a twentieth of the mass, and of draws that do not; their spread is that of
    /// a Gaussian proposal.
    #[test]
    fn what_is_missing_shows_with_enough_draws() {
        let mass = |n: usize, log: f64| {
            let mut stream = Stream::new(5, 1, 1);
            Mass::new(&(0..n).map(|_| log + 0.3 * stream.normal() - 0.045).collect::<Vec<_>>())
        };
        assert!((mass(10_000, -7.0).log + 7.0).abs() < 0.01);
        assert!(mass(10_000, -7.0).exceeds(&mass(9_999, -7.05), 4.0, 0.01));
        assert!(!mass(100, -7.0).exceeds(&mass(99, -7.05), 4.0, 0.01));
        assert!(!mass(10_000, -7.0).exceeds(&mass(9_999, -7.0), 1.5, 0.01));
    }
}
