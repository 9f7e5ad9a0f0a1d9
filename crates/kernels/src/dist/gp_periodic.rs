//! Values of a function at points x, a Gaussian process with a periodic covariance.

use super::gp::{self, gp_row};
use super::row::{ArgSpec, Density, Distribution, Domain, Noncentered, Probe, Sampler, Support};
use super::std_normal;
use crate::func::kernel::Covariance;

const PERIOD: ArgSpec = ArgSpec { name: "period", domain: Domain::Positive, rank: 0, default: None };

gp_row!(
    "gp_periodic",
    "a Gaussian process at points x with covariance alpha^2 * exp(-2 * sin(pi() * d / period)^2 / rho^2) at distance d",
    Periodic,
    [PERIOD],
    "gp_periodic_cov(x, alpha, rho, period)",
    [1.3, 0.7, 2.2]
);
