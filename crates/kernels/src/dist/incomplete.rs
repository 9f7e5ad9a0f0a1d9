//! Incomplete gamma and beta functions and Student's cdf as kernels use them: logs, with derivatives in every
//! argument, and those derivatives with derivatives of their own.
//!
//! Derivatives that have a closed form in terms of the function use it. The second derivatives in shapes have
//! none: they are differences of the first, good to about 1e-8.

use super::numeric::slope;
use crate::num::real::Real;
use crate::num::special as sf;

/// log P(a, v), the regularised lower incomplete gamma function.
#[inline(always)]
pub(super) fn log_gamma_p<T: Real>(a: T, v: T) -> T {
    a.lift2(
        v,
        sf::log_gamma_p,
        |a, v| sf::log_gamma_pq_da(a, v).0,
        |a, v| gamma_ratio(a, v, sf::log_gamma_p(a, v)),
    )
}

/// log Q(a, v) = log(1 - P(a, v)).
#[inline(always)]
pub(super) fn log_gamma_q<T: Real>(a: T, v: T) -> T {
    a.lift2(
        v,
        sf::log_gamma_q,
        |a, v| sf::log_gamma_pq_da(a, v).1,
        |a, v| -gamma_ratio(a, v, sf::log_gamma_q(a, v)),
    )
}

/// The gamma density at v over a probability whose log is y.
#[inline(always)]
pub(super) fn gamma_ratio<T: Real>(a: T, v: T, y: T) -> T {
    (a.shift(-1.0) * v.ln() - v - a.lgamma() - y).exp()
}

/// ∂/∂a of [`log_gamma_p`].
#[inline(always)]
pub(super) fn log_gamma_p_da<T: Real>(a: T, v: T) -> T {
    a.lift2(
        v,
        |a, v| sf::log_gamma_pq_da(a, v).0,
        |a, v| slope(a, |a| sf::log_gamma_pq_da(a, v).0),
        |a, v| {
            let score = v.ln() - sf::digamma(a) - sf::log_gamma_pq_da(a, v).0;
            gamma_ratio(a, v, sf::log_gamma_p(a, v)) * score
        },
    )
}

/// ∂/∂a of [`log_gamma_q`].
#[inline(always)]
pub(super) fn log_gamma_q_da<T: Real>(a: T, v: T) -> T {
    a.lift2(
        v,
        |a, v| sf::log_gamma_pq_da(a, v).1,
        |a, v| slope(a, |a| sf::log_gamma_pq_da(a, v).1),
        |a, v| {
            let score = v.ln() - sf::digamma(a) - sf::log_gamma_pq_da(a, v).1;
            -gamma_ratio(a, v, sf::log_gamma_q(a, v)) * score
        },
    )
}

/// Which side of x a probability of the beta law is of: 0 for I_x(a, b), 1 for 1 - I_x(a, b).
type Side = usize;

/// log I_x(a, b), or log(1 - I_x(a, b)) for `SIDE` 1.
#[inline(always)]
pub(super) fn log_beta_inc<const SIDE: Side, T: Real>(a: T, b: T, x: T) -> T {
    a.lift3(
        b,
        x,
        log_side::<SIDE>,
        [
            |a, b, x| in_shape::<SIDE, 0>(a, b, x),
            |a, b, x| in_shape::<SIDE, 1>(a, b, x),
            |a, b, x| sign::<SIDE>() * beta_ratio(a, b, x, log_side::<SIDE>(a, b, x)),
        ],
    )
}

fn log_side<const SIDE: Side>(a: f64, b: f64, x: f64) -> f64 {
    if SIDE == 0 { sf::log_beta_inc(a, b, x) } else { sf::log_beta_inc_upper(a, b, x) }
}

const fn sign<const SIDE: Side>() -> f64 {
    if SIDE == 0 { 1.0 } else { -1.0 }
}

