//! Positive numbers that sum to one: centred stick-breaking, in log space.

use super::row::{Constrained, Transform, assemble, batch, column};
use crate::ops::scalar;

/// The row.
pub static ROW: Transform = Transform {
    name: "simplex",
    written: "simplex[K]",
    doc: "positive entries that sum to 1",
    formula: "z_k = inv_logit(u_k - log(K - k)), x_k = s_k z_k, s_1 = 1, s_(k+1) = s_k - x_k, x_K = s_K; log-Jacobian Σ log s_k + log z_k + log(1 - z_k)",
    event: 1,
    bounds: 0,
    free: |event| event[0].saturating_sub(1),
    build: |b, u, dims, _| {
        let (n, k) = (batch(dims, 1), dims[dims.len() - 1]);
        let mut left = b.constant(vec![0.0; n], vec![n]); // log s_k
        let mut jacobian = b.number(0.0);
        let mut logs = Vec::with_capacity(k);
        for i in 0..k.saturating_sub(1) {
            let (coordinate, centre) = (column(b, u, n, i), b.number(((k - 1 - i) as f64).ln()));
            let v = b.sub(coordinate, centre)?;
            let taken = b.unary(&scalar::LOG_INV_LOGIT, v);
            let kept = b.unary(&scalar::LOG1M_INV_LOGIT, v);
            let log_x = b.add2(left, taken)?;
            let next = b.add2(left, kept)?;
            let term = b.add2(log_x, kept)?;
            let term = b.sum(term, None)?;
            jacobian = b.add2(jacobian, term)?;
            logs.push(log_x);
            left = next;
        }
        logs.push(left);
        let log_x = assemble(b, &logs, n, dims);
        Ok(Constrained { value: b.unary(&scalar::EXP, log_x), log_jacobian: jacobian })
    },
    inverse: |x, _| {
        let k = x.len();
        let total: f64 = x.iter().sum();
        if x.iter().any(|&p| p <= 0.0) || (total - 1.0).abs() > 1e-8 {
            return None;
        }
        // What is left after entry i, summed from the small end so that it stays positive.
        Some(
            (0..k - 1)
                .map(|i| (x[i] / x[i + 1..].iter().sum::<f64>()).ln() + ((k - 1 - i) as f64).ln())
                .collect(),
        )
    },
};
