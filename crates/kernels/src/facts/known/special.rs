//! Bounds on the functions of the normal distribution and of the gamma family, and on densities in standard
//! form.

use super::{above, abs, at, log1p_exp, odd, within};
use crate::facts::{Interval, Jet};
use crate::num::real::{HALF_LN_2PI, SQRT_2PI};
use crate::num::special as sf;
use std::f64::consts::{FRAC_2_SQRT_PI, SQRT_2};

/// ψ with its limits.
fn digamma(x: f64) -> f64 {
    if x == 0.0 { f64::NEG_INFINITY } else { at(x, f64::NAN, f64::INFINITY, sf::digamma) }
}

/// ψ′ with its limits.
fn trigamma(x: f64) -> f64 {
    if x == 0.0 { f64::INFINITY } else { at(x, f64::NAN, 0.0, sf::trigamma) }
}

/// ψ″ with its limits.
fn tetragamma(x: f64) -> f64 {
    if x == 0.0 { f64::NEG_INFINITY } else { at(x, f64::NAN, 0.0, sf::tetragamma) }
}

/// ψ‴ with its limits.
fn pentagamma(x: f64) -> f64 {
    if x == 0.0 { f64::INFINITY } else { at(x, f64::NAN, 0.0, sf::pentagamma) }
}

/// log Γ(x) for x ≥ 0: convex, least at 1.4616..., where it is -0.12148629053584961; ψ′ = Σ 1/(x + n)² falls.
pub fn lgamma(x: Interval) -> Option<Jet> {
    let value = |x: f64| if x == 0.0 { f64::INFINITY } else { at(x, f64::NAN, f64::INFINITY, sf::lgamma) };
    let ends = x.monotone(value);
    let turns = x.lo < 1.462 && x.hi > 1.461;
    let values = if turns { ends.hull(Interval::point(-0.121_486_290_535_85)) } else { ends };
    above(x, 0.0).then(|| Jet::new(values, x.rising(digamma), x.falling(trigamma)))
}

/// ψ for x ≥ 0: each derivative of Σ -1/(x + n) has one sign and falls in size.
pub fn psi(x: Interval) -> Option<Jet> {
    above(x, 0.0).then(|| Jet::new(x.rising(digamma), x.falling(trigamma), x.rising(tetragamma)))
}

/// ψ′ for x ≥ 0.
pub fn psi1(x: Interval) -> Option<Jet> {
    above(x, 0.0).then(|| Jet::new(x.falling(trigamma), x.rising(tetragamma), x.falling(pentagamma)))
}

/// Γ(x) for x ≥ 0: log-convex, so convex; its minimum is 0.8856.
pub fn gamma(x: Interval) -> Option<Jet> {
    above(x, 0.0)
        .then(|| Jet::new(Interval::new(0.8856, f64::INFINITY), Interval::REAL, Interval::NONNEGATIVE))
}

/// log B(x, b) for x ≥ 0 and b > 0: slope ψ(x) - ψ(x + b) < 0, second derivative ψ′(x) - ψ′(x + b) > 0.
pub fn lbeta(x: Interval, b: f64) -> Option<Jet> {
    let value = |x: f64| {
        if x == 0.0 { f64::INFINITY } else { at(x, f64::NAN, f64::NEG_INFINITY, |x| sf::lbeta(x, b)) }
    };
    let known = above(x, 0.0) && b > 0.0;
    known.then(|| Jet::new(x.falling(value), Interval::NONPOSITIVE, Interval::NONNEGATIVE))
}

/// φ(x), even and falling away from 0.
fn normal_density(x: Interval) -> Interval {
    x.abs().falling(|x| (-0.5 * x * x).exp() / SQRT_2PI)
}

/// Φ(x): slope φ(x); second derivative -x φ(x), within ±φ(1).
pub fn phi(x: Interval) -> Option<Jet> {
    let value = x.rising(|x| at(x, 0.0, 1.0, sf::phi));
    Some(Jet::new(value, normal_density(x), odd(x, (-0.5 - HALF_LN_2PI).exp())))
}

/// erf(x) = 2 Φ(√2 x) - 1.
pub fn erf(x: Interval) -> Option<Jet> {
    let slope = x.abs().falling(|x| (-x * x).exp() * FRAC_2_SQRT_PI);
    // 2x · 2/√π e^(-x²), largest at x² = 1/2.
    let most = SQRT_2 * FRAC_2_SQRT_PI * (-0.5_f64).exp();
    Some(Jet::new(x.rising(|x| at(x, -1.0, 1.0, sf::erf)), slope, odd(x, most)))
}

