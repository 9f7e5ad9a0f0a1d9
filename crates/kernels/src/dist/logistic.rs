//! The logistic distribution, by location and scale.

use super::draw::uniform;
use super::jets;
use super::row::{ArgSpec, BaseArg, Density, Distribution, Noncentered, Part, Probe, Sampler, Support};
use super::shared::{MINUS_LOG, location_scale, logit, shifted};
use crate::facts::known;
use crate::ops::scalar::{Facts, scalar_row};

scalar_row! {
    JOINT = "logistic"(x, mu, sigma), "-z - 2 log(1 + e^-z) for z = (x - mu) / sigma";
    value { let a = ((x - mu) / sigma).abs(); -(a + (-a).exp().log1p().scale(2.0)) };
    slopes(_y) { let z = (x - mu) / sigma; location_scale(-z.scale(0.5).tanh(), z, sigma) };
    probes [&[0.3, 1.0, 2.0], &[-30.0, 1.0, 0.5], &[9.0, 0.0, 2.0]];
    // Concave and largest at z = 0.
    facts Facts::difference_with_log(
        (0, 1),
        |a, k| jets::location(a, k, [0, 1, 2], known::logistic),
        |a, k| jets::peaked_log_scale(a, k, [0, 1, 2], -2.0 * std::f64::consts::LN_2)
    )
}

scalar_row! {
    LCDF = "logistic_lcdf"(x, mu, sigma), "-log(1 + e^-z) for z = (x - mu) / sigma";
    value -((mu - x) / sigma).log1p_exp();
    slopes(_y) { let z = (x - mu) / sigma; location_scale((-z).inv_logit(), z, sigma) };
    probes [&[0.3, 1.0, 2.0], &[-30.0, 1.0, 0.5], &[9.0, 0.0, 2.0]];
    facts Facts::difference((0, 1), |a, k| jets::location(a, k, [0, 1, 2], known::log_inv_logit))
}

scalar_row! {
    LCCDF = "logistic_lccdf"(x, mu, sigma), "-log(1 + e^z) for z = (x - mu) / sigma";
    value -((x - mu) / sigma).log1p_exp();
    slopes(_y) { let z = (x - mu) / sigma; location_scale(-z.inv_logit(), z, sigma) };
    probes [&[0.3, 1.0, 2.0], &[-30.0, 1.0, 0.5], &[9.0, 0.0, 2.0]];
    facts Facts::difference((0, 1), |a, k| jets::location(a, k, [0, 1, 2], known::log1m_inv_logit))
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "logistic",
    doc: "logistic with location mu and scale sigma",
    formula: "-(x - mu) / sigma - log(sigma) - 2 * log1p_exp(-(x - mu) / sigma)",
    args: &[ArgSpec::real("mu"), ArgSpec::positive("sigma")],
    support: Support::REAL,
    discrete: false,
    event: 0,
    density: Density::Parts(&[Part { row: &JOINT, of: &[0, 1, 2] }, Part { row: &MINUS_LOG, of: &[2] }]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| a[0] + a[1] * logit(p)),
    sample: Sampler::Number(|rng, a| a[0] + a[1] * logit(uniform(rng))),
    noncentered: Some(Noncentered {
        base: &ROW,
        base_args: &[BaseArg::Number(0.0), BaseArg::Number(1.0)],
        build: |b, z, a| shifted(b, z, a[0], a[1]),
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.3], args: &[&[1.0], &[2.0]] },
        Probe { x: &[-30.0], args: &[&[1.0], &[0.5]] },
        Probe { x: &[40.0], args: &[&[1.0], &[2.0]] },
    ],
};
