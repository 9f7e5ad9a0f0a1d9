//! What is done to `C` after the gradient step: the prox of the entropy, the projection, or nothing.

mod none;
mod projection;
mod prox;

use super::estimator::Estimates;
use super::factor::Factor;
use super::step::Sizes;
use super::table::Row;

/// A row of the table of operators.
#[derive(Debug)]
pub struct Operator {
    /// Name.
    pub name: &'static str,
    /// One line of explanation.
    pub doc: &'static str,
    /// What the gradient before it must estimate.
    pub expects: Estimates,
    /// Whether it moves the iterate into the set σ_min(C) ≥ floor.
    pub floors: bool,
    /// Applies it to `C` for the steps that were used, and leaves the factor loaded; false if `C` has then no
    /// place in the family.
    pub apply: fn(&mut dyn Factor, &mut [f64], Sizes<'_>, f64) -> bool,
}

impl Row for Operator {
    const KIND: &'static str = "operator";

    fn table() -> &'static [Operator] {
        static TABLE: [Operator; 3] = [prox::ROW, projection::ROW, none::ROW];
        &TABLE
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }
}
