//! The projection onto σ_min(C) ≥ 1/√M, which holds the optimum whenever the target is M-smooth.

use super::Operator;
use crate::vi::estimator::Estimates;

/// The row. It is Euclidean whatever the steps were.
pub(super) const ROW: Operator = Operator {
    name: "projection",
    doc: "projection onto singular values of C at least 1/√M",
    expects: Estimates::Objective,
    floors: true,
    apply: |factor, c, _, floor| factor.project(c, floor),
};
