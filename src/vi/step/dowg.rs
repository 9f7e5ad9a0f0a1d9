//! Distance over weighted gradients (Khaled, Mishchenko and Jin 2023): γ = r² / √(Σ r²‖g‖²), r the farthest
//! distance so far.

use super::{Needs, Rule, Sizes, StepRule, distance_squared, norm_squared};
use crate::vi::table::Parameter;

/// The row.
pub(super) const ROW: Rule = Rule {
    name: "dowg",
    doc: "distance over weighted gradients: no step to choose; the number is the first distance, relative to the start",
    parameter: Some(Parameter { name: "first distance", default: 1e-2, range: (0.0, f64::INFINITY) }),
    needs: Needs::Nothing,
    each: false,
    guarantee: None,
    average: "polynomial",
    make: |s| {
        let farthest = s.value * (1.0 + norm_squared(s.start).sqrt());
        Box::new(WeightedGradients { start: s.start.to_vec(), farthest, weighted: 0.0 })
    },
};

struct WeightedGradients {
    start: Vec<f64>,
    farthest: f64,
    weighted: f64,
}

impl StepRule for WeightedGradients {
    fn sizes(&mut self, _: usize, w: &[f64], direction: &mut [f64], shrink: f64) -> Sizes<'_> {
        self.farthest = self.farthest.max(distance_squared(w, &self.start).sqrt());
        let r2 = self.farthest * self.farthest;
        self.weighted += r2 * norm_squared(direction);
        Sizes::One(shrink * r2 / self.weighted.sqrt().max(f64::MIN_POSITIVE))
    }

    fn start_at(&mut self, w: &[f64]) {
        self.start.copy_from_slice(w);
    }
}
