//! Named rewrites of the graph of a log density: the same function, computed with less work.
//!
//! Each rule takes over single nodes; everything else is copied. The values agree to rounding, which `tests/rewrite.rs` holds.

mod normal_sums;

use crate::graph::{Builder, Graph, Node, NodeId};
use crate::structure::Structure;

/// A rewrite.
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// Whether a node could be one that it takes over: a quick look.
    pub may_apply: fn(&Graph, &Node) -> bool,
    /// Builds the node anew from the copies of those before it; None if it does not apply.
    pub apply: fn(&mut Rewriter, &Node) -> Option<NodeId>,
}

/// Every rule.
pub static RULES: &[Rule] = &[normal_sums::RULE];

/// A graph on its way into a new one.
pub struct Rewriter<'s> {
    /// The old graph and its forms.
    pub structure: &'s Structure<'s>,
    /// The new graph.
    pub b: Builder,
    copies: Vec<Option<NodeId>>,
}

impl Rewriter<'_> {
    /// The copy of an old node.
    pub fn copy_of(&self, old: NodeId) -> Option<NodeId> {
        self.copies[old.0 as usize]
    }
}

/// The roots in a graph to which the rules were applied; None if none applied.
pub fn rewrite(graph: &Graph, roots: &[NodeId], dimension: usize) -> Option<(Graph, Vec<NodeId>)> {
    let needed = graph.needed(roots);
    let mut wanted = graph.iter().filter(|(id, _)| needed[id.0 as usize]);
    if !wanted.any(|(_, node)| RULES.iter().any(|rule| (rule.may_apply)(graph, node))) {
        return None;
    }
    let structure = Structure::new(graph, roots, dimension);
    let mut rewriter = Rewriter { structure: &structure, b: Builder::new(), copies: vec![None; graph.len()] };
    let mut changed = false;
    for (id, node) in graph.iter().filter(|(id, _)| needed[id.0 as usize]) {
        rewriter.b.set_span(node.span);
        let rule = RULES.iter().find_map(|rule| {
            (rule.may_apply)(graph, node).then(|| (rule.apply)(&mut rewriter, node)).flatten()
        });
        changed |= rule.is_some();
        let new = match rule {
            Some(new) => new,
            None => {
                let args = node.args.iter().map(|a| rewriter.copy_of(*a)).collect::<Option<Vec<_>>>()?;
                rewriter.b.like(&node.op, args, node.dims.clone())
            }
        };
        rewriter.copies[id.0 as usize] = Some(new);
    }
    let roots = roots.iter().map(|r| rewriter.copy_of(*r)).collect::<Option<Vec<_>>>()?;
    changed.then(|| (rewriter.b.finish(), roots))
}
