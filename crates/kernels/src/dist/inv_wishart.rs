//! The inverse Wishart distribution over covariance matrices.

use super::event;
use super::row::{ArgSpec, Density, Distribution, Domain, Probe, Sampler, Support};
use super::wishart::{bartlett, factor, gram, normaliser, trace_ratio};
use crate::graph::{BuildError, Builder, NodeId};
use crate::num::linalg;

fn density(b: &mut Builder, x: NodeId, nu: NodeId, s: NodeId) -> Result<NodeId, BuildError> {
    if [b.dims(x).len() > 2, b.dims(s).len() > 2, !b.dims(nu).is_empty()].contains(&true) {
        return event::each(b, &[(x, 2), (nu, 0), (s, 2)], |b, of| density(b, of[0], of[1], of[2]));
    }
    let size = b.dims(x).first().copied().unwrap_or(0);
    let (of_x, of_s) = (event::cholesky(b, x)?, event::cholesky(b, s)?);
    let (det_x, det_s) = (event::log_det(b, of_x)?, event::log_det(b, of_s)?);
    // (nu + K + 1)/2 log det x = (nu + K + 1) log det of its factor.
    let shift = b.number(size as f64 + 1.0);
    let power = b.add2(nu, shift)?;
    let spread = b.mul(power, det_x)?;
    let trace = trace_ratio(b, of_x, of_s)?;
    let trace = event::scaled(b, -0.5, trace)?;
    let scale = b.mul(nu, det_s)?;
    let constant = normaliser(b, nu, size)?;
    let kernel = b.add2(scale, trace)?;
    let kernel = b.sub(kernel, spread)?;
    b.sub(kernel, constant)
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "inv_wishart",
    doc: "covariance matrices whose inverses are wishart(nu, inverse(S)); mean S / (nu - K - 1)",
    formula: "-0.5 * (nu + rows(x) + 1) * logdet(x) - 0.5 * trace(solve(x, S)) + 0.5 * nu * logdet(S) \
              - 0.5 * nu * rows(x) * log(2) - 0.25 * rows(x) * (rows(x) - 1) * log(pi()) \
              - sum(lgamma(0.5 * (nu + 1 - seq(1, rows(x)))))",
    args: &[
        ArgSpec { name: "nu", domain: Domain::Positive, rank: 0, default: None },
        ArgSpec { name: "S", domain: Domain::Covariance, rank: 2, default: None },
    ],
    support: Support::CovMatrix,
    discrete: false,
    event: 2,
    density: Density::Events(|b, x, a| density(b, x, a[0], a[1])),
    lcdf: None,
    lccdf: None,
    quantile: None,
    sample: Sampler::Event(|rng, a, out| {
        // With B Bᵀ ~ wishart(nu, I) and S = L Lᵀ, x = M Mᵀ with M = L B⁻ᵀ: each row of M solves B m = row of
        // L.
        let n = out.len().isqrt();
        let noise = bartlett(rng, a[0].first().copied().unwrap_or(f64::NAN), n);
        let mut rows = factor(a[1], n);
        rows.chunks_exact_mut(n.max(1)).for_each(|row| linalg::solve_lower(&noise, n, row));
        gram(&rows, n, out);
    }),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[1.3, 0.4, 0.4, 0.9], args: &[&[3.5], &[0.7, 0.1, 0.1, 1.3]] },
        Probe {
            x: &[2.0, 0.3, -0.1, 0.3, 1.0, 0.2, -0.1, 0.2, 0.5],
            args: &[&[12.0], &[1.0, -0.5, 0.2, -0.5, 0.8, 0.0, 0.2, 0.0, 3.0]],
        },
    ],
};
