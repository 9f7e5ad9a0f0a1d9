//! Covariance matrices of Gaussian processes with less work for each entry: what all entries share is
//! computed once, and what is added to the diagonal is added before entries are listed.

use super::{Rule, replace_where};
use crate::func::EXP_QUAD;
use crate::graph::{Builder, Graph, Node, NodeId, Op};
use crate::ops::array::{Concat, Take};
use crate::ops::scalar::{ADD, EXP, INV, SQUARE};

/// The squared exponential without a division for each entry.
pub(super) static SHARED: Rule = Rule {
    name: "shared-length",
    doc: "a small squared exponential covariance is alpha² exp(d² c), with c = -1 / (2 rho²) computed once",
    apply: apply_shared,
};

/// Constants added before elements are listed.
pub(super) static LISTED: Rule = Rule {
    name: "add-before-take",
    doc: "a constant added to listed elements is added to the elements themselves, where these are fewer",
    apply: apply_listed,
};

/// Most entries: those of larger matrices would be passed through memory once more for each step.
const MOST_ENTRIES: usize = 256;

fn apply_shared(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    let candidate = |node: &Node| matches!(&node.op, Op::Map(row) if **row == EXP_QUAD);
    replace_where(graph, roots, candidate, |b, node, args| {
        let fits = candidate(node) && node.len() <= MOST_ENTRIES;
        let ([d2, alpha, rho], true) = (args, fits) else { return None };
        if b.graph().node(*alpha).len() != 1 || b.graph().node(*rho).len() != 1 {
            return None;
        }
        let square = b.unary(&SQUARE, *rho);
        let (inverse, half) = (b.unary(&INV, square), b.number(-0.5));
        let fall = b.mul(inverse, half).ok()?;
        let exponent = b.mul(*d2, fall).ok()?;
        let (size, correlation) = (b.unary(&SQUARE, *alpha), b.unary(&EXP, exponent));
        b.mul(size, correlation).ok()
    })
}

fn apply_listed(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    let candidate = |node: &Node| matches!(&node.op, Op::Map(row) if **row == ADD) && node.len() > 1;
    replace_where(graph, roots, candidate, |b, node, args| {
        if !candidate(node) {
            return None;
        }
        listed(b, args[0], args[1], &node.dims).or_else(|| listed(b, args[1], args[0], &node.dims))
    })
}

/// The elements with a constant added, listed.
fn listed(b: &mut Builder, list: NodeId, constant: NodeId, dims: &[usize]) -> Option<NodeId> {
    if b.dims(list) != dims || b.dims(constant) != dims {
        return None;
    }
    let numbers = b.constant_of(constant)?.clone();
    let node = b.graph().node(list);
    let Op::Array(op) = &node.op else { return None };
    let (take, base) = (op.downcast::<Take>()?.clone(), node.args[0]);
    let size = b.graph().node(base).len();
    let mut each: Vec<Option<f64>> = vec![None; size];
    for (&p, &x) in take.table.iter().zip(numbers.iter()) {
        if each[p as usize].replace(x).is_some_and(|before| before != x) {
            return None;
        }
    }
    if size >= take.table.len() {
        return None;
    }
    let each: Vec<f64> = each.into_iter().map(|x| x.unwrap_or(0.0)).collect();
    let moved = added(b, base, &each)?;
    Some(b.take(moved, take.table.to_vec(), take.dims))
}

/// A node plus a constant; part by part if it is put together of parts.
fn added(b: &mut Builder, id: NodeId, by: &[f64]) -> Option<NodeId> {
    if by.iter().all(|x| *x == 0.0) {
        return Some(id);
    }
    let node = b.graph().node(id).clone();
    if let Op::Array(op) = &node.op
        && op.downcast::<Concat>().is_some()
    {
        let mut at = 0;
        let mut parts = Vec::with_capacity(node.args.len());
        for &part in &node.args {
            let n = b.graph().node(part).len();
            parts.push(added(b, part, &by[at..at + n])?);
            at += n;
        }
        return Some(b.concat(&parts, node.dims));
    }
    let constant = b.constant(by.to_vec(), node.dims);
    b.add2(id, constant).ok()
}
