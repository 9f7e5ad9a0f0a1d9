//! The same step at every iteration.

use super::{Needs, Rule, fixed};
use crate::vi::table::Parameter;

/// The row.
pub(super) const ROW: Rule = Rule {
    name: "constant",
    doc: "the same step throughout: constant=0.01",
    parameter: Some(Parameter { name: "step", default: 0.01, range: (0.0, f64::INFINITY) }),
    needs: Needs::Nothing,
    each: false,
    guarantee: None,
    average: "polynomial",
    make: |s| fixed(s.value),
};
