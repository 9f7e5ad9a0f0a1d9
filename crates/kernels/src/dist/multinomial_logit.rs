//! The multinomial distribution, by unnormalised log probabilities.

use super::categorical_logit::log_total;
use super::multinomial::{TRIALS, coefficient};
use super::row::{ArgSpec, Density, Distribution, Domain, Probe, Sampler, Support};
use super::{draw, event};
use crate::graph::{BuildError, Builder, NodeId};

/// Σ x eta - N log Σ exp(eta), and the coefficient.
fn density(b: &mut Builder, x: NodeId, eta: NodeId) -> Result<NodeId, BuildError> {
    let products = b.mul(x, eta)?;
    let chosen = event::sum_last(b, products)?;
    let (trials, all) = (event::sum_last(b, x)?, log_total(b, eta)?);
    let all = b.mul(trials, all)?;
    let terms = b.sub(chosen, all)?;
    let constant = coefficient(b, x)?;
    b.add2(terms, constant)
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "multinomial_logit",
    doc: "how often each category occurs in N draws with probabilities softmax(eta); N is needed only to simulate",
    formula: "lfactorial(sum(x)) - sum(lfactorial(x)) + sum(x .* eta) - sum(x) * log_sum_exp(eta)",
    args: &[ArgSpec { name: "eta", domain: Domain::Real, rank: 1, default: None }, TRIALS],
    support: Support::Counts,
    discrete: true,
    event: 1,
    density: Density::Events(|b, x, a| density(b, x, a[0])),
    lcdf: None,
    lccdf: None,
    quantile: None,
    sample: Sampler::Event(|rng, a, out| {
        let mut p = a[0].to_vec();
        draw::softmax(&mut p);
        let n = a.get(1).and_then(|n| n.first()).copied().unwrap_or(f64::NAN);
        draw::multinomial(rng, n, &p, out);
    }),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[2.0, 0.0, 5.0], args: &[&[0.2, -0.5, 0.3], &[7.0]] },
        Probe { x: &[200.0, 10.0], args: &[&[-30.0, 70.0], &[210.0]] },
    ],
};
