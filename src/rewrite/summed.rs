//! A function whose values are only added up is a summed function: what densities of events, and sums that a
//! model writes, come to.

use super::{Rule, is_total, replace_where};
use crate::graph::{Graph, NodeId, Op};
use crate::ops::scalar::{ADD, DIV, MUL, NEG, SUB};

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "summed-function",
    doc: "the sum of a function's values, which nothing else reads, is one summed function",
    apply,
};

fn apply(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    let uses = graph.uses(roots);
    replace_where(graph, roots, is_total, |b, node, args| {
        if !is_total(node) || uses[node.args[0].0 as usize] > 1 {
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
