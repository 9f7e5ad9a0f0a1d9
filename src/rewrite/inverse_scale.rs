//! Densities by the inverse of a scale that is known: a product in place of a division.

use super::{Rule, replace_where};
use crate::dist::{HALF_CAUCHY_BY_INVERSE, HALF_CAUCHY_JOINT};
use crate::graph::{Graph, Node, NodeId, Op};
use crate::ops::scalar::INV;

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "half-cauchy-by-inverse",
    doc: "a half-Cauchy log density whose scale is known is computed from the inverse of the scale",
    apply,
};

/// Scales whose inverse is far from overflow.
const SAFE: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

fn apply(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    let candidate = |node: &Node| matches!(&node.op, Op::MapSum { row, .. } if **row == HALF_CAUCHY_JOINT);
    replace_where(graph, roots, candidate, |b, node, args| {
        let scale = b.constant_of(*args.get(1)?)?;
        if !candidate(node) || !scale.iter().all(|s| SAFE.contains(s)) {
            return None;
        }
        let inverse = b.unary(&INV, args[1]);
        b.map_sum(&HALF_CAUCHY_BY_INVERSE, &[args[0], inverse], args.get(2).copied()).ok()
    })
}
