//! The Cauchy distribution, by location and scale.

use super::draw::uniform;
use super::jets;
use super::row::{ArgSpec, BaseArg, Density, Distribution, Noncentered, Part, Probe, Sampler, Support};
use super::shared::{LN_PI, location_scale, shifted};
use crate::facts::known;
use crate::num::real::Real;
use crate::ops::scalar::{Facts, scalar_row};
use std::f64::consts::{FRAC_1_PI, PI};

scalar_row! {
    JOINT = "cauchy"(x, mu, sigma), "-log(1 + ((x - mu) / sigma)²)";
    value -((x - mu) / sigma).log1p_square().0;
    slopes(_y) { let z = (x - mu) / sigma; location_scale(-z.log1p_square().1, z, sigma) };
    probes [&[0.3, 1.0, 2.0], &[-300.0, 1.0, 0.5], &[1.0, 1e3, 1e4]];
    // The case nu = 1 of the t distribution.
    facts Facts::difference_with_log(
        (0, 1),
        |a, k| jets::location(a, k, [0, 1, 2], |z| known::student(z, 1.0)),
        |a, k| jets::log_scale(a, k, [0, 1, 2], |t| known::student_log(t, 1.0))
    )
}

scalar_row! {
    SCALE = "cauchy.scale"(sigma), "-log sigma - log π";
    value -sigma.ln().shift(LN_PI);
    slopes(_y) [-sigma.recip()];
    probes [&[0.3], &[1e-6], &[1e6]];
    facts Facts::with_log(|a, _| jets::minus_log(a[0], -LN_PI), |t, _| jets::minus_log_of_exp(t[0], -LN_PI))
}

scalar_row! {
    LCDF = "cauchy_lcdf"(x, mu, sigma), "log(½ + atan((x - mu) / sigma) / π)";
    value log_cdf((x - mu) / sigma);
    slopes(y) { let z = (x - mu) / sigma; location_scale(ratio(z, y), z, sigma) };
    probes [&[0.3, 1.0, 2.0], &[-1e5, 1.0, 0.5], &[1e5, 1.0, 2.0], &[0.5, 0.0, 1.0]]
}

scalar_row! {
    LCCDF = "cauchy_lccdf"(x, mu, sigma), "log(½ - atan((x - mu) / sigma) / π)";
    value log_cdf((mu - x) / sigma);
    slopes(y) { let z = (x - mu) / sigma; location_scale(-ratio(z, y), z, sigma) };
    probes [&[0.3, 1.0, 2.0], &[-1e5, 1.0, 0.5], &[1e5, 1.0, 2.0], &[0.5, 0.0, 1.0]]
}

/// log(½ + atan(z) / π): the angle is taken from the nearer of 0 and ∓∞, so that neither tail cancels.
#[inline(always)]
fn log_cdf<T: Real>(z: T) -> T {
    let beyond = z.recip().atan().scale(-FRAC_1_PI);
    let middle = z.atan().scale(FRAC_1_PI).shift(0.5).ln();
    let upper = z.if_less(T::one(), middle, beyond.log1p());
    z.if_less(-T::one(), beyond.ln(), upper)
}

/// density / probability at z, where the log probability is y.
#[inline(always)]
fn ratio<T: Real>(z: T, y: T) -> T {
    (-y).exp().scale(FRAC_1_PI) / z.square().shift(1.0)
}

/// tan(π (p - ½)), from the nearer end.
fn standard_quantile(p: f64) -> f64 {
    if p < 0.25 {
        -1.0 / (PI * p).tan()
    } else if p > 0.75 {
        1.0 / (PI * (1.0 - p)).tan()
    } else {
        (PI * (p - 0.5)).tan()
    }
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "cauchy",
    doc: "Cauchy with location mu and scale sigma",
    formula: "-log1p(((x - mu) / sigma)^2) - log(sigma) - log(pi())",
    args: &[ArgSpec::real("mu"), ArgSpec::positive("sigma")],
    support: Support::REAL,
    discrete: false,
    event: 0,
    density: Density::Parts(&[Part { row: &JOINT, of: &[0, 1, 2] }, Part { row: &SCALE, of: &[2] }]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| a[0] + a[1] * standard_quantile(p)),
    sample: Sampler::Number(|rng, a| a[0] + a[1] * standard_quantile(uniform(rng))),
    noncentered: Some(Noncentered {
        base: &ROW,
        base_args: &[BaseArg::Number(0.0), BaseArg::Number(1.0)],
        build: |b, z, a| shifted(b, z, a[0], a[1]),
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.3], args: &[&[1.0], &[2.0]] },
        Probe { x: &[-300.0], args: &[&[1.0], &[0.5]] },
        Probe { x: &[1e6], args: &[&[1.0], &[0.5]] },
    ],
};
