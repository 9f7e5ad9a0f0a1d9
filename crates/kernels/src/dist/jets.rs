//! Bounds on functions of location, scale and rate, from bounds on the standard form.

use crate::facts::{Interval, Jet, known};

/// 1/sigma, for a scale that is a positive number whose reciprocal is one too.
fn rate(sigma: Interval) -> Option<f64> {
    let rate = sigma.lo.recip();
    (sigma.is_point() && sigma.lo > 0.0 && rate.is_finite()).then_some(rate)
}

/// f(z) for z = (x - mu) / sigma as a function of x (k = x) or mu (k = mu); None in sigma.
pub(super) fn location(
    a: &[Interval],
    k: usize,
    [x, mu, sigma]: [usize; 3],
    f: impl Fn(Interval) -> Option<Jet>,
) -> Option<Jet> {
    let rate = rate(a[sigma])?;
    let inner = || f((a[x] - a[mu]).scale(rate));
    if k == x {
        Some(inner()?.stretched(rate))
    } else if k == mu {
        Some(inner()?.stretched(-rate))
    } else {
        None
    }
}

/// f(z) for z = x / sigma as a function of x.
pub(super) fn scaled(
    a: &[Interval],
    k: usize,
    [x, sigma]: [usize; 2],
    f: impl Fn(Interval) -> Option<Jet>,
) -> Option<Jet> {
    let rate = rate(a[sigma])?;
    if k == x { Some(f(a[x].scale(rate))?.stretched(rate)) } else { None }
}

/// The same as a function of t where x or sigma is exp(t), from the bounds of f in log z.
pub(super) fn log_scaled(
    a: &[Interval],
    k: usize,
    [x, sigma]: [usize; 2],
    f: impl Fn(Interval) -> Option<Jet>,
) -> Option<Jet> {
    if k == x {
        let log_sigma = -rate(a[sigma])?.ln();
        f(a[x].shift(-log_sigma))
    } else if k == sigma && a[x].is_point() && a[x].lo > 0.0 {
        Some(f((-a[sigma]).shift(a[x].lo.ln()))?.stretched(-1.0))
    } else {
        None
    }
}

/// f(z) for z = (x - mu) / sigma as a function of t where sigma = exp(t), for an even f, from its bounds in
/// log |z|.
pub(super) fn log_scale(
    a: &[Interval],
    k: usize,
    [x, mu, sigma]: [usize; 3],
    f: impl Fn(Interval) -> Option<Jet>,
) -> Option<Jet> {
    let residual = (a[x] - a[mu]).abs();
    if k != sigma || !a[x].is_point() || !a[mu].is_point() || residual.lo == 0.0 {
        return None;
    }
    Some(f((-a[sigma]).shift(residual.lo.ln()))?.stretched(-1.0))
}

/// f(z) for z = (x - mu) / sigma as a function of t where sigma = exp(t), for a concave f that is largest at
/// 0: the slope is -z f′(z) ≥ 0, the second derivative z f′ + z² f″ ≤ 0.
pub(super) fn peaked_log_scale(
    a: &[Interval],
    k: usize,
    [x, mu, sigma]: [usize; 3],
    most: f64,
) -> Option<Jet> {
    let known = k == sigma && a[x].is_point() && a[mu].is_point();
    let value = Interval::new(f64::NEG_INFINITY, most);
    known.then(|| Jet::new(value, Interval::NONNEGATIVE, Interval::NONPOSITIVE))
}

/// c - log x.
pub(super) fn minus_log(x: Interval, c: f64) -> Option<Jet> {
    Some((-known::log(x)?).shifted(c))
}

/// c - t, the same in t = log x.
pub(super) fn minus_log_of_exp(t: Interval, c: f64) -> Option<Jet> {
    Some(Jet::linear(t, -1.0, c))
}

