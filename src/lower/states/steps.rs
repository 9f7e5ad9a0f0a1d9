//! The steps of a loop at once, where their states are known: each an affine function of its innovation.

use crate::graph::{Builder, NodeId, Op, Origin, Recursion};
use crate::ops::scalar::{self, ScalarRow};
use std::collections::HashMap;

/// For each sequence of a loop the feed that no sequence solved before it reads, in the order in which they
/// can be solved.
pub(super) fn owners(r: &Recursion, mut open: Vec<usize>) -> Option<Vec<(usize, usize)>> {
    let offsets = r.offsets();
    let mut order: Vec<(usize, usize)> = Vec::new();
    while order.len() < r.sequences.len() {
        let found =
            (0..r.sequences.len()).filter(|k| order.iter().all(|(done, _)| done != k)).find_map(|k| {
                let read = r.graph.inputs_below(&[r.ways[0][k]]);
                let mut own = open.iter().filter(|&&feed| read.contains(&offsets[feed]));
                own.next().filter(|_| own.next().is_none()).map(|&feed| (k, feed))
            })?;
        open.retain(|feed| *feed != found.1);
        order.push(found);
    }
    open.is_empty().then_some(order)
}

/// All steps of a loop at once, where the states are known.
pub(super) struct Steps<'r> {
    pub(super) r: &'r Recursion,
    /// The states of each sequence, those before the first step included.
    pub(super) sequences: Vec<NodeId>,
    /// What the steps read besides, as far as it is known.
    pub(super) fed: HashMap<usize, NodeId>,
}

impl Steps<'_> {
    /// Slope and rest of the next element of a sequence as a function of a feed, for all steps.
    pub(super) fn affine(&self, b: &mut Builder, sequence: usize, own: usize) -> Option<[NodeId; 2]> {
        let graph = &self.r.graph;
        let root = self.r.ways[0][sequence];
        let needed = graph.needed(&[root]);
        let mut lines: HashMap<NodeId, [NodeId; 2]> = HashMap::new();
        let mut values: HashMap<NodeId, NodeId> = HashMap::new();
        for (id, node) in graph.iter().filter(|(id, _)| needed[id.0 as usize]) {
            let others: Vec<Option<NodeId>> = node.args.iter().map(|a| values.get(a).copied()).collect();
            match &node.op {
                _ if !node.dims.is_empty() => return None,
                Op::Constant(_) => drop(values.insert(id, b.like(&node.op, Vec::new(), Vec::new()))),
                Op::Input { offset } => match self.r.offsets().iter().position(|o| o == offset)? {
                    feed if feed == own => {
                        lines.insert(id, [b.number(1.0), b.number(0.0)]);
                    }
                    feed => drop(values.insert(id, self.read(b, feed)?)),
                },
                Op::Map(row) => {
                    let mut moving = (0..node.args.len()).filter(|&k| lines.contains_key(&node.args[k]));
                    match (moving.next(), moving.next()) {
                        (None, _) => {
                            let args = others.into_iter().collect::<Option<Vec<NodeId>>>()?;
                            values.insert(id, b.map(row, &args).ok()?);
                        }
                        (Some(k), None) => {
                            lines.insert(id, through(b, row, k, &others, lines[&node.args[k]])?);
                        }
                        (Some(_), Some(_)) => return None,
                    }
                }
                Op::MapSum { .. } | Op::Array(_) | Op::Ode(_) | Op::Recursion(_) => return None,
            }
        }
        lines.get(&root).copied()
    }

    /// What all steps read from a feed.
    fn read(&self, b: &mut Builder, feed: usize) -> Option<NodeId> {
        let steps = self.r.steps;
        Some(match self.r.feeds[feed].origin {
            Origin::Fixed => b.reshape(*self.fed.get(&feed)?, Vec::new()),
            Origin::Step => b.reshape(*self.fed.get(&feed)?, vec![steps]),
            Origin::Earlier { sequence, lag } => {
                let first = (self.r.sequences[sequence].lags - lag) as u32;
                b.take(self.sequences[sequence], (first..first + steps as u32).collect(), vec![steps])
            }
        })
    }
}

/// x from `slope · x + rest`.
pub(super) fn solved(b: &mut Builder, [slope, rest]: [NodeId; 2], value: NodeId) -> Option<NodeId> {
    let moved = b.sub(value, rest).ok()?;
    b.div(moved, slope).ok()
}

/// Listed elements of what is repeated to a shape; a number that is the same for all of them stays one.
pub(super) fn taken(b: &mut Builder, x: NodeId, of: &[usize], table: &[u32], dims: &[usize]) -> NodeId {
    if b.dims(x).is_empty() {
        return x;
    }
    let whole = b.broadcast_to(x, of);
    b.take(whole, table.to_vec(), dims.to_vec())
}

/// Slope and rest of a function of arguments of which one has a slope and a rest, and the others are known.
pub(super) fn through(
    b: &mut Builder,
    row: &'static ScalarRow,
    k: usize,
    others: &[Option<NodeId>],
    [slope, rest]: [NodeId; 2],
) -> Option<[NodeId; 2]> {
    let other = |at: usize| others.get(at).copied().flatten();
    let line = match k {
        _ if *row == scalar::ADD => [slope, b.add2(rest, other(1 - k)?).ok()?],
        0 if *row == scalar::SUB => [slope, b.sub(rest, other(1)?).ok()?],
        1 if *row == scalar::SUB => [b.unary(&scalar::NEG, slope), b.sub(other(0)?, rest).ok()?],
        0 if *row == scalar::NEG => [b.unary(&scalar::NEG, slope), b.unary(&scalar::NEG, rest)],
        _ if *row == scalar::MUL => [b.mul(slope, other(1 - k)?).ok()?, b.mul(rest, other(1 - k)?).ok()?],
        0 if *row == scalar::DIV => [b.div(slope, other(1)?).ok()?, b.div(rest, other(1)?).ok()?],
        2 if *row == scalar::FMA => {
            let product = b.mul(other(0)?, other(1)?).ok()?;
            [slope, b.add2(rest, product).ok()?]
        }
        0 | 1 if *row == scalar::FMA => {
            let product = b.mul(rest, other(1 - k)?).ok()?;
            [b.mul(slope, other(1 - k)?).ok()?, b.add2(product, other(2)?).ok()?]
        }
        _ => return None,
    };
    Some(line)
}
