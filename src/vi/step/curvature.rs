//! The practical step when no constant is known: the inverse of the curvature met along the path, decaying.

use super::{Needs, Rule, Setup, Sizes, StepRule};
use crate::vi::table::Parameter;

/// The row.
pub(super) const ROW: Rule = Rule {
    name: "curvature",
    doc: "a multiple of 1/M̂, the curvature of the free energy estimated along the path, decaying as 1/√t",
    parameter: Some(Parameter { name: "multiple", default: 0.5, range: (0.0, f64::INFINITY) }),
    needs: Needs::Nothing,
    each: false,
    guarantee: None,
    average: "polynomial",
    make: |s| Box::new(Curvature::new(s)),
};

/// `γ_t = 2c / (1 + (d+2)/B) / M̂ / √(1 + t/50)`.
///
/// For a quadratic with curvature h along some direction, that row of C contracts by 1 - γh in the mean, and its second
/// moment by (1 - γh)² + γ²h²(d+2)/B: it shrinks only if γ h (1 + (d+2)/B) < 2, for the largest h too. So c < 1 is stable
/// as far as the curvature is what it was where it was estimated.
struct Curvature {
    stable: f64,
    curvature: f64,
}

/// Steps before the decay is felt.
const HORIZON: f64 = 50.0;

impl Curvature {
    fn new(s: &Setup<'_>) -> Self {
        let noise = 1.0 + (s.dimension as f64 + 2.0) / s.batch as f64;
        Curvature { stable: 2.0 * s.value / noise, curvature: 1.0 }
    }
}

impl StepRule for Curvature {
    fn sizes(&mut self, t: usize, _: &[f64], _: &mut [f64], shrink: f64) -> Sizes<'_> {
        Sizes::One(shrink * self.stable / self.curvature / (1.0 + t as f64 / HORIZON).sqrt())
    }

    /// At the start, and whenever t doubles, from 8 on: the path is then somewhere else.
    fn wants_curvature(&self, t: usize) -> bool {
        t == 0 || (t >= 8 && t.is_power_of_two())
    }

    fn set_curvature(&mut self, curvature: f64) {
        self.curvature = curvature;
    }
}
