//! Cholesky factors of correlation matrices.

use super::row::{Constrained, Transform, assemble, batch, column};
use crate::facts::known;
use crate::ops::scalar::{self, Facts, scalar_row};

scalar_row! {
    LOG1M_TANH_SQUARE = "log1m_tanh_square"(u), "log(1 - tanh(u)²)";
    value (T::splat(std::f64::consts::LN_2) - u.abs() - (u.abs().scale(-2.0)).exp().log1p()).scale(2.0);
    slopes(_y) [u.tanh().scale(-2.0)];
    probes [&[0.5], &[-20.0], &[3.0]];
    facts Facts::of(|u, _| known::log1m_tanh_square(u[0]))
}

/// The row.
pub static ROW: Transform = Transform {
    name: "cholesky_corr",
    written: "cholesky_corr[K]",
    doc: "lower-triangular, rows of unit length, positive diagonal",
    formula: "row i: L_ij = tanh(u) √(1 - Σ_(k<j) L_ik²), L_ii = √(1 - Σ L_ik²); log-Jacobian Σ log(1 - tanh²) + ½ Σ_(1<j<i) log(1 - Σ_(k<j) L_ik²)",
    event: 2,
    bounds: 0,
    free: |event| event[0] * event[0].saturating_sub(1) / 2,
    build: |b, u, dims, _| {
        let (n, k) = (batch(dims, 2), dims[dims.len() - 1]);
        let (zero, one) = (b.constant(vec![0.0; n], vec![n]), b.constant(vec![1.0; n], vec![n]));
        let half = b.number(0.5);
        let mut jacobian = b.number(0.0);
        let mut entries = vec![zero; k * k];
        let mut next = 0;
        for i in 0..k {
            let mut left = one; // 1 - Σ_(k<j) L_ik²
            for j in 0..i {
                let coordinate = column(b, u, n, next);
                next += 1;
                if j > 0 {
                    let log = b.unary(&scalar::LOG, left);
                    let term = b.sum(log, None)?;
                    let term = b.mul(half, term)?;
                    jacobian = b.add2(jacobian, term)?;
                }
                let term = b.map_sum(&LOG1M_TANH_SQUARE, &[coordinate], None)?;
                jacobian = b.add2(jacobian, term)?;
                let (z, length) = (b.unary(&scalar::TANH, coordinate), b.unary(&scalar::SQRT, left));
                let entry = b.mul(z, length)?;
                let square = b.unary(&scalar::SQUARE, entry);
                left = b.sub(left, square)?;
                entries[i * k + j] = entry;
            }
            entries[i * k + i] = b.unary(&scalar::SQRT, left);
        }
        Ok(Constrained { value: assemble(b, &entries, n, dims), log_jacobian: jacobian })
    },
    inverse: |x, _| {
        let k = (x.len() as f64).sqrt() as usize;
        let mut free = Vec::new();
        for i in 0..k {
            let mut left: f64 = 1.0;
            for j in 0..i {
                let z = x[i * k + j] / left.sqrt();
                if z.is_nan() || z.abs() >= 1.0 {
                    return None;
                }
                free.push(z.atanh());
                left -= x[i * k + j].powi(2);
            }
            if (left - x[i * k + i].powi(2)).abs() > 1e-8 || x[i * k + i] <= 0.0 {
                return None;
            }
        }
        Some(free)
    },
};
