//! Named rewrites of the graph of a log density: the same function, computed with less work.
//!
//! The values agree to rounding, which `tests/rewrite.rs` and `tests/plans.rs` hold.

mod known_scale;
mod normal_sums;
mod predictor;

use crate::graph::{Builder, Graph, Node, NodeId};
use crate::structure::Structure;

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
            renamed[i] = b.copy(&node, args);
        }
    }
    let roots = roots.iter().map(|r| renamed[r.0 as usize]).collect();
    (b.finish(), roots)
}

/// A graph on its way into a new one, with what is known of its structure.
struct Rewriter<'s> {
    /// The old graph and its forms.
    structure: &'s Structure<'s>,
    /// The new graph.
    b: Builder,
    copies: Vec<Option<NodeId>>,
}

impl Rewriter<'_> {
    /// The copy of an old node.
    fn copy_of(&self, old: NodeId) -> Option<NodeId> {
        self.copies[old.0 as usize]
    }
}

/// Takes over the nodes that `may` points at after a quick look, where `with` can build them anew from the copies of those
/// before them; everything else is copied.
fn take_over(
    graph: Graph,
    roots: &[NodeId],
    dimension: usize,
    may: fn(&Graph, &Node) -> bool,
    with: fn(&mut Rewriter, &Node) -> Option<NodeId>,
) -> (Graph, Vec<NodeId>) {
    match taken_over(&graph, roots, dimension, may, with) {
        Some(new) => new,
        None => (graph, roots.to_vec()),
    }
}

fn taken_over(
    graph: &Graph,
    roots: &[NodeId],
    dimension: usize,
    may: fn(&Graph, &Node) -> bool,
    with: fn(&mut Rewriter, &Node) -> Option<NodeId>,
) -> Option<(Graph, Vec<NodeId>)> {
    let needed = graph.needed(roots);
    let mut wanted = graph.iter().filter(|(id, _)| needed[id.0 as usize]);
    if !wanted.any(|(_, node)| may(graph, node)) {
        return None;
    }
    let structure = Structure::new(graph, roots, dimension);
    let mut rewriter = Rewriter { structure: &structure, b: Builder::new(), copies: vec![None; graph.len()] };
    let mut changed = false;
    for (id, node) in graph.iter().filter(|(id, _)| needed[id.0 as usize]) {
        rewriter.b.set_span(node.span);
        let new = may(graph, node).then(|| with(&mut rewriter, node)).flatten();
        changed |= new.is_some();
        let new = match new {
            Some(new) => new,
            None => {
                let args = node.args.iter().map(|a| rewriter.copy_of(*a)).collect::<Option<Vec<_>>>()?;
                rewriter.b.copy(node, args)
            }
        };
        rewriter.copies[id.0 as usize] = Some(new);
    }
    let roots = roots.iter().map(|r| rewriter.copy_of(*r)).collect::<Option<Vec<_>>>()?;
    changed.then(|| (rewriter.b.finish(), roots))
}
