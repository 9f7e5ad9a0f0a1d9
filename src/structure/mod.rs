//! What the graph is as a function of its variables: affine forms, and the nonlinear atoms that are left.
//!
//! Every array is written as an affine function of *variables*: the unconstrained coordinates, and the
//! elements of nodes that are not affine in what they are made of. A log density is thereby a constant, a
//! linear part, and a weighted sum of atoms. `certify` reads constants off the atoms, `infer` solves what
//! needs no sampling, `rewrite` collapses data.

mod affine;
mod forms;
mod groups;
mod logs;
mod separable;

pub use affine::Affine;
pub use groups::{Group, groups};
pub use separable::{Separable, separate, separate_given};

use crate::graph::{Graph, NodeId};
use crate::ops::scalar::ScalarRow;
use std::collections::HashSet;
use std::sync::Arc;

/// The affine form of every node that is needed, and who owns which variable.
pub struct Structure<'g> {
    graph: &'g Graph,
    dimension: usize,
    forms: Vec<Option<Arc<Affine>>>,
    /// The form of the logarithm of every node that is the exponential of one.
    logs: Vec<Option<Arc<Affine>>>,
    /// First variable and node of everything that is not affine, ascending in both.
    owners: Vec<(u32, NodeId)>,
}

/// A scalar as a constant, a linear part and a weighted sum of elements of nodes.
pub struct Expansion {
    /// The constant.
    pub constant: f64,
    /// Coordinates and their coefficients.
    pub linear: Vec<(u32, f64)>,
    /// What is not linear.
    pub atoms: Vec<Atom>,
}

impl Expansion {
    /// Whether all its numbers are finite.
    pub fn is_finite(&self) -> bool {
        let weights = self.atoms.iter().flat_map(|a| a.weights.iter().map(|(_, w)| w));
        let mut all = self.linear.iter().map(|(_, w)| w).chain(weights);
        self.constant.is_finite() && all.all(|w| w.is_finite())
    }
}

/// Weighted elements of one node that is not affine.
pub struct Atom {
    /// The node.
    pub node: NodeId,
    /// Elements of it and their weights.
    pub weights: Vec<(usize, f64)>,
}

impl<'g> Structure<'g> {
    /// Finds the forms of all that the roots need. `dimension` is the number of unconstrained coordinates.
    pub fn new(graph: &'g Graph, roots: &[NodeId], dimension: usize) -> Self {
        forms::find(graph, roots, dimension, |_| true)
    }

    /// The same, with the forms of these nodes alone: over much data, those on the way are far more than
    /// those wanted.
    pub fn of(graph: &'g Graph, roots: &[NodeId], dimension: usize, wanted: &HashSet<NodeId>) -> Self {
        forms::find(graph, roots, dimension, |node| wanted.contains(&node))
    }

    /// The graph that it describes.
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// Number of unconstrained coordinates: variables below it are coordinates.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The form of a node; None if no root needs it, or it was not wanted.
    pub fn form(&self, node: NodeId) -> Option<&Arc<Affine>> {
        self.forms[node.0 as usize].as_ref()
    }

    /// The form of a node if it is affine in the coordinates alone.
    pub fn affine(&self, node: NodeId) -> Option<&Arc<Affine>> {
        self.form(node).filter(|form| self.in_coordinates(form))
    }

    /// The form of the logarithm of a node, if it is the exponential of a form that is affine in the
    /// coordinates alone.
    pub fn log_affine(&self, node: NodeId) -> Option<&Arc<Affine>> {
        self.logs[node.0 as usize].as_ref().filter(|form| self.in_coordinates(form))
    }

    /// The same for an elementwise function of nodes, whose result has these sizes.
    pub fn log_of_map(&self, row: &ScalarRow, args: &[NodeId], dims: &[usize]) -> Option<Arc<Affine>> {
        let logs = logs::Logs { graph: self.graph, forms: &self.forms, logs: &self.logs };
        logs.of_map(row, args, dims).filter(|form| self.in_coordinates(form) && form.is_finite())
    }

    fn in_coordinates(&self, form: &Affine) -> bool {
        form.last_variable().is_none_or(|v| (v as usize) < self.dimension)
    }

    /// The node, and the element of it, that a variable is; None for a coordinate.
    pub fn owner(&self, variable: u32) -> Option<(NodeId, usize)> {
        let after = self.owners.partition_point(|&(base, _)| base <= variable);
        let &(base, node) = self.owners.get(after.checked_sub(1)?)?;
        Some((node, (variable - base) as usize))
    }

    /// A scalar node as a sum.
    pub fn expand(&self, root: NodeId) -> Option<Expansion> {
        let form = self.form(root)?;
        let (columns, values) = form.row(0);
        let mut expansion = Expansion { constant: form.constant[0], linear: Vec::new(), atoms: Vec::new() };
        for (&variable, &weight) in columns.iter().zip(values).filter(|(_, w)| **w != 0.0) {
            let Some((node, element)) = self.owner(variable) else {
                expansion.linear.push((variable, weight));
                continue;
            };
            match expansion.atoms.last_mut() {
                Some(atom) if atom.node == node => atom.weights.push((element, weight)),
                _ => expansion.atoms.push(Atom { node, weights: vec![(element, weight)] }),
            }
        }
        Some(expansion)
    }
}
