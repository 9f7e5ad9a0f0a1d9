//! The ELBO of a proposal by its draws, and how uneven the weights of these are.

use crate::infer::importance::errors::{Layout, error_of_mean};

/// The mean of `log p - log q` over draws of q.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::infer) struct Elbo {
    pub(in crate::infer) mean: f64,
    /// Its standard error.
    pub(in crate::infer) error: f64,
    /// Half the variance: an estimate of the distance of q from the posterior, in nats.
    pub(in crate::infer) half_variance: f64,
}

impl Elbo {
    /// With a constant that log weights leave out.
    pub(in crate::infer) fn plus(self, constant: f64) -> Elbo {
        Elbo { mean: self.mean + constant, ..self }
    }

    /// That of q cut off where the posterior ends: what is left is larger by one over the share of draws.
    pub(in crate::infer) fn within(log_weights: &[f64]) -> Elbo {
        let inside: Vec<f64> = log_weights.iter().copied().filter(|x| x.is_finite()).collect();
        let n = inside.len() as f64;
        let mean = inside.iter().sum::<f64>() / n;
        let variance = inside.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        let share = n / log_weights.len() as f64;
        Elbo { mean: mean + share.ln(), error: (variance / n).sqrt(), half_variance: 0.5 * variance }
    }

    /// Infinitely bad where a draw fell outside the support.
    pub(in crate::infer) fn of(log_weights: &[f64], layout: Layout) -> Elbo {
        if log_weights.iter().any(|x| !x.is_finite()) {
            return Elbo { mean: f64::NEG_INFINITY, error: f64::INFINITY, half_variance: f64::INFINITY };
        }
        let n = log_weights.len() as f64;
        let mean = log_weights.iter().sum::<f64>() / n;
        let variance = log_weights.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        Elbo { mean, error: error_of_mean(log_weights, layout), half_variance: 0.5 * variance }
    }
}
