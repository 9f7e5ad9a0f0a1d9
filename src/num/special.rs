//! Special functions of real arguments, in double precision.

use special::{Error as _, Gamma as _};

/// log |Γ(x)|.
pub fn lgamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// The derivative of [`lgamma`].
pub fn digamma(x: f64) -> f64 {
    x.digamma()
}

/// The second derivative of [`lgamma`].
pub fn trigamma(x: f64) -> f64 {
    x.trigamma()
}

/// The third derivative of [`lgamma`].
pub fn tetragamma(x: f64) -> f64 {
    // Recurrence up to x ≥ 12, then the asymptotic series.
    let (mut x, mut sum) = (x, 0.0);
    while x < 12.0 {
        sum -= 2.0 / (x * x * x);
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    sum - r * (1.0 + 1.0 / x + r * (0.5 - r * (1.0 / 6.0 - r * (1.0 / 6.0 - r * (0.3 - r * 5.0 / 6.0)))))
}

/// The error function.
pub fn erf(x: f64) -> f64 {
    libm::erf(x)
}

/// 1 - erf(x).
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

/// Standard normal cumulative distribution function.
pub fn phi(x: f64) -> f64 {
    0.5 * erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// Inverse of [`phi`].
pub fn inv_phi(p: f64) -> f64 {
    std::f64::consts::SQRT_2 * (2.0 * p - 1.0).inv_error()
}

/// log of [`phi`], without underflow.
pub fn log_phi(x: f64) -> f64 {
    if x > -20.0 {
        phi(x).ln()
    } else {
        -0.5 * x * x - (-x).ln() - 0.918_938_533_204_672_8 + (-1.0 / (x * x)).ln_1p()
    }
}
