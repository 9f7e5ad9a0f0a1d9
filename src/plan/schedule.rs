//! Decides once what is computed in which order and where every number lives.

use super::ode::OdeCode;
use crate::graph::{Graph, Node, NodeId, Ode, Op};
use crate::ops::array::{Concat, OpRef};
use crate::ops::operand::{Broadcast, Operand};
use crate::ops::scalar::ScalarRow;
use crate::source::Span;
use std::fmt::Write;
use std::sync::Arc;

/// Most arguments that an operation other than `concat` takes.
pub(super) const MOST_ARGS: usize = 8;

/// Where an argument's numbers are.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// Known beforehand.
    Const(Arc<[f64]>),
    /// In the buffer of values.
    Var { at: usize, len: usize },
}

impl Slot {
    pub(super) fn len(&self) -> usize {
        match self {
            Slot::Const(c) => c.len(),
            Slot::Var { len, .. } => *len,
        }
    }
}

/// What a step runs.
#[derive(Clone, Debug)]
pub(super) enum Code {
    Map { row: &'static ScalarRow, index: Vec<Broadcast> },
    MapSum { row: &'static ScalarRow, index: Vec<Broadcast>, weights: Option<Arc<[f64]>>, count: usize },
    Concat,
    Array { op: OpRef, dims: Vec<Vec<usize>> },
    Ode { code: Arc<OdeCode>, room: usize },
}

impl Code {
    /// What it does, for dumps and profiles.
    pub(super) fn name(&self) -> String {
        match self {
            Code::Map { row, .. } => row.name.to_string(),
            Code::MapSum { row, count, .. } => format!("sum.{} over {count}", row.name),
            Code::Concat => "concat".to_string(),
            Code::Array { op, .. } => op.0.name().to_string(),
            Code::Ode { code, .. } => format!("ode with {} states", code.states()),
        }
    }
}

/// One operation with its buffers.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) code: Code,
    pub(super) args: Vec<Slot>,
    pub(super) at: usize,
    pub(super) len: usize,
    pub(super) saved_at: usize,
    pub(super) saved_len: usize,
    /// The part of the model it came from first.
    pub(super) span: Option<Span>,
}

/// A schedule for a set of roots. The first `inputs` values are the unconstrained coordinates themselves.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) inputs: usize,
    pub(super) steps: Vec<Step>,
    pub(super) values: usize,
    pub(super) saved: usize,
    pub(super) roots: Vec<Slot>,
    pub(super) odes: Vec<Arc<OdeCode>>,
}

impl Plan {
    /// Schedules what the roots need. `inputs` is the number of unconstrained coordinates.
    pub fn new(graph: &Graph, roots: &[NodeId], inputs: usize) -> Plan {
        let needed = graph.needed(roots);
        let mut plan =
            Plan { inputs, steps: Vec::new(), values: inputs, saved: 0, roots: Vec::new(), odes: Vec::new() };
        let mut slots: Vec<Option<Slot>> = vec![None; graph.len()];
        for (id, node) in graph.iter().filter(|(id, _)| needed[id.0 as usize]) {
            let slot = match &node.op {
                Op::Constant(values) => Slot::Const(values.clone()),
                Op::Input { offset } => Slot::Var { at: *offset, len: node.len() },
                Op::Map(_) | Op::MapSum { .. } | Op::Array(_) => plan.schedule(graph, node, &slots),
                Op::Ode(ode) => plan.schedule_ode(ode, node, &slots),
            };
            slots[id.0 as usize] = Some(slot);
        }
        plan.roots = roots.iter().filter_map(|r| slots[r.0 as usize].clone()).collect();
        plan
    }

    fn schedule(&mut self, graph: &Graph, node: &Node, slots: &[Option<Slot>]) -> Slot {
        let nodes: Vec<&Node> = node.args.iter().map(|&a| graph.node(a)).collect();
        let mut args: Vec<Slot> = node.args.iter().filter_map(|a| slots[a.0 as usize].clone()).collect();
        let code = code(node, &nodes, &mut args);
        let saved_len = match &code {
            Code::MapSum { .. } => {
                args.iter().map(|s| if matches!(s, Slot::Var { .. }) { s.len() } else { 0 }).sum()
            }
            Code::Array { op, dims } => op.0.saved(&dims.iter().map(Vec::as_slice).collect::<Vec<_>>()),
            Code::Map { .. } | Code::Concat | Code::Ode { .. } => 0,
        };
        self.push(code, args, node, saved_len)
    }

