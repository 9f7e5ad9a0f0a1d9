//! The LKJ distribution over Cholesky factors of correlation matrices.

use super::count::RISE;
use super::row::{ArgSpec, Density, Distribution, Domain, Probe, Sampler, Support};
use super::{draw, event};
use crate::graph::{BuildError, Builder, NodeId};
use crate::ops::scalar::{LOG, MUL};
use rand_chacha::ChaCha8Rng;

/// The log of the normalising constant for K × K matrices, with the axes of eta (Lewandowski, Kurowicka & Joe
/// 2009, theorem 5, as differences): Σ_k log Γ(eta + (K-1)/2) - log Γ(a_k) - k/2 log π with a_k = eta +
/// (K-1-k)/2, k = 1..K-1.
pub(super) fn normaliser(b: &mut Builder, eta: NodeId, size: usize) -> Result<NodeId, BuildError> {
    if size < 2 {
        return Ok(b.number(0.0));
    }
    let halves: Vec<f64> = (1..size).map(|k| 0.5 * k as f64).collect();
    let top = 0.5 * (size - 1) as f64;
    let shifts: Vec<f64> = halves.iter().map(|h| top - h).collect();
    let constant = -halves.iter().sum::<f64>() * std::f64::consts::PI.ln();
    let (halves, shifts) = (event::vector(b, &halves), event::vector(b, &shifts));
    let eta = event::widen(b, eta, 1);
    let a = b.add2(eta, shifts)?;
    let rise = b.map(&RISE, &[halves, a])?;
    let log = b.unary(&LOG, a);
    let powers = b.map(&MUL, &[halves, log])?;
    let terms = b.add2(rise, powers)?;
    let sum = event::sum_last(b, terms)?;
    let constant = b.number(constant);
    b.add2(constant, sum)
}

/// The normaliser plus Σ_k (K - k + 2 (eta - 1)) log L_kk, k = 2..K counted from 1.
fn density(b: &mut Builder, l: NodeId, eta: NodeId) -> Result<NodeId, BuildError> {
    if !b.dims(eta).is_empty() || b.dims(l).len() > 2 {
        return event::each(b, &[(l, 2), (eta, 0)], |b, of| density(b, of[0], of[1]));
    }
    let size = b.dims(l).first().copied().unwrap_or(0);
    let logs = event::log_diagonal(b, l);
    let powers: Vec<f64> = (1..=size).map(|k| if k == 1 { 0.0 } else { (size - k) as f64 - 2.0 }).collect();
    let twice: Vec<f64> = (1..=size).map(|k| if k == 1 { 0.0 } else { 2.0 }).collect();
    let (powers, twice) = (event::vector(b, &powers), event::vector(b, &twice));
    let of_eta = b.mul(twice, eta)?;
    let powers = b.add2(powers, of_eta)?;
    let terms = b.map_sum(&MUL, &[powers, logs], None)?;
    let constant = normaliser(b, eta, size)?;
    b.add2(constant, terms)
}

/// A Cholesky factor by canonical partial correlations, each a stretched beta (the C-vine of Lewandowski,
/// Kurowicka & Joe).
pub(super) fn sample(rng: &mut ChaCha8Rng, eta: f64, out: &mut [f64]) {
    let n = out.len().isqrt();
    out.fill(0.0);
    for i in 0..n {
        let mut left: f64 = 1.0;
        for j in 0..i {
            let shape = eta + 0.5 * (n - 2 - j) as f64;
            let mut share = [0.0; 2];
            draw::dirichlet(rng, &[shape, shape], &mut share);
            let partial = share[0] - share[1];
            out[i * n + j] = partial * left.sqrt();
            // 1 - partial² without cancellation near ±1.
            left *= 4.0 * share[0] * share[1];
        }
        out[i * n + i] = left.sqrt();
    }
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "lkj_corr_cholesky",
    doc: "Cholesky factors of correlation matrices whose density is proportional to determinant^(eta - 1)",
    formula: "sum((rows(x) - 2 - seq(2, rows(x)) + 2 * eta) .* log(diag(x)[2..rows(x)])) \
              + (rows(x) - 1) * lgamma(eta + 0.5 * (rows(x) - 1)) \
              - sum(0.5 * seq(1, rows(x) - 1) * log(pi()) \
              + lgamma(eta + 0.5 * (rows(x) - 1 - seq(1, rows(x) - 1))))",
    args: &[ArgSpec { name: "eta", domain: Domain::Positive, rank: 0, default: None }],
    support: Support::CholeskyCorr,
    discrete: false,
    event: 2,
    density: Density::Events(|b, x, a| density(b, x, a[0])),
    lcdf: None,
    lccdf: None,
    quantile: None,
    sample: Sampler::Event(|rng, a, out| sample(rng, a[0].first().copied().unwrap_or(f64::NAN), out)),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[1.0, 0.0, 0.6, 0.8], args: &[&[2.0]] },
        Probe { x: &[1.0, 0.0, 0.0, 0.6, 0.8, 0.0, -0.48, 0.6, 0.64], args: &[&[0.7]] },
    ],
};