/// A log probability that rises (or falls) and is concave.
pub(super) fn concave_probability(rises: bool) -> Jet {
    let slope = if rises { Interval::NONNEGATIVE } else { Interval::NONPOSITIVE };
    Jet::new(Interval::NONPOSITIVE, slope, Interval::NONPOSITIVE)
}

/// A product c x y of a constant and two numbers, as a function of either.
pub(super) fn product(a: &[Interval], k: usize, c: f64) -> Option<Jet> {
    let other: [f64; 2] = known::fixed(a, k)?;
    Some(Jet::linear(a[k], c * other[1 - k], 0.0))
}

/// The same as a function of t where one of them is exp(t).
pub(super) fn log_product(a: &[Interval], k: usize, c: f64) -> Option<Jet> {
    let other: [f64; 2] = known::fixed(a, k)?;
    Some(known::exp(a[k])?.scaled(c * other[1 - k]))
}

/// The log of a cumulative probability as a function of t where argument k is exp(t), for a family in which
/// the log of the variable has a log-concave density that location shifts: both tails are then log-concave
/// (Prékopa). `rises` tells, for each argument for which this holds, whether the probability rises; all
/// others must be positive numbers.
pub(super) fn log_probability(a: &[Interval], k: usize, rises: &[(usize, bool)]) -> Option<Jet> {
    let positive = a.iter().enumerate().all(|(i, v)| i == k || (v.is_point() && v.lo > 0.0));
    let (_, rises) = rises.iter().find(|(i, _)| *i == k)?;
    positive.then(|| concave_probability(*rises))
}

/// Such a probability as a function of argument k itself, for those in which it rises: rising and concave in
/// log x, it is concave in x, because log x is.
pub(super) fn rising_probability(a: &[Interval], k: usize, rises: &[usize]) -> Option<Jet> {
    if !rises.contains(&k) || !a[k].is_nonnegative() {
        return None;
    }
    log_probability(a, k, &[(k, true)])
}

/// f(t) for t = sign · alpha (log x - log sigma), from log x, alpha and sigma at the places given: as a
/// function of log x, of alpha, or of s with sigma = e^s. It is linear in each.
pub(super) fn log_power(
    a: &[Interval],
    k: usize,
    [log_x, alpha, sigma]: [usize; 3],
    sign: f64,
    f: fn(Interval) -> Option<Jet>,
) -> Option<Jet> {
    let fixed: [f64; 3] = known::fixed(a, k)?;
    let power = sign * fixed[alpha];
    if k == alpha {
        let rate = sign * (fixed[log_x] - fixed[sigma].ln());
        return if fixed[sigma] > 0.0 { Some(f(a[k].scale(rate))?.stretched(rate)) } else { None };
    }
    if fixed[alpha] <= 0.0 {
        None
    } else if k == log_x {
        if fixed[sigma] > 0.0 {
            Some(f(a[k].shift(-fixed[sigma].ln()).scale(power))?.stretched(power))
        } else {
            None
        }
    } else {
        Some(f((-a[k]).shift(fixed[log_x]).scale(power))?.stretched(-power))
    }
}

/// The same arguments with log x in the place of x > 0.
pub(super) fn in_log_x(a: &[Interval]) -> Option<[Interval; 3]> {
    (a[0].lo > 0.0).then(|| [a[0].rising(f64::ln), a[1], a[2]])
}

/// -e^t
pub(super) fn minus_exp_alone(t: Interval) -> Option<Jet> {
    Some(-known::exp(t)?)
}

/// -(sigma / x)^(sign · alpha) as a function of sigma ≥ 0, from (x, alpha, sigma).
pub(super) fn power_of_scale(a: &[Interval], sign: f64) -> Option<Jet> {
    let [x, alpha, _]: [f64; 3] = known::fixed(a, 2)?;
    let power = sign * alpha;
    if !(x > 0.0 && alpha > 0.0 && a[2].is_nonnegative()) {
        return None;
    }
    Some(known::power(a[2], power)?.scaled(-x.powf(-power)))
}
