//! The decaying step of the Prox-SGD theorem for strongly concave targets.

use super::{Guarantee, Needs, Rule, decaying};
use crate::vi::bound::Measure;

/// The row.
pub(super) const ROW: Rule = Rule {
    name: "prox_decay",
    doc: "min(μ/2a, (2t+1)/(μ(t+1)²)): the theorem for Prox-SGD on a strongly log-concave target",
    parameter: None,
    needs: Needs::StrongConcavity,
    each: false,
    guarantee: Some(Guarantee {
        measure: Measure::Distance,
        operator: "prox",
        average: "last",
        bound: |b, _, steps| Some(b.prox_decay(steps)),
    }),
    average: "last",
    make: |s| decaying(0.5 * s.strong_concavity / s.noise, 1.0 / s.strong_concavity),
};
