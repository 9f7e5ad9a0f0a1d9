//! Numbers measured from an offset in units of a multiplier.

use super::row::{Constrained, Transform};
use crate::ops::scalar;

/// The row.
pub static ROW: Transform = Transform {
    name: "affine",
    written: "real offset m multiplier s",
    doc: "any real number, with coordinates shifted by `offset` and scaled by `multiplier`",
    formula: "x = offset + multiplier u; log-Jacobian log(multiplier)",
    event: 0,
    bounds: 2,
    free: |_| 1,
    build: |b, u, dims, bounds| {
        let spread = b.mul(bounds[1], u)?;
        let log = b.unary(&scalar::LOG, bounds[1]);
        let each = b.broadcast_to(log, dims);
        Ok(Constrained { value: b.add2(bounds[0], spread)?, log_jacobian: b.sum(each, None)? })
    },
    inverse: |x, bounds| (bounds[1] > 0.0).then(|| vec![(x[0] - bounds[0]) / bounds[1]]),
};
