//! Step rules: how far to go along the gradient. A rule returns the step it used, so every operator works
//! with every rule.

mod adam;
mod constant;
mod curvature;
mod dog;
mod dowg;
mod log_t_over_t;
mod proj_concave;
mod proj_decay;
mod prox_concave;
mod prox_decay;
mod stl_gaussian;

use super::bound::{Bound, Measure};
use super::table::{Parameter, Row};

/// The steps that a rule took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sizes<'a> {
    /// One for all coordinates.
    One(f64),
    /// One for each coordinate.
    Each(&'a [f64]),
}

impl<'a> Sizes<'a> {
    /// The step of coordinate `k`.
    #[inline(always)]
    pub fn at(&self, k: usize) -> f64 {
        match self {
            Sizes::One(gamma) => *gamma,
            Sizes::Each(gammas) => gammas[k],
        }
    }

    /// The steps of the coordinates from `start` on.
    pub fn from(self, start: usize) -> Sizes<'a> {
        match self {
            Sizes::One(gamma) => Sizes::One(gamma),
            Sizes::Each(gammas) => Sizes::Each(&gammas[start..]),
        }
    }

    /// One number for a trace: the step, or the geometric mean of the steps.
    pub fn typical(&self) -> f64 {
        match self {
            Sizes::One(gamma) => *gamma,
            Sizes::Each(g) => (g.iter().map(|x| x.ln()).sum::<f64>() / g.len().max(1) as f64).exp(),
        }
    }
}

/// A rule at work on one fit.
pub trait StepRule: Send {
    /// The steps to take at iteration `t` (from 0) from `w` along `direction`, which holds the gradient
    /// estimate. A rule with momentum may put its own direction there. `shrink` ≤ 1 multiplies every step: it
    /// falls below 1 after a step had to be taken back.
    fn sizes(&mut self, t: usize, w: &[f64], direction: &mut [f64], shrink: f64) -> Sizes<'_>;

    /// Told when the starting point is not the one the rule was made with.
    fn start_at(&mut self, _w: &[f64]) {}

    /// The step, if it is the same at every iteration.
    fn fixed(&self) -> Option<f64> {
        None
    }

    /// Whether a fresh estimate of the curvature of the free energy is wanted before iteration `t`.
    fn wants_curvature(&self, _t: usize) -> bool {
        false
    }

    /// Takes the estimate asked for.
    fn set_curvature(&mut self, _curvature: f64) {}
}

/// What a rule may be made from.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The value of the row's parameter.
    pub value: f64,
    /// Number of steps to come.
    pub steps: usize,
    /// Number of coordinates of `z`.
    pub dimension: usize,
    /// Draws a step.
    pub batch: usize,
    /// The starting point.
    pub start: &'a [f64],
    /// `a` of the estimator, if it has a bound and the constants are known; NaN otherwise.
    pub noise: f64,
    /// `M`; NaN if not known.
    pub smoothness: f64,
    /// `μ`; NaN if not known.
    pub strong_concavity: f64,
}

/// What a rule must know before it can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// `M`, and that the target is log-concave.
    Smoothness,
    /// `M`, and `μ` above 0.
    StrongConcavity,
}

impl Needs {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Needs::Nothing => "nothing",
            Needs::Smoothness => "the smoothness M of a log-concave target",
            Needs::StrongConcavity => "the smoothness M and the strong concavity μ > 0",
        }
    }
}

/// What a theorem promises for a rule, and with which parts.
#[derive(Clone, Copy, Debug)]
pub struct Guarantee {
    /// What is bounded.
    pub measure: Measure,
    /// The operator of the theorem.
    pub operator: &'static str,
    /// The average of the theorem.
    pub average: &'static str,
    /// The bound after a number of steps, if its conditions hold. The second argument is the row's parameter.
    pub bound: fn(&Bound, f64, usize) -> Option<f64>,
}

/// A row of the table of step rules.
#[derive(Debug)]
pub struct Rule {
    /// Name.
    pub name: &'static str,
    /// One line of explanation.
    pub doc: &'static str,
    /// Its parameter, if it has one.
    pub parameter: Option<Parameter>,
    /// What it must know.
    pub needs: Needs,
    /// Whether coordinates get steps of their own.
    pub each: bool,
    /// The theorem it comes from, if any.
    pub guarantee: Option<Guarantee>,
    /// The average that suits it.
    pub average: &'static str,
    /// A rule at the start of a fit.
    pub make: fn(&Setup<'_>) -> Box<dyn StepRule>,
}

impl Row for Rule {
    const KIND: &'static str = "step rule";

    fn table() -> &'static [Rule] {
        static TABLE: [Rule; 12] = [
            curvature::ROW,
            curvature::WHITENED,
            constant::ROW,
            prox_concave::ROW,
            proj_concave::ROW,
            prox_decay::ROW,
            proj_decay::ROW,
            log_t_over_t::ROW,
            stl_gaussian::ROW,
            adam::ROW,
            dog::ROW,
            dowg::ROW,
        ];
        &TABLE
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn parameter(&self) -> Option<Parameter> {
        self.parameter
    }
}

/// A step that depends on nothing but the iteration.
struct Schedule<F> {
    gamma: F,
    fixed: Option<f64>,
}

impl<F: Fn(usize) -> f64 + Send> StepRule for Schedule<F> {
    fn sizes(&mut self, t: usize, _: &[f64], _: &mut [f64], shrink: f64) -> Sizes<'_> {
        Sizes::One(shrink * (self.gamma)(t))
    }

    fn fixed(&self) -> Option<f64> {
        self.fixed
    }
}

/// The same step at every iteration.
fn fixed(gamma: f64) -> Box<dyn StepRule> {
    Box::new(Schedule { gamma: move |_| gamma, fixed: Some(gamma) })
}

/// `min(warm, long(t))`, `long(t) = scale (2t+1)/(t+1)²`.
fn decaying(warm: f64, scale: f64) -> Box<dyn StepRule> {
    let gamma = move |t: usize| {
        let t = t as f64;
        warm.min(scale * (2.0 * t + 1.0) / ((t + 1.0) * (t + 1.0)))
    };
    Box::new(Schedule { gamma, fixed: None })
}

/// ‖x - y‖²
fn distance_squared(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// ‖x‖²
fn norm_squared(x: &[f64]) -> f64 {
    x.iter().map(|a| a * a).sum()
}
