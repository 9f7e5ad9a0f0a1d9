//! The last iterate.

use super::{Average, Takes, Weights};

/// The row.
pub(super) const ROW: Average = Average {
    name: "last",
    doc: "the last iterate: what the theorems for strongly concave targets bound",
    parameter: None,
    takes: Takes::After,
    theorem: None,
    make: |_| Box::new(Last),
};

struct Last;

impl Weights for Last {
    fn weight(&mut self, _: usize) -> f64 {
        1.0
    }
}
