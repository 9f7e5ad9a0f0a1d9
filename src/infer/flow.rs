//! What takes the coordinates that a Gaussian was fitted in to those of a model.

use super::bend::Judged;
use super::gaussian::Gaussian;
use super::warp::Warped;
use crate::target::Target;

/// A map from coordinates of a Gaussian, and standard normal ones after them, to those of a model.
pub(super) trait Flow: Sync {
    /// The model.
    fn model(&self) -> &dyn Target;

    /// Standard normal coordinates after those of the Gaussian.
    fn standard(&self) -> usize {
        0
    }

    /// Most draws worth making: fewer where each takes a search.
    fn most_draws(&self) -> usize {
        usize::MAX
    }

    /// Whether placing a draw costs little beside its log density.
    fn cheap(&self) -> bool;

    /// First coordinates, which may need heavy tails of their own.
    fn leaders(&self) -> usize;

    /// The point of each of `n` draws in the model and the log determinant there: minus infinity where there is none.
    fn place(&self, w: Vec<f64>, n: usize) -> (Vec<f64>, Vec<f64>);

    /// The same as a target with a gradient, if it is one.
    fn warped(&self) -> Option<&Warped<'_>> {
        None
    }
}

/// A fitted Gaussian: as it was fitted, and in the coordinates that importance draws come from.
pub(super) struct Reached<'a> {
    /// As fitted.
    pub(super) plain: (&'a dyn Flow, &'a Gaussian),
    /// For importance draws.
    pub(super) bent: (&'a dyn Flow, &'a Gaussian),
    /// ELBO, its standard error and half the variance of the log weights, as fitted.
    pub(super) first: [f64; 3],
    /// What a few draws tell of the latter.
    pub(super) judged: &'a Judged,
    /// Gradients that bending took.
    pub(super) gradients: usize,
}
