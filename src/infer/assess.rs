//! The checks and corrections of a fit, for a Gaussian found by any method.

use crate::infer::fit::{Fit, Origin};
use crate::infer::gaussian::Gaussian;
use crate::infer::importance::estimate::estimate;
use crate::infer::moments::NotGaussian;
use crate::infer::options::Options;
use crate::infer::sampling::chains;
use crate::infer::transport::layers::Bent;
use crate::infer::transport::warped::Warped;
use crate::target::Target;
use nalgebra::{DMatrix, DVector};

/// Importance sampling and summaries for the Gaussian with this mean and covariance, which any method may
/// have found.
pub fn assess(
    target: &dyn Target,
    mean: &DVector<f64>,
    covariance: &DMatrix<f64>,
    origin: Origin,
    options: &Options,
) -> Result<Fit, NotGaussian> {
    let (coordinates, length) = (target.dimension(), mean.len());
    if coordinates != length {
        return Err(NotGaussian::Dimension { coordinates, mean: length });
    }
    Ok(assess_gaussian(target, &Gaussian::from_moments(mean, covariance)?, origin, options))
}

/// The same for a Gaussian with its factor.
pub(super) fn assess_gaussian(target: &dyn Target, q: &Gaussian, origin: Origin, options: &Options) -> Fit {
    let (bent, flat) = (Bent::straight(target, q, options), Warped::flat(target));
    let estimates = estimate(&bent.reached(&flat, q, &[]), options);
    let sampled = chains::if_asked(&bent, q, &[], estimates.khat, options);
    Fit::assemble(q, estimates, sampled, origin)
}
