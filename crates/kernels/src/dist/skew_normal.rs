//! The skew normal distribution, by location, scale and shape.

use super::jets;
use super::numeric::{integrate, root};
use super::row::{ArgSpec, BaseArg, Density, Distribution, Noncentered, Part, Probe, Sampler, Support};
use super::shared::shifted;
use crate::facts::known;
use crate::num::real::{HALF_LN_2PI, Real};
use crate::num::special as sf;
use crate::ops::scalar::{Facts, scalar_row};
use rand_distr::{Distribution as _, StandardNormal};
use std::f64::consts::{FRAC_1_PI, FRAC_1_SQRT_2, LN_2};

scalar_row! {
    JOINT = "skew_normal"(x, xi, omega, alpha), "-z² / 2 + log Φ(alpha z) for z = (x - xi) / omega";
    value { let z = (x - xi) / omega; (alpha * z).log_phi() - z.square().scale(0.5) };
    slopes(_y) {
        let z = (x - xi) / omega;
        let r = (alpha * z).phi_ratio();
        let g = (alpha * r - z) / omega;
        [g, -g, -(g * z), z * r]
    };
    probes [&[0.3, 1.0, 2.0, 1.5], &[-3.0, 1.0, 0.5, 4.0], &[9.0, 0.0, 2.0, -3.0]];
    // A quadratic and log Φ of a multiple of z.
    facts Facts::difference((0, 1), |a, k| {
        let alpha = a[3].is_point().then_some(a[3].lo)?;
        jets::location(a, k, [0, 1, 2], |z| {
            Some(known::normal(z)? + known::log_phi(z.scale(alpha))?.stretched(alpha))
        })
    })
}

scalar_row! {
    SCALE = "skew_normal.scale"(omega), "log 2 - log √(2π) - log omega";
    value -omega.ln().shift(HALF_LN_2PI - LN_2);
    slopes(_y) [-omega.recip()];
    probes [&[0.3], &[1e-6], &[1e6]];
    facts Facts::with_log(
        |a, _| jets::minus_log(a[0], LN_2 - HALF_LN_2PI),
        |t, _| jets::minus_log_of_exp(t[0], LN_2 - HALF_LN_2PI)
    )
}

scalar_row! {
    LCDF = "skew_normal_lcdf"(x, xi, omega, alpha), "log(Φ(z) - 2 T(z, alpha)) for z = (x - xi) / omega and T that of Owen";
    value log_cdf((x - xi) / omega, alpha);
    slopes(y) {
        let z = (x - xi) / omega;
        let g = in_z(z, alpha, y) / omega;
        [g, -g, -(g * z), in_alpha(z, alpha, y)]
    };
    probes [&[0.3, 1.0, 2.0, 1.5], &[-3.0, 1.0, 0.5, 4.0], &[9.0, 0.0, 2.0, -3.0], &[0.1, 0.0, 2.0, 30.0]];
    // The density is log-concave, so both tails are.
    facts Facts::difference((0, 1), |a, k| {
        let known = a[3].is_point();
        jets::location(a, k, [0, 1, 2], |_| known.then(|| jets::concave_probability(true)))
    })
}

scalar_row! {
    LCCDF = "skew_normal_lccdf"(x, xi, omega, alpha), "log(Φ(-z) + 2 T(z, alpha)) for z = (x - xi) / omega and T that of Owen";
    value log_cdf((xi - x) / omega, -alpha);
    slopes(y) {
        let z = (x - xi) / omega;
        let g = -(in_z(-z, -alpha, y) / omega);
        [g, -g, -(g * z), -in_alpha(-z, -alpha, y)]
    };
    probes [&[0.3, 1.0, 2.0, 1.5], &[-1.0, 1.0, 0.5, 4.0], &[9.0, 0.0, 2.0, -3.0], &[0.1, 0.0, 2.0, 30.0]];
    facts Facts::difference((0, 1), |a, k| {
        let known = a[3].is_point();
        jets::location(a, k, [0, 1, 2], |_| known.then(|| jets::concave_probability(false)))
    })
}

#[inline(always)]
fn log_cdf<T: Real>(z: T, alpha: T) -> T {
    z.lift2(
        alpha,
        standard_log_cdf,
        |z, alpha| in_z(z, alpha, standard_log_cdf(z, alpha)),
        |z, alpha| in_alpha(z, alpha, standard_log_cdf(z, alpha)),
    )
}

