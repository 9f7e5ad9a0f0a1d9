//! Increasing positive numbers.

use super::row::{Constrained, Transform};
use crate::ops::scalar;

/// The row.
pub static ROW: Transform = Transform {
    name: "positive_ordered",
    written: "positive_ordered[K]",
    doc: "increasing entries, all positive",
    formula: "x_1 = exp(u_1), x_k = x_(k-1) + exp(u_k); log-Jacobian Σ u_k",
    event: 1,
    bounds: 0,
    free: |event| event[0],
    build: |b, u, dims, _| {
        let steps = b.unary(&scalar::EXP, u);
        let steps = b.reshape(steps, dims.to_vec());
        Ok(Constrained { value: b.cumsum(steps)?, log_jacobian: b.sum(u, None)? })
    },
    inverse: |x, _| {
        let before = std::iter::once(&0.0).chain(x);
        x.iter().zip(before).map(|(x, before)| (x > before).then(|| (x - before).ln())).collect()
    },
};