    /// An equation; solved at once if it depends on nothing.
    fn schedule_ode(&mut self, ode: &Arc<Ode>, node: &Node, slots: &[Option<Slot>]) -> Slot {
        let args: Vec<Slot> = node.args.iter().filter_map(|a| slots[a.0 as usize].clone()).collect();
        let wanted = |i: usize| matches!(args.get(i), Some(Slot::Var { .. }));
        let code = Arc::new(OdeCode::new(ode, [wanted(0), wanted(1)]));
        if let [Slot::Const(initial), Slot::Const(theta)] = args.as_slice() {
            return Slot::Const(code.constant(initial, theta).into());
        }
        let (saved, room) = (code.saved(), self.odes.len());
        self.odes.push(code.clone());
        self.push(Code::Ode { code, room }, args, node, saved)
    }

    fn push(&mut self, code: Code, args: Vec<Slot>, node: &Node, saved_len: usize) -> Slot {
        let (at, len) = (self.values, node.len());
        self.steps.push(Step { code, args, at, len, saved_at: self.saved, saved_len, span: node.span });
        self.values += len;
        self.saved += saved_len;
        Slot::Var { at, len }
    }

    /// Number of unconstrained coordinates.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of elements of each root.
    pub fn root_sizes(&self) -> Vec<usize> {
        self.roots.iter().map(Slot::len).collect()
    }
}

fn code(node: &Node, nodes: &[&Node], args: &mut Vec<Slot>) -> Code {
    match &node.op {
        Op::Map(row) => {
            let index = nodes.iter().map(|a| Broadcast::between(&a.dims, &node.dims)).collect();
            Code::Map { row, index }
        }
        Op::MapSum { row, weighted } => {
            let dims = common(nodes);
            let count = dims.iter().product();
            let mut index: Vec<Broadcast> =
                nodes.iter().map(|a| Broadcast::between(&a.dims, &dims)).collect();
            let mut weights = None;
            if *weighted && let (Some(Slot::Const(w)), Some(at)) = (args.pop(), index.pop()) {
                let operand: Operand<f64> = Operand { arg: crate::ops::operand::Arg::Const(&w), index: &at };
                weights = Some((0..count).map(|i| operand.at(i)).collect());
            }
            Code::MapSum { row, index, weights, count }
        }
        Op::Array(op) if op.downcast::<Concat>().is_some() => Code::Concat,
        Op::Array(op) => Code::Array { op: op.clone(), dims: nodes.iter().map(|a| a.dims.clone()).collect() },
        Op::Constant(_) | Op::Input { .. } | Op::Ode(_) => Code::Concat,
    }
}

/// The shape that the arguments of a node broadcast to; the builder has made sure that there is one.
fn common(nodes: &[&Node]) -> Vec<usize> {
    let rank = nodes.iter().map(|n| n.dims.len()).max().unwrap_or(0);
    (0..rank)
        .map(|axis| {
            nodes
                .iter()
                .filter_map(|n| (axis + n.dims.len()).checked_sub(rank).map(|k| n.dims[k]))
                .fold(1, |m, d| if d == 1 { m } else { d })
        })
        .collect()
}

/// One line a step: where it writes, what it runs, what it keeps.
pub fn dump(plan: &Plan) -> String {
    let mut out = format!(
        "{} coordinates, {} steps, {} values, {} kept for the reverse sweep\n",
        plan.inputs,
        plan.steps.len(),
        plan.values,
        plan.saved
    );
    for step in &plan.steps {
        let args: Vec<String> = step
            .args
            .iter()
            .map(|slot| match slot {
                Slot::Const(c) => format!("const[{}]", c.len()),
                Slot::Var { at, len } => format!("{at}..{}", at + len),
            })
            .collect();
        let name = step.code.name();
        let _ = writeln!(out, "{}..{} = {name}({})", step.at, step.at + step.len, args.join(", "));
    }
    out
}
