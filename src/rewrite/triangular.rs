//! Factors of matrices whose entries are listed, and products with factors: what stands above the diagonal is
//! not touched.

use super::{Rule, replace_where};
use crate::graph::{Graph, Node, NodeId, Op};
use crate::ops::array::{Cholesky, Kernel, ListedCholesky, LowerProduct, MatMul, Take};

/// Factors.
pub(super) static FACTOR: Rule = Rule {
    name: "cholesky-of-listed",
    doc: "the Cholesky factor of a matrix of listed elements is computed from the elements, without the upper triangle",
    apply: apply_factor,
};

/// Products.
pub(super) static PRODUCT: Rule = Rule {
    name: "lower-times-vector",
    doc: "a Cholesky factor times a vector is a sum over the lower triangle alone",
    apply: apply_product,
};

/// The operation of a node, if it is this one.
fn as_op<K: Kernel>(node: &Node) -> Option<&K> {
    let Op::Array(op) = &node.op else { return None };
    op.downcast::<K>()
}

fn apply_factor(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    let candidate = |node: &Node| as_op::<Cholesky>(node).is_some();
    replace_where(graph, roots, candidate, |b, node, args| {
        as_op::<Cholesky>(node)?;
        let matrix = b.graph().node(args[0]);
        let (table, elements) = (as_op::<Take>(matrix)?.table.clone(), matrix.args[0]);
        b.array(ListedCholesky { table, rows: node.dims[0] }, &[elements]).ok()
    })
}

fn apply_product(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    let candidate = |node: &Node| as_op::<MatMul>(node).is_some();
    replace_where(graph, roots, candidate, |b, node, args| {
        as_op::<MatMul>(node)?;
        let (left, right) = (b.graph().node(args[0]), b.graph().node(args[1]));
        let factor = as_op::<Cholesky>(left).is_some() || as_op::<ListedCholesky>(left).is_some();
        if !factor || right.dims.len() != 1 {
            return None;
        }
        b.array(LowerProduct, args).ok()
    })
}
