//! Nodes and the arena that holds them.

use super::ode::Ode;
use super::recursion::Recursion;
use crate::ops::array::{OpRef, Take};
use crate::ops::scalar::ScalarRow;
use crate::source::Span;
use std::collections::HashSet;
use std::sync::Arc;

/// A handle to a node. Handles order as nodes do: an operand's is smaller than its user's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// What a node computes.
#[derive(Clone, Debug)]
pub enum Op {
    /// Numbers known before anything runs.
    Constant(Arc<[f64]>),
    /// A block of the unconstrained coordinates, from `offset` on.
    Input {
        /// Its first coordinate.
        offset: usize,
    },
    /// An elementwise function of broadcast arguments.
    Map(&'static ScalarRow),
    /// The sum over elements of an elementwise function; the last argument is a constant weight if
    /// `weighted`.
    MapSum {
        /// The function.
        row: &'static ScalarRow,
        /// Whether the last argument weights the terms.
        weighted: bool,
    },
    /// An operation on whole arrays.
    Array(OpRef),
    /// The solution of a differential equation.
    Ode(Arc<Ode>),
    /// A loop whose steps need those before them.
    Recursion(Arc<Recursion>),
}

/// A node of the graph.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it computes.
    pub op: Op,
    /// From what.
    pub args: Vec<NodeId>,
    /// Sizes of its axes.
    pub dims: Vec<usize>,
    /// The part of the model it came from first.
    pub span: Option<Span>,
}

impl Node {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.dims.iter().product()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where it takes its elements from its argument, if that is all it does.
    pub fn as_take(&self) -> Option<&Take> {
        match &self.op {
            Op::Array(op) => op.downcast::<Take>(),
            Op::Constant(_)
            | Op::Input { .. }
            | Op::Map(_)
            | Op::MapSum { .. }
            | Op::Ode(_)
            | Op::Recursion(_) => None,
        }
    }

    /// Its numbers, if they are known.
    pub fn constant(&self) -> Option<&Arc<[f64]>> {
        match &self.op {
            Op::Constant(values) => Some(values),
            Op::Input { .. }
            | Op::Map(_)
            | Op::MapSum { .. }
            | Op::Array(_)
            | Op::Ode(_)
            | Op::Recursion(_) => None,
        }
    }
}

/// All nodes, in evaluation order.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub(super) nodes: Vec<Node>,
}

impl Graph {
    /// The node behind a handle.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// All nodes with their handles, operands first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (NodeId, &Node)> {
        self.nodes.iter().enumerate().map(|(i, node)| (NodeId(i as u32), node))
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The offsets of the inputs that some root needs.
    pub fn inputs_below(&self, roots: &[NodeId]) -> HashSet<usize> {
        let needed = self.needed(roots);
        let inputs = self.nodes.iter().zip(needed).filter_map(|(node, needed)| match node.op {
            Op::Input { offset } if needed => Some(offset),
            _ => None,
        });
        inputs.collect()
    }

    /// For each node, whether some root needs it.
    pub fn needed(&self, roots: &[NodeId]) -> Vec<bool> {
        let mut needed = vec![false; self.nodes.len()];
        for root in roots {
            needed[root.0 as usize] = true;
        }
        for i in (0..self.nodes.len()).rev() {
            if needed[i] {
                for arg in &self.nodes[i].args {
                    needed[arg.0 as usize] = true;
                }
            }
        }
        needed
    }

    /// The same with these nodes as blocks of coordinates, from the place that each is given with on.
    pub fn with_inputs(&self, nodes: impl IntoIterator<Item = (NodeId, usize)>) -> Graph {
        let mut graph = self.clone();
        for (id, offset) in nodes {
            let node = &mut graph.nodes[id.0 as usize];
            (node.op, node.args) = (Op::Input { offset }, Vec::new());
        }
        graph
    }

    /// For each node, how many arguments of nodes that some root needs, and how many roots, it is.
    pub fn uses(&self, roots: &[NodeId]) -> Vec<usize> {
        let needed = self.needed(roots);
        let mut uses = vec![0; self.nodes.len()];
        let args =
            self.nodes.iter().zip(needed).filter(|(_, needed)| *needed).flat_map(|(node, _)| &node.args);
        args.chain(roots).for_each(|id| uses[id.0 as usize] += 1);
        uses
    }
}
