//! Log-sum-exps along a short axis of a long array, as one function of its columns: what mixtures and categories need for each row is then computed with
//! it, a few rows at a time, and no array of all of it is stored.

use super::{IN_TILES, Rule, replace_where};
use crate::graph::{Builder, Graph, Node, NodeId, Op};
use crate::ops::array::{Concat, LogSumExp, MatMul, Sum, Take};
use crate::ops::operand::Broadcast;
use crate::ops::scalar::LOG_SUM_EXPS;

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "columns",
    doc: "a log-sum-exp of a few numbers for each of many rows is a function of columns",
    apply,
};

/// Most columns.
const MOST_COLUMNS: usize = 24;

/// Most columns that are added up.
const MOST_ADDED: usize = 16;

/// Most columns of one function.
const TOGETHER: usize = LOG_SUM_EXPS.len() + 1;

fn apply(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    replace_where(
        graph,
        roots,
        |node| axis(node).is_some(),
        |b, node, args| {
            let axis = axis(node)?;
            let tables = tables(b.dims(args[0]), axis)?;
            let columns: Vec<NodeId> =
                tables.iter().map(|table| listed(b, args[0], table)).collect::<Option<_>>()?;
            let all = together(b, columns)?;
            Some(b.broadcast_to(all, &node.dims))
        },
    )
}

/// The axis of a log-sum-exp.
fn axis(node: &Node) -> Option<usize> {
    let Op::Array(op) = &node.op else { return None };
    op.downcast::<LogSumExp>()?.axis
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

/// The log-sum-exp of columns, by functions of as many as there are functions for.
fn together(b: &mut Builder, mut columns: Vec<NodeId>) -> Option<NodeId> {
    while columns.len() > 1 {
        let some = columns.chunks(TOGETHER).map(|some| match some {
            [one] => Some(*one),
            _ => b.map(LOG_SUM_EXPS[some.len() - 2], some).ok(),
        });
        columns = some.collect::<Option<_>>()?;
    }
    columns.pop()
}

/// Listed elements of a node, as a vector or as one number that is all of them: of what was computed for more of them, what is computed for these alone.
fn listed(b: &mut Builder, id: NodeId, table: &[u32]) -> Option<NodeId> {
    let node = b.graph().node(id).clone();
    if table.iter().all(|p| *p == table[0]) {
        return Some(b.take(id, vec![table[0]], Vec::new()));
    }
    if let Some(sum) = added_up(b, &node, table) {
        return Some(sum);
    }
    if table.len() == node.len() && table.iter().enumerate().all(|(i, &p)| i == p as usize) {
        return Some(b.reshape(id, vec![table.len()]));
    }
    let inside = match &node.op {
        Op::Map(row) => {
            let arg = |&a: &NodeId| {
                let index = Broadcast::between(b.dims(a), &node.dims);
                listed(b, a, &table.iter().map(|&p| index.at(p as usize) as u32).collect::<Vec<_>>())
            };
            let args: Vec<NodeId> = node.args.iter().map(arg).collect::<Option<_>>()?;
            b.map(row, &args).ok()
        }
        Op::Array(op) => match (op.downcast::<Take>(), op.downcast::<Concat>(), op.downcast::<MatMul>()) {
            (Some(take), ..) => {
                let places: Vec<u32> = table.iter().map(|&p| take.table[p as usize]).collect();
                listed(b, node.args[0], &places)
            }
            (_, Some(_), _) => of_one_part(b, &node, table),
            (.., Some(_)) => column_of_product(b, &node, table),
            _ => None,
        },
        Op::Constant(_) | Op::Input { .. } | Op::MapSum { .. } | Op::Ode(_) | Op::Recursion(_) => None,
    };
    Some(inside.unwrap_or_else(|| b.take(id, table.to_vec(), vec![table.len()])))
}

/// The sum along the short axis of what is computed for many rows, as a sum of columns.
fn added_up(b: &mut Builder, node: &Node, table: &[u32]) -> Option<NodeId> {
    let Op::Array(op) = &node.op else { return None };
    op.downcast::<Sum>()?.axis.filter(|axis| *axis == 1)?;
    let arg = b.graph().node(node.args[0]);
    let &[rows, width] = arg.dims.as_slice() else { return None };
    let computed = matches!(arg.op, Op::Map(_)) && rows > IN_TILES && width <= MOST_ADDED;
    if !computed || table.len() != node.len() || !table.iter().enumerate().all(|(i, &p)| i == p as usize) {
        return None;
    }
    let column = |j: usize| (0..rows).map(|i| (i * width + j) as u32).collect::<Vec<u32>>();
    let columns: Vec<NodeId> =
        (0..width).map(|j| listed(b, node.args[0], &column(j))).collect::<Option<_>>()?;
    columns.into_iter().map(Some).reduce(|a, c| b.add2(a?, c?).ok())?
}

/// Elements of parts put together that are all those of one part.
fn of_one_part(b: &mut Builder, node: &Node, table: &[u32]) -> Option<NodeId> {
    let mut start = 0;
    for &part in &node.args {
        let end = start + b.graph().node(part).len() as u32;
        if table.iter().all(|p| (start..end).contains(p)) {
            return listed(b, part, &table.iter().map(|p| p - start).collect::<Vec<_>>());
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
