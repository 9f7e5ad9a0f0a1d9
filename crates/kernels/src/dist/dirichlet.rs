//! The Dirichlet distribution.

use super::beta::KNOWN;
use super::row::{ArgSpec, Density, Distribution, Domain, Probe, Sampler, Support};
use super::{draw, event};
use crate::facts::{Jet, known};
use crate::graph::{BuildError, Builder, NodeId};
use crate::ops::scalar::{EXP, Facts, LGAMMA, scalar_row};

scalar_row! {
    TERM = "dirichlet"(x, alpha), "(alpha - 1) log x, zero where alpha is 1";
    value alpha.shift(-1.0).xlogy(x);
    slopes(_y, need) [
        alpha.shift(-1.0) / x,
        if need[1] { x.ln() } else { T::zero() }
    ];
    probes [&[0.3, 2.0], &[1e-9, 0.5], &[0.9, 1.0]];
    facts Facts::with_log(
        |a, k| {
            let c: [f64; 2] = known::fixed(a, k)?;
            if k == 0 {
                Some(known::log(a[0])?.scaled(c[1] - 1.0))
            } else {
                (c[0] > 0.0).then(|| Jet::linear(a[1].shift(-1.0), c[0].ln(), 0.0))
            }
        },
        |a, k| { let c: [f64; 2] = known::fixed(a, k)?; (k == 0).then(|| Jet::linear(a[0], c[1] - 1.0, 0.0)) }
    )
}

scalar_row! {
    TOTAL = "dirichlet.total"(total), "log of the gamma function; minus infinity where the density is lost in rounding errors";
    value T::splat(KNOWN).if_less(total, T::splat(f64::NEG_INFINITY), total.lgamma());
    slopes(_y) [total.digamma()];
    probes [&[0.5], &[1e-3], &[1e5]];
    facts Facts::of(|x, _| known::lgamma(x[0]))
}

/// log Γ(Σ alpha) - Σ log Γ(alpha).
fn normaliser(b: &mut Builder, alpha: NodeId) -> Result<NodeId, BuildError> {
    let all = event::sum_last(b, alpha)?;
    let all = b.map(&TOTAL, &[all])?;
    let each = b.unary(&LGAMMA, alpha);
    let each = event::sum_last(b, each)?;
    b.sub(all, each)
}

fn density(b: &mut Builder, x: NodeId, alpha: NodeId) -> Result<NodeId, BuildError> {
    // A number stands for the same concentration in every place.
    let size = b.dims(x).last().copied().unwrap_or(1);
    let alpha = if b.dims(alpha).is_empty() { b.broadcast_to(alpha, &[size]) } else { alpha };
    let terms = match b.inner(x, |inner| *inner == EXP) {
        // A parameter comes as the exponential of its logarithm.
        Some((_, logs)) => {
            let one = b.number(1.0);
            let less = b.sub(alpha, one)?;
            b.mul(less, logs)?
        }
        None => b.map(&TERM, &[x, alpha])?,
    };
    let terms = event::sum_last(b, terms)?;
    let constant = normaliser(b, alpha)?;
    b.add2(terms, constant)
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "dirichlet",
    doc: "simplexes with concentrations alpha: means alpha / sum(alpha)",
    formula: "lgamma(sum(alpha)) - sum(lgamma(alpha)) + sum((alpha - 1) .* log(x))",
    args: &[ArgSpec { name: "alpha", domain: Domain::Positive, rank: 1, default: None }],
    support: Support::Simplex,
    discrete: false,
    event: 1,
    density: Density::Events(|b, x, a| density(b, x, a[0])),
    lcdf: None,
    lccdf: None,
    quantile: None,
    sample: Sampler::Event(|rng, a, out| draw::dirichlet(rng, a[0], out)),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[0.2, 0.5, 0.3], args: &[&[2.0, 0.5, 4.0]] },
        Probe { x: &[1e-9, 0.999999999], args: &[&[0.1, 30.0]] },
    ],
};
