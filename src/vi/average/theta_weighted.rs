//! The θ-weighted averages of the theorems for concave targets, for a constant step γ.

use super::{Average, Setup, Takes, Weights};

/// Prox-SGD: weights θ^t on w¹ … w^T, θ = 1/(1 + 2aγ²).
pub(super) const PROX: Average = Average {
    name: "theta_prox",
    doc: "the average of the Prox-SGD theorem: weights θ^t, θ = 1/(1 + 2aγ²)",
    parameter: None,
    takes: Takes::After,
    theorem: Some("prox"),
    make: |s| geometric(s, 2.0),
};

/// Projected SGD: weights θ^{t+1} on w⁰ … w^{T-1}, θ = 1/(1 + aγ²).
pub(super) const PROJ: Average = Average {
    name: "theta_proj",
    doc: "the average of the projected-SGD theorem: weights θ^(t+1), θ = 1/(1 + aγ²)",
    parameter: None,
    takes: Takes::Before,
    theorem: Some("projection"),
    make: |s| geometric(s, 1.0),
};

fn geometric(s: &Setup, multiple: f64) -> Box<dyn Weights> {
    Box::new(Geometric { theta: 1.0 / (1.0 + multiple * s.noise * s.gamma * s.gamma), inverse: 0.0 })
}

/// Only ratios of weights matter: `1/ρ_k = Σ_{j≤k} θ^{j-k} = 1 + (1/ρ_{k-1})/θ`, which never underflows.
struct Geometric {
    theta: f64,
    inverse: f64,
}

impl Weights for Geometric {
    fn weight(&mut self, _: usize) -> f64 {
        self.inverse = 1.0 + self.inverse / self.theta;
        1.0 / self.inverse
    }
}
