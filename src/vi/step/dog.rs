//! Distance over gradients (Ivgi, Hinder and Carmon 2023): γ = max distance from the start / √(Σ‖g‖²).

use super::{Needs, Rule, Sizes, StepRule, distance_squared, norm_squared};
use crate::vi::table::Parameter;

/// The row.
pub(super) const ROW: Rule = Rule {
    name: "dog",
    doc: "distance over gradients: no step to choose; the number is the first distance, relative to the start",
    parameter: Some(Parameter { name: "first distance", default: 1e-2, range: (0.0, f64::INFINITY) }),
    needs: Needs::Nothing,
    each: false,
    guarantee: None,
    average: "polynomial",
    make: |s| {
        let farthest = s.value * (1.0 + norm_squared(s.start).sqrt());
        Box::new(DistanceOverGradients { start: s.start.to_vec(), farthest, gradients: 0.0 })
    },
};

struct DistanceOverGradients {
    start: Vec<f64>,
    farthest: f64,
    gradients: f64,
}

impl StepRule for DistanceOverGradients {
    fn sizes(&mut self, _: usize, w: &[f64], direction: &mut [f64], shrink: f64) -> Sizes<'_> {
        self.farthest = self.farthest.max(distance_squared(w, &self.start).sqrt());
        self.gradients += norm_squared(direction);
        Sizes::One(shrink * self.farthest / self.gradients.sqrt().max(f64::MIN_POSITIVE))
    }

    fn start_at(&mut self, w: &[f64]) {
        self.start.copy_from_slice(w);
    }
}
