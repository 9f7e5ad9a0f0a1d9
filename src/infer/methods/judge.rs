//! How good an approximation is, by fresh draws of its own: the same draws for every method, so that they
//! compare.

use crate::infer::gaussian::Gaussian;
use crate::infer::importance::elbo::Elbo;
use crate::infer::importance::errors::Layout;
use crate::infer::importance::psis::smooth;
use crate::infer::importance::sample::{layout, log_weights};
use crate::infer::methods::job::Approximation;
use crate::infer::methods::mixture;
use crate::infer::methods::thin::Standardised;
use crate::infer::transport::warped::Warped;
use crate::target::Target;

/// What fresh draws say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The ELBO.
    pub elbo: f64,
    /// Its standard error.
    pub elbo_se: f64,
    /// Tail shape of the importance weights.
    pub khat: f64,
}

/// Judges an approximation by so many draws.
pub fn judge(target: &dyn Target, approximation: &Approximation, draws: usize, seed: u64) -> Judged {
    match approximation {
        Approximation::Gaussian(q) => by_draws(target, q, draws, seed),
        Approximation::Thin(q) => {
            let moved = Standardised { inner: target, q };
            by_draws(&moved, &moved.standard(), draws, seed)
        }
        Approximation::Mixture(parts) => {
            verdict(&mixture::log_weights(target, parts, draws, seed), Layout::INDEPENDENT)
        }
    }
}

fn by_draws(target: &dyn Target, q: &Gaussian, draws: usize, seed: u64) -> Judged {
    verdict(&log_weights(&Warped::flat(target), q, draws, seed), layout(1))
}

fn verdict(log_weights: &[f64], layout: Layout) -> Judged {
    let Elbo { mean, error, .. } = Elbo::of(log_weights, layout);
    Judged { elbo: mean, elbo_se: error, khat: smooth(log_weights).khat }
}
