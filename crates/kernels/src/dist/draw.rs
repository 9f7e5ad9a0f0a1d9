//! Draws that several samplers are made of; NaN where the arguments make no sense.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, ChiSquared, Distribution, Gamma, Open01, Poisson, StandardNormal};

/// Uniform on the open interval (0, 1).
pub(super) fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    Open01.sample(rng)
}

/// Standard normal.
pub(super) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// Chi-squared.
pub(super) fn chi_squared(rng: &mut ChaCha8Rng, freedom: f64) -> f64 {
    ChiSquared::new(freedom).map_or(f64::NAN, |d| d.sample(rng))
}

/// Poisson; normal far out, where the relative error of that is below 1e-9 and integers are no longer told
/// apart well.
pub(super) fn poisson(rng: &mut ChaCha8Rng, rate: f64) -> f64 {
    if rate == 0.0 {
        return 0.0;
    }
    if rate > 1e18 && rate.is_finite() {
        return (rate + rate.sqrt() * normal(rng)).round();
    }
    Poisson::new(rate).map_or(f64::NAN, |d| d.sample(rng))
}

/// Binomial.
pub(super) fn binomial(rng: &mut ChaCha8Rng, n: f64, p: f64) -> f64 {
    if !(0.0..1e18).contains(&n) {
        return f64::NAN;
    }
    Binomial::new(n as u64, p).map_or(f64::NAN, |d| d.sample(rng) as f64)
}

/// The log of a gamma variate of this shape and rate 1: a small shape puts it below the smallest number.
pub(super) fn log_gamma(rng: &mut ChaCha8Rng, shape: f64) -> f64 {
    // G(a) = G(a + 1) U^(1/a) in distribution.
    let big = Gamma::new(shape + 1.0, 1.0).map_or(f64::NAN, |d| d.sample(rng));
    if shape > 0.0 { big.ln() + uniform(rng).ln() / shape } else { f64::NAN }
}

/// Proportional to gamma variates of these shapes, adding up to 1.
pub(super) fn dirichlet(rng: &mut ChaCha8Rng, alpha: &[f64], out: &mut [f64]) {
    for (o, &a) in out.iter_mut().zip(alpha) {
        *o = log_gamma(rng, a);
    }
    softmax(out);
}

/// exp(x), scaled to add up to 1, in place.
pub(super) fn softmax(x: &mut [f64]) {
    let top = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    x.iter_mut().for_each(|v| *v = (*v - top).exp());
    let total: f64 = x.iter().sum();
    x.iter_mut().for_each(|v| *v /= total);
}

/// A category from 1 on, with these probabilities.
pub(super) fn category(rng: &mut ChaCha8Rng, p: &[f64]) -> f64 {
    let mut left = uniform(rng) * p.iter().sum::<f64>();
    for (k, &p) in p.iter().enumerate() {
        left -= p;
        if left < 0.0 {
            return (k + 1) as f64;
        }
    }
    // Rounding may leave a sliver; it belongs to the last category that can occur.
    p.iter().rposition(|&p| p > 0.0).map_or(f64::NAN, |k| (k + 1) as f64)
}

/// Counts of n draws from these probabilities, one binomial after another.
pub(super) fn multinomial(rng: &mut ChaCha8Rng, n: f64, p: &[f64], out: &mut [f64]) {
    let (mut left, mut mass) = (n, p.iter().sum::<f64>());
    for (o, &p) in out.iter_mut().zip(p) {
        let share = if mass > 0.0 { (p / mass).clamp(0.0, 1.0) } else { 1.0 };
        *o = binomial(rng, left, share);
        left -= *o;
        mass -= p;
    }
    if let Some(last) = out.last_mut() {
        *last += left;
    }
}
