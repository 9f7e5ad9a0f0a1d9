//! Adam: momentum, and a step for each coordinate from the running size of its gradient.

use super::{Needs, Rule, Setup, Sizes, StepRule};
use crate::vi::table::Parameter;

/// The row.
pub(super) const ROW: Rule = Rule {
    name: "adam",
    doc: "Adam (β₁ = 0.9, β₂ = 0.999); the prox is then taken in the metric of its steps: adam=0.01",
    parameter: Some(Parameter { name: "learning rate", default: 0.01, range: (0.0, f64::INFINITY) }),
    needs: Needs::Nothing,
    each: true,
    guarantee: None,
    average: "polynomial",
    make: |s: &Setup<'_>| {
        let n = s.start.len();
        Box::new(Adam {
            rate: s.value,
            count: 0,
            first: vec![0.0; n],
            second: vec![0.0; n],
            gammas: vec![0.0; n],
        })
    },
};

const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

struct Adam {
    rate: f64,
    count: i32,
    first: Vec<f64>,
    second: Vec<f64>,
    gammas: Vec<f64>,
}

impl StepRule for Adam {
    fn sizes(&mut self, _: usize, _: &[f64], direction: &mut [f64], shrink: f64) -> Sizes<'_> {
        self.count = self.count.saturating_add(1);
        let (fresh_1, fresh_2) = (1.0 - BETA_1.powi(self.count), 1.0 - BETA_2.powi(self.count));
        for (i, g) in direction.iter_mut().enumerate() {
            self.first[i] = BETA_1 * self.first[i] + (1.0 - BETA_1) * *g;
            self.second[i] = BETA_2 * self.second[i] + (1.0 - BETA_2) * *g * *g;
            *g = self.first[i] / fresh_1;
            self.gammas[i] = shrink * self.rate / ((self.second[i] / fresh_2).sqrt() + EPSILON);
        }
        Sizes::Each(&self.gammas)
    }
}
