//! No operator: plain stochastic gradient descent, for comparison.

use super::Operator;
use crate::vi::estimator::Estimates;

/// The row. A step that makes C lose positive definiteness is rejected like one with a value that is not
/// finite.
pub(super) const ROW: Operator = Operator {
    name: "none",
    doc: "plain gradient steps; one that leaves the positive definite matrices is taken back and halved",
    expects: Estimates::Objective,
    floors: false,
    apply: |factor, c, _, _| factor.load(c),
};
