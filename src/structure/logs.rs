//! Arrays whose elements are exponentials of affine forms: rates, scales, and their products, ratios and
//! powers.

use super::affine::{Affine, MOST_ENTRIES};
use crate::graph::{Graph, Node, NodeId, Op};
use crate::ops::array::{Concat, Take};
use crate::ops::operand::Broadcast;
use crate::ops::scalar::{self, ScalarRow};
use std::sync::Arc;

/// What is known of the nodes so far: their forms, and the forms of their logarithms.
pub(super) struct Logs<'a> {
    pub(super) graph: &'a Graph,
    pub(super) forms: &'a [Option<Arc<Affine>>],
    pub(super) logs: &'a [Option<Arc<Affine>>],
}

impl Logs<'_> {
    /// The form of the logarithm of a node, if it is the exponential of one: so it is positive everywhere.
    pub(super) fn of_node(&self, node: &Node) -> Option<Arc<Affine>> {
        match &node.op {
            Op::Map(row) => self.of_map(row, &node.args, &node.dims),
            Op::Array(op) => {
                if let Some(take) = op.downcast::<Take>() {
                    let from = self.logs[node.args[0].0 as usize].as_ref()?;
                    return Some(Arc::new(from.gather(node.len(), |i| take.table[i] as usize)));
                }
                op.downcast::<Concat>()?;
                let parts: Vec<Arc<Affine>> = node.args.iter().map(|&a| self.of(a)).collect::<Option<_>>()?;
                Some(Arc::new(Affine::concat(parts.iter().map(AsRef::as_ref))))
            }
            Op::Constant(_) | Op::Input { .. } | Op::MapSum { .. } | Op::Ode(_) | Op::Recursion(_) => None,
        }
    }

    /// The same for an elementwise function, before it is summed.
    pub(super) fn of_map(&self, row: &ScalarRow, args: &[NodeId], dims: &[usize]) -> Option<Arc<Affine>> {
        if *row == scalar::EXP {
            return self.forms[args[0].0 as usize].clone();
        }
        if *row == scalar::MUL || *row == scalar::DIV {
            let sign = if *row == scalar::MUL { 1.0 } else { -1.0 };
            return Some(Arc::new(self.spread(args[0], dims)?.plus(&self.spread(args[1], dims)?, sign)));
        }
        let power = self.power(row, args)?;
        Some(Arc::new(self.spread(args[0], dims)?.scaled(|_| power, |_| 0.0)))
    }

    /// The exponent of a power.
    fn power(&self, row: &ScalarRow, args: &[NodeId]) -> Option<f64> {
        if *row == scalar::POW {
            let all = self.graph.node(args[1]).constant()?;
            return all.first().copied().filter(|p| all.len() == 1 && p.is_finite());
        }
        let powers =
            [(&scalar::SQUARE, 2.0), (&scalar::SQRT, 0.5), (&scalar::INV, -1.0), (&scalar::INV_SQRT, -0.5)];
        powers.into_iter().find(|(r, _)| *r == row).map(|(_, p)| p)
    }

    /// The form of the logarithm of an argument, which may be a positive constant.
    pub(super) fn of(&self, id: NodeId) -> Option<Arc<Affine>> {
        if let Some(known) = &self.logs[id.0 as usize] {
            return Some(known.clone());
        }
        let values = self.graph.node(id).constant()?;
        let positive = values.iter().all(|x| *x > 0.0 && x.is_finite());
        positive.then(|| Arc::new(Affine::constants(values.iter().map(|x| x.ln()).collect())))
    }

    fn spread(&self, id: NodeId, dims: &[usize]) -> Option<Affine> {
        let form = self.of(id)?;
        let (n, index) =
            (dims.iter().product::<usize>(), Broadcast::between(&self.graph.node(id).dims, dims));
        (n * form.entries() / form.len().max(1) <= MOST_ENTRIES).then(|| form.gather(n, |i| index.at(i)))
    }
}
