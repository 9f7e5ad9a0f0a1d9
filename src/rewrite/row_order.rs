//! Rows of a sum in the order of their groups: what a group's coefficients are, and what goes back to them,
//! then stays in registers for all of its rows.

use super::rows::Rows;
use super::{Rule, replace_where};
use crate::graph::{Graph, Node, NodeId, Op};
use crate::ops::array::Sparse;
use std::collections::HashMap;

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "rows-by-group",
    doc: "rows of a sum are put in the order of the coefficients that they read",
    apply,
};

fn apply(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    let candidate = |node: &Node| matches!(node.op, Op::MapSum { .. });
    replace_where(graph, roots, candidate, |b, node, args| {
        let Op::MapSum { row, weighted } = &node.op else { return None };
        let rows = Rows::of(b.graph(), args, *weighted)?;
        let order = by_group(&rows, &rows.predictor()?.sparse)?;
        let weights = weighted.then(|| order.iter().map(|&row| rows.weight(row)).collect());
        rows.sum(b, row, &order, weights)
    })
}

/// The rows by weight, as tiles of rows that weigh the same need fewer logarithms, and then by group; None
/// where groups stand together already, or have few rows.
fn by_group(rows: &Rows, sparse: &Sparse) -> Option<Vec<usize>> {
    if sparse.has_runs() {
        return None;
    }
    let (mut known, mut kinds, mut kind_of) = (HashMap::new(), Vec::new(), Vec::with_capacity(rows.count));
    for row in 0..rows.count {
        let weight = rows.weight(row);
        let kind = *known.entry((weight.to_bits(), sparse.places_of(row))).or_insert(kinds.len());
        if kind == kinds.len() {
            kinds.push((weight, row));
            if !sparse.would_serve(kinds.len()) {
                return None;
            }
        }
        kind_of.push(kind);
    }
    let mut order: Vec<usize> = (0..rows.count).collect();
    order.sort_by(|&a, &b| {
        let ((v, first), (w, other)) = (kinds[kind_of[a]], kinds[kind_of[b]]);
        v.total_cmp(&w).then(first.cmp(&other))
    });
    Some(order)
}
