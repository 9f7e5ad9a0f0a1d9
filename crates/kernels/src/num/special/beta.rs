//! The beta function, factorials and binomial coefficients, in logs.

use super::gamma::{lgamma, stirling_rest};
use crate::num::real::HALF_LN_2PI;

/// log B(a, b) = log Γ(a) + log Γ(b) - log Γ(a + b) for a, b > 0, without the cancellation of the three
/// terms: to 1e-15 of the larger of |log B| and 1.
pub fn lbeta(a: f64, b: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    if a.is_nan() || b.is_nan() || small < 0.0 {
        return f64::NAN;
    }
    if small == 0.0 {
        return f64::INFINITY;
    }
    if large.is_infinite() {
        return f64::NEG_INFINITY;
    }
    let sum = small + large;
    let share = small / sum;
    if small >= 10.0 {
        // Stirling on all three: the large parts combine into logs of ratios.
        let rest = stirling_rest(small) + (stirling_rest(large) - stirling_rest(sum));
        let ratio = small / large;
        return HALF_LN_2PI - 0.5 * large.ln()
            + rest
            + (small - 0.5) * (ratio / (1.0 + ratio)).ln()
            + large * libm::log1p(-share);
    }
    if large >= 10.0 {
        return lgamma(small) + lgamma_difference(large, small);
    }
    if small < 1e-200 {
        return -small.ln();
    }
    let (g, h) = (libm::tgamma(small), libm::tgamma(large) / libm::tgamma(sum));
    (g * h).ln()
}

/// log Γ(x) - log Γ(x + a) for x ≥ 10 and 0 ≤ a < 10.
fn lgamma_difference(x: f64, a: f64) -> f64 {
    let sum = x + a;
    let rest = stirling_rest(x) - stirling_rest(sum);
    rest + a - a * sum.ln() + (x - 0.5) * libm::log1p(-a / sum)
}

/// log n!
pub fn lfactorial(n: f64) -> f64 {
    lgamma(n + 1.0)
}

/// log of the binomial coefficient, log Γ(n+1) - log Γ(k+1) - log Γ(n-k+1), for n ≥ 0; -∞ where k < 0 or k >
/// n.
pub fn lchoose(n: f64, k: f64) -> f64 {
    if n.is_nan() || k.is_nan() || n < 0.0 {
        return f64::NAN;
    }
    if k < 0.0 || k > n {
        return f64::NEG_INFINITY;
    }
    let k = k.min(n - k);
    if k == 0.0 {
        return 0.0;
    }
    if k == 1.0 {
        return n.ln();
    }
    -(n + 1.0).ln() - lbeta(k + 1.0, n - k + 1.0)
}
