//! Values of a function at points x, a Gaussian process with the Matérn 5/2 covariance.

use super::gp::{self, gp_row};
use super::row::{Density, Distribution, Noncentered, Probe, Sampler, Support};
use super::std_normal;
use crate::func::kernel::Covariance;

gp_row!(
    "gp_matern52",
    "a Gaussian process at points x with covariance alpha^2 * (1 + s + s^2 / 3) * exp(-s), s = sqrt(5) * d / rho at distance d",
    Matern52,
    [],
    "gp_matern52_cov(x, alpha, rho)",
    [1.3, 0.7]
);
