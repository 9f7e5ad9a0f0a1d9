//! The constant step √(2/(aT)) of the Proj-SGD theorem for concave targets.

use super::{Guarantee, Needs, Rule, fixed};
use crate::vi::bound::Measure;

/// The row.
pub(super) const ROW: Rule = Rule {
    name: "proj_concave",
    doc: "√(2/(aT)): the theorem for projected SGD on a log-concave target",
    parameter: None,
    needs: Needs::Smoothness,
    each: false,
    guarantee: Some(Guarantee {
        measure: Measure::Gap,
        operator: "projection",
        average: "theta_proj",
        bound: |b, _, steps| (steps >= 2).then(|| b.proj_concave(steps)),
    }),
    average: "theta_proj",
    make: |s| fixed((2.0 / (s.noise * s.steps as f64)).sqrt()),
};
