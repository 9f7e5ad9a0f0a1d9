//! The prox of the negative entropy: `C_ii ← ½(C_ii + √(C_ii² + 4γ))`, or the same on eigenvalues.

use super::Operator;
use crate::vi::estimator::Estimates;

/// The row. With a step γ_i for each coordinate (Adam) it is the prox in the metric of those steps, `argmin
/// h(X) + ½ Σ (x_i - c_i)²/γ_i`; for triangular and diagonal factors h sees only the diagonal, so the closed
/// form holds with the step of the diagonal entry. An estimator that divides by C gets the prox over
/// eigenvalues of at least 1/√M, which the optimum has; the energy estimator needs no floor, and the floor is
/// then 0.
pub(super) const ROW: Operator = Operator {
    name: "prox",
    doc: "proximal step on the entropy: keeps C positive definite without a constant",
    expects: Estimates::FreeEnergy,
    floors: false,
    apply: |factor, c, steps, floor| factor.prox(c, steps, floor),
};
