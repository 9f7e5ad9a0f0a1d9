//! Rows of a sum that are the same: computed once, and weighted by how many they are.
//!
//! It serves every likelihood alike: counts and successes with few distinct covariates, observations that
//! repeat a value.

use super::rows::Rows;
use super::{Rule, replace_where};
use crate::graph::{Graph, Node, NodeId, Op};
use std::collections::HashMap;

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "repeated-rows",
    doc: "rows of a sum that are the same are computed once, with their number as a weight",
    apply,
};

/// Rows among which at least one must be a repetition before all are looked at.
const SAMPLE: usize = 2048;

fn apply(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    let candidate = |node: &Node| matches!(node.op, Op::MapSum { .. });
    replace_where(graph, roots, candidate, |b, node, args| {
        let Op::MapSum { row, weighted } = &node.op else { return None };
        let rows = Rows::of(b.graph(), args, *weighted)?;
        let (kept, weights) = distinct(&rows)?;
        rows.sum(b, row, &kept, Some(weights))
    })
}

/// The first of the rows of each kind, and what they weigh together; None if that saves little.
fn distinct(rows: &Rows) -> Option<(Vec<usize>, Vec<f64>)> {
    let (mut kept, mut weights, mut places) = (Vec::new(), Vec::new(), HashMap::new());
    for row in 0..rows.count {
        if row == SAMPLE && kept.len() == SAMPLE {
            return None;
        }
        let place = *places.entry(rows.bits(row)).or_insert(kept.len());
        if place == kept.len() {
            kept.push(row);
            weights.push(0.0);
        }
        weights[place] += rows.weight(row);
    }
    (4 * kept.len() <= 3 * rows.count).then(|| by_weight(&kept, &weights))
}

/// Rows and weights in the order of weights: sums over tiles of rows that weigh the same need fewer
/// logarithms.
fn by_weight(rows: &[usize], weights: &[f64]) -> (Vec<usize>, Vec<f64>) {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| weights[a].total_cmp(&weights[b]));
    order.iter().map(|&i| (rows[i], weights[i])).unzip()
}
