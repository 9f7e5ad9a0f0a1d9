//! The checks and corrections of a fit, for a Gaussian found by any method.

use crate::infer::approximate::gaussian::Gaussian;
use crate::infer::approximate::transport::layers::Bent;
use crate::infer::approximate::transport::map::Warped;
use crate::infer::importance::check::check;
use crate::infer::{Fit, Options};
use crate::num::linalg;
use crate::target::Target;
use crate::vi::Scale;

/// Importance sampling and summaries for the Gaussian with this mean and covariance (`d × d` by rows); None
/// if the covariance is not positive definite.
pub fn assess(target: &dyn Target, mean: &[f64], covariance: &[f64], options: &Options) -> Option<Fit> {
    let d = mean.len();
    let mut factor = covariance.to_vec();
    linalg::cholesky(&mut factor, d).ok()?;
    (0..d).for_each(|i| factor[i * d + i + 1..(i + 1) * d].fill(0.0));
    Some(assess_gaussian(target, &Gaussian { mean: mean.to_vec(), factor: Scale::Dense(factor) }, options))
}

/// The same for a Gaussian with its factor.
pub(super) fn assess_gaussian(target: &dyn Target, q: &Gaussian, options: &Options) -> Fit {
    let bent = Bent::straight(target, q, options);
    let flat = Warped::flat(target);
    check(&bent.reached(&flat, q, &[]), options)
}
