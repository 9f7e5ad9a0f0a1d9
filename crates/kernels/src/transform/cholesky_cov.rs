//! Cholesky factors of covariance matrices.

use super::row::{Constrained, Transform, assemble, batch, column};
use crate::graph::{BuildError, Builder, NodeId};
use crate::ops::scalar;

/// The entries of the factor, row by row, each a vector over the batch; and the coordinates of the diagonal.
pub(super) fn entries(
    b: &mut Builder,
    u: NodeId,
    n: usize,
    k: usize,
) -> Result<(Vec<NodeId>, Vec<NodeId>), BuildError> {
    let zero = b.constant(vec![0.0; n], vec![n]);
    let (mut entries, mut diagonal) = (vec![zero; k * k], Vec::with_capacity(k));
    let mut next = 0;
    for i in 0..k {
        for j in 0..=i {
            let coordinate = column(b, u, n, next);
            next += 1;
            if i == j {
                diagonal.push(coordinate);
                entries[i * k + j] = b.unary(&scalar::EXP, coordinate);
            } else {
                entries[i * k + j] = coordinate;
            }
        }
    }
    Ok((entries, diagonal))
}

/// The row.
pub static ROW: Transform = Transform {
    name: "cholesky_cov",
    written: "cholesky_cov[K]",
    doc: "lower-triangular with a positive diagonal",
    formula: "row by row: L_ij = u below the diagonal, L_ii = exp(u); log-Jacobian Σ u over the diagonal",
    event: 2,
    bounds: 0,
    free: |event| event[0] * (event[0] + 1) / 2,
    build: |b, u, dims, _| {
        let (n, k) = (batch(dims, 2), dims[dims.len() - 1]);
        let (entries, diagonal) = entries(b, u, n, k)?;
        let diagonal = b.stack(&diagonal);
        Ok(Constrained { value: assemble(b, &entries, n, dims), log_jacobian: b.sum(diagonal, None)? })
    },
    inverse: |x, _| {
        let k = (x.len() as f64).sqrt() as usize;
        let mut free = Vec::new();
        for i in 0..k {
            free.extend_from_slice(&x[i * k..i * k + i]);
            free.push((x[i * k + i] > 0.0).then(|| x[i * k + i].ln())?);
        }
        Some(free)
    },
};
