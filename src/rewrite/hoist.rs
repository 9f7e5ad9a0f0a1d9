//! Takes out of a loop what a step does not need from the steps before it: computed for all steps at once, it
//! is not interpreted step by step.

use super::{Rule, replace_where};
use crate::graph::{Builder, Feed, Graph, Node, NodeId, Op, Origin, Recursion};
use std::collections::HashMap;

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "out-of-the-loop",
    doc: "what a step does not need from earlier steps is computed for all steps at once",
    apply,
};

/// Most steps for which whole arrays of what a step computes are kept.
const MOST_STEPS: usize = 1 << 12;

fn apply(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    let candidate = |node: &Node| matches!(node.op, Op::Recursion(_));
    replace_where(graph, roots, candidate, |b, node, args| match &node.op {
        Op::Recursion(r) => taken_out(b, r, args),
        Op::Constant(_) | Op::Input { .. } | Op::Map(_) | Op::MapSum { .. } | Op::Array(_) | Op::Ode(_) => {
            None
        }
    })
}

/// A number that the step reads, once what can be taken out of it is.
struct Read {
    /// What it is in the old step.
    node: NodeId,
    origin: Origin,
    /// Where it comes from, if it is an argument.
    argument: Option<NodeId>,
}

fn taken_out(b: &mut Builder, r: &Recursion, args: &[NodeId]) -> Option<NodeId> {
    let single = r.feeds.iter().all(|f| f.size == 1) && r.sequences.iter().all(|s| s.size == 1);
    let plain = |id: NodeId| {
        let node = r.graph.node(id);
        node.len() == 1 && matches!(node.op, Op::Constant(_) | Op::Input { .. } | Op::Map(_))
    };
    let [way] = r.ways.as_slice() else { return None };
    let needed = r.graph.needed(way);
    let nodes: Vec<NodeId> = r.graph.iter().map(|(id, _)| id).filter(|id| needed[id.0 as usize]).collect();
    if !single || r.steps > MOST_STEPS || !nodes.iter().all(|&id| plain(id)) {
        return None;
    }
    let later = later(r, &nodes);
    if !way.iter().all(|root| later[root.0 as usize]) {
        return None;
    }
    let reads = reads(b, r, args, &nodes, &later)?;
    if reads.iter().all(|read| matches!(r.graph.node(read.node).op, Op::Input { .. })) {
        return None;
    }
    let (graph, roots) = rest(r, &nodes, &later, &reads, way);
    let feeds = reads.iter().map(|read| Feed { size: 1, origin: read.origin }).collect();
    let initial = r.initial().into_iter().flatten().map(|k| args[k]);
    let arguments = reads.iter().filter_map(|read| read.argument).chain(initial).collect();
    let other = Recursion { graph, feeds, ways: vec![roots], ..r.clone() };
    b.recursion(other, arguments).ok()
}

/// Which nodes need earlier steps.
fn later(r: &Recursion, nodes: &[NodeId]) -> Vec<bool> {
    let offsets = r.offsets();
    let mut later = vec![false; r.graph.len()];
    for &id in nodes {
        let node = r.graph.node(id);
        later[id.0 as usize] = match node.op {
            Op::Input { offset } => offsets
                .iter()
                .position(|&o| o == offset)
                .is_some_and(|feed| matches!(r.feeds[feed].origin, Origin::Earlier { .. })),
            _ => node.args.iter().any(|a| later[a.0 as usize]),
        };
    }
    later
}

/// All that the rest of the step reads: the same in every step first, elements of sequences last.
fn reads(
    b: &mut Builder,
    r: &Recursion,
    args: &[NodeId],
    nodes: &[NodeId],
    later: &[bool],
) -> Option<Vec<Read>> {
    let (offsets, arguments) = (r.offsets(), r.arguments());
    let mut outside: HashMap<NodeId, NodeId> = HashMap::new();
    let mut reads: Vec<Read> = Vec::new();
    for &id in nodes {
        let node = r.graph.node(id);
        if let Op::Input { offset } = node.op {
            let feed = offsets.iter().position(|&o| o == offset)?;
            match (r.feeds[feed].origin, arguments[feed]) {
                (Origin::Fixed, Some(k)) => {
                    outside.insert(id, b.reshape(args[k], Vec::new()));
                }
                (Origin::Step, Some(k)) => {
                    outside.insert(id, b.reshape(args[k], vec![r.steps]));
                }
                (origin, _) => reads.push(Read { node: id, origin, argument: None }),
            }
        } else if let Some(numbers) = node.constant() {
            outside.insert(id, b.constant(numbers.clone(), Vec::new()));
        } else if let (Op::Map(row), false) = (&node.op, later[id.0 as usize]) {
            let of: Option<Vec<NodeId>> = node.args.iter().map(|a| outside.get(a).copied()).collect();
            outside.insert(id, b.map(row, &of?).ok()?);
        }
    }
    let used = |id: NodeId| nodes.iter().any(|&n| later[n.0 as usize] && r.graph.node(n).args.contains(&id));
    for &id in nodes.iter().filter(|&&id| r.graph.node(id).constant().is_none() && used(id)) {
        let Some(&argument) = outside.get(&id) else { continue };
        let origin = if b.dims(argument).is_empty() { Origin::Fixed } else { Origin::Step };
        reads.push(Read { node: id, origin, argument: Some(argument) });
    }
    reads.sort_by_key(|read| match read.origin {
        Origin::Fixed => 0,
        Origin::Step => 1,
        Origin::Earlier { .. } => 2,
    });
    Some(reads)
}

/// What the step still computes.
fn rest(
    r: &Recursion,
    nodes: &[NodeId],
    later: &[bool],
    reads: &[Read],
    way: &[NodeId],
) -> (Graph, Vec<NodeId>) {
    let mut b = Builder::new();
    let mut copies: HashMap<NodeId, NodeId> = HashMap::new();
    for (offset, read) in reads.iter().enumerate() {
        copies.insert(read.node, b.input(offset, r.graph.node(read.node).dims.clone()));
    }
    for &id in nodes {
        let node = r.graph.node(id);
        if copies.contains_key(&id) || !(later[id.0 as usize] || node.constant().is_some()) {
            continue;
        }
        let args = node.args.iter().map(|a| copies[a]).collect();
        copies.insert(id, b.like(&node.op, args, node.dims.clone()));
    }
    let roots = way.iter().map(|root| copies[root]).collect();
    (b.finish(), roots)
}
