//! Bounds on elementary functions and on the logistic family.

use super::{above, at, mirrored, odd, within};
use crate::facts::{Interval, Jet};
use crate::num::special as sf;

/// e^x is its own derivative and rises.
pub fn exp(x: Interval) -> Option<Jet> {
    let e = x.rising(f64::exp);
    Some(Jet::new(e, e, e))
}

/// e^x - 1.
pub fn expm1(x: Interval) -> Option<Jet> {
    let e = x.rising(f64::exp);
    Some(Jet::new(x.rising(f64::exp_m1), e, e))
}

/// log x for x ≥ 0: slope 1/x falls, second derivative -1/x² rises.
pub fn log(x: Interval) -> Option<Jet> {
    let curvature = |x: f64| -x.recip().powi(2);
    above(x, 0.0).then(|| Jet::new(x.rising(f64::ln), x.falling(f64::recip), x.rising(curvature)))
}

/// log(1 + x) for x ≥ -1.
pub fn log1p(x: Interval) -> Option<Jet> {
    let inner = log(x.shift(1.0))?;
    above(x, -1.0).then(|| Jet { value: x.rising(f64::ln_1p), ..inner })
}

/// log(1 - x) for x ≤ 1.
pub fn log1m(x: Interval) -> Option<Jet> {
    Some(mirrored(log1p(-x)?))
}

/// x^p for x ≥ 0: value, slope p x^(p-1) and second derivative p (p - 1) x^(p-2) are each monotone there.
fn power_above(x: Interval, p: f64) -> Jet {
    let to = |q: f64| x.monotone(|x| x.powf(q));
    Jet::new(to(p), to(p - 1.0).scale(p), to(p - 2.0).scale(p * (p - 1.0)))
}

/// x^p for a number p: on x ≥ 0; also below 0 for integers, where x^p = ±(-x)^p, and across 0 where p is not
/// negative.
pub fn power(x: Interval, p: f64) -> Option<Jet> {
    if !p.is_finite() {
        return None;
    }
    if above(x, 0.0) {
        return Some(power_above(x, p));
    }
    if p.fract() != 0.0 {
        return None;
    }
    let below = |x: Interval| {
        let even = mirrored(power_above(-x, p));
        if p % 2.0 == 0.0 { even } else { -even }
    };
    if x.hi <= 0.0 {
        return Some(below(x));
    }
    let sides = || below(Interval::new(x.lo, 0.0)).hull(power_above(Interval::new(0.0, x.hi), p));
    (p >= 0.0).then(sides)
}

/// c^x = e^(x log c) for c > 0.
pub fn exponential(x: Interval, base: f64) -> Option<Jet> {
    let rate = base.ln();
    if !rate.is_finite() {
        return None;
    }
    Some(exp(x.scale(rate))?.stretched(rate))
}

/// 1/x on one side of 0.
pub fn inverse(x: Interval) -> Option<Jet> {
    power(x, -1.0)
}

/// √x for x ≥ 0.
pub fn sqrt(x: Interval) -> Option<Jet> {
    above(x, 0.0).then(|| power_above(x, 0.5))
}

/// ∛x on one side of 0: at 0 it has no slope.
pub fn cbrt(x: Interval) -> Option<Jet> {
    let positive = |x: Interval| Jet { value: x.rising(f64::cbrt), ..power_above(x, 1.0 / 3.0) };
    if above(x, 0.0) {
        return Some(positive(x));
    }
    (x.hi <= 0.0).then(|| -mirrored(positive(-x)))
}

/// |x|. At the kink the second derivative is a point mass: a convex function, but no bound on the curvature.
pub fn abs(x: Interval) -> Option<Jet> {
    // At 0 itself the slope is taken to be 1.
    let sign = Interval::new(if x.lo < 0.0 { -1.0 } else { 1.0 }, if x.hi >= 0.0 { 1.0 } else { -1.0 });
    let kink = if x.lo < 0.0 && x.hi > 0.0 { Interval::NONNEGATIVE } else { Interval::ZERO };
    Some(Jet::new(x.abs(), sign, kink))
}

