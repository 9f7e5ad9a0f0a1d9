//! The rows of a sum: what each is made of, and the sum over some of them, in any order.

use crate::graph::{Builder, Graph, NodeId, Op};
use crate::ops::array::{Design, Operator, Sparse, Take};
use crate::ops::scalar::ScalarRow;
use std::sync::Arc;

/// Fewest rows worth looking at.
const FEWEST_ROWS: usize = 16;

/// Most columns of one argument.
const MOST_COLUMNS: usize = 64;

/// The arguments of a summed function row by row.
pub(super) struct Rows {
    /// How many there are.
    pub(super) count: usize,
    /// What the function reads.
    args: Vec<(Column, NodeId)>,
    /// What each row weighs, if not one.
    weights: Option<Arc<[f64]>>,
}

/// What the rows of an argument are.
enum Column {
    /// The same in every row: nothing to compare.
    Same,
    /// A known number for each.
    Known(Arc<[f64]>),
    /// A linear predictor, and its coefficients.
    Predictor(Arc<Operator>, NodeId),
    /// For each an element of another node.
    Listed(Arc<[u32]>, NodeId),
    /// A function of such columns.
    Computed(&'static ScalarRow, Vec<(Column, NodeId)>),
}

impl Rows {
    /// Those of a sum, whose last argument is a weight if it is `weighted`; None where they are not known
    /// beforehand.
    pub(super) fn of(graph: &Graph, args: &[NodeId], weighted: bool) -> Option<Rows> {
        let count = args.iter().map(|&a| graph.node(a).len()).max()?;
        if count < FEWEST_ROWS {
            return None;
        }
        let column = |&a: &NodeId| Some((Column::of(graph, a, count, &mut { MOST_COLUMNS })?, a));
        let mut args = args.iter().map(column).collect::<Option<Vec<_>>>()?;
        let weights = if weighted { args.pop() } else { None };
        let weights = match weights {
            None => None,
            Some((Column::Known(weights), _)) => Some(weights),
            Some(_) => return None,
        };
        Some(Rows { count, args, weights })
    }

    /// What a row weighs.
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// The bits of all that makes a row but its weight.
    pub(super) fn bits(&self, row: usize) -> Vec<u64> {
        let mut bits = Vec::new();
        self.args.iter().for_each(|(column, _)| column.bits(row, &mut bits));
        bits
    }

    /// The first linear predictor among the arguments.
    pub(super) fn predictor(&self) -> Option<&Operator> {
        self.args.iter().find_map(|(column, _)| match column {
            Column::Predictor(operator, _) => Some(&**operator),
            _ => None,
        })
    }

    /// The sum over these rows, in this order, with these weights.
    pub(super) fn sum(
        &self,
        b: &mut Builder,
        row: &'static ScalarRow,
        kept: &[usize],
        weights: Option<Vec<f64>>,
    ) -> Option<NodeId> {
        let args: Vec<NodeId> = self.args.iter().map(|(column, id)| column.with(b, *id, kept)).collect();
        let weights = weights.map(|weights| b.constant(weights, vec![kept.len()]));
        b.map_sum(row, &args, weights).ok()
    }
}

impl Column {
    /// What a node is row by row, in no more than so many columns.
    fn of(graph: &Graph, id: NodeId, count: usize, left: &mut usize) -> Option<Column> {
        let node = graph.node(id);
        if node.len() == 1 {
            return Some(Column::Same);
        }
        *left = left.checked_sub(1)?;
        if node.dims != [count] {
            return None;
        }
        match &node.op {
            Op::Constant(numbers) => Some(Column::Known(numbers.clone())),
            Op::Array(op) => match (op.downcast::<Design>(), op.downcast::<Take>()) {
                (Some(design), _) => Some(Column::Predictor(design.0.clone(), node.args[0])),
                (None, Some(take)) => Some(Column::Listed(take.table.clone(), node.args[0])),
                (None, None) => None,
            },
            Op::Map(row) => {
                let arg = |&a: &NodeId| Some((Column::of(graph, a, count, left)?, a));
                Some(Column::Computed(row, node.args.iter().map(arg).collect::<Option<_>>()?))
            }
            Op::Input { .. } | Op::MapSum { .. } | Op::Ode(_) | Op::Recursion(_) => None,
        }
    }

    /// Adds the bits of what makes a row.
    fn bits(&self, row: usize, bits: &mut Vec<u64>) {
        match self {
            Column::Same => {}
            Column::Known(numbers) => bits.push(numbers[row].to_bits()),
            Column::Predictor(o, _) => {
                bits.extend(o.offset.iter().map(|x| x[row].to_bits()));
                let dense = o.dense.iter().flat_map(|x| &x[row * o.columns..(row + 1) * o.columns]);
                bits.extend(dense.chain(o.sparse.factors_of(row)).map(|x| x.to_bits()));
                bits.extend(o.sparse.places_of(row).iter().map(|&p| u64::from(p)));
            }
            Column::Listed(table, _) => bits.push(u64::from(table[row])),
            Column::Computed(_, args) => args.iter().for_each(|(column, _)| column.bits(row, bits)),
        }
    }

    /// The argument `id` with these rows, in this order.
    fn with(&self, b: &mut Builder, id: NodeId, kept: &[usize]) -> NodeId {
        match self {
            Column::Same => id,
            Column::Known(numbers) => {
                b.constant(kept.iter().map(|&row| numbers[row]).collect::<Vec<f64>>(), vec![kept.len()])
            }
            Column::Predictor(operator, coefficients) => {
                let fewer = Design(Arc::new(with(operator, kept)));
                b.array(fewer, &[*coefficients]).unwrap_or(id)
            }
            Column::Listed(table, of) => {
                b.take(*of, kept.iter().map(|&row| table[row]).collect(), vec![kept.len()])
            }
            Column::Computed(row, args) => {
                let args = args.iter().map(|(column, id)| column.with(b, *id, kept)).collect();
                b.like(&Op::Map(row), args, vec![kept.len()])
            }
        }
    }
}

/// These rows of an operator.
fn with(o: &Operator, kept: &[usize]) -> Operator {
    let of = |x: &[f64], width: usize| -> Vec<f64> {
        kept.iter().flat_map(|&row| &x[row * width..(row + 1) * width]).copied().collect()
    };
    let places = kept.iter().flat_map(|&row| o.sparse.places_of(row)).copied();
    Operator {
        by_column: Default::default(),
        rows: kept.len(),
        coefficients: o.coefficients,
        offset: o.offset.as_ref().map(|x| of(x, 1).into()),
        everywhere: o.everywhere.clone(),
        dense: o.dense.as_ref().map(|x| of(x, o.columns).into()),
        columns: o.columns,
        sparse: Sparse::new(o.sparse.entries, places.collect(), of(&o.sparse.factors, o.sparse.entries)),
    }
}
