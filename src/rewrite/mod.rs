//! Named rewrites of the graph of a log density: the same function, computed with less work.
//!
//! The values agree to rounding, which `tests/rewrite.rs` and `tests/plans.rs` hold.

mod known_scale;
mod normal_sums;
mod predictor;

use crate::graph::{Builder, Graph, Node, NodeId};

/// A rewrite.
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// A graph of so many coordinates and its roots, anew.
    pub apply: fn(Graph, &[NodeId], usize) -> (Graph, Vec<NodeId>),
}

/// Every rule, in the order of use.
pub static TABLE: &[&Rule] = &[&normal_sums::RULE, &known_scale::RULE, &predictor::RULE];

/// Applies each rule once.
pub fn rewrite(graph: Graph, roots: &[NodeId], dimension: usize, rules: &[&Rule]) -> (Graph, Vec<NodeId>) {
    rules.iter().fold((graph, roots.to_vec()), |(graph, roots), rule| (rule.apply)(graph, &roots, dimension))
}

/// Goes through the nodes that the roots need, operands first: `with` may give another node for one, and what depends on it
/// follows. It sees the node and its arguments as they are by then.
fn replace(
    graph: Graph,
    roots: &[NodeId],
    mut with: impl FnMut(&mut Builder, &Node, &[NodeId]) -> Option<NodeId>,
) -> (Graph, Vec<NodeId>) {
    let needed = graph.needed(roots);
    let mut b = Builder::from_graph(graph);
    let mut renamed: Vec<NodeId> = (0..needed.len() as u32).map(NodeId).collect();
    for (i, _) in needed.iter().enumerate().filter(|(_, needed)| **needed) {
        let node = b.graph().node(NodeId(i as u32)).clone();
        let args: Vec<NodeId> = node.args.iter().map(|a| renamed[a.0 as usize]).collect();
        b.set_span(node.span);
        if let Some(other) = with(&mut b, &node, &args) {
            renamed[i] = other;
        } else if args != node.args {
            renamed[i] = b.like(&node.op, args, node.dims.clone());
        }
    }
    let roots = roots.iter().map(|r| renamed[r.0 as usize]).collect();
    (b.finish(), roots)
}