/// max(x, c): slope 0 below c and 1 above, convex.
pub fn larger(x: Interval, c: f64) -> Option<Jet> {
    let slope = Interval::new(if x.lo <= c { 0.0 } else { 1.0 }, if x.hi >= c { 1.0 } else { 0.0 });
    let kink = if x.lo < c && x.hi > c { Interval::NONNEGATIVE } else { Interval::ZERO };
    Some(Jet::new(x.rising(|x| x.max(c)), slope, kink))
}

/// √(x² + c²): slope x/√(x² + c²) rises from -1 to 1, second derivative c²/(x² + c²)^(3/2) is at most 1/|c|.
pub fn hypot(x: Interval, c: f64) -> Option<Jet> {
    if c == 0.0 {
        return abs(x);
    }
    let slope = |x: f64| at(x, -1.0, 1.0, |x| x / x.hypot(c));
    let value = x.abs().rising(|x| x.hypot(c));
    Some(Jet::new(value, x.rising(slope), Interval::new(0.0, c.abs().recip())))
}

/// log(1 + e^x) without overflow, right at ±∞ too.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// 1 / (1 + e^-x), right at ±∞ too.
fn logistic(x: f64) -> f64 {
    if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { ((-x).exp() + 1.0).recip() }
}

/// p (1 - p) for p = inv_logit(x): even, ¼ at 0, falling away from it.
fn logistic_variance(x: Interval) -> Interval {
    x.abs().falling(|x| logistic(x) * logistic(-x))
}

/// log(1 + e^x): slope p, second derivative p (1 - p).
pub fn log1p_exp(x: Interval) -> Option<Jet> {
    Some(Jet::new(x.rising(softplus), x.rising(logistic), logistic_variance(x)))
}

/// log s for s = log(1 + e^x). With p = inv_logit(x) = 1 - e^-s the slope is g = (1 - e^-s)/s, which falls
/// from 1 to 0, and the second derivative g (e^-s - g) = g - (1 + s) g²: not above 0, because e^s ≥ 1 + s;
/// and not below -¼, because tanh(s/2) ≤ s/2 says g ≤ 1/(1 + s/2), where it is -(s/2)/(1 + s/2)².
pub fn log_log1p_exp(x: Interval) -> Option<Jet> {
    // Below -40 the sum is e^x to the last bit.
    let value = |x: f64| if x < -40.0 { x } else { softplus(x).ln() };
    let slope = |x: f64| if x < -40.0 { 1.0 } else { at(x, 1.0, 0.0, |x| logistic(x) / softplus(x)) };
    Some(Jet::new(x.rising(value), x.falling(slope), Interval::new(-0.25, 0.0)))
}

/// v(x) + v(x - gap) for v = p (1 - p) and p = inv_logit: not below 0, and not above what follows. With c =
/// cosh(gap/2) and C = cosh(x - gap/2) ≥ 1 it is (1 + C c)/(C + c)², whose slope in C vanishes at c - 2/c
/// alone: the largest value is 1/(1 + c), at C = 1, while c ≤ 2, and c²/(4 (c² - 1)) beyond.
pub fn most_of_two_variances(gap: f64) -> f64 {
    let c = (0.5 * gap).cosh();
    if c <= 2.0 {
        (1.0 + c).recip()
    } else {
        // 1 / (1 - 1/c²), which a gap without end turns into 1.
        0.25 / (1.0 - c.recip().powi(2))
    }
}

/// log inv_logit(x) = -log(1 + e^-x).
pub fn log_inv_logit(x: Interval) -> Option<Jet> {
    Some(-mirrored(log1p_exp(-x)?))
}

/// log(1 - inv_logit(x)) = -log(1 + e^x).
pub fn log1m_inv_logit(x: Interval) -> Option<Jet> {
    Some(-log1p_exp(x)?)
}

/// p = inv_logit(x): slope p (1 - p), second derivative p (1 - p)(1 - 2p), which is ±1/(6√3) at p = (1 ∓
/// 1/√3)/2.
pub fn inv_logit(x: Interval) -> Option<Jet> {
    let most = (6.0 * 3.0_f64.sqrt()).recip();
    Some(Jet::new(x.rising(logistic), logistic_variance(x), odd(x, most)))
}

