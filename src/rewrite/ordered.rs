//! Ordered categories on a logistic scale: how far apart cut-points are is asked once for each category, not
//! for each row.
//!
//! log(σ(η - l) - σ(η - u)) = log(1 - e^(l-u)) - log(1 + e^(l-η)) - log(1 + e^(η-u)): the first part depends
//! on the category alone, and of the others a sum over many rows needs one logarithm.

use super::{Rule, replace_where};
use crate::dist::{ORDERED_AROUND, ORDERED_BETWEEN, ORDERED_GAP};
use crate::graph::{Builder, Graph, Node, NodeId, Op};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "ordered-by-category",
    doc: "of a sum over ordered categories, what depends on the category alone is computed once for each",
    apply,
};

fn apply(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    let candidate = |node: &Node| matches!(&node.op, Op::MapSum { row, .. } if **row == ORDERED_BETWEEN);
    replace_where(graph, roots, candidate, |b, node, args| {
        if !candidate(node) {
            return None;
        }
        by_category(b, args)
    })
}

/// The sum over eta and both cut-points of each row, with weights if there are any, in two parts.
fn by_category(b: &mut Builder, args: &[NodeId]) -> Option<NodeId> {
    let [eta, lower, upper] = *args.first_chunk()?;
    let weights = args.get(3).copied();
    let rows: usize = b.common(args).ok()?.iter().product();
    let ((below, low), (above, high)) = (taken(b, lower)?, taken(b, upper)?);
    let times: Vec<f64> = match weights {
        Some(w) => b.graph().node(w).constant()?.to_vec(),
        None => vec![1.0; rows],
    };
    if [low.len(), high.len(), times.len()] != [rows; 3] {
        return None;
    }
    let mut counts: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for ((&l, &h), times) in low.iter().zip(high.iter()).zip(&times) {
        *counts.entry((l, h)).or_insert(0.0) += times;
    }
    // Where every row has a category of its own nothing is saved.
    if 2 * counts.len() > rows {
        return None;
    }
    let dims = vec![counts.len()];
    let lows = b.take(below, counts.keys().map(|k| k.0).collect(), dims.clone());
    let highs = b.take(above, counts.keys().map(|k| k.1).collect(), dims.clone());
    let counts = b.constant(counts.into_values().collect::<Vec<_>>(), dims);
    let gaps = b.map_sum(&ORDERED_GAP, &[lows, highs], Some(counts)).ok()?;
    let around = b.map_sum(&ORDERED_AROUND, &[eta, lower, upper], weights).ok()?;
    b.add2(gaps, around).ok()
}

/// What a node takes its elements from, and where.
fn taken(b: &Builder, id: NodeId) -> Option<(NodeId, Arc<[u32]>)> {
    let node = b.graph().node(id);
    node.as_take().map(|take| (node.args[0], Arc::clone(&take.table)))
}
