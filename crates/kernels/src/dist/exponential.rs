//! The exponential distribution, by rate.

use super::jets;
use super::row::{ArgSpec, BaseArg, Density, Distribution, Noncentered, Part, Probe, Sampler, Support};
use super::shared::{SHAPE_LOG, exponential_quantile, log1m_exp_slope};
use crate::facts::known;
use crate::ops::scalar::{Facts, scalar_row};
use rand_distr::{Distribution as _, Exp1};

scalar_row! {
    JOINT = "exponential"(x, beta), "-beta x";
    value -(beta * x);
    slopes(_y) [-beta, -x];
    probes [&[0.3, 2.0], &[300.0, 0.5], &[1e-4, 5.0]];
    facts Facts::with_log(|a, k| jets::product(a, k, -1.0), |a, k| jets::log_product(a, k, -1.0))
}

scalar_row! {
    LCDF = "exponential_lcdf"(x, beta), "log(1 - e^(-beta x))";
    value (-(beta * x)).log1m_exp();
    slopes(y) { let g = log1m_exp_slope(beta * x, y); [g * beta, g * x] };
    probes [&[0.3, 2.0], &[60.0, 0.5], &[1e-8, 5.0]];
    facts Facts::with_log(
        |a, k| {
            let c: [f64; 2] = known::fixed(a, k)?;
            let rate = c[1 - k];
            (rate > 0.0).then(|| known::log1m_exp(a[k].scale(-rate)).map(|j| j.stretched(-rate)))?
        },
        |a, k| {
            let c: [f64; 2] = known::fixed(a, k)?;
            let rate = c[1 - k];
            (rate > 0.0).then(|| known::log1m_exp_exp(a[k].shift(rate.ln())))?
        }
    )
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "exponential",
    doc: "exponential with rate beta (mean 1 / beta)",
    formula: "log(beta) - beta * x",
    args: &[ArgSpec::positive("beta")],
    support: Support::POSITIVE,
    discrete: false,
    event: 0,
    density: Density::Parts(&[Part { row: &JOINT, of: &[0, 1] }, Part { row: &SHAPE_LOG, of: &[1] }]),
    lcdf: Some(&LCDF),
    lccdf: Some(&JOINT),
    quantile: Some(|p, a| exponential_quantile(p) / a[0]),
    sample: Sampler::Number(|rng, a| {
        let z: f64 = Exp1.sample(rng);
        z / a[0]
    }),
    noncentered: Some(Noncentered {
        base: &ROW,
        base_args: &[BaseArg::Number(1.0)],
        build: |b, z, a| b.div(z, a[0]),
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.3], args: &[&[2.0]] },
        Probe { x: &[300.0], args: &[&[0.5]] },
        Probe { x: &[1e-6], args: &[&[5.0]] },
    ],
};