/// log(p / (1 - p)) for 0 ≤ p ≤ 1: slope 1/p + 1/(1 - p) is convex with its minimum 4 at ½, so that its
/// derivative rises.
pub fn logit(p: Interval) -> Option<Jet> {
    let slope = |p: f64| (p * (1.0 - p)).recip();
    let ends = p.monotone(slope);
    let slopes = if p.contains(0.5) { ends.hull(Interval::point(4.0)) } else { ends };
    let curvature = |p: f64| (1.0 - p).recip().powi(2) - p.recip().powi(2);
    within(p, 0.0, 1.0).then(|| Jet::new(p.rising(sf::logit), slopes, p.rising(curvature)))
}

/// log(1 - e^x) for x ≤ 0: slope -e^x/(1 - e^x) and second derivative -e^x/(1 - e^x)² both fall, as e^x
/// rises.
pub fn log1m_exp(x: Interval) -> Option<Jet> {
    let slope = |x: f64| -(x.exp() / x.exp_m1().abs());
    let curvature = |x: f64| -(x.exp() / x.exp_m1().powi(2));
    let value = |x: f64| at(x, 0.0, f64::NAN, sf::log1m_exp);
    (x.hi <= 0.0).then(|| Jet::new(x.falling(value), x.falling(slope), x.falling(curvature)))
}

/// log(1 - exp(-e^t)). With w = e^t and h = w/(e^w - 1), which falls from 1 to 0, the slope is h and the
/// second derivative -h k for k = w + h - 1 = w/2 + w/2 coth(w/2) - 1, which lies between 0 and w/2 + w²/12.
/// With 1/h ≥ 1 + w/2 + w²/6 + w³/24 the product h k is at most 0.45, because 0.45 - 0.275 w - w²/120 +
/// 0.01875 w³, least near w = 2.364, is positive.
pub fn log1m_exp_exp(t: Interval) -> Option<Jet> {
    let slope = |t: f64| {
        let w = t.exp();
        if w == 0.0 { 1.0 } else { at(w, 0.0, 0.0, |w| w / w.exp_m1()) }
    };
    // Below -40 it is t to the last bit: it lies between t - w/2 and t.
    let value = |t: f64| if t < -40.0 { t } else { sf::log1m_exp(-t.exp()) };
    Some(Jet::new(t.rising(value), t.falling(slope), Interval::new(-0.45, 0.0)))
}

/// 1 - exp(-e^x). With e = e^x the slope is e·exp(-e) ≤ 1/e and the second derivative e (1 - e) exp(-e),
/// extreme where 1 - 3e + e² = 0.
pub fn inv_cloglog(x: Interval) -> Option<Jet> {
    let extreme = |e: f64| e * (1.0 - e) * (-e).exp();
    let root = 5.0_f64.sqrt();
    let curvature = Interval::new(extreme(0.5 * (3.0 + root)), extreme(0.5 * (3.0 - root)));
    let value = x.rising(|x| -(-x.exp()).exp_m1());
    Some(Jet::new(value, Interval::new(0.0, (-1.0_f64).exp()), curvature))
}

/// t - e^t: slope 1 - e^t, second derivative -e^t, at most -1.
pub fn minus_exp(t: Interval) -> Option<Jet> {
    let e = t.rising(f64::exp);
    let value = |t: f64| at(t, f64::NEG_INFINITY, f64::NEG_INFINITY, |t| t - t.exp());
    let ends = t.monotone(value);
    let value = if t.contains(0.0) { ends.hull(Interval::point(-1.0)) } else { ends };
    Some(Jet::new(value, (-e).shift(1.0), -e))
}

/// sin x and cos x and all their derivatives lie within ±1.
pub fn wave(_: Interval) -> Option<Jet> {
    let unit = Interval::new(-1.0, 1.0);
    Some(Jet::new(unit, unit, unit))
}

/// asin x for |x| ≤ 1: slope (1 - x²)^(-1/2) grows with |x|, second derivative x (1 - x²)^(-3/2) rises.
pub fn asin(x: Interval) -> Option<Jet> {
    let rest = |x: f64| (1.0 - x) * (1.0 + x);
    let slope = x.abs().rising(|x| rest(x).sqrt().recip());
    let curvature = x.rising(|x| x * rest(x).powf(-1.5));
    within(x, -1.0, 1.0).then(|| Jet::new(x.rising(f64::asin), slope, curvature))
}

