//! The error function family and the standard normal distribution.

use crate::num::real::Real;
use crate::num::{gaussian, quantile};
use std::f64::consts::SQRT_2;

/// The error function 2/√π ∫₀ˣ e^{-t²} dt, to 5e-16 relative.
#[inline]
pub fn erf(x: f64) -> f64 {
    Real::erf(x)
}

/// 1 - erf(x), to 1e-15 relative down to its underflow near x = 26.5.
#[inline]
pub fn erfc(x: f64) -> f64 {
    Real::erfc(x)
}

/// e^{x²} erfc(x), to 1e-15 relative; +∞ below -26.6.
pub fn erfcx(x: f64) -> f64 {
    let positive = gaussian::erfcx_positive(x.abs());
    if x < 0.0 { 2.0 / gaussian::exp_minus_square(1.0, x) - positive } else { positive }
}

/// Standard normal cdf Φ(x), to 1e-15 relative in both tails (until it underflows below -38.5).
pub fn phi(x: f64) -> f64 {
    Real::phi(x)
}

/// log Φ(x), to 1e-15 relative on the whole line.
pub fn log_phi(x: f64) -> f64 {
    Real::log_phi(x)
}

/// φ(x) / Φ(x), the derivative of [`log_phi`] (the inverse Mills ratio at -x), to 1e-15 relative; it is -x
/// far in the lower tail and 0 far in the upper.
pub fn phi_ratio(x: f64) -> f64 {
    Real::phi_ratio(x)
}

/// x + φ(x) / Φ(x), which tends to -1/x in the lower tail, where the sum itself would cancel.
pub fn mills_excess(x: f64) -> f64 {
    if x > -8.0 {
        return x + phi_ratio(x);
    }
    // φ(t) / Φ(-t) = t + 1/(t + 2/(t + 3/(t + ...))); 60 levels are exact to the last bit from t = 8 on.
    let t = -x;
    (1..=60).rev().fold(0.0, |rest, k| f64::from(k) / (t + rest))
}

/// Inverse of [`phi`]: the x with Φ(x) = p, to 1e-15 relative for p down to the smallest number; -∞ at 0, +∞
/// at 1, NaN outside [0, 1].
pub fn inv_phi(p: f64) -> f64 {
    Real::inv_phi(p)
}

/// Inverse of [`erfc`] on [0, 2], to 1e-15 relative in both tails.
pub fn inv_erfc(q: f64) -> f64 {
    if q > 1.0 {
        -inv_erfc(2.0 - q)
    } else if q > 0.2 {
        inv_erf(1.0 - q)
    } else if q >= 0.0 {
        quantile::upper(0.5 * q) / SQRT_2
    } else {
        f64::NAN
    }
}

/// Inverse of [`erf`] on [-1, 1], to 1e-15 relative, also near 0.
pub fn inv_erf(p: f64) -> f64 {
    quantile::from_middle(0.5 * p, 0.5 * (1.0 - p.abs())) / SQRT_2
}
