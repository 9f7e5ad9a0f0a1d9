//! The double exponential (Laplace) distribution, by location and scale.

use super::draw::uniform;
use super::jets;
use super::row::{ArgSpec, BaseArg, Density, Distribution, Noncentered, Part, Probe, Sampler, Support};
use super::shared::{location_scale, shifted};
use crate::facts::{Interval, Jet, known};
use crate::num::real::Real;
use crate::ops::scalar::{Facts, scalar_row};
use std::f64::consts::LN_2;

scalar_row! {
    JOINT = "double_exponential"(x, mu, sigma), "-|x - mu| / sigma";
    value -((x - mu) / sigma).abs();
    slopes(_y) { let z = (x - mu) / sigma; location_scale(minus_sign(z), z, sigma) };
    probes [&[0.3, 1.0, 2.0], &[-30.0, 1.0, 0.5], &[9.0, 0.0, 2.0]];
    // Concave with a kink; in log sigma -|r| e^-t.
    facts Facts::difference_with_log(
        (0, 1),
        |a, k| jets::location(a, k, [0, 1, 2], known::laplace),
        |a, k| jets::log_scale(a, k, [0, 1, 2], |t| Some(-known::exp(t)?))
    )
}

scalar_row! {
    SCALE = "double_exponential.scale"(sigma), "-log(2 sigma)";
    value -sigma.ln().shift(LN_2);
    slopes(_y) [-sigma.recip()];
    probes [&[0.3], &[1e-6], &[1e6]];
    facts Facts::with_log(|a, _| jets::minus_log(a[0], -LN_2), |t, _| jets::minus_log_of_exp(t[0], -LN_2))
}

scalar_row! {
    LCDF = "double_exponential_lcdf"(x, mu, sigma), "z - log 2 for z = (x - mu) / sigma below 0, log(1 - e^-z / 2) above";
    value log_cdf((x - mu) / sigma);
    slopes(_y) { let z = (x - mu) / sigma; location_scale(ratio(z), z, sigma) };
    probes [&[0.3, 1.0, 2.0], &[-30.0, 1.0, 0.5], &[9.0, 0.0, 2.0]];
    facts Facts::difference((0, 1), |a, k| jets::location(a, k, [0, 1, 2], |_| Some(tail())))
}

scalar_row! {
    LCCDF = "double_exponential_lccdf"(x, mu, sigma), "log(1 - e^z / 2) for z = (x - mu) / sigma below 0, -z - log 2 above";
    value log_cdf((mu - x) / sigma);
    slopes(_y) { let z = (x - mu) / sigma; location_scale(-ratio(-z), z, sigma) };
    probes [&[0.3, 1.0, 2.0], &[-30.0, 1.0, 0.5], &[9.0, 0.0, 2.0]];
    facts Facts::difference((0, 1), |a, k| jets::location(a, k, [0, 1, 2], |_| Some(tail().stretched(-1.0))))
}

#[inline(always)]
fn minus_sign<T: Real>(z: T) -> T {
    z.if_less(T::zero(), T::one(), -T::one())
}

#[inline(always)]
fn log_cdf<T: Real>(z: T) -> T {
    let upper = (-z).exp().scale(-0.5).log1p();
    z.if_less(T::zero(), z.shift(-LN_2), upper)
}

/// density / probability: 1 below 0, e^-z / (2 - e^-z) above.
#[inline(always)]
fn ratio<T: Real>(z: T) -> T {
    let e = (-z).exp();
    z.if_less(T::zero(), T::one(), e / (T::splat(2.0) - e))
}

fn standard_quantile(p: f64) -> f64 {
    if p < 0.5 { (2.0 * p).ln() } else { -(2.0 * (1.0 - p)).ln() }
}

/// Of the log cdf: slope 1 below 0 and 1/(2e^z - 1) above, second derivative 0 below and -2e^z/(2e^z - 1)²
/// above, which rises from -2.
fn tail() -> Jet {
    Jet::new(Interval::NONPOSITIVE, Interval::new(0.0, 1.0), Interval::new(-2.0, 0.0))
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "double_exponential",
    doc: "double exponential (Laplace) with location mu and scale sigma",
    formula: "-abs(x - mu) / sigma - log(2 * sigma)",
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
        Probe { x: &[-30.0], args: &[&[1.0], &[0.5]] },
        Probe { x: &[25.0], args: &[&[1.0], &[2.0]] },
    ],
};
