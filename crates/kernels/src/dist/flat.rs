//! The improper density that is 1 everywhere.

use super::row::{Density, Distribution, Probe, Sampler, Support};

/// The row.
pub static ROW: Distribution = Distribution {
    name: "flat",
    doc: "no prior: adds nothing to the log density wherever the declared type allows a value (improper)",
    formula: "0",
    args: &[],
    support: Support::Anywhere,
    discrete: false,
    event: 0,
    density: Density::Parts(&[]),
    lcdf: None,
    lccdf: None,
    quantile: None,
    sample: Sampler::None,
    noncentered: None,
    links: &[],
    probes: &[Probe { x: &[0.3], args: &[] }, Probe { x: &[-1e5], args: &[] }],
};
