//! The error function family and the standard normal distribution.

use crate::num::real::{HALF_LN_2PI, SQRT_2PI};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI, SQRT_2};

/// √π
const SQRT_PI: f64 = 1.772_453_850_905_516;

/// The error function 2/√π ∫₀ˣ e^{-t²} dt, to 2e-16 relative.
#[inline]
pub fn erf(x: f64) -> f64 {
    libm::erf(x)
}

/// 1 - erf(x), to 4e-16 relative down to its underflow near x = 26.5.
#[inline]
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

/// x² as a rounded part and what was rounded off, exactly (Dekker), for |x| < 1e150.
fn square_in_two(x: f64) -> (f64, f64) {
    let t = 134_217_729.0 * x;
    let high = t - (t - x);
    let low = x - high;
    let square = x * x;
    (square, ((high * high - square) + 2.0 * high * low) + low * low)
}

/// e^{c x²} for |c| ≤ 1 a power of two, accurate where x² is large.
fn exp_of_square(c: f64, x: f64) -> f64 {
    let (high, low) = square_in_two(x);
    let e = (c * high).exp();
    // Where e is 0 or infinite the correction means nothing.
    if e == 0.0 || e.is_infinite() { e } else { e + e * (c * low) }
}

/// e^{x²} erfc(x), to 1e-15 relative; +∞ below -26.6.
pub fn erfcx(x: f64) -> f64 {
    if x < 25.0 {
        return erfc(x) * exp_of_square(1.0, x);
    }
    // Asymptotic: 1/(x√π) · Σ (-1)^k (2k-1)!! / (2x²)^k.
    let r = 0.5 / (x * x);
    (1.0 - r * (1.0 - 3.0 * r * (1.0 - 5.0 * r * (1.0 - 7.0 * r)))) / (x * SQRT_PI)
}

/// Standard normal cdf Φ(x), to 1e-15 relative in both tails (until it underflows below -38.5).
pub fn phi(x: f64) -> f64 {
    if x < -1.0 {
        if x < -39.0 {
            return 0.0;
        }
        return 0.5 * erfcx(-x * FRAC_1_SQRT_2) * exp_of_square(-0.5, x);
    }
    0.5 * erfc(-x * FRAC_1_SQRT_2)
}

/// log Φ(x), to 1e-15 relative on the whole line.
pub fn log_phi(x: f64) -> f64 {
    if x < -1.0 {
        return (0.5 * erfcx(-x * FRAC_1_SQRT_2)).ln() - 0.5 * x * x;
    }
    if x > 0.0 {
        return (-0.5 * erfc(x * FRAC_1_SQRT_2)).ln_1p();
    }
    phi(x).ln()
}

/// φ(x) / Φ(x), the derivative of [`log_phi`] (the inverse Mills ratio at -x), to 1e-15 relative; it is -x far in the
/// lower tail and 0 far in the upper.
pub fn phi_ratio(x: f64) -> f64 {
    if x > 5.0 {
        return exp_of_square(-0.5, x.min(1e100)) / (SQRT_2PI * phi(x));
    }
    FRAC_2_PI.sqrt() / erfcx(-x * FRAC_1_SQRT_2)
}

/// Inverse of [`phi`]: the x with Φ(x) = p, to 1e-15 relative for p down to the smallest normal number; -∞ at 0, +∞ at
/// 1, NaN outside [0, 1].
pub fn inv_phi(p: f64) -> f64 {
    if p <= 0.5 { -upper_quantile(p) } else { upper_quantile(1.0 - p) }
}

/// The x ≥ 0 with 1 - Φ(x) = q, for q ≤ ½.
fn upper_quantile(q: f64) -> f64 {
    if q == 0.0 {
        return f64::INFINITY;
    }
    if !(q > 0.0 && q <= 0.5) {
        return f64::NAN;
    }
    if q > 0.2 {
        // ½ erf(x/√2) = ½ - q, from the first terms of the series about 0.
        let target = 0.5 - q;
        let s = SQRT_2PI * target;
        let mut x = s * (1.0 + s * s / 6.0 * (1.0 + 7.0 * s * s / 20.0));
        for _ in 0..3 {
            let error = 0.5 * erf(x * FRAC_1_SQRT_2) - target;
            let step = error * SQRT_2PI * (0.5 * x * x).exp();
            x -= step / (1.0 + 0.5 * x * step);
        }
        return x;
    }
    let log_q = q.ln();
    let r = (-2.0 * (log_q + HALF_LN_2PI)).sqrt();
    let mut x = (r * r - 2.0 * r.max(1.0).ln()).max(0.5).sqrt();
    for _ in 0..5 {
        // Newton on log(1 - Φ(x)), which is nearly quadratic, hence with Halley's correction.
        let ratio = phi_ratio(-x);
        let step = (log_phi(-x) - log_q) / ratio;
        let curvature = ratio - x;
        x += step / (1.0 - 0.5 * curvature * step);
        if step.abs() < 1e-6 * x {
            break;
        }
    }
    x
}

/// Inverse of [`erfc`] on [0, 2], to 1e-15 relative in both tails.
pub fn inv_erfc(q: f64) -> f64 {
    if q > 1.0 { -inv_erfc_upper(2.0 - q) } else { inv_erfc_upper(q) }
}

fn inv_erfc_upper(q: f64) -> f64 {
    if q > 0.4 { inv_erf(1.0 - q) } else { upper_quantile(0.5 * q) / SQRT_2 }
}

/// Inverse of [`erf`] on [-1, 1], to 1e-15 relative, also near 0.
pub fn inv_erf(p: f64) -> f64 {
    let a = p.abs();
    if a > 0.6 {
        return (upper_quantile(0.5 * (1.0 - a)) / SQRT_2).copysign(p);
    }
    let s = 0.5 * SQRT_PI * a;
    let mut x = s * (1.0 + s * s / 3.0 * (1.0 + 0.7 * s * s));
    for _ in 0..3 {
        let step = (erf(x) - a) * 0.5 * SQRT_PI * (x * x).exp();
        x -= step / (1.0 + x * step);
    }
    x.copysign(p)
}
