//! The Wishart distribution over covariance matrices.

use super::row::{ArgSpec, Density, Distribution, Domain, Probe, Sampler, Support};
use super::{draw, event};
use crate::graph::{BuildError, Builder, NodeId};
use crate::num::linalg;
use crate::ops::array::TriangularSolve;
use crate::ops::scalar::{LGAMMA, SQUARE};
use rand_chacha::ChaCha8Rng;

/// log Γ_K(nu / 2) + nu K / 2 log 2, for a number nu.
pub(super) fn normaliser(b: &mut Builder, nu: NodeId, size: usize) -> Result<NodeId, BuildError> {
    let k = size as f64;
    let shifts: Vec<f64> = (0..size).map(|j| -0.5 * j as f64).collect();
    let shifts = event::vector(b, &shifts);
    let half = event::scaled(b, 0.5, nu)?;
    let at = b.add2(half, shifts)?;
    let gammas = b.map_sum(&LGAMMA, &[at], None)?;
    let constant = b.number(0.25 * k * (k - 1.0) * std::f64::consts::PI.ln());
    let powers = event::scaled(b, k * std::f64::consts::LN_2, half)?;
    event::total(b, &[gammas, constant, powers])
}

/// tr((L Lᵀ)⁻¹ M Mᵀ) = |L⁻¹ M|² for lower triangular L and M.
pub(super) fn trace_ratio(b: &mut Builder, l: NodeId, m: NodeId) -> Result<NodeId, BuildError> {
    let ratio = b.array(TriangularSolve { transposed: false, rows: false }, &[l, m])?;
    b.map_sum(&SQUARE, &[ratio], None)
}

/// A lower triangular B with B Bᵀ distributed as wishart(nu, I) (Bartlett), row-major [n, n].
pub(super) fn bartlett(rng: &mut ChaCha8Rng, nu: f64, n: usize) -> Vec<f64> {
    let mut factor = vec![0.0; n * n];
    for i in 0..n {
        (0..i).for_each(|j| factor[i * n + j] = draw::normal(rng));
        factor[i * n + i] = draw::chi_squared(rng, nu - i as f64).sqrt();
    }
    factor
}

/// The Cholesky factor of a matrix of numbers with zeros above the diagonal; NaN if there is none.
pub(super) fn factor(matrix: &[f64], n: usize) -> Vec<f64> {
    let mut l = matrix.to_vec();
    if l.len() != n * n || linalg::cholesky(&mut l, n).is_err() {
        return vec![f64::NAN; n * n];
    }
    (0..n).for_each(|i| l[i * n + i + 1..(i + 1) * n].fill(0.0));
    l
}

/// A Aᵀ for row-major A [n, n].
pub(super) fn gram(a: &[f64], n: usize, out: &mut [f64]) {
    for (p, o) in out.iter_mut().enumerate() {
        let (row, other) = (&a[p / n * n..][..n], &a[p % n * n..][..n]);
        *o = row.iter().zip(other).map(|(x, y)| x * y).sum();
    }
}

fn density(b: &mut Builder, x: NodeId, nu: NodeId, s: NodeId) -> Result<NodeId, BuildError> {
    if [b.dims(x).len() > 2, b.dims(s).len() > 2, !b.dims(nu).is_empty()].contains(&true) {
        return event::each(b, &[(x, 2), (nu, 0), (s, 2)], |b, of| density(b, of[0], of[1], of[2]));
    }
    let size = b.dims(x).first().copied().unwrap_or(0);
    let (of_x, of_s) = (event::cholesky(b, x)?, event::cholesky(b, s)?);
    let (det_x, det_s) = (event::log_det(b, of_x)?, event::log_det(b, of_s)?);
    // (nu - K - 1)/2 log det x = (nu - K - 1) log det of its factor.
    let shift = b.number(size as f64 + 1.0);
    let power = b.sub(nu, shift)?;
    let spread = b.mul(power, det_x)?;
    let trace = trace_ratio(b, of_s, of_x)?;
    let trace = event::scaled(b, -0.5, trace)?;
    let scale = b.mul(nu, det_s)?;
    let constant = normaliser(b, nu, size)?;
    let kernel = b.add2(spread, trace)?;
    let kernel = b.sub(kernel, scale)?;
    b.sub(kernel, constant)
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "wishart",
    doc: "covariance matrices with nu degrees of freedom and mean nu * S",
    formula: "0.5 * (nu - rows(x) - 1) * logdet(x) - 0.5 * trace(solve(S, x)) - 0.5 * nu * logdet(S) \
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
        let n = out.len().isqrt();
        let noise = bartlett(rng, a[0].first().copied().unwrap_or(f64::NAN), n);
        let l = factor(a[1], n);
        let mut moved = vec![0.0; n * n];
        for (p, m) in moved.iter_mut().enumerate() {
            *m = (0..n).map(|k| l[p / n * n + k] * noise[k * n + p % n]).sum();
        }
        gram(&moved, n, out);
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
