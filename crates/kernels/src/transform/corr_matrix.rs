//! Correlation matrices, through canonical partial correlations.

use super::cholesky_corr::LOG1M_TANH_SQUARE;
use super::cov_matrix::{cholesky, product};
use super::row::{Constrained, Transform, assemble, batch, column};
use crate::ops::scalar;

/// The row.
pub static ROW: Transform = Transform {
    name: "corr_matrix",
    written: "corr_matrix[K]",
    doc: "symmetric, positive definite, ones on the diagonal",
    formula: "z = tanh(u), column by column; L_ij = z_ij √(1 - Σ_(k<j) L_ik²), x = L Lᵀ; log-Jacobian Σ_(j<i) (1 + (K - j - 1)/2) log(1 - z_ij²)",
    event: 2,
    bounds: 0,
    free: |event| event[0] * event[0].saturating_sub(1) / 2,
    build: |b, u, dims, _| {
        let (n, k) = (batch(dims, 2), dims[dims.len() - 1]);
        let (zero, one) = (b.constant(vec![0.0; n], vec![n]), b.constant(vec![1.0; n], vec![n]));
        let mut jacobian = b.number(0.0);
        let mut entries = vec![zero; k * k];
        let mut left = vec![one; k]; // 1 - Σ_(k<j) L_ik² for each row i
        let mut next = 0;
        for j in 0..k {
            entries[j * k + j] = b.unary(&scalar::SQRT, left[j]);
            for i in j + 1..k {
                let coordinate = column(b, u, n, next);
                next += 1;
                let log = b.map_sum(&LOG1M_TANH_SQUARE, &[coordinate], None)?;
                let times = b.number(1.0 + 0.5 * (k - j - 2) as f64);
                let term = b.mul(times, log)?;
                jacobian = b.add2(jacobian, term)?;
                let (z, length) = (b.unary(&scalar::TANH, coordinate), b.unary(&scalar::SQRT, left[i]));
                let entry = b.mul(z, length)?;
                let square = b.unary(&scalar::SQUARE, entry);
                left[i] = b.sub(left[i], square)?;
                entries[i * k + j] = entry;
            }
        }
        let entries = product(b, &entries, k)?;
        Ok(Constrained { value: assemble(b, &entries, n, dims), log_jacobian: jacobian })
    },
    inverse: |x, _| {
        let l = cholesky(x)?;
        let k = (x.len() as f64).sqrt() as usize;
        if (0..k).any(|i| (x[i * k + i] - 1.0).abs() > 1e-8) {
            return None;
        }
        let mut free = Vec::new();
        for j in 0..k {
            for i in j + 1..k {
                let left = 1.0 - l[i * k..i * k + j].iter().map(|x| x * x).sum::<f64>();
                free.push((l[i * k + j] / left.sqrt()).atanh());
            }
        }
        Some(free)
    },
};