/// The standard normal quantile y of p: slope 1/φ(y), second derivative y/φ(y)².
pub fn inv_phi(p: Interval) -> Option<Jet> {
    let quantile = |p: f64| {
        if p == 0.0 {
            f64::NEG_INFINITY
        } else if p == 1.0 {
            f64::INFINITY
        } else {
            sf::inv_phi(p)
        }
    };
    if !within(p, 0.0, 1.0) {
        return None;
    }
    let y = p.rising(quantile);
    let slope = |y: f64| SQRT_2PI * (0.5 * y * y).exp();
    Some(Jet::new(y, y.abs().rising(slope), y.rising(|y| y * slope(y) * slope(y))))
}

/// log Φ(x): slope r = φ/Φ falls; the second derivative -r (x + r) is the variance of a normal variable cut
/// off at x, less 1, and such a variance lies between 0 and 1.
pub fn log_phi(x: Interval) -> Option<Jet> {
    let value = x.rising(|x| at(x, f64::NEG_INFINITY, 0.0, sf::log_phi));
    let slope = x.falling(|x| at(x, f64::INFINITY, 0.0, sf::phi_ratio));
    Some(Jet::new(value, slope, Interval::new(-1.0, 0.0)))
}

/// log I₀(x) for x ≥ 0: the cumulant function of cos θ for θ uniform on the circle. Its slope A = I₁/I₀ is a
/// mean of cos θ, not below 0 for x ≥ 0; its second derivative is a variance, not below 0, and 1 - A/x - A².
/// With A ≥ x/(1 + √(1 + x²)) (Amos, 1974) that is at most 1/(1 + √(1 + x²)).
pub fn log_bessel_i0(x: Interval) -> Option<Jet> {
    let value = x.rising(|x| at(x, f64::NAN, f64::INFINITY, sf::log_bessel_i0));
    let most = (1.0 + 1.0_f64.hypot(x.lo)).recip();
    above(x, 0.0).then(|| Jet::new(value, Interval::new(0.0, 1.0), Interval::new(0.0, most)))
}

/// -z²/2.
pub fn normal(z: Interval) -> Option<Jet> {
    Some(Jet::new(z.square().scale(-0.5), -z, Interval::point(-1.0)))
}

/// -|z|.
pub fn laplace(z: Interval) -> Option<Jet> {
    Some(-abs(z)?)
}

/// -z - 2 log(1 + e^-z) = log(p (1 - p)) for p = inv_logit(z): even in z; slope 1 - 2p, second derivative -2p
/// (1 - p).
pub fn logistic(z: Interval) -> Option<Jet> {
    let value = |a: f64| -(a + 2.0 * (-a).exp().ln_1p());
    let curvature = -log1p_exp(z)?.curvature.scale(2.0);
    Some(Jet::new(z.abs().falling(value), z.falling(|z| -(0.5 * z).tanh()), curvature))
}

/// -(ν + 1)/2 log(1 + z²/ν): slope -(ν + 1) z/(ν + z²), largest in size at z² = ν; second derivative
/// -(ν + 1)(ν - z²)/(ν + z²)², least at 0 and largest at z² = 3ν.
pub fn student(z: Interval, nu: f64) -> Option<Jet> {
    if !(nu > 0.0 && nu.is_finite()) {
        return None;
    }
    let value = z.abs().falling(|z| -0.5 * (nu + 1.0) * (z * (z / nu)).ln_1p());
    let slope = odd(z, 0.5 * (nu + 1.0) / nu.sqrt());
    Some(Jet::new(value, slope, Interval::new(-(nu + 1.0) / nu, (nu + 1.0) / (8.0 * nu))))
}

/// -(ν + 1)/2 log(1 + e^(2t)/ν), the same in t = log |z|.
pub fn student_log(t: Interval, nu: f64) -> Option<Jet> {
    if !(nu > 0.0 && nu.is_finite()) {
        return None;
    }
    Some(log1p_exp(t.scale(2.0).shift(-nu.ln()))?.stretched(2.0).scaled(-0.5 * (nu + 1.0)))
}
