//! The multinomial distribution, by probabilities.

use super::row::{ArgSpec, Density, Distribution, Domain, Probe, Sampler, Support};
use super::{count, draw, event};
use crate::graph::{BuildError, Builder, NodeId};
use crate::ops::scalar::{LFACTORIAL, MULTIPLY_LOG};

/// How many draws to make when counts are simulated. In a density it is the sum of x.
pub(super) const TRIALS: ArgSpec =
    ArgSpec { name: "N", domain: Domain::Data, rank: 0, default: Some(f64::NAN) };

/// log of the multinomial coefficient of the counts along the last axis.
pub(super) fn coefficient(b: &mut Builder, x: NodeId) -> Result<NodeId, BuildError> {
    let trials = event::sum_last(b, x)?;
    let all = b.unary(&LFACTORIAL, trials);
    let each = b.unary(&count::LOG_FACTORIAL, x);
    let each = event::sum_last(b, each)?;
    b.add2(all, each)
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "multinomial",
    doc: "how often each category occurs in N draws with probabilities theta; N is needed only to simulate",
    formula: "lfactorial(sum(x)) - sum(lfactorial(x)) + sum(multiply_log(x, theta))",
    args: &[ArgSpec { name: "theta", domain: Domain::Simplex, rank: 1, default: None }, TRIALS],
    support: Support::Counts,
    discrete: true,
    event: 1,
    density: Density::Events(|b, x, a| {
        let terms = b.map(&MULTIPLY_LOG, &[x, a[0]])?;
        let terms = event::sum_last(b, terms)?;
        let constant = coefficient(b, x)?;
        b.add2(terms, constant)
    }),
    lcdf: None,
    lccdf: None,
    quantile: None,
    sample: Sampler::Event(|rng, a, out| {
        let n = a.get(1).and_then(|n| n.first()).copied().unwrap_or(f64::NAN);
        draw::multinomial(rng, n, a[0], out);
    }),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[2.0, 0.0, 5.0], args: &[&[0.2, 0.5, 0.3], &[7.0]] },
        Probe { x: &[200.0, 10.0], args: &[&[0.3, 0.7], &[210.0]] },
    ],
};
