//! Sequences of square roots that are read squared: the loop carries what is under the root, and needs no
//! root itself.

use super::{Rule, replace_where};
use crate::facts::Range;
use crate::graph::{Builder, Graph, Node, NodeId, Op, Origin, Recursion};
use crate::ops::scalar::{SQRT, SQUARE};

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "sequence-under-root",
    doc: "a loop over square roots that reads them squared carries what is under the root",
    apply,
};

fn apply(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    let candidate = |node: &Node| matches!(node.op, Op::Recursion(_));
    replace_where(graph, roots, candidate, |b, node, args| match &node.op {
        Op::Recursion(r) => under_root(b, r, args),
        Op::Constant(_) | Op::Input { .. } | Op::Map(_) | Op::MapSum { .. } | Op::Array(_) | Op::Ode(_) => {
            None
        }
    })
}

/// The same sequence as the roots of another, which its loop defines without roots.
fn under_root(b: &mut Builder, r: &Recursion, args: &[NodeId]) -> Option<NodeId> {
    let ([sequence], [way]) = (r.sequences.as_slice(), r.ways.as_slice()) else { return None };
    let root = r.graph.node(*way.first()?);
    if sequence.size != 1 || !is(root, &SQRT) {
        return None;
    }
    let (graph, inside) = without_squares(r, root.args[0])?;
    let initial = r.initial()[0]?;
    let positive =
        b.range(args[initial]).within(Range::NON_NEGATIVE) && never_negative(b, r, &graph, inside, args);
    if !positive {
        return None;
    }
    let mut args = args.to_vec();
    args[initial] = b.unary(&SQUARE, args[initial]);
    let other = Recursion { graph, ways: vec![vec![inside]], ..r.clone() };
    let squares = b.recursion(other, args).ok()?;
    Some(b.unary(&SQRT, squares))
}

fn is(node: &Node, row: &crate::ops::scalar::ScalarRow) -> bool {
    matches!(&node.op, Op::Map(other) if **other == *row)
}

/// Where the numbers of an input node come from.
fn origin(r: &Recursion, node: &Node) -> Option<Origin> {
    let Op::Input { offset } = node.op else { return None };
    let feed = r.offsets().iter().position(|&o| o == offset)?;
    Some(r.feeds[feed].origin)
}

/// A step up to the node `last`, where earlier elements stand for their squares; None if one is read
/// otherwise.
fn without_squares(r: &Recursion, last: NodeId) -> Option<(Graph, NodeId)> {
    let needed = r.graph.needed(&[last]);
    let mut b = Builder::new();
    let mut copies: Vec<Option<NodeId>> = vec![None; r.graph.len()];
    let earlier = |id: NodeId| matches!(origin(r, r.graph.node(id)), Some(Origin::Earlier { .. }));
    for (id, node) in r.graph.iter().filter(|(id, _)| needed[id.0 as usize]) {
        if node.args.iter().any(|&a| earlier(a)) && !is(node, &SQUARE) {
            return None;
        }
        let args: Vec<NodeId> = node.args.iter().filter_map(|a| copies[a.0 as usize]).collect();
        let copy = match node.args.first() {
            Some(&a) if earlier(a) => args[0],
            _ => b.like(&node.op, args, node.dims.clone()),
        };
        copies[id.0 as usize] = Some(copy);
    }
    Some((b.finish(), copies[last.0 as usize]?))
}

/// Whether what a step gives is known to be no less than zero where all before it was.
fn never_negative(b: &mut Builder, r: &Recursion, graph: &Graph, last: NodeId, args: &[NodeId]) -> bool {
    let mut inner = Builder::from_graph(graph.clone());
    let (offsets, arguments) = (r.offsets(), r.arguments());
    for (id, node) in graph.iter() {
        let Op::Input { offset } = node.op else { continue };
        let Some(feed) = offsets.iter().position(|&o| o == offset) else { continue };
        let range = match (r.feeds[feed].origin, arguments[feed]) {
            (Origin::Earlier { .. }, _) => Range::NON_NEGATIVE,
            (Origin::Fixed | Origin::Step, Some(k)) => b.range(args[k]),
            (Origin::Fixed | Origin::Step, None) => Range::REAL,
        };
        inner.assert_range(id, range);
    }
    inner.range(last).within(Range::NON_NEGATIVE)
}
