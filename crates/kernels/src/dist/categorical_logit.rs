//! The categorical distribution, by unnormalised log probabilities: the likelihood of a multinomial
//! regression.

use super::row::{ArgSpec, Density, Distribution, Domain, End, Probe, Sampler, Support};
use super::{choice, draw};
use crate::graph::{BuildError, Builder, NodeId};

/// log Σ exp along the last axis.
pub(super) fn log_total(b: &mut Builder, eta: NodeId) -> Result<NodeId, BuildError> {
    match b.dims(eta).len() {
        0 | 1 => b.log_sum_exp(eta, None),
        rank => b.log_sum_exp(eta, Some(rank - 1)),
    }
}

/// eta[x] - log Σ exp(eta).
fn density(b: &mut Builder, x: NodeId, eta: NodeId) -> Result<NodeId, BuildError> {
    let chosen = choice::picked(b, x, eta)?;
    let all = log_total(b, eta)?;
    b.sub(chosen, all)
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "categorical_logit",
    doc: "category 1, ..., K with probabilities softmax(eta)",
    formula: "eta[x] - log_sum_exp(eta)",
    args: &[ArgSpec { name: "eta", domain: Domain::Real, rank: 1, default: None }],
    support: Support::Integers(End::At(1.0), End::Length(0)),
    discrete: true,
    event: 0,
    density: Density::Events(|b, x, a| density(b, x, a[0])),
    lcdf: None,
    lccdf: None,
    quantile: None,
    sample: Sampler::Event(|rng, a, out| {
        let mut p = a[0].to_vec();
        draw::softmax(&mut p);
        out.iter_mut().for_each(|o| *o = draw::category(rng, &p));
    }),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[2.0], args: &[&[0.2, -0.5, 0.3]] },
        Probe { x: &[1.0], args: &[&[-300.0, 20.0, 700.0]] },
    ],
};
