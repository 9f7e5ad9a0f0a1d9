//! Suffix averaging: the plain mean of the last share of the iterates.

use super::{Average, Takes, Weights};
use crate::vi::table::Parameter;

/// The row. A fit that is stopped before the suffix begins answers with its last iterate.
pub(super) const ROW: Average = Average {
    name: "suffix",
    doc: "plain mean of the last share of the iterates: suffix=0.5",
    parameter: Some(Parameter { name: "share", default: 0.5, range: (0.0, 1.0) }),
    takes: Takes::After,
    theorem: None,
    make: |s| Box::new(Suffix { skipped: (s.steps as f64 * (1.0 - s.value)).floor() as usize }),
};

struct Suffix {
    skipped: usize,
}

impl Weights for Suffix {
    fn weight(&mut self, k: usize) -> f64 {
        1.0 / k.saturating_sub(self.skipped).max(1) as f64
    }
}
