//! The Dirichlet-multinomial distribution: a multinomial whose probabilities are dirichlet(alpha).

use super::count::RISE;
use super::multinomial::{TRIALS, coefficient};
use super::row::{ArgSpec, Density, Distribution, Domain, Probe, Sampler, Support};
use super::{draw, event};
use crate::graph::{BuildError, Builder, NodeId};
use crate::num::rising;
use crate::ops::scalar::scalar_row;

scalar_row! {
    TERM = "dirichlet_multinomial"(x, alpha, total), "log Γ(alpha + x) - log Γ(alpha) - x log(total)";
    value x.lrise(alpha) + x.xlogy(alpha / total);
    slopes(_y, need) [
        if need[0] { rising::lrise_x(x, alpha) + (alpha / total).ln() } else { T::zero() },
        x.lrise_a(alpha) + x / alpha,
        -(x / total)
    ];
    probes [&[2.0, 0.3, 1.0], &[0.0, 5.0, 9.0], &[40.0, 1e5, 3e5]]
}

/// With A = Σ alpha and n = Σ x: the coefficient, Σ (log rise of alpha + x log(alpha / A)), less the log rise
/// of A.
fn density(b: &mut Builder, x: NodeId, alpha: NodeId) -> Result<NodeId, BuildError> {
    let size = b.dims(x).last().copied().unwrap_or(1);
    let alpha = if b.dims(alpha).is_empty() { b.broadcast_to(alpha, &[size]) } else { alpha };
    let total = event::sum_last(b, alpha)?;
    let wide = event::widen(b, total, 1);
    let terms = b.map(&TERM, &[x, alpha, wide])?;
    let terms = event::sum_last(b, terms)?;
    let trials = event::sum_last(b, x)?;
    let all = b.map(&RISE, &[trials, total])?;
    let terms = b.sub(terms, all)?;
    let constant = coefficient(b, x)?;
    b.add2(terms, constant)
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "dirichlet_multinomial",
    doc: "counts of N draws whose probabilities are dirichlet(alpha); N is needed only to simulate",
    formula: "lfactorial(sum(x)) - sum(lfactorial(x)) + lgamma(sum(alpha)) - lgamma(sum(x) + sum(alpha)) \
              + sum(lgamma(x + alpha) - lgamma(alpha))",
    args: &[ArgSpec { name: "alpha", domain: Domain::Positive, rank: 1, default: None }, TRIALS],
    support: Support::Counts,
    discrete: true,
    event: 1,
    density: Density::Events(|b, x, a| density(b, x, a[0])),
    lcdf: None,
    lccdf: None,
    quantile: None,
    sample: Sampler::Event(|rng, a, out| {
        let mut p = vec![0.0; out.len()];
        draw::dirichlet(rng, a[0], &mut p);
        let n = a.get(1).and_then(|n| n.first()).copied().unwrap_or(f64::NAN);
        draw::multinomial(rng, n, &p, out);
    }),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[2.0, 0.0, 5.0], args: &[&[2.0, 0.5, 4.0], &[7.0]] },
        Probe { x: &[20.0, 10.0], args: &[&[0.1, 3e3], &[30.0]] },
    ],
};
