//! The Rayleigh distribution, by scale.

use super::draw::uniform;
use super::half_normal;
use super::jets;
use super::row::{ArgSpec, BaseArg, Density, Distribution, Noncentered, Part, Probe, Sampler, Support};
use super::shared::{exponential_quantile, log1m_exp_slope};
use crate::facts::{Jet, known};
use crate::ops::scalar::{Facts, LOG, scalar_row};

scalar_row! {
    SCALE = "rayleigh.scale"(sigma), "-2 log sigma";
    value sigma.ln().scale(-2.0);
    slopes(_y) [sigma.recip().scale(-2.0)];
    probes [&[0.3], &[1e-6], &[1e6]];
    facts Facts::with_log(
        |a, _| Some(known::log(a[0])?.scaled(-2.0)),
        |t, _| Some(Jet::linear(t[0], -2.0, 0.0)),
    )
}

scalar_row! {
    LCDF = "rayleigh_lcdf"(x, sigma), "log(1 - exp(-(x / sigma)² / 2))";
    value (x / sigma).square().scale(-0.5).log1m_exp();
    slopes(y) {
        let z = x / sigma;
        let g = log1m_exp_slope(z.square().scale(0.5), y) * z / sigma;
        [g, -(g * z)]
    };
    probes [&[0.3, 2.0], &[12.0, 2.0], &[1e-4, 5.0]];
    // log X has the density 2t - e^(2t)/2, concave.
    facts Facts::with_log(
        |a, k| jets::rising_probability(a, k, &[0]),
        |a, k| jets::log_probability(a, k, &[(0, true), (1, false)]),
    )
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "rayleigh",
    doc: "Rayleigh with scale sigma",
    formula: "log(x) - 2 * log(sigma) - 0.5 * (x / sigma)^2",
    args: &[ArgSpec::positive("sigma")],
    support: Support::ABOVE_ZERO,
    discrete: false,
    event: 0,
    density: Density::Parts(&[
        Part { row: &half_normal::JOINT, of: &[0, 1] },
        Part { row: &LOG, of: &[0] },
        Part { row: &SCALE, of: &[1] },
    ]),
    lcdf: Some(&LCDF),
    lccdf: Some(&half_normal::JOINT),
    quantile: Some(|p, a| a[0] * (2.0 * exponential_quantile(p)).sqrt()),
    sample: Sampler::Number(|rng, a| a[0] * (-2.0 * uniform(rng).ln()).sqrt()),
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
