//! The constant step 1/√(aT) of the Prox-SGD theorem for concave targets.

use super::{Guarantee, Needs, Rule, fixed};
use crate::vi::bound::Measure;

/// The row.
pub(super) const ROW: Rule = Rule {
    name: "prox_concave",
    doc: "1/√(aT): the theorem for Prox-SGD on a log-concave target",
    parameter: None,
    needs: Needs::Smoothness,
    each: false,
    guarantee: Some(Guarantee {
        measure: Measure::Gap,
        operator: "prox",
        average: "theta_prox",
        bound: |b, _, steps| (steps >= 2).then(|| b.prox_concave(steps)),
    }),
    average: "theta_prox",
    make: |s| fixed(1.0 / (s.noise * s.steps as f64).sqrt()),
};
