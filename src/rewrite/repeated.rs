//! Rows of a sum that are the same: computed once, and weighted by how many they are.
//!
//! It serves every likelihood alike: counts and successes with few distinct covariates, observations that repeat a value.

use super::{Rule, replace_where};
use crate::graph::{Builder, Graph, Node, NodeId, Op};
use crate::ops::array::{Design, Operator, Take};
use crate::ops::scalar::ScalarRow;
use std::collections::HashMap;
use std::sync::Arc;

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "repeated-rows",
    doc: "rows of a sum that are the same are computed once, with their number as a weight",
    apply,
};

/// Fewest rows worth looking at.
const FEWEST_ROWS: usize = 16;

/// Most columns of one argument.
const MOST_COLUMNS: usize = 64;

/// Rows among which at least one must be a repetition before all are looked at.
const SAMPLE: usize = 2048;

fn apply(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    let candidate = |node: &Node| matches!(node.op, Op::MapSum { .. });
    replace_where(graph, roots, candidate, |b, node, args| {
        let Op::MapSum { row, weighted } = &node.op else { return None };
        let rows = Rows::of(b.graph(), args)?;
        let (kept, weights) = rows.distinct(*weighted)?;
        let functions = args.len() - usize::from(*weighted);
        let fewer: Vec<NodeId> =
            args.iter().zip(&rows.args).take(functions).map(|(&a, arg)| arg.only(b, a, &kept)).collect();
        let weights = b.constant(weights, vec![kept.len()]);
        b.map_sum(row, &fewer, Some(weights)).ok()
    })
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

struct Rows {
    count: usize,
    args: Vec<Column>,
}

impl Rows {
    /// The arguments of a sum row by row; None where they cannot be compared beforehand.
    fn of(graph: &Graph, args: &[NodeId]) -> Option<Rows> {
        let count = args.iter().map(|&a| graph.node(a).len()).max()?;
        if count < FEWEST_ROWS {
            return None;
        }
        let column = |&a: &NodeId| Column::of(graph, a, count, &mut { MOST_COLUMNS });
        Some(Rows { count, args: args.iter().map(column).collect::<Option<_>>()? })
    }

    /// The bits of all that makes a row, where the last argument is a weight if the sum is `weighted`.
    fn bits(&self, row: usize, weighted: bool) -> Vec<u64> {
        let mut bits = Vec::new();
        for column in &self.args[..self.args.len() - usize::from(weighted)] {
            column.bits(row, &mut bits);
        }
        bits
    }

    /// The first of the rows of each kind, and what they weigh together; None if that saves little.
    fn distinct(&self, weighted: bool) -> Option<(Vec<usize>, Vec<f64>)> {
        let weight = |row: usize| match self.args.last() {
            Some(Column::Known(weights)) if weighted => Some(weights[row]),
            Some(Column::Same | Column::Predictor(..) | Column::Listed(..) | Column::Computed(..))
                if weighted =>
            {
                None
            }
            _ => Some(1.0),
        };
        let (mut kept, mut weights, mut places) = (Vec::new(), Vec::new(), HashMap::new());
        for row in 0..self.count {
            if row == SAMPLE && kept.len() == SAMPLE {
                return None;
            }
            let place = *places.entry(self.bits(row, weighted)).or_insert(kept.len());
            if place == kept.len() {
                kept.push(row);
                weights.push(0.0);
            }
            weights[place] += weight(row)?;
        }
        (4 * kept.len() <= 3 * self.count).then(|| by_weight(&kept, &weights))
    }
}

/// Rows and weights in the order of weights: sums over tiles of rows that weigh the same need fewer logarithms.
fn by_weight(rows: &[usize], weights: &[f64]) -> (Vec<usize>, Vec<f64>) {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| weights[a].total_cmp(&weights[b]));
    order.iter().map(|&i| (rows[i], weights[i])).unzip()
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
                let entries = row * o.entries..(row + 1) * o.entries;
                bits.extend(dense.chain(&o.factors[entries.clone()]).map(|x| x.to_bits()));
                bits.extend(o.places[entries].iter().map(|&p| u64::from(p)));
            }
            Column::Listed(table, _) => bits.push(u64::from(table[row])),
            Column::Computed(_, args) => args.iter().for_each(|(column, _)| column.bits(row, bits)),
        }
    }

    /// The argument `id` with these rows alone.
    fn only(&self, b: &mut Builder, id: NodeId, kept: &[usize]) -> NodeId {
        match self {
            Column::Same => id,
            Column::Known(numbers) => {
                b.constant(kept.iter().map(|&row| numbers[row]).collect::<Vec<f64>>(), vec![kept.len()])
            }
            Column::Predictor(operator, coefficients) => {
                let fewer = Design(Arc::new(only(operator, kept)));
                b.array(fewer, &[*coefficients]).unwrap_or(id)
            }
            Column::Listed(table, of) => {
                b.take(*of, kept.iter().map(|&row| table[row]).collect(), vec![kept.len()])
            }
            Column::Computed(row, args) => {
                let args = args.iter().map(|(column, id)| column.only(b, *id, kept)).collect();
                b.like(&Op::Map(row), args, vec![kept.len()])
            }
        }
    }
}

/// Some rows of an operator.
fn only(o: &Operator, kept: &[usize]) -> Operator {
    let of = |x: &[f64], width: usize| -> Vec<f64> {
        kept.iter().flat_map(|&row| &x[row * width..(row + 1) * width]).copied().collect()
    };
    let places = kept.iter().flat_map(|&row| &o.places[row * o.entries..(row + 1) * o.entries]);
    Operator {
        rows: kept.len(),
        coefficients: o.coefficients,
        offset: o.offset.as_ref().map(|x| of(x, 1).into()),
        everywhere: o.everywhere.clone(),
        dense: o.dense.as_ref().map(|x| of(x, o.columns).into()),
        columns: o.columns,
        places: places.copied().collect(),
        factors: of(&o.factors, o.entries),
        entries: o.entries,
    }
}
