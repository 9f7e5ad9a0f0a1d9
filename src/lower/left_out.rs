//! Rows of weight 0: they are left out of everything that is computed for a statement, so that nothing in
//! them counts.
//!
//! Nought times a density that is no number is no number, and so is nought times its slope. So what is
//! computed element by element is computed for the other elements alone, back to the data and the parameters.

use crate::graph::{Builder, NodeId, Op};
use crate::ops::array::{MatMul, Take};
use crate::ops::operand::Broadcast;

/// How deep a chain of functions is followed.
const DEEP: usize = 200;

/// The places of the weights that are not 0; None where there is no 0 among them or they are not known.
pub(super) fn kept(b: &Builder, weights: NodeId) -> Option<Vec<usize>> {
    let weights = b.constant_of(weights)?;
    let places: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] != 0.0).collect();
    (places.len() < weights.len()).then_some(places)
}

/// The listed elements of an array that broadcasts to `dims`; a scalar stays one.
pub(super) fn elements(b: &mut Builder, a: NodeId, dims: &[usize], places: &[usize]) -> NodeId {
    if b.dims(a).is_empty() {
        return a;
    }
    let index = Broadcast::between(b.dims(a), dims);
    let places: Vec<u32> = places.iter().map(|&p| index.at(p) as u32).collect();
    listed(b, a, &places, DEEP)
}

/// The listed elements of an array, as a list, computed alone where that can be.
fn listed(b: &mut Builder, a: NodeId, places: &[u32], depth: usize) -> NodeId {
    let node = b.graph().node(a);
    let (op, args, dims) = (node.op.clone(), node.args.clone(), node.dims.clone());
    let all = places.iter().map(|&p| p as usize);
    match &op {
        Op::Map(_) if depth > 0 => {
            let args: Vec<NodeId> = args
                .iter()
                .map(|&arg| {
                    let from = b.dims(arg).to_vec();
                    if from.is_empty() {
                        return arg;
                    }
                    let index = Broadcast::between(&from, &dims);
                    let places: Vec<u32> = all.clone().map(|p| index.at(p) as u32).collect();
                    listed(b, arg, &places, depth - 1)
                })
                .collect();
            b.like(&op, args, vec![places.len()])
        }
        Op::Array(op) if depth > 0 => {
            if let Some(take) = op.downcast::<Take>() {
                let places: Vec<u32> = all.map(|p| take.table[p]).collect();
                return listed(b, args[0], &places, depth - 1);
            }
            let rows = op.downcast::<MatMul>().and_then(|_| rows(b, args[0], &dims, places));
            match rows.and_then(|rows| b.matmul(rows, args[1]).ok()) {
                Some(product) => product,
                None => b.take(a, places.to_vec(), vec![places.len()]),
            }
        }
        Op::Constant(_)
        | Op::Input { .. }
        | Op::Map(_)
        | Op::MapSum { .. }
        | Op::Array(_)
        | Op::Ode(_)
        | Op::Recursion(_) => b.take(a, places.to_vec(), vec![places.len()]),
    }
}

/// The listed rows of a known matrix whose product with a vector has these dims.
fn rows(b: &mut Builder, matrix: NodeId, product: &[usize], places: &[u32]) -> Option<NodeId> {
    let ([_], [_, width]) = (product, b.dims(matrix)) else { return None };
    let (width, values) = (*width, b.constant_of(matrix)?);
    let rows: Vec<f64> =
        places.iter().flat_map(|&p| &values[p as usize * width..(p as usize + 1) * width]).copied().collect();
    Some(b.constant(rows, vec![places.len(), width]))
}
