//! The normal distribution about zero, folded onto the positive numbers.

use super::jets;
use super::normal::half_square;
use super::row::{ArgSpec, BaseArg, Density, Distribution, Noncentered, Part, Probe, Sampler, Support};
use super::shared::{LN_SQRT_2_OVER_PI, scale_only};
use crate::facts::known;
use crate::num::real::Real;
use crate::num::special as sf;
use crate::ops::scalar::{Facts, scalar_row};
use rand_distr::{Distribution as _, StandardNormal};
use std::f64::consts::{FRAC_1_SQRT_2, LN_2, SQRT_2};

scalar_row! {
    JOINT = "half_normal"(x, sigma), "-(x / sigma)² / 2";
    value (x / sigma).square().scale(-0.5);
    slopes(_y) { let z = x / sigma; scale_only(-z, z, sigma) };
    probes [&[0.3, 2.0], &[30.0, 0.5], &[1e-4, 5.0]];
    facts Facts::with_log(
        |a, k| jets::scaled(a, k, [0, 1], known::normal),
        |a, k| jets::log_scaled(a, k, [0, 1], half_square)
    )
}

scalar_row! {
    SCALE = "half_normal.scale"(sigma), "log √(2/π) - log sigma";
    value -sigma.ln().shift(-LN_SQRT_2_OVER_PI);
    slopes(_y) [-sigma.recip()];
    probes [&[0.3], &[1e-6], &[1e6]];
    facts Facts::with_log(
        |a, _| jets::minus_log(a[0], LN_SQRT_2_OVER_PI),
        |t, _| jets::minus_log_of_exp(t[0], LN_SQRT_2_OVER_PI)
    )
}

scalar_row! {
    LCDF = "half_normal_lcdf"(x, sigma), "log erf(x / (√2 sigma))";
    value log_erf((x / sigma).scale(FRAC_1_SQRT_2));
    slopes(y) {
        let z = x / sigma;
        scale_only((z.square().scale(-0.5).shift(LN_SQRT_2_OVER_PI) - y).exp(), z, sigma)
    };
    probes [&[0.3, 2.0], &[8.0, 1.5], &[1e-4, 5.0]];
    // log X has the density t - e^(2t)/2, concave.
    facts Facts::with_log(
        |a, k| jets::rising_probability(a, k, &[0]),
        |a, k| jets::log_probability(a, k, &[(0, true), (1, false)]),
    )
}

scalar_row! {
    LCCDF = "half_normal_lccdf"(x, sigma), "log erfc(x / (√2 sigma))";
    value log_tails(x / sigma);
    slopes(_y) { let z = x / sigma; scale_only(-(-z).phi_ratio(), z, sigma) };
    probes [&[0.3, 2.0], &[30.0, 0.5], &[1e-4, 5.0]];
    // log 2Φ(-z).
    facts Facts::with_log(
        |a, k| jets::scaled(a, k, [0, 1], |z| Some(known::log_phi(-z)?.stretched(-1.0).shifted(LN_2))),
        |a, k| jets::log_probability(a, k, &[(0, false), (1, true)])
    )
}

/// log erf(u) for u > 0, accurate at both ends.
#[inline(always)]
fn log_erf<T: Real>(u: T) -> T {
    u.if_less(T::splat(0.5), u.erf().ln(), (-u.erfc()).log1p())
}

/// log erfc(z / √2) = log 2Φ(-z) for z > 0, accurate at both ends.
#[inline(always)]
fn log_tails<T: Real>(z: T) -> T {
    let near = (-z.scale(FRAC_1_SQRT_2).erf()).log1p();
    z.if_less(T::splat(0.5), near, (-z).log_phi().shift(LN_2))
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "half_normal",
    doc: "absolute value of a normal with mean 0 and standard deviation sigma",
    formula: "-0.5 * (x / sigma)^2 - log(sigma) + 0.5 * log(2 / pi())",
    args: &[ArgSpec::positive("sigma")],
    support: Support::POSITIVE,
    discrete: false,
    event: 0,
    density: Density::Parts(&[Part { row: &JOINT, of: &[0, 1] }, Part { row: &SCALE, of: &[1] }]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| a[0] * SQRT_2 * sf::inv_erf(p)),
    sample: Sampler::Number(|rng, a| {
        let z: f64 = StandardNormal.sample(rng);
        a[0] * z.abs()
    }),
    noncentered: Some(Noncentered {
        base: &ROW,
        base_args: &[BaseArg::Number(1.0)],
        build: |b, z, a| b.mul(a[0], z),
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.3], args: &[&[2.0]] },
        Probe { x: &[15.0], args: &[&[0.5]] },
        Probe { x: &[1e-4], args: &[&[5.0]] },
    ],
};