/// acos x = π/2 - asin x.
pub fn acos(x: Interval) -> Option<Jet> {
    let inner = -asin(x)?;
    Some(Jet { value: x.falling(f64::acos), ..inner })
}

/// atan x: slope 1/(1 + x²); second derivative -2x/(1 + x²)², within ±3√3/8, which it reaches at x² = 1/3.
pub fn atan(x: Interval) -> Option<Jet> {
    let slope = x.abs().falling(|x| (1.0 + x * x).recip());
    Some(Jet::new(x.rising(f64::atan), slope, odd(x, 0.375 * 3.0_f64.sqrt())))
}

/// sinh x.
pub fn sinh(x: Interval) -> Option<Jet> {
    let sinh = x.rising(f64::sinh);
    Some(Jet::new(sinh, x.abs().rising(f64::cosh), sinh))
}

/// cosh x.
pub fn cosh(x: Interval) -> Option<Jet> {
    let cosh = x.abs().rising(f64::cosh);
    Some(Jet::new(cosh, x.rising(f64::sinh), cosh))
}

/// 1/cosh² x, even and falling away from 0; without the cancellation of 1 - tanh².
fn sech_square(x: Interval) -> Interval {
    x.abs().falling(|x| x.cosh().recip().powi(2))
}

/// tanh x: slope 1/cosh² x; second derivative -2 tanh x/cosh² x, within ±4/(3√3), which it reaches at tanh² x
/// = 1/3.
pub fn tanh(x: Interval) -> Option<Jet> {
    Some(Jet::new(x.rising(f64::tanh), sech_square(x), odd(x, 4.0 / (3.0 * 3.0_f64.sqrt()))))
}

/// log(1 - tanh² x) = -2 log cosh x: slope -2 tanh x, second derivative -2/cosh² x.
pub fn log1m_tanh_square(x: Interval) -> Option<Jet> {
    let value = |x: f64| 2.0 * (std::f64::consts::LN_2 - x - (-2.0 * x).exp().ln_1p());
    Some(Jet::new(x.abs().falling(value), x.falling(|x| -2.0 * x.tanh()), -sech_square(x).scale(2.0)))
}

/// log cosh x: slope tanh x, second derivative 1/cosh² x.
pub fn log_cosh(x: Interval) -> Option<Jet> {
    let value = |x: f64| x + (-2.0 * x).exp().ln_1p() - std::f64::consts::LN_2;
    Some(Jet::new(x.abs().rising(value), x.rising(f64::tanh), sech_square(x)))
}

/// asinh x: slope (1 + x²)^(-1/2); second derivative -x (1 + x²)^(-3/2), within ±2/(3√3), which it reaches at
/// x² = 1/2.
pub fn asinh(x: Interval) -> Option<Jet> {
    let slope = x.abs().falling(|x| 1.0_f64.hypot(x).recip());
    Some(Jet::new(x.rising(f64::asinh), slope, odd(x, 2.0 / (3.0 * 3.0_f64.sqrt()))))
}

/// acosh x for x ≥ 1: slope (x² - 1)^(-1/2) falls, so that the second derivative is not above 0.
pub fn acosh(x: Interval) -> Option<Jet> {
    let slope = |x: f64| ((x - 1.0) * (x + 1.0)).sqrt().recip();
    above(x, 1.0).then(|| Jet::new(x.rising(f64::acosh), x.falling(slope), Interval::NONPOSITIVE))
}

/// atanh x for |x| ≤ 1: slope 1/(1 - x²) grows with |x|, second derivative 2x/(1 - x²)² rises.
pub fn atanh(x: Interval) -> Option<Jet> {
    let rest = |x: f64| (1.0 - x) * (1.0 + x);
    let slope = x.abs().rising(|x| rest(x).recip());
    let curvature = x.rising(|x| 2.0 * x * rest(x).recip().powi(2));
    within(x, -1.0, 1.0).then(|| Jet::new(x.rising(f64::atanh), slope, curvature))
}
