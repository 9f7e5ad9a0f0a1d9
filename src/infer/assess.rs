//! The checks and corrections of a fit, for a Gaussian found by any method.

use crate::infer::fit::{Fit, Origin};
use crate::infer::gaussian::Gaussian;
use crate::infer::importance::estimate::estimate;
use crate::infer::options::Options;
use crate::infer::sampling::chains;
use crate::infer::transport::layers::Bent;
use crate::infer::transport::warped::Warped;
use crate::num::linalg;
use crate::target::Target;
use crate::vi::Scale;

/// Importance sampling and summaries for the Gaussian with this mean and covariance (`d × d` by rows); None
/// if the covariance is not positive definite.
pub fn assess(
    target: &dyn Target,
    mean: &[f64],
    covariance: &[f64],
    origin: Origin,
    options: &Options,
) -> Option<Fit> {
    let d = mean.len();
    let mut factor = covariance.to_vec();
    linalg::cholesky(&mut factor, d).ok()?;
    (0..d).for_each(|i| factor[i * d + i + 1..(i + 1) * d].fill(0.0));
    let q = Gaussian { mean: mean.to_vec(), factor: Scale::Dense(factor) };
    Some(assess_gaussian(target, &q, origin, options))
}

/// The same for a Gaussian with its factor.
pub(super) fn assess_gaussian(target: &dyn Target, q: &Gaussian, origin: Origin, options: &Options) -> Fit {
    let (bent, flat) = (Bent::straight(target, q, options), Warped::flat(target));
    let estimates = estimate(&bent.reached(&flat, q, &[]), options);
    let sampled = chains::if_asked(&bent, q, &[], estimates.khat, options);
    Fit::assemble(q, estimates, sampled, origin)
}
