//! Increasing numbers.

use super::row::{Constrained, Transform, assemble, batch, column};
use crate::ops::scalar;

/// The row.
pub static ROW: Transform = Transform {
    name: "ordered",
    written: "ordered[K]",
    doc: "increasing entries",
    formula: "x_1 = u_1, x_k = x_(k-1) + exp(u_k); log-Jacobian Σ_(k≥2) u_k",
    event: 1,
    bounds: 0,
    free: |event| event[0],
    build: |b, u, dims, _| {
        let (n, k) = (batch(dims, 1), dims[dims.len() - 1]);
        let mut jacobian = b.number(0.0);
        let mut steps = Vec::with_capacity(k);
        for i in 0..k {
            let coordinate = column(b, u, n, i);
            if i == 0 {
                steps.push(coordinate);
                continue;
            }
            steps.push(b.unary(&scalar::EXP, coordinate));
            let term = b.sum(coordinate, None)?;
            jacobian = b.add2(jacobian, term)?;
        }
        let steps = assemble(b, &steps, n, dims);
        Ok(Constrained { value: b.cumsum(steps)?, log_jacobian: jacobian })
    },
    inverse: |x, _| {
        let logs = x.windows(2).map(|w| (w[1] > w[0]).then(|| (w[1] - w[0]).ln()));
        x.first().map(|&first| Some(first)).into_iter().chain(logs).collect()
    },
};
