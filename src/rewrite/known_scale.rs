//! Normal log densities by their precision: no division and no square root is left for each element.

use super::{Rule, replace};
use crate::dist::{self, NORMAL_JOINT};
use crate::graph::{Builder, Graph, NodeId, Op};
use crate::num::real::HALF_LN_2PI;
use crate::ops::scalar::{INV, QUADRATIC, SQUARE, ScalarRow};

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "normal-by-precision",
    doc: "a sum of normal log densities whose scale is known or shared is a sum of weighted squares",
    apply,
};

/// Scales whose square and inverse square are far from overflow.
const SAFE: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

fn apply(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    let kernels = [Some(&NORMAL_JOINT), kernel("half_normal"), kernel("std_normal")];
    replace(graph, roots, |b, node, args| {
        let Op::MapSum { row, weighted } = &node.op else { return None };
        let which = kernels.iter().position(|k| k.is_some_and(|k| k == *row))?;
        let zero = b.number(0.0);
        let one = b.number(1.0);
        let functions = args.len() - usize::from(*weighted);
        let weight = weighted.then(|| args[functions]);
        let (x, mu, scale) = match which {
            0 => (args[0], args[1], args[2]),
            1 => (args[0], zero, args[1]),
            // The kernel of the standard normal includes the constant.
            _ if *weighted => return None,
            _ => {
                let count = b.graph().node(args[0]).len() as f64;
                let squares = b.map_sum(&QUADRATIC, &[args[0], zero, one], None).ok()?;
                let constant = b.number(-count * HALF_LN_2PI);
                return b.add2(squares, constant).ok();
            }
        };
        let precision = precision(b, scale)?;
        b.map_sum(&QUADRATIC, &[x, mu, precision], weight).ok()
    })
}

/// The function of the distribution that a sum is taken of.
fn kernel(name: &str) -> Option<&'static ScalarRow> {
    match dist::find(name)?.density {
        dist::Density::Parts(parts) => parts.first().map(|p| p.row),
        dist::Density::Events(_) => None,
    }
}

/// 1 / scale², where it is known beforehand or the same for all elements.
fn precision(b: &mut Builder, scale: NodeId) -> Option<NodeId> {
    let node = b.graph().node(scale);
    let good = match node.constant() {
        Some(numbers) => numbers.iter().all(|s| SAFE.contains(s)),
        None => node.len() == 1,
    };
    if !good {
        return None;
    }
    let square = b.unary(&SQUARE, scale);
    Some(b.unary(&INV, square))
}
