//! The categorical distribution, by probabilities.

use super::row::{ArgSpec, Density, Distribution, Domain, End, Probe, Sampler, Support};
use super::{choice, draw};
use crate::graph::{BuildError, Builder, NodeId};
use crate::ops::scalar::LOG;

/// log theta[x]; the log is taken on the side that has fewer numbers.
fn density(b: &mut Builder, x: NodeId, theta: NodeId) -> Result<NodeId, BuildError> {
    let numbers = |b: &Builder, id: NodeId| b.dims(id).iter().product::<usize>();
    if numbers(b, theta) <= numbers(b, x) {
        let logs = b.unary(&LOG, theta);
        return choice::picked(b, x, logs);
    }
    let chosen = choice::picked(b, x, theta)?;
    Ok(b.unary(&LOG, chosen))
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "categorical",
    doc: "category 1, ..., K with probabilities theta",
    formula: "log(theta[x])",
    args: &[ArgSpec { name: "theta", domain: Domain::Simplex, rank: 1, default: None }],
    support: Support::Integers(End::At(1.0), End::Length(0)),
    discrete: true,
    event: 0,
    density: Density::Events(|b, x, a| density(b, x, a[0])),
    lcdf: None,
    lccdf: None,
    quantile: None,
    sample: Sampler::Event(|rng, a, out| out.iter_mut().for_each(|o| *o = draw::category(rng, a[0]))),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[2.0], args: &[&[0.2, 0.5, 0.3]] },
        Probe { x: &[1.0], args: &[&[1e-9, 0.5, 0.499999999]] },
    ],
};
