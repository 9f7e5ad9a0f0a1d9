//! The constant step A log T / T, for strongly concave targets whose constants are not known.

use super::{Guarantee, Needs, Rule, fixed};
use crate::vi::bound::Measure;
use crate::vi::table::Parameter;

/// The row. The guarantee asks for A ≥ 1/μ and T/log T ≥ 2aA/μ.
pub(super) const ROW: Rule = Rule {
    name: "log_t_over_t",
    doc: "A log T / T, A at least 1/μ: the corollary for Prox-SGD that asks for no constant",
    parameter: Some(Parameter { name: "A", default: 1.0, range: (0.0, f64::INFINITY) }),
    needs: Needs::Nothing,
    each: false,
    guarantee: Some(Guarantee {
        measure: Measure::Distance,
        operator: "prox",
        average: "last",
        bound: |b, factor, steps| b.prox_log_t_over_t(factor, steps),
    }),
    average: "last",
    make: |s| {
        // log 1 is 0: a single step would not move.
        let steps = s.steps.max(2) as f64;
        fixed(s.value * steps.ln() / steps)
    },
};
