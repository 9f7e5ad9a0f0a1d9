//! Vectors of length one.

use super::row::{Constrained, Transform, batch};
use crate::ops::scalar;

/// The row.
pub static ROW: Transform = Transform {
    name: "unit_vector",
    written: "unit_vector[K]",
    doc: "entries whose squares sum to 1",
    formula: "x = u / |u|; log-Jacobian -|u|²/2 (a standard normal length makes the extra dimension proper)",
    event: 1,
    bounds: 0,
    free: |event| event[0],
    build: |b, u, dims, _| {
        let (n, k) = (batch(dims, 1), dims[dims.len() - 1]);
        let u = b.reshape(u, vec![n, k]);
        let squares = b.unary(&scalar::SQUARE, u);
        let lengths = b.sum(squares, Some(1))?;
        let total = b.sum(lengths, None)?;
        // Zero has no direction, and Stan refuses it; fits start there, so it stands for the first axis.
        let zero = b.number(0.0);
        let nowhere = b.map(&scalar::EQ, &[lengths, zero])?;
        let nowhere = b.reshape(nowhere, vec![n, 1]);
        let first = b.constant((0..k).map(|i| f64::from(u8::from(i == 0))).collect::<Vec<_>>(), vec![k]);
        let step = b.mul(nowhere, first)?;
        let u = b.add2(u, step)?;
        let squares = b.unary(&scalar::SQUARE, u);
        let lengths = b.sum(squares, Some(1))?;
        let inverse = b.unary(&scalar::INV_SQRT, lengths);
        let inverse = b.reshape(inverse, vec![n, 1]);
        let value = b.mul(u, inverse)?;
        let half = b.number(-0.5);
        Ok(Constrained { value: b.reshape(value, dims.to_vec()), log_jacobian: b.mul(half, total)? })
    },
    inverse: |x, _| {
        let length: f64 = x.iter().map(|x| x * x).sum();
        ((length - 1.0).abs() < 1e-8).then(|| x.to_vec())
    },
};
