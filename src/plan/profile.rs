//! Where the time of a gradient goes, step by step.

use super::code::{Plan, Slot, Step};
use super::run::Workspace;
use crate::ops::operand::Lane;
use crate::source::Span;
use std::time::{Duration, Instant};

/// What one step of a plan costs.
#[derive(Clone, Debug)]
pub struct StepCost {
    /// What it runs.
    pub name: String,
    /// The part of the model it came from first.
    pub span: Option<Span>,
    /// Seconds of its forward pass, the best of all rounds.
    pub forward: f64,
    /// Seconds of its reverse pass, the best of all rounds.
    pub reverse: f64,
    /// Bytes it reads and writes in both passes, counted once for each array.
    pub bytes: usize,
}

/// Times every step by itself, `rounds` times over, at the point that stands in the workspace. The cost of looking at the
/// clock is taken off.
pub fn profile<T: Lane>(plan: &Plan, workspace: &mut Workspace<T>, rounds: usize) -> Vec<StepCost> {
    let tick = clock_cost();
    let mut costs: Vec<StepCost> = plan.steps.iter().map(|step| empty_cost::<T>(step)).collect();
    let timed = |best: &mut f64, work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        *best = best.min(start.elapsed().saturating_sub(tick).as_secs_f64());
    };
    for _ in 0..rounds.max(1) {
        for (step, cost) in plan.steps.iter().zip(&mut costs) {
            timed(&mut cost.forward, &mut || workspace.step_forward(step, true));
        }
        workspace.seed(plan);
        for (step, cost) in plan.steps.iter().zip(&mut costs).rev() {
            timed(&mut cost.reverse, &mut || workspace.step_reverse(step));
        }
    }
    costs
}

fn empty_cost<T>(step: &Step) -> StepCost {
    let wide = size_of::<T>();
    let args: usize = step
        .args
        .iter()
        .map(|slot| match slot {
            Slot::Const(_) | Slot::Data { .. } => slot.len() * size_of::<f64>(),
            // The value, and its adjoint.
            Slot::Var { len, .. } => 2 * len * wide,
        })
        .sum();
    StepCost {
        name: step.code.name(),
        span: step.span,
        forward: f64::INFINITY,
        reverse: f64::INFINITY,
        bytes: args + (2 * step.len + step.saved_len) * wide,
    }
}

/// The least time between two looks at the clock.
fn clock_cost() -> Duration {
    (0..1000).map(|_| Instant::now().elapsed()).min().unwrap_or_default()
}
