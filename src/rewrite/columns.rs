//! Sums and log-sum-exps along a short axis of a long array, as functions of its columns: what mixtures,
//! categories and products of factors need for each row is then computed with it, a few rows at a time, and
//! no array of all of it is stored.

use super::{IN_TILES, Rule, replace_where};
use crate::graph::{Builder, Graph, Node, NodeId, Op};
use crate::ops::array::{Concat, LogSumExp, MatMul, Sum, Take, all_in_order};
use crate::ops::operand::Broadcast;
use crate::ops::scalar::LOG_SUM_EXPS;

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "columns",
    doc: "a sum or log-sum-exp of a few numbers for each of many rows is a function of columns",
    apply,
};

/// Most columns.
const MOST_COLUMNS: usize = 24;

/// Most columns of one function.
const TOGETHER: usize = LOG_SUM_EXPS.len() + 1;

/// What becomes of the numbers of a row.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Sum,
    LogSumExp,
}

fn apply(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    let uses = graph.uses(roots);
    replace_where(
        graph,
        roots,
        |node| reduction(node).is_some(),
        |b, node, args| {
            let (kind, axis) = reduction(node)?;
            // A sum of what is stored anyway is fast as it is.
            let computed =
                matches!(b.graph().node(args[0]).op, Op::Map(_)) && uses[node.args[0].0 as usize] == 1;
            let tables = tables(b.dims(args[0]), axis).filter(|_| computed || kind == Kind::LogSumExp)?;
            let columns: Vec<NodeId> = tables.iter().map(|table| listed(b, args[0], table)).collect();
            let all = match kind {
                Kind::Sum => sum(b, columns)?,
                Kind::LogSumExp => log_sum_exp(b, columns)?,
            };
            Some(b.broadcast_to(all, &node.dims))
        },
    )
}

/// What a node makes of the numbers along an axis.
fn reduction(node: &Node) -> Option<(Kind, usize)> {
    let Op::Array(op) = &node.op else { return None };
    let sum = op.downcast::<Sum>().and_then(|sum| Some((Kind::Sum, sum.axis?)));
    sum.or_else(|| Some((Kind::LogSumExp, op.downcast::<LogSumExp>()?.axis?)))
}

/// The places of each column: one for each of many rows.
fn tables(dims: &[usize], axis: usize) -> Option<Vec<Vec<u32>>> {
    let &[first, second] = dims else { return None };
    let (columns, rows) = if axis == 0 { (first, second) } else { (second, first) };
    let place = |k: usize, i: usize| if axis == 0 { k * second + i } else { i * second + k };
    let table = |k: usize| (0..rows).map(|i| place(k, i) as u32).collect();
    let fits = rows > IN_TILES && (2..=MOST_COLUMNS).contains(&columns);
    fits.then(|| (0..columns).map(table).collect())
}

/// The sum of columns.
fn sum(b: &mut Builder, columns: Vec<NodeId>) -> Option<NodeId> {
    columns.into_iter().map(Some).reduce(|a, c| b.add2(a?, c?).ok())?
}

/// The log-sum-exp of columns, by functions of as many as there are functions for.
fn log_sum_exp(b: &mut Builder, mut columns: Vec<NodeId>) -> Option<NodeId> {
    while columns.len() > 1 {
        let some = columns.chunks(TOGETHER).map(|some| match some {
            [one] => Some(*one),
            _ => b.map(LOG_SUM_EXPS[some.len() - 2], some).ok(),
        });
        columns = some.collect::<Option<_>>()?;
    }
    columns.pop()
}

/// Listed elements of a node, as a vector or as one number that is all of them: of what was computed for more
/// of them, what is computed for these alone.
fn listed(b: &mut Builder, id: NodeId, table: &[u32]) -> NodeId {
    let node = b.graph().node(id).clone();
    if table.iter().all(|p| *p == table[0]) {
        return b.take(id, vec![table[0]], Vec::new());
    }
    if node.dims.len() == 1 && all_in_order(table, node.len()) {
        return id;
    }
    inside(b, &node, table).unwrap_or_else(|| b.take(id, table.to_vec(), vec![table.len()]))
}

/// [`listed`], by what the node is computed from.
fn inside(b: &mut Builder, node: &Node, table: &[u32]) -> Option<NodeId> {
    let op = match &node.op {
        Op::Map(row) => {
            let arg = |&a: &NodeId| {
                let index = Broadcast::between(b.dims(a), &node.dims);
                listed(b, a, &table.iter().map(|&p| index.at(p as usize) as u32).collect::<Vec<_>>())
            };
            let args: Vec<NodeId> = node.args.iter().map(arg).collect();
            return b.map(row, &args).ok();
        }
        Op::Array(op) => op,
        Op::Constant(_) | Op::Input { .. } | Op::MapSum { .. } | Op::Ode(_) | Op::Recursion(_) => {
            return None;
        }
    };
    if let Some(take) = op.downcast::<Take>() {
        let places: Vec<u32> = table.iter().map(|&p| take.table[p as usize]).collect();
        return Some(listed(b, node.args[0], &places));
    }
    if op.downcast::<Concat>().is_some() {
        return of_one_part(b, node, table);
    }
    op.downcast::<MatMul>().and_then(|_| column_of_product(b, node, table))
}

/// Elements of parts put together that are all those of one part.
fn of_one_part(b: &mut Builder, node: &Node, table: &[u32]) -> Option<NodeId> {
    let mut start = 0;
    for &part in &node.args {
        let end = start + b.graph().node(part).len() as u32;
        if table.iter().all(|p| (start..end).contains(p)) {
            return Some(listed(b, part, &table.iter().map(|p| p - start).collect::<Vec<_>>()));
        }
        start = end;
    }
    None
}

/// A column of the product of a constant matrix with another.
fn column_of_product(b: &mut Builder, node: &Node, table: &[u32]) -> Option<NodeId> {
    let &[rows, columns] = node.dims.as_slice() else { return None };
    let column = table[0] % columns as u32;
    let whole = |(i, &p): (usize, &u32)| p as usize == i * columns + column as usize;
    if b.constant_of(node.args[0]).is_none() || table.len() != rows || !table.iter().enumerate().all(whole) {
        return None;
    }
    let depth = b.dims(node.args[1])[0];
    let places = (0..depth).map(|j| (j * columns) as u32 + column).collect();
    let coefficients = b.take(node.args[1], places, vec![depth]);
    b.matmul(node.args[0], coefficients).ok()
}
