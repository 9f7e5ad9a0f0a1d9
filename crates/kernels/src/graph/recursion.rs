//! Recursions as nodes: a loop whose steps need the steps before them, with one step as a graph of its own.

use super::arena::{Graph, Node, NodeId, Op};
use super::build::{BuildError, Builder};
use crate::facts::Range;
use crate::ops::array::{Concat, CumSum, MatMul, Sum, Take};
use crate::ops::scalar;
use std::sync::Arc;

/// A loop that defines sequences element by element, each from earlier ones.
///
/// The node's arguments are those of the feeds that have one, in order, then for each sequence with lags its
/// elements before the first step, the oldest first. Its result is flat: for each sequence these elements,
/// then one for each step.
#[derive(Clone, Debug)]
pub struct Recursion {
    /// Computes one step. Its coordinates are the feeds, one after another.
    pub graph: Graph,
    /// Number of steps.
    pub steps: usize,
    /// What a step reads: first all that is the same in every step, then the rest.
    pub feeds: Vec<Feed>,
    /// What the steps define.
    pub sequences: Vec<Sequence>,
    /// The ways in which a step may go, each with the next element of every sequence.
    pub ways: Vec<Vec<NodeId>>,
    /// The way of each step; empty if there is only one.
    pub way: Vec<u8>,
}

/// Numbers that a step reads.
#[derive(Clone, Debug)]
pub struct Feed {
    /// How many.
    pub size: usize,
    /// Where they come from.
    pub origin: Origin,
}

/// Where the numbers that a step reads come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An argument, the same in every step.
    Fixed,
    /// An argument with as many for each step.
    Step,
    /// The element that a sequence got some steps before.
    Earlier {
        /// Which sequence.
        sequence: usize,
        /// How many steps before, at least one.
        lag: usize,
    },
}

/// A sequence that the steps define.
#[derive(Clone, Debug)]
pub struct Sequence {
    /// Numbers in an element.
    pub size: usize,
    /// How many elements before the first step are read.
    pub lags: usize,
}

impl Recursion {
    /// Where a sequence begins in the result, with its elements before the first step.
    pub fn start(&self, sequence: usize) -> usize {
        self.sequences[..sequence].iter().map(|s| (s.lags + self.steps) * s.size).sum()
    }

    /// Where the element of a step stands in the result; `lag` steps earlier if that is asked for.
    pub fn place(&self, sequence: usize, step: usize, lag: usize) -> usize {
        let s = &self.sequences[sequence];
        self.start(sequence) + (s.lags + step - lag) * s.size
    }

    /// Numbers in the result.
    pub fn len(&self) -> usize {
        self.start(self.sequences.len())
    }

    /// Whether it defines nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The way that a step goes.
    pub fn way_of(&self, step: usize) -> usize {
        self.way.get(step).map_or(0, |&way| way as usize)
    }

    /// The first coordinate of each feed.
    pub fn offsets(&self) -> Vec<usize> {
        let sums = self.feeds.iter().scan(0, |at, feed| {
            *at += feed.size;
            Some(*at - feed.size)
        });
        sums.collect()
    }

    /// For each feed that is an argument its place among the arguments.
    pub fn arguments(&self) -> Vec<Option<usize>> {
        let mut next = 0;
        let argument = |feed: &Feed| match feed.origin {
            Origin::Fixed | Origin::Step => {
                next += 1;
                Some(next - 1)
            }
            Origin::Earlier { .. } => None,
        };
        self.feeds.iter().map(argument).collect()
    }

    /// For each sequence with lags, its elements before the first step among the arguments.
    pub fn initial(&self) -> Vec<Option<usize>> {
        let mut next = self.arguments().iter().flatten().count();
        let argument = |s: &Sequence| {
            (s.lags > 0).then(|| {
                next += 1;
                next - 1
            })
        };
        self.sequences.iter().map(argument).collect()
    }

    /// Number of numbers that each argument must have.
    fn argument_sizes(&self) -> Vec<usize> {
        let feeds = self.feeds.iter().filter_map(|feed| match feed.origin {
            Origin::Fixed => Some(feed.size),
            Origin::Step => Some(feed.size * self.steps),
            Origin::Earlier { .. } => None,
        });
        let initial = self.sequences.iter().filter(|s| s.lags > 0).map(|s| s.lags * s.size);
        feeds.chain(initial).collect()
    }

