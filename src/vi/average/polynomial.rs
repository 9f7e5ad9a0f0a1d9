//! Polynomial averaging (Shamir and Zhang 2013): the weight of an iterate grows as t^η, so the start is
//! forgotten.

use super::{Average, Takes, Weights};
use crate::vi::table::Parameter;

/// The row.
pub(super) const ROW: Average = Average {
    name: "polynomial",
    doc: "weights growing as t^η, so that the start is forgotten: polynomial=3",
    parameter: Some(Parameter { name: "power", default: 3.0, range: (0.0, f64::INFINITY) }),
    takes: Takes::After,
    theorem: None,
    make: |s| Box::new(Polynomial { power: s.value }),
};

struct Polynomial {
    power: f64,
}

impl Weights for Polynomial {
    fn weight(&mut self, k: usize) -> f64 {
        (self.power + 1.0) / (k as f64 + self.power)
    }
}
