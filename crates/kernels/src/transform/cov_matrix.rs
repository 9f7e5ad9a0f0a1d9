//! Covariance matrices, through their Cholesky factors.

use super::cholesky_cov;
use super::row::{Constrained, Transform, assemble, batch};
use crate::graph::{BuildError, Builder, NodeId};
use crate::num::linalg;

/// L Lᵀ from the entries of L, each a vector over the batch.
pub(super) fn product(b: &mut Builder, l: &[NodeId], k: usize) -> Result<Vec<NodeId>, BuildError> {
    let mut out = vec![l[0]; k * k];
    for i in 0..k {
        for j in 0..=i {
            let mut sum = b.mul(l[i * k], l[j * k])?;
            for m in 1..=j {
                let term = b.mul(l[i * k + m], l[j * k + m])?;
                sum = b.add2(sum, term)?;
            }
            out[i * k + j] = sum;
            out[j * k + i] = sum;
        }
    }
    Ok(out)
}

/// The lower Cholesky factor, row by row, or None if there is none.
pub(super) fn cholesky(x: &[f64]) -> Option<Vec<f64>> {
    let k = x.len().isqrt();
    let mut factor = x.to_vec();
    linalg::cholesky(&mut factor, k).ok()?;
    let symmetric = (0..k * k).all(|f| (x[f] - x[(f % k) * k + f / k]).abs() <= 1e-8 * (1.0 + x[f].abs()));
    symmetric.then(|| (0..k * k).map(|f| if f % k <= f / k { factor[f] } else { 0.0 }).collect())
}

/// The row.
pub static ROW: Transform = Transform {
    name: "cov_matrix",
    written: "cov_matrix[K]",
    doc: "symmetric and positive definite",
    formula: "x = L Lᵀ with L as for cholesky_cov; log-Jacobian K log 2 + Σ_i (K - i + 2) u_ii",
    event: 2,
    bounds: 0,
    free: |event| event[0] * (event[0] + 1) / 2,
    build: |b, u, dims, _| {
        let (n, k) = (batch(dims, 2), dims[dims.len() - 1]);
        let (l, diagonal) = cholesky_cov::entries(b, u, n, k)?;
        let mut jacobian = b.number((n * k) as f64 * std::f64::consts::LN_2);
        for (i, coordinate) in diagonal.into_iter().enumerate() {
            let (sum, times) = (b.sum(coordinate, None)?, b.number((k - i + 1) as f64));
            let term = b.mul(times, sum)?;
            jacobian = b.add2(jacobian, term)?;
        }
        let entries = product(b, &l, k)?;
        Ok(Constrained { value: assemble(b, &entries, n, dims), log_jacobian: jacobian })
    },
    inverse: |x, bounds| (cholesky_cov::ROW.inverse)(&cholesky(x)?, bounds),
};
