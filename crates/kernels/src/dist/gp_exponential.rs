//! Values of a function at points x, a Gaussian process with the exponential covariance.

use super::gp::{self, gp_row};
use super::row::{Density, Distribution, Noncentered, Probe, Sampler, Support};
use super::std_normal;
use crate::func::kernel::Covariance;

gp_row!(
    "gp_exponential",
    "a Gaussian process at points x with covariance alpha^2 * exp(-d / rho) at distance d",
    Exponential,
    [],
    "gp_exponential_cov(x, alpha, rho)",
    [1.3, 0.7]
);
