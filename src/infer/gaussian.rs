//! A normal distribution on the unconstrained scale: what most approximations are, or begin with.

use crate::infer::progress::Ending;
use crate::vi::Scale;

/// q = N(mean, C Cᵀ).
#[derive(Clone, Debug, PartialEq)]
pub struct Gaussian {
    /// Mean on the unconstrained scale.
    pub mean: Vec<f64>,
    /// Factor of the covariance: diagonal, or lower triangular.
    pub factor: Scale,
}

impl Gaussian {
    /// Standard deviations of the coordinates.
    pub(in crate::infer) fn scales(&self) -> Vec<f64> {
        self.factor.lengths(self.mean.len())
    }
}

/// A fitted Gaussian.
#[derive(Clone)]
pub(in crate::infer) struct Fitted {
    pub(in crate::infer) q: Gaussian,
    /// Upper estimate of its gap, from draws that had no part in choosing it.
    pub(in crate::infer) gap: f64,
    pub(in crate::infer) elbo: f64,
    pub(in crate::infer) elbo_se: f64,
    /// Draws behind the ELBO; without end where it is by quadrature.
    pub(in crate::infer) draws: usize,
    pub(in crate::infer) gradients: usize,
    /// What noise adds to the squared norm of a gradient from one draw: the part of so many that a gap has
    /// where it was fitted to as many.
    pub(in crate::infer) noise: f64,
    /// Draws of a group at the end.
    pub(in crate::infer) batch: usize,
    pub(in crate::infer) ending: Ending,
}