/// The derivative of [`log_side`] in a (`OF` 0) or b (`OF` 1).
fn in_shape<const SIDE: Side, const OF: usize>(a: f64, b: f64, x: f64) -> f64 {
    let (lower, upper) = sf::log_beta_inc_dab(a, b, x);
    if SIDE == 0 { lower[OF] } else { upper[OF] }
}

/// The beta density at x over a probability whose log is y.
#[inline(always)]
pub(super) fn beta_ratio<T: Real>(a: T, b: T, x: T, y: T) -> T {
    (a.shift(-1.0) * x.ln() + b.shift(-1.0) * (-x).log1p() - a.lbeta(b) - y).exp()
}

/// ∂/∂a of [`log_beta_inc`].
#[inline(always)]
pub(super) fn log_beta_inc_da<const SIDE: Side, T: Real>(a: T, b: T, x: T) -> T {
    a.lift3(
        b,
        x,
        in_shape::<SIDE, 0>,
        [
            |a, b, x| slope(a, |a| in_shape::<SIDE, 0>(a, b, x)),
            |a, b, x| slope(b, |b| in_shape::<SIDE, 0>(a, b, x)),
            |a, b, x| {
                let score = x.ln() - sf::digamma(a) + sf::digamma(a + b) - in_shape::<SIDE, 0>(a, b, x);
                sign::<SIDE>() * beta_ratio(a, b, x, log_side::<SIDE>(a, b, x)) * score
            },
        ],
    )
}

/// ∂/∂b of [`log_beta_inc`].
#[inline(always)]
pub(super) fn log_beta_inc_db<const SIDE: Side, T: Real>(a: T, b: T, x: T) -> T {
    a.lift3(
        b,
        x,
        in_shape::<SIDE, 1>,
        [
            |a, b, x| slope(b, |b| in_shape::<SIDE, 0>(a, b, x)),
            |a, b, x| slope(b, |b| in_shape::<SIDE, 1>(a, b, x)),
            |a, b, x| {
                let score = (-x).ln_1p() - sf::digamma(b) + sf::digamma(a + b) - in_shape::<SIDE, 1>(a, b, x);
                sign::<SIDE>() * beta_ratio(a, b, x, log_side::<SIDE>(a, b, x)) * score
            },
        ],
    )
}

/// log P(T ≤ t) of Student's distribution.
#[inline(always)]
pub(super) fn log_student<T: Real>(t: T, nu: T) -> T {
    t.lift2(nu, sf::log_student_t_cdf, sf::student_t_ratio, sf::log_student_t_cdf_dnu)
}

/// The log density of Student's distribution.
#[inline(always)]
pub(super) fn student_density<T: Real>(t: T, nu: T) -> T {
    student_norm(nu) - nu.shift(1.0).scale(0.5) * (t.square() / nu).log1p()
}

/// What the log density of Student's distribution adds for the degrees of freedom alone: -log B(ν/2, ½) - ½
/// log ν.
#[inline(always)]
pub(super) fn student_norm<T: Real>(nu: T) -> T {
    -(nu.scale(0.5).lbeta(T::splat(0.5)) + nu.ln().scale(0.5))
}

/// The slope of [`student_norm`].
#[inline(always)]
pub(super) fn student_norm_slope<T: Real>(nu: T) -> T {
    let h = nu.scale(0.5);
    (h.shift(0.5).digamma() - h.digamma() - nu.recip()).scale(0.5)
}

/// ∂/∂ν of [`log_student`].
#[inline(always)]
pub(super) fn log_student_dnu<T: Real>(t: T, nu: T) -> T {
    t.lift2(
        nu,
        sf::log_student_t_cdf_dnu,
        |t, nu| {
            let share = t * t / (nu + t * t);
            let joint = 0.5 * ((nu + 1.0) * share / nu - (t * t / nu).ln_1p());
            sf::student_t_ratio(t, nu) * (student_norm_slope(nu) + joint - sf::log_student_t_cdf_dnu(t, nu))
        },
        |t, nu| slope(nu, |nu| sf::log_student_t_cdf_dnu(t, nu)),
    )
}
