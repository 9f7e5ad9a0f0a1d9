//! Everything that is not an instruction: one step of the plan for each node.

use super::super::code::{Code, Slot, Step};
use super::super::ode::OdeCode;
use super::super::recursion::{LoopCode, RecursionCode};
use super::Scheduler;
use crate::facts::common_dims;
use crate::graph::{Node, NodeId, Ode, Op, Recursion};
use crate::ops::array::Concat;
use crate::ops::operand::{Arg, Broadcast, Operand};
use crate::source::Span;
use std::sync::Arc;

impl Scheduler<'_> {
    pub(super) fn step(&mut self, id: NodeId) -> Slot {
        if let Some(slot) = self.tiled_step(id) {
            return slot;
        }
        let node = self.graph.node(id);
        if let Op::Ode(ode) = &node.op {
            return self.ode(ode, node);
        }
        if let Op::Recursion(recursion) = &node.op {
            return self.recursion(recursion, node);
        }
        let nodes: Vec<&Node> = node.args.iter().map(|&a| self.graph.node(a)).collect();
        let mut args: Vec<Slot> = node.args.iter().filter_map(|&a| self.slot(a).cloned()).collect();
        let mut code = code(node, &nodes, &mut args);
        if let Some((predictor, which)) = self.predicted(node)
            && let Some(operator) = self.predictor(predictor).cloned()
            && let Code::MapSum { row, index, weights, .. } = code
        {
            code = Code::Predicted { row, index, weights, which, operator };
        }
        if let Code::Array { unasked, .. } = &mut code {
            let beyond = self.plan.asked..self.plan.inputs;
            let is_unasked = |slot: &Slot| matches!(slot, Slot::Var { at, .. } if beyond.contains(at));
            *unasked = args.iter().map(is_unasked).collect();
        }
        // A sum keeps its slopes for the reverse sweep, unless it hands them on at once.
        let term = self.terms[id.0 as usize];
        let own = usize::from(!term);
        let saved_len = match &code {
            Code::MapSum { .. } => own * variables(&args),
            Code::Predicted { operator, .. } if operator.blocks() > 1 => {
                (own + operator.blocks()) * variables(&args)
            }
            Code::Predicted { .. } => own * variables(&args),
            Code::Array { op, dims, .. } => op.0.saved(&dims.iter().map(Vec::as_slice).collect::<Vec<_>>()),
            Code::Map { .. }
            | Code::Concat
            | Code::Ode { .. }
            | Code::Recursion { .. }
            | Code::Tiled { .. }
            | Code::Loop(_)
            | Code::Program(_) => 0,
        };
        self.push(code, args, node.len(), saved_len, (node.span, term))
    }

    /// An equation; solved at once if it depends on nothing.
    pub(super) fn ode(&mut self, ode: &Arc<Ode>, node: &Node) -> Slot {
        let args: Vec<Slot> = node.args.iter().filter_map(|&a| self.slot(a).cloned()).collect();
        let wanted = |i: usize| matches!(args.get(i), Some(Slot::Var { .. }));
        let code = Arc::new(OdeCode::new(ode, [wanted(0), wanted(1)]));
        if let [Slot::Const(initial), Slot::Const(theta)] = args.as_slice() {
            return Slot::Const(code.constant(initial, theta).into());
        }
        let (saved, room) = (code.saved(), self.plan.odes.len());
        self.plan.odes.push(code.clone());
        self.push(Code::Ode { code, room }, args, node.len(), saved, (node.span, false))
    }

    /// A loop; run at once if it depends on nothing, in place if its step is instructions alone.
    pub(super) fn recursion(&mut self, recursion: &Arc<Recursion>, node: &Node) -> Slot {
        let args: Vec<Slot> = node.args.iter().filter_map(|&a| self.slot(a).cloned()).collect();
        let code = RecursionCode::new(recursion);
        if let Some(values) = code.constant(&args) {
            return Slot::Const(values.into());
        }
        let feed = node.args.iter().find(|a| self.fused[a.0 as usize]).map(|&a| self.feed(a));
        let (at, len) = (self.plan.values, node.len());
        if let Some((code, room)) = LoopCode::new(&code, &args, [at, at + len], &mut self.plan.fixed, feed) {
            let slot = self.push(Code::Loop(Box::new(code)), args, len, 0, (node.span, false));
            self.plan.values += room;
            return slot;
        }
        let (saved, room) = (code.saved(), self.plan.recursions.len());
        let code = Arc::new(code);
        self.plan.recursions.push(code.clone());
        self.push(Code::Recursion { code, room }, args, len, saved, (node.span, false))
    }

    pub(super) fn push(
        &mut self,
        code: Code,
        args: Vec<Slot>,
        len: usize,
        saved_len: usize,
        (span, term): (Option<Span>, bool),
    ) -> Slot {
        let at = self.plan.values;
        let (saved_at, parts) = (self.plan.saved, Vec::new());
        self.plan.steps.push(Step { code, args, at, len, saved_at, saved_len, span, parts, term });
        self.plan.values += len;
        self.plan.saved += saved_len;
        Slot::Var { at, len }
    }
}

/// Number of elements that vary.
pub(super) fn variables(args: &[Slot]) -> usize {
    args.iter().map(|s| if matches!(s, Slot::Var { .. }) { s.len() } else { 0 }).sum()
}

fn code(node: &Node, nodes: &[&Node], args: &mut Vec<Slot>) -> Code {
    match &node.op {
        Op::Map(row) => {
            let index = nodes.iter().map(|a| Broadcast::between(&a.dims, &node.dims)).collect();
            Code::Map { row, index }
        }
        Op::MapSum { row, weighted } => {
            let dims = common_dims(nodes.iter().map(|n| n.dims.as_slice()));
            let count = dims.iter().product();
            let mut index: Vec<Broadcast> =
                nodes.iter().map(|a| Broadcast::between(&a.dims, &dims)).collect();
            let mut weights = None;
            if *weighted && let (Some(slot), Some(at)) = (args.pop(), index.pop()) {
                weights = Some(match slot {
                    Slot::Const(w) => {
                        let operand: Operand<f64> = Operand::new(Arg::Const(&w), &at);
                        Slot::Const((0..count).map(|i| operand.at(i)).collect())
                    }
                    as_they_are => as_they_are,
                });
            }
            let fresh = vec![false; index.len()];
            Code::MapSum { row, index, weights, count, fresh }
        }
        Op::Array(op) if op.downcast::<Concat>().is_some() => Code::Concat,
        Op::Array(op) => {
            let dims = nodes.iter().map(|a| a.dims.clone()).collect();
            Code::Array { op: op.clone(), dims, unasked: Vec::new() }
        }
        Op::Constant(_) | Op::Input { .. } | Op::Ode(_) | Op::Recursion(_) => Code::Concat,
    }
}
