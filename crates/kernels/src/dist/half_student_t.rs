//! Student's t distribution about zero, folded onto the positive numbers.

use super::incomplete::{log_student, log_student_dnu, student_density, student_norm, student_norm_slope};
use super::jets;
use super::row::{ArgSpec, BaseArg, Density, Distribution, Noncentered, Part, Probe, Sampler, Support};
use super::shared::MINUS_LOG;
use super::student_t::joint_slopes;
use crate::facts::known;
use crate::num::real::Real;
use crate::num::special as sf;
use crate::ops::scalar::{Facts, scalar_row};
use rand_distr::{Distribution as _, StudentT};
use std::f64::consts::LN_2;

scalar_row! {
    JOINT = "half_student_t"(x, nu, sigma), "-(nu + 1) / 2 · log(1 + (x / sigma)² / nu)";
    value nu.shift(1.0).scale(-0.5) * ((x / sigma).square() / nu).log1p();
    slopes(y) {
        let z = x / sigma;
        let (pull, in_nu) = joint_slopes(z, nu, y);
        [pull / sigma, in_nu, -(pull * z / sigma)]
    };
    probes [&[0.3, 4.0, 2.0], &[300.0, 1.5, 0.5], &[9.0, 1e3, 2.0]];
    facts Facts::with_log(
        |a, k| {
            let nu = a[1].is_point().then_some(a[1].lo)?;
            jets::scaled(a, k, [0, 2], |z| known::student(z, nu))
        },
        |a, k| {
            let nu = a[1].is_point().then_some(a[1].lo)?;
            jets::log_scaled(a, k, [0, 2], |t| known::student_log(t, nu))
        }
    )
}

scalar_row! {
    SHAPE = "half_student_t.shape"(nu), "log 2 - log B(nu / 2, 1/2) - log(nu) / 2";
    value student_norm(nu).shift(LN_2);
    slopes(_y) [student_norm_slope(nu)];
    probes [&[0.3], &[4.0], &[200.0]]
}

scalar_row! {
    LCDF = "half_student_t_lcdf"(x, nu, sigma), "log P(X ≤ x), through the incomplete beta function";
    value log_centre(x / sigma, nu);
    slopes(y, need) {
        let z = x / sigma;
        let g = density_over(z, nu, y) / sigma;
        // The tails' share against the centre's, times the change of the tails' log.
        let in_nu = if need[1] {
            -((log_student(-z, nu).shift(LN_2) - y).exp() * log_student_dnu(-z, nu))
        } else {
            T::zero()
        };
        [g, in_nu, -(g * z)]
    };
    probes [&[0.3, 4.0, 2.0], &[300.0, 1.5, 0.5], &[9.0, 30.0, 2.0], &[1e-3, 0.6, 2.0]];
    // log X has the density t - (nu + 1)/2 · log(1 + e^(2t)/nu), concave.
    facts Facts::with_log(
        |a, k| jets::rising_probability(a, k, &[0]),
        |a, k| jets::log_probability(a, k, &[(0, true), (2, false)]),
    )
}

scalar_row! {
    LCCDF = "half_student_t_lccdf"(x, nu, sigma), "log P(X > x), through the incomplete beta function";
    value log_tails(x / sigma, nu);
    slopes(y, need) {
        let z = x / sigma;
        let g = -(density_over(z, nu, y) / sigma);
        [g, if need[1] { log_student_dnu(-z, nu) } else { T::zero() }, -(g * z)]
    };
    probes [&[0.3, 4.0, 2.0], &[300.0, 1.5, 0.5], &[9.0, 30.0, 2.0], &[1e-3, 0.6, 2.0]];
    facts Facts::with_log(
        |a, k| jets::rising_probability(a, k, &[2]),
        |a, k| jets::log_probability(a, k, &[(0, false), (2, true)]),
    )
}

/// The density at z over a probability whose log is y.
#[inline(always)]
fn density_over<T: Real>(z: T, nu: T, y: T) -> T {
    (student_density(z, nu).shift(LN_2) - y).exp()
}

/// log P(|T| ≤ z).
#[inline(always)]
fn log_centre<T: Real>(z: T, nu: T) -> T {
    z.lift2(
        nu,
        standard_log_cdf,
        |z, nu| density_over(z, nu, standard_log_cdf(z, nu)),
        |z, nu| {
            let log_odds = LN_2 + sf::log_student_t_cdf(-z, nu) - standard_log_cdf(z, nu);
            -log_odds.exp() * sf::log_student_t_cdf_dnu(-z, nu)
        },
    )
}

/// log P(|T| > z).
#[inline(always)]
fn log_tails<T: Real>(z: T, nu: T) -> T {
    z.lift2(
        nu,
        |z, nu| smaller(z, nu).unwrap_or_else(sf::log1m_exp),
        |z, nu| -sf::student_t_ratio(-z, nu),
        |z, nu| sf::log_student_t_cdf_dnu(-z, nu),
    )
}

/// log P(|T| ≤ z).
fn standard_log_cdf(z: f64, nu: f64) -> f64 {
    smaller(z, nu).map_or_else(|centre| centre, sf::log1m_exp)
}

/// The log of the smaller of two probabilities: Ok for that beyond ±z, Err for that between, I_{z²/(ν +
/// z²)}(½, ν/2).
fn smaller(z: f64, nu: f64) -> Result<f64, f64> {
    let tails = LN_2 + sf::log_student_t_cdf(-z, nu);
    if tails < -LN_2 { Ok(tails) } else { Err(sf::log_beta_inc(0.5, 0.5 * nu, z * z / (nu + z * z))) }
}

/// The z with P(|T| ≤ z) = p, from whichever of p and 1 - p is smaller.
fn standard_quantile(p: f64, nu: f64) -> f64 {
    if p > 0.5 {
        return -sf::inv_student_t_cdf(0.5 * (1.0 - p), nu);
    }
    let x = sf::inv_beta_inc(0.5, 0.5 * nu, p);
    (nu * x / (1.0 - x)).sqrt()
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "half_student_t",
    doc: "absolute value of a Student's t with nu degrees of freedom, location 0 and scale sigma",
    formula: "log(2) - 0.5 * (nu + 1) * log1p((x / sigma)^2 / nu) - lbeta(0.5 * nu, 0.5) - 0.5 * log(nu) - log(sigma)",
    args: &[ArgSpec::positive("nu"), ArgSpec::positive("sigma")],
    support: Support::POSITIVE,
    discrete: false,
    event: 0,
    density: Density::Parts(&[
        Part { row: &JOINT, of: &[0, 1, 2] },
        Part { row: &SHAPE, of: &[1] },
        Part { row: &MINUS_LOG, of: &[2] },
    ]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| a[1] * standard_quantile(p, a[0])),
    sample: Sampler::Number(|rng, a| {
        let t: f64 = StudentT::new(a[0]).map_or(f64::NAN, |t| t.sample(rng));
        a[1] * t.abs()
    }),
    noncentered: Some(Noncentered {
        base: &ROW,
        base_args: &[BaseArg::Arg(0), BaseArg::Number(1.0)],
        build: |b, z, a| b.mul(a[1], z),
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.3], args: &[&[4.0], &[2.0]] },
        Probe { x: &[300.0], args: &[&[1.5], &[0.5]] },
        Probe { x: &[1e-3], args: &[&[30.0], &[2.0]] },
    ],
};
