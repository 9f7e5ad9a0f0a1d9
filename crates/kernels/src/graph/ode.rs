//! Ordinary differential equations as nodes: the right-hand side is a graph of its own.

use super::arena::{Graph, NodeId};

/// y' = f(t, y, theta), solved from `start` on, with the states at `times` as the result [times, states].
///
/// The node has two arguments: the initial state `[states]` and theta `[parameters]`, whatever f needs that
/// depends on the parameters of the model, put end to end. Data stand as constants inside `graph`.
#[derive(Clone, Debug)]
pub struct Ode {
    /// Computes f. Its coordinates: 0 is t, 1.. the state, 1 + states.. theta.
    pub graph: Graph,
    /// f itself, an array with `states` elements.
    pub rate: NodeId,
    /// Number of states.
    pub states: usize,
    /// Number of elements of theta.
    pub parameters: usize,
    /// Time of the initial state.
    pub start: f64,
    /// Times of the result, none before `start`, none before its predecessor.
    pub times: Vec<f64>,
    /// How it is solved.
    pub method: OdeMethod,
    /// Error allowed in each step.
    pub tolerance: Tolerance,
}

/// How an equation is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OdeMethod {
    /// Dormand and Prince's explicit Runge-Kutta method of order 8: not for stiff equations.
    DormandPrince,
    /// The implicit Runge-Kutta method Radau IIA of order 5: for stiff equations.
    Radau,
}

/// How precisely an equation is solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Error relative to the size of a component.
    pub relative: f64,
    /// Error allowed beside it.
    pub absolute: f64,
    /// Steps, accepted or not, after which to give up.
    pub most_steps: usize,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { relative: 1e-8, absolute: 1e-8, most_steps: 100_000 }
    }
}

impl Ode {
    /// What is wrong with it, if anything.
    pub(super) fn fault(&self) -> Option<String> {
        let Tolerance { relative, absolute, .. } = self.tolerance;
        let rates = self.graph.node(self.rate).len();
        let mut previous = self.start;
        for &t in &self.times {
            if !(t >= previous && t.is_finite()) {
                return Some(format!(
                    "times must increase from the start on, but {t} comes after {previous}"
                ));
            }
            previous = t;
        }
        if !self.start.is_finite() {
            return Some("the time of the initial state must be a finite number".into());
        }
        if self.states == 0 {
            return Some("an equation needs at least one state".into());
        }
        if rates != self.states {
            let states = self.states;
            return Some(format!("the right-hand side gives {rates} rates, but there are {states} states"));
        }
        if !(relative > 0.0 && absolute > 0.0 && relative < 1.0 && absolute.is_finite()) {
            return Some("tolerances must be positive, the relative one below 1".into());
        }
        None
    }
}
