//! Where the time of a gradient goes, step by step.

use super::code::{Code, Plan, Slot, Step};
use super::dump::name;
use super::program::{self, Instruction, Primitive, Source};
use super::run::Workspace;
use crate::num::real::F16;
use crate::source::Span;
use std::time::{Duration, Instant};

/// How often an instruction runs between looks at the clock, and how often that is tried.
const REPEATED: usize = 64;
const TRIES: usize = 20;

/// What one step of a plan costs, or one instruction of several in a step.
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
    /// Additions and multiplications of both passes for one draw. A function such as exp counts as one, and
    /// its slope in an argument as two more; of differential equations the steps are guessed.
    pub operations: usize,
}

/// Times every step by itself, `rounds` times over, at the point that stands in the workspace. The cost of
/// looking at the clock is taken off.
pub fn profile(plan: &Plan, workspace: &mut Workspace<F16>, rounds: usize) -> Vec<StepCost> {
    let tick = clock_cost();
    let mut costs: Vec<StepCost> = plan.steps.iter().map(empty_cost).collect();
    let timed = |best: &mut f64, work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        *best = best.min(start.elapsed().saturating_sub(tick).as_secs_f64());
    };
    for _ in 0..rounds.max(1) {
        workspace.begin(plan, true);
        for (step, cost) in plan.steps.iter().zip(&mut costs) {
            timed(&mut cost.forward, &mut || workspace.step_forward(step, true));
        }
        workspace.seed(plan);
        for (step, cost) in plan.steps.iter().zip(&mut costs).rev() {
            timed(&mut cost.reverse, &mut || workspace.step_reverse(step));
        }
    }
    let all = plan.steps.iter().zip(costs);
    all.flat_map(|(step, cost)| match &step.code {
        Code::Program(code) if code.len() > 1 => by_instruction(step, code, cost, workspace),
        _ => vec![cost],
    })
    .collect()
}

/// The cost of a program, divided among its instructions by what each takes by itself: too little for a
/// clock, so many times over.
fn by_instruction(
    step: &Step,
    code: &[Instruction],
    all: StepCost,
    at: &mut Workspace<F16>,
) -> Vec<StepCost> {
    let mut alone = |i: &Instruction, back: bool| {
        let one = std::slice::from_ref(i);
        let start = Instant::now();
        for _ in 0..REPEATED {
            match back {
                false => program::forward(one, &mut at.values, &mut at.adjoints, true),
                true => program::reverse(one, &mut at.values, &mut at.adjoints),
            }
        }
        start.elapsed().as_secs_f64()
    };
    let mut best = |i: &Instruction, back| (0..TRIES).map(|_| alone(i, back)).fold(f64::INFINITY, f64::min);
    let forward: Vec<f64> = code.iter().map(|i| best(i, false)).collect();
    let reverse: Vec<f64> = code.iter().map(|i| if i.term { 0.0 } else { best(i, true) }).collect();
    let share = |of: &[f64], k: usize| of[k] / of.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let cost = |(k, i): (usize, &Instruction)| StepCost {
        name: name(i),
        span: step.parts[k],
        forward: all.forward * share(&forward, k),
        reverse: all.reverse * share(&reverse, k),
        bytes: touched(i) * size_of::<F16>(),
        operations: arithmetic(i),
    };
    code.iter().enumerate().map(cost).collect()
}

fn empty_cost(step: &Step) -> StepCost {
    let wide = size_of::<F16>();
    let arguments: usize = step
        .args
        .iter()
        .map(|slot| match slot {
            Slot::Const(_) | Slot::Data { .. } => slot.len() * size_of::<f64>(),
            // The value, and its adjoint.
            Slot::Var { len, .. } => 2 * len * wide,
        })
        .sum();
    let own = match &step.code {
        Code::Program(code) => code.iter().map(touched).sum::<usize>() * wide,
        Code::Loop(code) => {
            let each = code.steps() * code.instructions().map(touched).sum::<usize>();
            (each + code.fed().map(touched).sum::<usize>()) * wide
        }
        Code::Recursion { code, .. } => code.steps() * code.bodies().iter().map(bytes).sum::<usize>(),
        Code::Predicted { operator, .. } => operator.bytes(),
        // What is computed for a row stays in the first-level cache.
        Code::Tiled { code, .. } => code.operators().map(|operator| operator.bytes()).sum(),
        Code::Map { .. } | Code::MapSum { .. } | Code::Concat | Code::Array { .. } | Code::Ode { .. } => 0,
    };
    StepCost {
        name: step.code.name(),
        span: step.span,
        forward: f64::INFINITY,
        reverse: f64::INFINITY,
        bytes: arguments + own + (2 * step.len + step.saved_len) * wide,
        operations: operations(step),
    }
}

fn bytes(plan: &Plan) -> usize {
    plan.steps.iter().map(|step| empty_cost(step).bytes).sum()
}

/// Numbers that an instruction reads and writes, both ways.
fn touched(i: &Instruction) -> usize {
    let argument = |a: &Source| (1 + usize::from(a.varies)) * if a.step == 0 { 1 } else { i.n };
    i.args[..i.op.arity()].iter().map(argument).sum::<usize>() + 2 * i.op.written(i.n)
}

impl Plan {
    /// Additions and multiplications of both passes for one draw, counted as for [`StepCost`].
    pub fn operations(&self) -> usize {
        self.steps.iter().map(operations).sum()
    }
}

fn operations(step: &Step) -> usize {
    let varying = step.args.iter().filter(|slot| matches!(slot, Slot::Var { .. })).count();
    match &step.code {
        Code::Map { .. } => step.len * (1 + 2 * varying),
        Code::MapSum { count, .. } => count * (2 + 2 * varying),
        Code::Predicted { operator, .. } => operator.rows * (2 + 2 * varying) + 2 * operator.operations(),
        Code::Array { op, dims, .. } => {
            let dims: Vec<&[usize]> = dims.iter().map(Vec::as_slice).collect();
            op.0.operations(&dims) * (1 + varying)
        }
        Code::Program(code) => code.iter().map(arithmetic).sum(),
        Code::Loop(code) => {
            code.steps() * code.instructions().map(arithmetic).sum::<usize>()
                + code.fed().map(arithmetic).sum::<usize>()
        }
        Code::Recursion { code, .. } => {
            code.steps() * code.bodies().iter().map(Plan::operations).sum::<usize>()
        }
        Code::Tiled { code, .. } => {
            code.runs().map(|(times, plan)| times * plan.operations()).sum::<usize>()
                + code.operators().map(|operator| 2 * operator.operations()).sum::<usize>()
        }
        Code::Ode { code, .. } => code.operations(),
        Code::Concat => 0,
    }
}

/// Additions and multiplications of an instruction, both ways.
fn arithmetic(i: &Instruction) -> usize {
    let forward = match i.op {
        Primitive::MulAdd => 2,
        Primitive::Squares => 3,
        Primitive::SquareAdd | Primitive::Quadratic => 4,
        Primitive::Affine => 6,
        Primitive::Add
        | Primitive::Sub
        | Primitive::Mul
        | Primitive::Div
        | Primitive::Neg
        | Primitive::Square
        | Primitive::Inv
        | Primitive::Sqrt
        | Primitive::Exp
        | Primitive::Log
        | Primitive::Call(_) => 1,
    };
    i.n * (forward + 2 * i.args[..i.op.arity()].iter().filter(|a| a.varies).count())
}

/// The least time between two looks at the clock.
fn clock_cost() -> Duration {
    (0..1000).map(|_| Instant::now().elapsed()).min().unwrap_or_default()
}
