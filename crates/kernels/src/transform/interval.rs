//! Numbers between two bounds.

use super::row::{Constrained, Transform};
use crate::facts::{Jet, known};
use crate::ops::scalar::{self, Facts, scalar_row};

scalar_row! {
    LOG_JACOBIAN = "interval.jacobian"(u, width), "log width + log inv_logit(u) + log inv_logit(-u)";
    value width.ln() - u.abs() - (-u.abs()).exp().log1p().scale(2.0);
    slopes(_y) [T::one() - u.inv_logit().scale(2.0), width.recip()];
    probes [&[0.5, 2.0], &[-30.0, 0.1], &[8.0, 1.0]];
    // log(p (1 - p)) for p = inv_logit(u): the density of the logistic distribution.
    facts Facts::with_log(
        |a, k| {
            let c: [f64; 2] = known::fixed(a, k)?;
            if k == 0 {
                let bend = known::logistic(a[0])?;
                return (c[1] > 0.0).then(|| bend.shifted(c[1].ln()));
            }
            Some(known::log(a[1])?.shifted(-c[0].abs() - 2.0 * (-c[0].abs()).exp().ln_1p()))
        },
        |a, k| {
            let c: [f64; 2] = known::fixed(a, k)?;
            (k == 1).then(|| Jet::linear(a[1], 1.0, -c[0].abs() - 2.0 * (-c[0].abs()).exp().ln_1p()))
        }
    )
}

/// The row.
pub static ROW: Transform = Transform {
    name: "interval",
    written: "real in (a, b)",
    doc: "between a lower and an upper bound",
    formula: "x = lower + (upper - lower) inv_logit(u); log-Jacobian log(upper - lower) + log inv_logit(u) + log(1 - inv_logit(u))",
    event: 0,
    bounds: 2,
    free: |_| 1,
    build: |b, u, _, bounds| {
        let width = b.sub(bounds[1], bounds[0])?;
        let p = b.unary(&scalar::INV_LOGIT, u);
        let part = b.mul(width, p)?;
        Ok(Constrained {
            value: b.add2(bounds[0], part)?,
            log_jacobian: b.map_sum(&LOG_JACOBIAN, &[u, width], None)?,
        })
    },
    inverse: |x, bounds| {
        let (lower, upper) = (bounds[0], bounds[1]);
        (lower < x[0] && x[0] < upper).then(|| vec![(x[0] - lower).ln() - (upper - x[0]).ln()])
    },
};
