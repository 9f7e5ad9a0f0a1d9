//! The right-hand sides of the theorems: numbers that can be printed before the first step.
//!
//! Distances are in the norm `‖w‖² = ‖m‖² + ‖C‖_F²`; gaps are `E f(w̄ᵀ) - inf f`.

use super::noise::Quadratic;

/// What a guarantee bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// `E‖wᵀ - w*‖²` of the last iterate.
    Distance,
    /// `E f(w̄ᵀ) - inf f` of the θ-weighted average.
    Gap,
}

/// The quantities that the guarantees are made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// `a`, `b` of the estimator in use.
    pub noise: Quadratic,
    /// `M`.
    pub smoothness: f64,
    /// `μ`, 0 if only concave.
    pub strong_concavity: f64,
    /// `‖w⁰ - w*‖²`.
    pub start: f64,
    /// `‖w* - w̄‖²`.
    pub to_mode: f64,
}

/// `(‖w⁰ - w̄‖ + √(d/μ))²`, which bounds `‖w⁰ - w*‖²` by quantities known before the fit.
pub fn start_from_mode(start_to_mode: f64, dimension: usize, mu: f64) -> f64 {
    (start_to_mode + (dimension as f64 / mu).sqrt()).powi(2)
}

impl Bound {
    /// `b + M²‖w* - w̄‖²`, the noise that Prox-SGD keeps at the optimum.
    fn prox_noise(&self) -> f64 {
        self.noise.b + self.smoothness.powi(2) * self.to_mode
    }

    /// Prox, concave, γ = 1/√(aT), T ≥ 2: gap.
    pub fn prox_concave(&self, steps: usize) -> f64 {
        (2.0 * self.noise.a * self.start + self.noise.b) / (self.noise.a * steps as f64).sqrt()
    }

    /// Prox, concave, any constant γ ≤ 1/M: gap.
    pub fn prox_concave_constant(&self, gamma: f64, steps: usize) -> f64 {
        gamma
            * (self.noise.a * self.start / remaining(2.0 * self.noise.a * gamma * gamma, steps)
                + self.noise.b)
    }

    /// Prox, strongly concave, constant γ ≤ min(μ/2a, 1/μ): squared distance after `steps` steps. The paper
    /// states it for one step more.
    pub fn prox_constant(&self, gamma: f64, steps: usize) -> f64 {
        let mu = self.strong_concavity;
        (1.0 - gamma * mu).powf(steps as f64 - 1.0) * self.start + 2.0 * gamma / mu * self.prox_noise()
    }

    /// Prox, strongly concave, γ_t = min(μ/2a, (2t+1)/(μ(t+1)²)): squared distance.
    pub fn prox_decay(&self, steps: usize) -> f64 {
        let (t, mu) = (steps as f64, self.strong_concavity);
        let warm_up = 4.0 * (self.noise.a / (mu * mu)).floor() / t;
        warm_up * warm_up * self.start + 8.0 / (mu * mu * t) * self.prox_noise()
    }

    /// Prox, strongly concave, constant A log T / T with A ≥ 1/μ and T / log T ≥ 2aA/μ: squared distance;
    /// nothing if these conditions fail.
    pub fn prox_log_t_over_t(&self, factor: f64, steps: usize) -> Option<f64> {
        let (t, mu) = (steps as f64, self.strong_concavity);
        let holds = mu > 0.0 && factor * mu >= 1.0 && t / t.ln() >= 2.0 * self.noise.a * factor / mu;
        holds.then(|| self.start / t + 2.0 * factor * t.ln() / (mu * t) * self.prox_noise())
    }

    /// Projection, concave, γ = √(2/(aT)), T ≥ 2: gap.
    pub fn proj_concave(&self, steps: usize) -> f64 {
        (2.0 * self.noise.a * self.start + self.noise.b) / (2.0 * self.noise.a * steps as f64).sqrt()
    }

    /// Projection, concave, any constant γ: gap.
    pub fn proj_concave_constant(&self, gamma: f64, steps: usize) -> f64 {
        let share = remaining(self.noise.a * gamma * gamma, steps);
        0.5 * gamma * (self.noise.a * self.start / share + self.noise.b)
    }

    /// Projection, strongly concave, constant γ ≤ min(μ/2a, 2/μ): squared distance. With `b = 0` (STL on a
    /// Gaussian posterior) it falls geometrically to nothing.
    pub fn proj_constant(&self, gamma: f64, steps: usize) -> f64 {
        let mu = self.strong_concavity;
        (1.0 - 0.5 * mu * gamma).powf(steps as f64) * self.start + 2.0 * gamma * self.noise.b / mu
    }

    /// Projection, strongly concave, γ_t = min(μ/2a, 2(2t+1)/(μ(t+1)²)): squared distance. The first
    /// coefficient is the one that follows from the proof; the paper's statement lost a square.
    pub fn proj_decay(&self, steps: usize) -> f64 {
        let (t, mu) = (steps as f64, self.strong_concavity);
        let warm_up = 4.0 * (2.0 * self.noise.a / (mu * mu)).floor() / t;
        warm_up * warm_up * self.start + 16.0 * self.noise.b / (mu * mu * t)
    }
}

/// 1 - θᵀ with θ = 1/(1 + x), without cancellation.
fn remaining(x: f64, steps: usize) -> f64 {
    -(-(steps as f64) * x.ln_1p()).exp_m1()
}
