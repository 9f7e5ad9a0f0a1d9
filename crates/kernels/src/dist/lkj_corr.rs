//! The LKJ distribution over correlation matrices.

use super::event;
use super::lkj_corr_cholesky::{normaliser, sample};
use super::row::{ArgSpec, Density, Distribution, Domain, Probe, Sampler, Support};
use crate::graph::{BuildError, Builder, NodeId};

/// (eta - 1) log det x and the normaliser.
fn density(b: &mut Builder, x: NodeId, eta: NodeId) -> Result<NodeId, BuildError> {
    if !b.dims(eta).is_empty() || b.dims(x).len() > 2 {
        return event::each(b, &[(x, 2), (eta, 0)], |b, of| density(b, of[0], of[1]));
    }
    let size = b.dims(x).first().copied().unwrap_or(0);
    let l = event::cholesky(b, x)?;
    let half = event::log_det(b, l)?;
    let log_det = event::scaled(b, 2.0, half)?;
    let one = b.number(1.0);
    let power = b.sub(eta, one)?;
    let kernel = b.mul(power, log_det)?;
    let constant = normaliser(b, eta, size)?;
    b.add2(constant, kernel)
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "lkj_corr",
    doc: "correlation matrices with density proportional to determinant^(eta - 1)",
    formula: "(eta - 1) * logdet(x) + (rows(x) - 1) * lgamma(eta + 0.5 * (rows(x) - 1)) \
              - sum(0.5 * seq(1, rows(x) - 1) * log(pi()) \
              + lgamma(eta + 0.5 * (rows(x) - 1 - seq(1, rows(x) - 1))))",
    args: &[ArgSpec { name: "eta", domain: Domain::Positive, rank: 0, default: None }],
    support: Support::CorrMatrix,
    discrete: false,
    event: 2,
    density: Density::Events(|b, x, a| density(b, x, a[0])),
    lcdf: None,
    lccdf: None,
    quantile: None,
    sample: Sampler::Event(|rng, a, out| {
        let n = out.len().isqrt();
        let mut l = vec![0.0; out.len()];
        sample(rng, a[0].first().copied().unwrap_or(f64::NAN), &mut l);
        for (p, o) in out.iter_mut().enumerate() {
            let (i, j) = (p / n, p % n);
            *o = if i == j { 1.0 } else { (0..=i.min(j)).map(|k| l[i * n + k] * l[j * n + k]).sum() };
        }
    }),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[1.0, 0.6, 0.6, 1.0], args: &[&[2.0]] },
        Probe { x: &[1.0, 0.6, -0.48, 0.6, 1.0, 0.1, -0.48, 0.1, 1.0], args: &[&[0.7]] },
    ],
};
