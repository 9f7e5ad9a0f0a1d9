//! No constraint.

use super::row::{Constrained, Transform};

/// The row.
pub static ROW: Transform = Transform {
    name: "real",
    written: "real",
    doc: "any real number",
    formula: "x = u; log-Jacobian 0",
    event: 0,
    bounds: 0,
    free: |_| 1,
    build: |b, u, _, _| Ok(Constrained { value: u, log_jacobian: b.number(0.0) }),
    inverse: |x, _| Some(x.to_vec()),
};