    /// Whether every step is affine in what varies, where `varies` says which feeds do: then the whole is.
    pub fn is_affine(&self, varies: impl Fn(usize) -> bool) -> bool {
        let offsets = self.offsets();
        let mut degree = vec![0u8; self.graph.len()];
        for (id, node) in self.graph.iter() {
            degree[id.0 as usize] = match &node.op {
                Op::Input { offset } => {
                    u8::from(offsets.iter().position(|o| o == offset).is_none_or(&varies))
                }
                Op::Constant(_)
                | Op::Map(_)
                | Op::MapSum { .. }
                | Op::Array(_)
                | Op::Ode(_)
                | Op::Recursion(_) => {
                    let of: Vec<u8> = node.args.iter().map(|a| degree[a.0 as usize]).collect();
                    degree_of(node, &of)
                }
            };
        }
        self.ways.iter().flatten().all(|r| degree[r.0 as usize] < 2)
    }

    fn fault(&self, sizes: &[usize]) -> Option<String> {
        if self.argument_sizes() != sizes {
            return Some(format!(
                "a loop needs arguments of {:?} numbers, not {sizes:?}",
                self.argument_sizes()
            ));
        }
        let fits = |way: &Vec<NodeId>| {
            way.len() == self.sequences.len()
                && way.iter().zip(&self.sequences).all(|(r, s)| self.graph.node(*r).len() == s.size)
        };
        let ways = self.ways.len();
        let way = self.way.iter().all(|&w| (w as usize) < ways)
            && (self.way.len() == self.steps || self.way.is_empty() && ways == 1);
        (!way || !self.ways.iter().all(fits)).then(|| "the elements of a sequence differ in size".to_string())
    }
}

/// 0 constant, 1 affine, 2 neither, from the degrees of the arguments.
fn degree_of(node: &Node, of: &[u8]) -> u8 {
    let most = of.iter().copied().max().unwrap_or(0);
    let varying = of.iter().filter(|d| **d > 0).count();
    let affine = match &node.op {
        _ if most == 0 => return 0,
        Op::Map(row) => {
            **row == scalar::ADD
                || **row == scalar::SUB
                || **row == scalar::NEG
                || (**row == scalar::MUL && varying == 1)
                || (**row == scalar::DIV && of[1] == 0)
                || (**row == scalar::FMA && (of[0] == 0 || of[1] == 0))
        }
        Op::Array(op) => {
            op.downcast::<Take>().is_some()
                || op.downcast::<Concat>().is_some()
                || op.downcast::<Sum>().is_some()
                || op.downcast::<CumSum>().is_some()
                || (op.downcast::<MatMul>().is_some() && varying == 1)
        }
        Op::Constant(_) | Op::Input { .. } | Op::MapSum { .. } | Op::Ode(_) | Op::Recursion(_) => false,
    };
    if affine { most } else { 2 }
}

impl Builder {
    /// All elements of the sequences of a loop, flat.
    pub fn recursion(&mut self, recursion: Recursion, args: Vec<NodeId>) -> Result<NodeId, BuildError> {
        let sizes: Vec<usize> = args.iter().map(|&a| self.graph().node(a).len()).collect();
        if let Some(fault) = recursion.fault(&sizes) {
            return Err(BuildError(fault));
        }
        let dims = vec![recursion.len()];
        Ok(self.like(&Op::Recursion(Arc::new(recursion)), args, dims))
    }

    /// For each sequence of a loop the range of its elements. Where nothing is assumed of the elements
    /// before, what a step gives lies in some range; with that range for the elements before, by induction in
    /// what it gives then.
    pub(super) fn sequence_ranges(&mut self, recursion: &Recursion, args: &[NodeId]) -> Vec<Range> {
        let feeds: Vec<Option<Range>> =
            recursion.arguments().iter().map(|a| a.map(|k| self.range(args[k]))).collect();
        let initial: Vec<Option<Range>> =
            recursion.initial().iter().map(|a| a.map(|k| self.range(args[k]))).collect();
        let mut ranges = vec![Range::REAL; recursion.sequences.len()];
        for _ in 0..2 {
            let mut inner = Builder::from_graph(recursion.graph.clone());
            let offsets = recursion.offsets();
            let inputs: Vec<(NodeId, usize)> = recursion
                .graph
                .iter()
                .filter_map(|(id, node)| match node.op {
                    Op::Input { offset } => Some((id, offsets.iter().position(|&o| o == offset)?)),
                    _ => None,
                })
                .collect();
            for (id, feed) in inputs {
                let range = match recursion.feeds[feed].origin {
                    Origin::Earlier { sequence, .. } => ranges[sequence],
                    Origin::Fixed | Origin::Step => feeds[feed].unwrap_or(Range::REAL),
                };
                inner.assert_range(id, range);
            }
            for (sequence, range) in ranges.iter_mut().enumerate() {
                let steps = recursion.ways.iter().map(|way| inner.range(way[sequence]));
                let all = initial[sequence].into_iter().chain(steps).reduce(Range::or);
                *range = all.unwrap_or(Range::REAL);
            }
        }
        ranges
    }
}
