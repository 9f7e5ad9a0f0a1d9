//! Probabilities of any count but zero, as hurdles and truncation at 1 need them: by the mass at zero, a
//! density in place of a sum of densities.

use super::{Rule, replace_where};
use crate::dist::{self, Distribution, End, Support};
use crate::graph::{Builder, Graph, Node, NodeId, Op};
use crate::ops::scalar::{LOG1M_EXP, ScalarRow};

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "mass-at-zero",
    doc: "the log probability of a count above 0 is computed from that of 0",
    apply,
};

fn apply(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    replace_where(
        graph,
        roots,
        |node| of_counts(node).is_some(),
        |b, node, args| {
            let (dist, weighted) = of_counts(node)?;
            if !b.constant_of(args[0])?.iter().all(|x| *x == 0.0) {
                return None;
            }
            let functions = args.len() - usize::from(weighted.unwrap_or(false));
            let each = all_but_zero(b, dist, &args[..functions])?;
            if weighted.is_none() {
                return Some(each);
            }
            let terms = match args.get(functions) {
                Some(&weight) => b.mul(each, weight).ok()?,
                None => each,
            };
            b.sum(terms, None).ok()
        },
    )
}

/// log(1 - p(0)), with an element for each of the arguments together.
fn all_but_zero(b: &mut Builder, dist: &Distribution, args: &[NodeId]) -> Option<NodeId> {
    let dims = b.common(args).ok()?;
    let none = dist::log_density(b, dist, args[0], &args[1..]).ok()?;
    let each = b.unary(&LOG1M_EXP, none);
    Some(b.broadcast_to(each, &dims))
}

/// The distribution of counts from 0 on whose upper tail a node is, element by element or summed up; and if
/// the latter, whether the terms have weights.
fn of_counts(node: &Node) -> Option<(&'static Distribution, Option<bool>)> {
    let (row, weighted): (&ScalarRow, _) = match &node.op {
        Op::Map(row) => (row, None),
        Op::MapSum { row, weighted } => (row, Some(*weighted)),
        Op::Constant(_) | Op::Input { .. } | Op::Array(_) | Op::Ode(_) | Op::Recursion(_) => return None,
    };
    let counts = |d: &&&Distribution| matches!(d.support, Support::Integers(End::At(0.0), _));
    let found = dist::TABLE.iter().filter(counts).find(|d| d.lccdf.is_some_and(|tail| tail == row))?;
    Some((found, weighted))
}
