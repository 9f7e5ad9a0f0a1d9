//! The standard normal distribution.

use super::row::{Density, Distribution, Part, Probe, Sampler, Support};
use crate::facts::known;
use crate::num::real::HALF_LN_2PI;
use crate::num::special as sf;
use crate::ops::scalar::{Facts, LOG_PHI, scalar_row};
use rand_distr::{Distribution as _, StandardNormal};

scalar_row! {
    KERNEL = "std_normal"(x), "-x²/2 - log √(2π)";
    value x.square().scale(-0.5).shift(-HALF_LN_2PI);
    slopes(_y) [-x];
    probes [&[0.3], &[-8.0], &[40.0]];
    facts Facts::of(|x, _| Some(known::normal(x[0])?.shifted(-HALF_LN_2PI)))
}

scalar_row! {
    LCCDF = "std_normal_lccdf"(x), "log Φ(-x)";
    value (-x).log_phi();
    slopes(_y) [-(-x).phi_ratio()];
    probes [&[0.3], &[-8.0], &[20.0]];
    facts Facts::of(|x, _| Some(known::log_phi(-x[0])?.stretched(-1.0)))
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "std_normal",
    doc: "normal with mean 0 and standard deviation 1",
    formula: "-0.5 * x^2 - 0.5 * log(2 * pi())",
    args: &[],
    support: Support::REAL,
    discrete: false,
    event: 0,
    density: Density::Parts(&[Part { row: &KERNEL, of: &[0] }]),
    lcdf: Some(&LOG_PHI),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, _| sf::inv_phi(p)),
    sample: Sampler::Number(|rng, _| StandardNormal.sample(rng)),
    noncentered: None,
    links: &[],
    probes: &[Probe { x: &[0.3], args: &[] }, Probe { x: &[-9.0], args: &[] }],
};
