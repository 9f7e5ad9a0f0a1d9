//! The decaying step of the Proj-SGD theorem for strongly concave targets.

use super::{Guarantee, Needs, Rule, decaying};
use crate::vi::bound::Measure;

/// The row.
pub(super) const ROW: Rule = Rule {
    name: "proj_decay",
    doc: "min(μ/2a, 2(2t+1)/(μ(t+1)²)): the theorem for projected SGD on a strongly log-concave target",
    parameter: None,
    needs: Needs::StrongConcavity,
    each: false,
    guarantee: Some(Guarantee {
        measure: Measure::Distance,
        operator: "projection",
        average: "last",
        bound: |b, _, steps| Some(b.proj_decay(steps)),
    }),
    average: "last",
    make: |s| decaying(0.5 * s.strong_concavity / s.noise, 2.0 / s.strong_concavity),
};
