//! Sums and differences of numbers that are held as logs, and the logistic family.

use crate::num::real::Real;
use std::f64::consts::LN_2;

/// log(1 + e^x) for any x, without overflow.
pub fn log1p_exp(x: f64) -> f64 {
    Real::log1p_exp(x)
}

/// log(1 - e^x) for x ≤ 0, accurate at both ends; NaN for x > 0.
pub fn log1m_exp(x: f64) -> f64 {
    if x > -LN_2 { (-x.exp_m1()).ln() } else { (-x.exp()).ln_1p() }
}

/// 1 / (1 + e^-x).
pub fn inv_logit(x: f64) -> f64 {
    Real::inv_logit(x)
}

/// log(1 / (1 + e^-x)).
pub fn log_inv_logit(x: f64) -> f64 {
    -log1p_exp(-x)
}

/// log(1 - 1 / (1 + e^-x)).
pub fn log1m_inv_logit(x: f64) -> f64 {
    -log1p_exp(x)
}

/// log(p / (1 - p)) for 0 ≤ p ≤ 1, accurate near 0, ½ and 1; NaN outside.
pub fn logit(p: f64) -> f64 {
    if (0.25..=0.75).contains(&p) {
        // 2 artanh(2p - 1): 2p - 1 is exact here.
        let d = 2.0 * p - 1.0;
        d.ln_1p() - (-d).ln_1p()
    } else {
        p.ln() - (-p).ln_1p()
    }
}

/// log(e^a - e^b) for a ≥ b; -∞ where they are equal, NaN where a < b.
pub fn log_diff_exp(a: f64, b: f64) -> f64 {
    if a == b {
        return f64::NEG_INFINITY;
    }
    if a == f64::INFINITY {
        return f64::INFINITY;
    }
    if b == f64::NEG_INFINITY {
        return a;
    }
    a + log1m_exp(b - a)
}

/// log Σ e^x over a slice, shifted by its largest element; -∞ for an empty slice.
pub fn log_sum_exp(x: &[f64]) -> f64 {
    let top = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top.is_infinite() {
        // All -∞ (or none): -∞. Some +∞: +∞. NaN must not be swallowed.
        return if x.iter().any(|v| v.is_nan()) { f64::NAN } else { top };
    }
    top + x.iter().map(|v| (v - top).exp()).sum::<f64>().ln()
}
