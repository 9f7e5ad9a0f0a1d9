//! Numbers below a bound.

use super::row::{Constrained, Transform};
use crate::ops::scalar;

/// The row.
pub static ROW: Transform = Transform {
    name: "upper",
    written: "real < b",
    doc: "below an upper bound",
    formula: "x = upper - exp(u); log-Jacobian u",
    event: 0,
    bounds: 1,
    free: |_| 1,
    build: |b, u, _, bounds| {
        let e = b.unary(&scalar::EXP, u);
        Ok(Constrained { value: b.sub(bounds[0], e)?, log_jacobian: b.sum(u, None)? })
    },
    inverse: |x, bounds| (x[0] < bounds[0]).then(|| vec![(bounds[0] - x[0]).ln()]),
};
