//! The Gumbel distribution (of maxima), by location and scale.

use super::draw::uniform;
use super::jets;
use super::row::{ArgSpec, BaseArg, Density, Distribution, Noncentered, Part, Probe, Sampler, Support};
use super::shared::{MINUS_LOG, location_scale, log1m_exp_exp, log1m_exp_exp_slope, shifted};
use crate::facts::known;
use crate::ops::scalar::{Facts, scalar_row};

scalar_row! {
    JOINT = "gumbel"(x, mu, beta), "-z - e^-z for z = (x - mu) / beta";
    value { let t = (mu - x) / beta; t - t.exp() };
    slopes(_y) { let z = (x - mu) / beta; location_scale((-z).exp().shift(-1.0), z, beta) };
    probes [&[0.3, 1.0, 2.0], &[-2.0, 1.0, 0.5], &[30.0, 0.0, 2.0]];
    // t - e^t at t = -z: concave and largest at z = 0.
    facts Facts::difference_with_log(
        (0, 1),
        |a, k| jets::location(a, k, [0, 1, 2], |z| Some(known::minus_exp(-z)?.stretched(-1.0))),
        |a, k| jets::peaked_log_scale(a, k, [0, 1, 2], -1.0)
    )
}

scalar_row! {
    LCDF = "gumbel_lcdf"(x, mu, beta), "-e^-z for z = (x - mu) / beta";
    value -((mu - x) / beta).exp();
    slopes(y) { let z = (x - mu) / beta; location_scale(-y, z, beta) };
    probes [&[0.3, 1.0, 2.0], &[-2.0, 1.0, 0.5], &[30.0, 0.0, 2.0]];
    facts Facts::difference((0, 1), |a, k| {
        jets::location(a, k, [0, 1, 2], |z| Some(-known::exp(-z)?.stretched(-1.0)))
    })
}

scalar_row! {
    LCCDF = "gumbel_lccdf"(x, mu, beta), "log(1 - exp(-e^-z)) for z = (x - mu) / beta";
    value log1m_exp_exp((mu - x) / beta);
    slopes(_y) { let z = (x - mu) / beta; location_scale(-log1m_exp_exp_slope(-z), z, beta) };
    probes [&[0.3, 1.0, 2.0], &[-1.0, 1.0, 1.5], &[30.0, 0.0, 2.0], &[40.0, 0.0, 1.0]];
    facts Facts::difference((0, 1), |a, k| {
        jets::location(a, k, [0, 1, 2], |z| Some(known::log1m_exp_exp(-z)?.stretched(-1.0)))
    })
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "gumbel",
    doc: "Gumbel (of maxima) with location mu and scale beta",
    formula: "-(x - mu) / beta - exp(-(x - mu) / beta) - log(beta)",
    args: &[ArgSpec::real("mu"), ArgSpec::positive("beta")],
    support: Support::REAL,
    discrete: false,
    event: 0,
    density: Density::Parts(&[Part { row: &JOINT, of: &[0, 1, 2] }, Part { row: &MINUS_LOG, of: &[2] }]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| a[0] - a[1] * (-p.ln()).ln()),
    sample: Sampler::Number(|rng, a| a[0] - a[1] * (-uniform(rng).ln()).ln()),
    noncentered: Some(Noncentered {
        base: &ROW,
        base_args: &[BaseArg::Number(0.0), BaseArg::Number(1.0)],
        build: |b, z, a| shifted(b, z, a[0], a[1]),
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.3], args: &[&[1.0], &[2.0]] },
        Probe { x: &[-1.0], args: &[&[1.0], &[0.5]] },
        Probe { x: &[60.0], args: &[&[1.0], &[1.5]] },
    ],
};
