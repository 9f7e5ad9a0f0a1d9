//! Normal priors of coordinates that stand side by side: one sum of squares for all of them.

use crate::graph::{Builder, Node, NodeId, Op};
use crate::ops::scalar::QUADRATIC;

/// A sum of squares of coordinates about known means.
struct Prior {
    /// Which term.
    term: usize,
    /// The first coordinate.
    offset: usize,
    /// For each coordinate its mean and its precision.
    known: Vec<[f64; 2]>,
}

/// Joins the terms of one kind that are sums of squares of coordinates side by side, with known means and
/// precisions.
pub fn join_coordinates<K: Copy + PartialEq>(b: &mut Builder, terms: &mut Vec<NodeId>, kinds: &mut Vec<K>) {
    let mut priors: Vec<Prior> = (0..terms.len()).filter_map(|t| prior(b, terms[t], t)).collect();
    priors.sort_by_key(|p| p.offset);
    let mut gone = vec![false; terms.len()];
    let side_by_side =
        |a: &Prior, c: &Prior| a.offset + a.known.len() == c.offset && kinds[a.term] == kinds[c.term];
    for run in priors.chunk_by(side_by_side).filter(|run| run.len() > 1) {
        let known: Vec<[f64; 2]> = run.iter().flat_map(|p| p.known.iter().copied()).collect();
        b.set_span(b.graph().node(terms[run[0].term]).span);
        let Some(joined) = squares(b, run[0].offset, &known) else { continue };
        run.iter().for_each(|p| gone[p.term] = true);
        gone[run[0].term] = false;
        terms[run[0].term] = joined;
    }
    b.set_span(None);
    let mut kept = gone.iter();
    terms.retain(|_| kept.next() == Some(&false));
    let mut kept = gone.iter();
    kinds.retain(|_| kept.next() == Some(&false));
}

/// A term that is such a sum.
fn prior(b: &Builder, id: NodeId, term: usize) -> Option<Prior> {
    let node = b.graph().node(id);
    let (Op::MapSum { row, weighted: false }, [x, mu, w]) = (&node.op, node.args.as_slice()) else {
        return None;
    };
    let x = b.graph().node(*x);
    let Op::Input { offset } = x.op else { return None };
    let (mu, w) = (b.graph().node(*mu), b.graph().node(*w));
    let number = |node: &Node, i: usize| {
        let numbers = node.constant()?;
        numbers.get(if node.len() == 1 { 0 } else { i }).copied()
    };
    let fits = |node: &Node| node.len() == 1 || node.dims == x.dims;
    if **row != QUADRATIC || !fits(mu) || !fits(w) {
        return None;
    }
    let known = (0..x.len()).map(|i| Some([number(mu, i)?, number(w, i)?])).collect::<Option<_>>()?;
    Some(Prior { term, offset, known })
}

/// The sum for coordinates from `offset` on.
fn squares(b: &mut Builder, offset: usize, known: &[[f64; 2]]) -> Option<NodeId> {
    let n = known.len();
    let x = b.input(offset, vec![n]);
    let mut list = |k: usize| {
        let numbers: Vec<f64> = known.iter().map(|pair| pair[k]).collect();
        match numbers.iter().all(|x| *x == numbers[0]) {
            true => b.number(numbers[0]),
            false => b.constant(numbers, vec![n]),
        }
    };
    let (mu, w) = (list(0), list(1));
    b.map_sum(&QUADRATIC, &[x, mu, w], None).ok()
}
