//! The error function family and the standard normal distribution.

use crate::num::gaussian;
use crate::num::real::Real;
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

/// φ(x) / Φ(x), the derivative of [`log_phi`] (the inverse Mills ratio at -x), to 1e-15 relative; it is -x far in the
/// lower tail and 0 far in the upper.
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

/// x / q, where q = p - ½, as a quotient of polynomials in 0.18 - q²: minimax for |q| ≤ √0.18, error 8e-17.
const CENTRE: Quotient = (
    [
        3.3807998831538586,
        131.93692364263606,
        1940.4472124578665,
        13429.358807768436,
        44654.55134212327,
        65084.8615110003,
        32214.270602754288,
        2410.165344593776,
    ],
    [
        1.0,
        42.00886236906535,
        677.5814746534124,
        5284.909321638996,
        20663.5575181379,
        38093.33633283703,
        27722.44305375843,
        5026.392435484021,
    ],
);

/// The quantile of the upper tail q, from r = √(-log q), as a quotient of polynomials in r - 1.5 up to r = 5.5: minimax,
/// error 1.3e-16.
const TAIL: Quotient = (
    [
        1.2513729290570323,
        4.4306448135067,
        5.901600396223412,
        3.950532752338594,
        1.446425899941461,
        0.2872568980447351,
        0.027896494379905688,
        0.0009685832186452905,
    ],
    [
        1.0,
        2.154828352364892,
        1.843067512760867,
        0.7922815436906135,
        0.17688143517359253,
        0.018706891531011304,
        0.0006847794816677074,
        1.2344358651248534e-09,
    ],
);

/// The same in r - 5.5 from there on, down to the smallest number: error 3e-17.
const FAR_TAIL: Quotient = (
    [
        7.390976407744011,
        5.589352639328091,
        1.6911541677559954,
        0.2617741057466813,
        0.02196537879240037,
        0.0009726012073215004,
        2.0250864598081454e-05,
        1.4473138491323968e-07,
    ],
    [
        1.0,
        0.558373032217461,
        0.11925879918761462,
        0.01219991677090663,
        0.0006124249395440314,
        1.3756897209237462e-05,
        1.0233989878032881e-07,
        1.396383869485054e-15,
    ],
);

/// Numerator and denominator, lowest coefficient first.
type Quotient = ([f64; 8], [f64; 8]);

#[inline]
fn quotient((numerator, denominator): &Quotient, x: f64) -> f64 {
    let horner = |c: &[f64; 8]| c.iter().rev().fold(0.0, |sum, c| sum * x + c);
    horner(numerator) / horner(denominator)
}

/// Inverse of [`phi`]: the x with Φ(x) = p, to 1e-15 relative for p down to the smallest number; -∞ at 0, +∞ at 1, NaN
/// outside [0, 1].
pub fn inv_phi(p: f64) -> f64 {
    let q = p - 0.5;
    let centred = 0.18 - q * q;
    if centred >= 0.0 {
        return q * quotient(&CENTRE, centred);
    }
    if q < 0.0 { -upper_quantile(p) } else { upper_quantile(1.0 - p) }
}

/// The x with 1 - Φ(x) = q, for q < 0.09.
fn upper_quantile(q: f64) -> f64 {
    if q == 0.0 {
        return f64::INFINITY;
    }
    let r = (-q.ln()).sqrt();
    if r < 5.5 { quotient(&TAIL, r - 1.5) } else { quotient(&FAR_TAIL, r - 5.5) }
}

/// Inverse of [`erfc`] on [0, 2], to 1e-15 relative in both tails.
pub fn inv_erfc(q: f64) -> f64 {
    if q > 1.0 {
        -inv_erfc(2.0 - q)
    } else if q > 0.2 {
        inv_erf(1.0 - q)
    } else if q >= 0.0 {
        upper_quantile(0.5 * q) / SQRT_2
    } else {
        f64::NAN
    }
}

/// Inverse of [`erf`] on [-1, 1], to 1e-15 relative, also near 0.
pub fn inv_erf(p: f64) -> f64 {
    let q = 0.5 * p;
    let centred = 0.18 - q * q;
    if centred >= 0.0 {
        return q * quotient(&CENTRE, centred) / SQRT_2;
    }
    (upper_quantile(0.5 * (1.0 - p.abs())) / SQRT_2).copysign(p)
}
