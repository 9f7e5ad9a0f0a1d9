//! Quantiles of the gamma law with a small whole shape: the upper tail is e^-x times a polynomial, so Newton's steps cost little.

use super::inv_phi;

/// Most steps: five are usual.
const STEPS: usize = 30;

/// The x with P(shape, x) = p for a whole shape, to about 1e-10 relative; for draws, where [`inv_gamma_p`](super::inv_gamma_p) would
/// take most of the time.
pub fn inv_gamma_p_whole(shape: u32, p: f64) -> f64 {
    let log_q = (-p).ln_1p();
    if shape <= 1 {
        return -log_q;
    }
    let mut x = guess(shape, p);
    for _ in 0..STEPS {
        // log Q = -x + log Σ x^k / k!, with slope -(last term) / (sum).
        let (mut term, mut sum) = (1.0, 1.0);
        for k in 1..shape {
            term *= x / f64::from(k);
            sum += term;
        }
        let step = (sum.ln() - x - log_q) * sum / term;
        x = (x + step).max(0.5 * x);
        if !(step.abs() > 1e-11 * x) {
            break;
        }
    }
    x
}

/// Wilson and Hilferty's cube of a normal number, or x^n = n! p far down.
fn guess(shape: u32, p: f64) -> f64 {
    let n = f64::from(shape);
    let ninth = 1.0 / (9.0 * n);
    let cube = 1.0 - ninth + inv_phi(p) * ninth.sqrt();
    if cube > 0.4 {
        return n * cube.powi(3);
    }
    let factorial: f64 = (1..=shape).map(f64::from).product();
    (factorial * p).powf(1.0 / n).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::special::{gamma_p, gamma_q, inv_gamma_p};

    #[test]
    fn it_is_the_general_quantile() {
        for shape in 1..=8 {
            for p in [1e-9, 1e-5, 0.01, 0.2, 0.5, 0.9, 0.999, 1.0 - 1e-9] {
                let (found, general) = (inv_gamma_p_whole(shape, p), inv_gamma_p(f64::from(shape), p));
                assert!((found / general - 1.0).abs() < 1e-6, "{shape} {p}: {found} {general}");
                let (below, above) = (gamma_p(f64::from(shape), found), gamma_q(f64::from(shape), found));
                assert!(
                    (below / p - 1.0).abs() < 1e-5 || (above / (1.0 - p) - 1.0).abs() < 1e-9,
                    "{shape} {p}"
                );
            }
        }
    }
}
