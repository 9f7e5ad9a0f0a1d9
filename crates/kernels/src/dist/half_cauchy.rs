//! The Cauchy distribution about zero, folded onto the positive numbers.

use super::draw::uniform;
use super::jets;
use super::row::{ArgSpec, BaseArg, Density, Distribution, Noncentered, Part, Probe, Sampler, Support};
use super::shared::{LN_PI, scale_only};
use crate::facts::known;
use crate::num::real::Real;
use crate::ops::scalar::{Facts, scalar_row};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, LN_2};

scalar_row! {
    JOINT = "half_cauchy"(x, sigma), "-log(1 + (x / sigma)²)";
    value -((x * sigma.recip()).log1p_square().0);
    slopes(_y) { let r = sigma.recip(); let z = x * r; let g = -z.log1p_square().1 * r; [g, -(g * z)] };
    both(at, _need) {
        let [x, sigma] = at;
        let r = sigma.recip();
        let z = x * r;
        let (log, slope) = z.log1p_square();
        let g = -slope * r;
        (-log, [g, -(g * z)])
    };
    probes [&[0.3, 2.0], &[300.0, 0.5], &[1e-4, 5.0]];
    facts Facts::with_log(
        |a, k| jets::scaled(a, k, [0, 1], |z| known::student(z, 1.0)),
        |a, k| jets::log_scaled(a, k, [0, 1], |t| known::student_log(t, 1.0))
    )
}

scalar_row! {
    /// The first part, by the inverse of the scale: plans use it where the scale is known.
    BY_INVERSE = "half_cauchy.inverse"(x, r), "-log(1 + (x r)²)";
    value -(x * r).log1p_square().0;
    slopes(_y) { let g = -(x * r).log1p_square().1; [g * r, g * x] };
    both(at, _need) { let [x, r] = at; let (log, g) = (x * r).log1p_square(); (-log, [-(g * r), -(g * x)]) };
    probes [&[0.3, 0.5], &[300.0, 2.0], &[1e-4, 0.2]]
}

scalar_row! {
    SCALE = "half_cauchy.scale"(sigma), "log 2 - log sigma - log π";
    value -sigma.ln().shift(LN_PI - LN_2);
    slopes(_y) [-sigma.recip()];
    probes [&[0.3], &[1e-6], &[1e6]];
    facts Facts::with_log(
        |a, _| jets::minus_log(a[0], LN_2 - LN_PI),
        |t, _| jets::minus_log_of_exp(t[0], LN_2 - LN_PI),
    )
}

scalar_row! {
    LCDF = "half_cauchy_lcdf"(x, sigma), "log(2 atan(x / sigma) / π)";
    value log_angle(x / sigma);
    slopes(y) { let z = x / sigma; scale_only(ratio(z, y), z, sigma) };
    probes [&[0.3, 2.0], &[300.0, 0.5], &[1e-4, 5.0]];
    // log X has the density t - log(1 + e^(2t)), concave.
    facts Facts::with_log(
        |a, k| jets::rising_probability(a, k, &[0]),
        |a, k| jets::log_probability(a, k, &[(0, true), (1, false)]),
    )
}

scalar_row! {
    LCCDF = "half_cauchy_lccdf"(x, sigma), "log(2 atan(sigma / x) / π)";
    value log_angle(sigma / x);
    slopes(y) { let z = x / sigma; scale_only(-ratio(z, y), z, sigma) };
    probes [&[0.3, 2.0], &[300.0, 0.5], &[1e-4, 5.0]];
    facts Facts::with_log(
        |a, k| jets::rising_probability(a, k, &[1]),
        |a, k| jets::log_probability(a, k, &[(0, false), (1, true)]),
    )
}

/// log(2 atan(z) / π) for z > 0.
#[inline(always)]
fn log_angle<T: Real>(z: T) -> T {
    let near = z.atan().scale(FRAC_2_PI).ln();
    let far = z.recip().atan().scale(-FRAC_2_PI).log1p();
    z.if_less(T::one(), near, far)
}

/// density / probability at z, where the log probability is y.
#[inline(always)]
fn ratio<T: Real>(z: T, y: T) -> T {
    (-y).exp().scale(FRAC_2_PI) / z.square().shift(1.0)
}

/// tan(π p / 2), from the nearer end.
fn standard_quantile(p: f64) -> f64 {
    if p < 0.5 { (FRAC_PI_2 * p).tan() } else { 1.0 / (FRAC_PI_2 * (1.0 - p)).tan() }
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "half_cauchy",
    doc: "absolute value of a Cauchy with location 0 and scale sigma",
    formula: "log(2) - log1p((x / sigma)^2) - log(sigma) - log(pi())",
    args: &[ArgSpec::positive("sigma")],
    support: Support::POSITIVE,
    discrete: false,
    event: 0,
    density: Density::Parts(&[Part { row: &JOINT, of: &[0, 1] }, Part { row: &SCALE, of: &[1] }]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| a[0] * standard_quantile(p)),
    sample: Sampler::Number(|rng, a| a[0] * standard_quantile(uniform(rng))),
    noncentered: Some(Noncentered {
        base: &ROW,
        base_args: &[BaseArg::Number(1.0)],
        build: |b, z, a| b.mul(a[0], z),
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.3], args: &[&[2.0]] },
        Probe { x: &[300.0], args: &[&[0.5]] },
        Probe { x: &[1e-4], args: &[&[5.0]] },
    ],
};
