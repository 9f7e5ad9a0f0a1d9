//! A function whose values are only added up is a summed function: what densities of events, and sums that a model writes, come to.

use super::{Rule, replace_where};
use crate::graph::{Graph, Node, NodeId, Op};
use crate::ops::array::Sum;
use crate::ops::scalar::{ADD, DIV, MUL, NEG, SUB};

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "summed-function",
    doc: "the sum of a function's values, which nothing else reads, is one summed function",
    apply,
};

fn apply(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    let uses = graph.uses(roots);
    let sum = |node: &Node| matches!(&node.op, Op::Array(op) if op.downcast::<Sum>().is_some_and(|s| s.axis.is_none()));
    replace_where(graph, roots, sum, |b, node, args| {
        if !sum(node) || uses[node.args[0].0 as usize] > 1 {
            return None;
        }
        let values = b.graph().node(args[0]).clone();
        match &values.op {
            // Arithmetic is a list of instructions, or is taken apart by other rules.
            Op::Map(row) if ![&ADD, &SUB, &MUL, &DIV, &NEG].contains(row) => {
                b.map_sum(row, &values.args, None).ok()
            }
            _ => None,
        }
    })
}
