//! Named rewrites of the graph of a log density: the same function, computed with less work.
//!
//! The values agree to rounding, which `tests/kernels/rewrite.rs` and `tests/kernels/plans.rs` hold.

mod branches;
mod columns;
mod coordinates;
mod covariance;
mod hoist;
mod inverse_scale;
mod known_scale;
mod log_rate;
mod mass_at_zero;
mod normal_sums;
mod ordered;
mod predictor;
mod radicand;
mod repeated;
mod row_order;
mod rows;
mod summed;
mod triangular;
mod variance;

pub use branches::branches;
pub use coordinates::join_coordinates;

use crate::graph::{Builder, Graph, Node, NodeId, Op};
use crate::ops::array::Sum;
use crate::ops::scalar::ADD;

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
pub static TABLE: &[&Rule] = &[
    &columns::RULE,
    &mass_at_zero::RULE,
    &summed::RULE,
    &log_rate::RULE,
    &ordered::RULE,
    &radicand::RULE,
    &hoist::RULE,
    &variance::RULE,
    &covariance::SHARED,
    &covariance::LISTED,
    &triangular::FACTOR,
    &triangular::PRODUCT,
    &normal_sums::RULE,
    &known_scale::RULE,
    &inverse_scale::RULE,
    &predictor::SUMS,
    &predictor::RULE,
    &repeated::RULE,
    &row_order::RULE,
];

/// The rules that leave every row of the data a summand of its own.
pub static BY_ROWS: &[&Rule] =
    &[&mass_at_zero::RULE, &summed::RULE, &log_rate::RULE, &ordered::RULE, &predictor::RULE];

/// Rows beyond which chains of functions are computed a few rows at a time: there what is computed for a row
/// need not end with it.
const IN_TILES: usize = 256;

/// Applies each rule once.
pub fn rewrite(graph: Graph, roots: &[NodeId], dimension: usize, rules: &[&Rule]) -> (Graph, Vec<NodeId>) {
    rules.iter().fold((graph, roots.to_vec()), |(graph, roots), rule| (rule.apply)(graph, &roots, dimension))
}

/// Whether a node is the sum of all elements of another.
fn is_total(node: &Node) -> bool {
    matches!(&node.op, Op::Array(op) if op.downcast::<Sum>().is_some_and(|sum| sum.axis.is_none()))
}

/// [`replace`] for a graph that has a candidate; others stay as they are.
fn replace_where(
    graph: Graph,
    roots: &[NodeId],
    candidate: impl Fn(&Node) -> bool,
    with: impl FnMut(&mut Builder, &Node, &[NodeId]) -> Option<NodeId>,
) -> (Graph, Vec<NodeId>) {
    let any = graph.iter().any(|(_, node)| candidate(node));
    if any { replace(graph, roots, with) } else { (graph, roots.to_vec()) }
}

/// The roots as sums: their summands in order, each with the place of its root, without the constants that
/// are added to them, and for each root the sum of its constants.
pub fn summands(graph: &Graph, roots: &[NodeId]) -> (Vec<(NodeId, usize)>, Vec<f64>) {
    let (mut terms, mut constants) = (Vec::new(), vec![0.0; roots.len()]);
    for (place, &root) in roots.iter().enumerate() {
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            let (id, constant) = without_constant(graph, id);
            constants[place] += constant;
            let node = graph.node(id);
            let plain = node.args.iter().all(|&a| graph.node(a).len() == 1);
            let sum = matches!(&node.op, Op::Map(row) if **row == ADD) && node.len() == 1 && plain;
            if sum && terms.len() + open.len() < MOST_TERMS {
                open.extend(node.args.iter().rev());
            } else {
                terms.push((id, place));
            }
        }
    }
    (terms, constants)
}

/// Most summands that are told apart.
const MOST_TERMS: usize = 100;

fn without_constant(graph: &Graph, mut id: NodeId) -> (NodeId, f64) {
    let mut sum = 0.0;
    loop {
        let node = graph.node(id);
        let number = |k: usize| graph.node(node.args[k]).constant().filter(|c| c.len() == 1).map(|c| c[0]);
        if !matches!(&node.op, Op::Map(row) if **row == ADD) || node.len() != 1 {
            return (id, sum);
        }
        let (other, by) = match (number(0), number(1)) {
            (Some(x), _) => (node.args[1], x),
            (None, Some(x)) => (node.args[0], x),
            (None, None) => return (id, sum),
        };
        (id, sum) = (other, sum + by);
    }
}

/// Goes through the nodes that the roots need, operands first: `with` may give another node for one, and what
/// depends on it follows. It sees the node and its arguments as they are by then.
fn replace(
    graph: Graph,
    roots: &[NodeId],
    mut with: impl FnMut(&mut Builder, &Node, &[NodeId]) -> Option<NodeId>,
) -> (Graph, Vec<NodeId>) {
    replace_by_id(graph, roots, |b, id, args| {
        let node = b.graph().node(id).clone();
        with(b, &node, args)
    })
}

/// The same where `with` sees which node it is.
fn replace_by_id(
    graph: Graph,
    roots: &[NodeId],
    mut with: impl FnMut(&mut Builder, NodeId, &[NodeId]) -> Option<NodeId>,
) -> (Graph, Vec<NodeId>) {
    let needed = graph.needed(roots);
    let mut b = Builder::from_graph(graph);
    let mut renamed: Vec<NodeId> = (0..needed.len() as u32).map(NodeId).collect();
    for (i, _) in needed.iter().enumerate().filter(|(_, needed)| **needed) {
        let id = NodeId(i as u32);
        let node = b.graph().node(id).clone();
        let args: Vec<NodeId> = node.args.iter().map(|a| renamed[a.0 as usize]).collect();
        b.set_span(node.span);
        if let Some(other) = with(&mut b, id, &args) {
            renamed[i] = other;
        } else if args != node.args {
            renamed[i] = b.like(&node.op, args, node.dims.clone());
        }
    }
    let roots = roots.iter().map(|r| renamed[r.0 as usize]).collect();
    (b.finish(), roots)
}
