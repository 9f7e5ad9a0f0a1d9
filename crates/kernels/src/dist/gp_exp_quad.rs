//! Values of a function at points x, a Gaussian process with the exponentiated quadratic covariance.

use super::gp::{self, gp_row};
use super::row::{Density, Distribution, Noncentered, Probe, Sampler, Support};
use super::std_normal;
use crate::func::kernel::Covariance;

gp_row!(
    "gp_exp_quad",
    "a Gaussian process at points x with covariance alpha^2 * exp(-d^2 / (2 * rho^2)) at distance d",
    ExpQuad,
    [],
    "gp_exp_quad_cov(x, alpha, rho)",
    [1.3, 0.7]
);
