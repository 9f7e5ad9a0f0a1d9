//! Normal log densities by their variance where that is what the model computes: no root, one division, one
//! logarithm.

use super::{Rule, replace_where};
use crate::dist::{NORMAL_JOINT, NORMAL_SCALE, NORMAL_VARIANCE};
use crate::graph::{Builder, Graph, Node, NodeId, Op};
use crate::ops::scalar::{ADD, SQRT, ScalarRow};

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "normal-by-variance",
    doc: "a sum of normal log densities whose scales are square roots is computed from what is under the roots",
    apply,
};

fn apply(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    let candidate = |node: &Node| matches!(&node.op, Op::MapSum { row, .. } if **row == NORMAL_SCALE);
    replace_where(graph, roots, candidate, |b, node, args| {
        if !matches!(&node.op, Op::Map(row) if **row == ADD) {
            return None;
        }
        by_variance(b, args[0], args[1]).or_else(|| by_variance(b, args[1], args[0]))
    })
}

/// Both parts of a normal log density together, where each element has a scale of its own that is a root.
fn by_variance(b: &mut Builder, squares: NodeId, scales: NodeId) -> Option<NodeId> {
    let joint = summed(b, squares, &NORMAL_JOINT)?;
    let scale = summed(b, scales, &NORMAL_SCALE)?[0];
    let node = b.graph().node(scale);
    let root = matches!(&node.op, Op::Map(row) if **row == SQRT);
    let count: usize = b.common(&joint).ok()?.iter().product();
    if joint[2] != scale || !root || node.len() != count || count < 2 {
        return None;
    }
    let variance = node.args[0];
    b.map_sum(&NORMAL_VARIANCE, &[joint[0], joint[1], variance], None).ok()
}

/// The arguments of a sum of this function, without weights.
fn summed(b: &Builder, id: NodeId, wanted: &ScalarRow) -> Option<Vec<NodeId>> {
    let node = b.graph().node(id);
    match &node.op {
        Op::MapSum { row, weighted: false } if **row == *wanted => Some(node.args.clone()),
        Op::MapSum { .. }
        | Op::Constant(_)
        | Op::Input { .. }
        | Op::Map(_)
        | Op::Array(_)
        | Op::Ode(_)
        | Op::Recursion(_) => None,
    }
}
