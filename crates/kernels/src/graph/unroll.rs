//! Writes recursions out step by step, for analyses that read a graph node by node.

use super::arena::{Graph, Node, NodeId, Op};
use super::build::{BuildError, Builder};
use super::recursion::{Origin, Recursion};
use crate::ops::array::{Concat, Take};
use std::collections::HashMap;

/// The same graph with every recursion of at most `most` nodes written out, and where each of its nodes went.
/// None if there is nothing to write out.
pub fn unrolled(graph: &Graph, most: usize) -> Option<(Graph, Vec<NodeId>)> {
    let fits = |node: &Node| match &node.op {
        Op::Recursion(r) => r.steps.saturating_mul(r.graph.len()) <= most,
        Op::Constant(_) | Op::Input { .. } | Op::Map(_) | Op::MapSum { .. } | Op::Array(_) | Op::Ode(_) => {
            false
        }
    };
    if !graph.iter().any(|(_, node)| fits(node)) {
        return None;
    }
    let mut b = Builder::new();
    let mut renamed: Vec<NodeId> = Vec::with_capacity(graph.len());
    for (_, node) in graph.iter() {
        let args: Vec<NodeId> = node.args.iter().map(|a| renamed[a.0 as usize]).collect();
        b.set_span(node.span);
        let copy = match &node.op {
            Op::Recursion(r) if fits(node) => written_out(&mut b, r, &args).ok()?,
            _ => b.like(&node.op, args, node.dims.clone()),
        };
        renamed.push(copy);
    }
    Some((b.finish(), renamed))
}

/// All elements of the sequences, each computed by nodes of its own.
fn written_out(b: &mut Builder, r: &Recursion, args: &[NodeId]) -> Result<NodeId, BuildError> {
    let (offsets, arguments) = (r.offsets(), r.arguments());
    let mut elements: Vec<Vec<NodeId>> = Vec::with_capacity(r.sequences.len());
    for (s, initial) in r.sequences.iter().zip(r.initial()) {
        let part = |b: &mut Builder, i: usize| match initial {
            Some(k) => elements_of(b, args[k], i, s.size, vec![s.size]),
            None => b.number(0.0),
        };
        elements.push((0..s.lags).map(|i| part(b, i)).collect());
    }
    for step in 0..r.steps {
        let way = &r.ways[r.way_of(step)];
        let needed = r.graph.needed(way);
        let mut copies: HashMap<NodeId, NodeId> = HashMap::new();
        for (id, node) in r.graph.iter().filter(|(id, _)| needed[id.0 as usize]) {
            let copy = match &node.op {
                Op::Input { offset } => {
                    let feed = offsets.iter().position(|o| o == offset).unwrap_or(0);
                    let size = r.feeds[feed].size;
                    let argument = arguments[feed].map(|k| args[k]);
                    match (r.feeds[feed].origin, argument) {
                        (Origin::Step, Some(a)) => elements_of(b, a, step, size, node.dims.clone()),
                        (Origin::Fixed, Some(a)) => b.reshape(a, node.dims.clone()),
                        (Origin::Earlier { sequence, lag }, _) => {
                            let earlier = elements[sequence][r.sequences[sequence].lags + step - lag];
                            b.reshape(earlier, node.dims.clone())
                        }
                        (Origin::Step | Origin::Fixed, None) => b.number(0.0),
                    }
                }
                _ => again(b, node, node.args.iter().map(|a| copies[a]).collect())?,
            };
            copies.insert(id, copy);
        }
        way.iter().zip(&mut elements).for_each(|(root, all)| all.push(copies[root]));
    }
    let all: Vec<NodeId> = elements.into_iter().flatten().collect();
    Ok(b.concat(&all, vec![r.len()]))
}

/// The numbers of element `i` of an array whose elements have `size` numbers.
fn elements_of(b: &mut Builder, array: NodeId, i: usize, size: usize, dims: Vec<usize>) -> NodeId {
    b.take(array, ((i * size) as u32..((i + 1) * size) as u32).collect(), dims)
}

/// A node made anew from other arguments, with what simplifies by them simplified.
fn again(b: &mut Builder, node: &Node, args: Vec<NodeId>) -> Result<NodeId, BuildError> {
    match &node.op {
        Op::Map(row) => b.map(row, &args),
        Op::MapSum { row, weighted } => {
            let (functions, weight) = args.split_at(args.len() - usize::from(*weighted));
            b.map_sum(row, functions, weight.first().copied())
        }
        Op::Array(op) => Ok(match (op.downcast::<Take>(), op.downcast::<Concat>()) {
            (Some(take), _) => b.take(args[0], take.table.to_vec(), take.dims.clone()),
            (_, Some(concat)) => b.concat(&args, concat.dims.clone()),
            (None, None) => b.like(&node.op, args, node.dims.clone()),
        }),
        Op::Constant(_) | Op::Input { .. } | Op::Ode(_) | Op::Recursion(_) => {
            Ok(b.like(&node.op, args, node.dims.clone()))
        }
    }
}
