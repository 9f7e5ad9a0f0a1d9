//! A normal distribution on the unconstrained scale: what most approximations are, or begin with.

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