/// density / probability at z, where the log probability is y.
#[inline(always)]
fn in_z<T: Real>(z: T, alpha: T, y: T) -> T {
    ((alpha * z).log_phi() - z.square().scale(0.5) - y).shift(LN_2 - HALF_LN_2PI).exp()
}

/// d/dalpha of the log probability y: -2 ∂T/∂alpha = -exp(-z² (1 + alpha²) / 2) / (π (1 + alpha²)).
#[inline(always)]
fn in_alpha<T: Real>(z: T, alpha: T, y: T) -> T {
    let s = alpha.square().shift(1.0);
    -((-(z.square() * s).scale(0.5) - y).exp().scale(FRAC_1_PI) / s)
}

/// log P(Z ≤ z) without cancellation: F(z; α) = F(-z; α) + erf(z/√2) for z > 0, F(z; -α) = 2 Φ(z) - F(z; α) ≥
/// Φ(z) for z ≤ 0 and α > 0, and an integral of positive terms where both signs are hard.
fn standard_log_cdf(z: f64, alpha: f64) -> f64 {
    if z > 0.0 {
        let beyond = standard_log_cdf(-z, -alpha);
        if beyond < -LN_2 {
            return (-beyond.exp()).ln_1p();
        }
        return (standard_log_cdf(-z, alpha).exp() + sf::erf(z * FRAC_1_SQRT_2)).ln();
    }
    if alpha < 0.0 {
        let twice = LN_2 + sf::log_phi(z);
        return twice + sf::log1m_exp(lower_tail(z, -alpha) - twice);
    }
    lower_tail(z, alpha)
}

/// log 2∫ φ(t) Φ(αt) dt over t ≤ z, for z ≤ 0 ≤ α.
///
/// With t = z - s the log integrand is concave and falls from s = 0 at the rate λ = -z + α φ(αz)/Φ(αz), and
/// by s²/2 more; beyond λs + s²/2 = 40 nothing is left in double precision.
fn lower_tail(z: f64, alpha: f64) -> f64 {
    let top = sf::log_phi(alpha * z);
    let rate = alpha * sf::phi_ratio(alpha * z) - z;
    let end = 80.0 / (rate + (rate * rate + 80.0).sqrt());
    let falling = |s: f64| (sf::log_phi(alpha * (z - s)) - top + s * (z - 0.5 * s)).exp();
    integrate(0.0, end, 8, falling).ln() + LN_2 - HALF_LN_2PI + top - 0.5 * z * z
}

fn standard_quantile(p: f64, alpha: f64) -> f64 {
    let start = sf::inv_phi(p).clamp(-40.0, 40.0);
    root(f64::NEG_INFINITY, f64::INFINITY, start, 0.5, |z| {
        if p < 0.5 {
            standard_log_cdf(z, alpha) - p.ln()
        } else {
            (-p).ln_1p() - standard_log_cdf(-z, -alpha)
        }
    })
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "skew_normal",
    doc: "skew normal with location xi, scale omega and shape alpha",
    formula: "log(2) - 0.5 * ((x - xi) / omega)^2 - log(omega) - 0.5 * log(2 * pi()) + log_Phi(alpha * (x - xi) / omega)",
    args: &[ArgSpec::real("xi"), ArgSpec::positive("omega"), ArgSpec::real("alpha")],
    support: Support::REAL,
    discrete: false,
    event: 0,
    density: Density::Parts(&[Part { row: &JOINT, of: &[0, 1, 2, 3] }, Part { row: &SCALE, of: &[2] }]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| match p {
        0.0 => f64::NEG_INFINITY,
        1.0 => f64::INFINITY,
        _ => a[0] + a[1] * standard_quantile(p, a[2]),
    }),
    // δ|u| + √(1 - δ²) v with δ = α / √(1 + α²) and u, v standard normal.
    sample: Sampler::Number(|rng, a| {
        let (u, v): (f64, f64) = (StandardNormal.sample(rng), StandardNormal.sample(rng));
        a[0] + a[1] * (a[2] * u.abs() + v) / 1f64.hypot(a[2])
    }),
    noncentered: Some(Noncentered {
        base: &ROW,
        base_args: &[BaseArg::Number(0.0), BaseArg::Number(1.0), BaseArg::Arg(2)],
        build: |b, z, a| shifted(b, z, a[0], a[1]),
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.3], args: &[&[1.0], &[2.0], &[1.5]] },
        Probe { x: &[-2.0], args: &[&[1.0], &[0.5], &[4.0]] },
        Probe { x: &[12.0], args: &[&[1.0], &[2.0], &[-3.0]] },
    ],
};
