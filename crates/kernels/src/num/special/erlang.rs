//! Quantiles of the gamma law with a small whole shape: the upper tail is e^-x times a polynomial, so
//! Newton's steps cost little.

use crate::num::real::Packed;
use crate::num::slices::{Function, map};

/// Most steps: five are usual.
const STEPS: usize = 30;
/// Steps are made while they are larger than this, relative.
const SMALL: f64 = 1e-11;

/// Puts the x with P(shape, x) = p for a whole shape in the place of each p, to about 1e-10 relative; for
/// draws, where [`inv_gamma_p`](super::inv_gamma_p) would take most of the time.
pub fn inv_gamma_p_whole(shape: u32, p: &mut [f64]) {
    map(p, Quantile(shape));
}

#[derive(Clone, Copy)]
struct Quantile(u32);

impl Function for Quantile {
    #[inline(always)]
    fn of<U: Packed>(self, p: U) -> U {
        let Quantile(shape) = self;
        let log_q = (-p).log1p();
        if shape <= 1 {
            return -log_q;
        }
        let mut x = guess(shape, p);
        for _ in 0..STEPS {
            // log Q = -x + log Σ x^k / k!, with slope -(last term) / (sum).
            let (mut term, mut sum) = (U::one(), U::one());
            for k in 1..shape {
                term = term * x.scale(1.0 / f64::from(k));
                sum += term;
            }
            let step = (sum.ln() - x - log_q) * sum / term;
            // What is done stays as it is: a number does not depend on its neighbours.
            let moves = |yes: U, no: U| x.scale(SMALL).if_less(step.abs(), yes, no);
            let (next, moving) = (moves((x + step).max(x.scale(0.5)), x), moves(U::one(), U::zero()));
            x = next;
            if (0..U::WIDTH).all(|lane| moving.lane(lane) == 0.0) {
                break;
            }
        }
        x
    }
}

/// Wilson and Hilferty's cube of a normal number, or x^n = n! p far down.
#[inline(always)]
fn guess<U: Packed>(shape: u32, p: U) -> U {
    let n = f64::from(shape);
    let ninth = 1.0 / (9.0 * n);
    let cube = p.inv_phi().scale(ninth.sqrt()).shift(1.0 - ninth);
    let factorial: f64 = (1..=shape).map(f64::from).product();
    let low = (p.scale(factorial).ln().scale(1.0 / n)).exp().max(U::splat(f64::MIN_POSITIVE));
    U::splat(0.4).if_less(cube, cube.square() * cube.scale(n), low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::special::{gamma_p, gamma_q, inv_gamma_p};

    #[test]
    fn it_is_the_general_quantile() {
        for shape in 1..=8 {
            for p in [1e-9, 1e-5, 0.01, 0.2, 0.5, 0.9, 0.999, 1.0 - 1e-9] {
                let mut found = [p];
                inv_gamma_p_whole(shape, &mut found);
                let ([found], general) = (found, inv_gamma_p(f64::from(shape), p));
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
