//! Recognises linear predictors: `alpha + X * beta`, sums of columns times coefficients, gathers by group.
//!
//! An argument of a function that is affine in other nodes of the graph, its atoms, becomes one design
//! operator applied to one vector of coefficients. The plan then computes predictor, function and adjoint in
//! one pass over the rows. A sum over the rows of a predictor is one row.

mod form;
mod sums;

pub(super) use sums::RULE as SUMS;

use super::{IN_TILES, Rule, replace};
use crate::graph::{Builder, Graph, NodeId, Op};
use crate::ops::array::{Design, Operator, Sparse};
use crate::ops::scalar::{self, ScalarRow};
use form::{Form, Part, Scope, form, same};
use std::collections::HashMap;
use std::sync::Arc;

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "linear-predictor",
    doc: "an affine argument of a function becomes one design operator",
    apply,
};

/// Fewest rows for which an operator pays.
const FEWEST_ROWS: usize = 4;

/// Most entries in each row that are not in dense columns.
const MOST_ENTRIES: usize = 64;

fn apply(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    let mut known: HashMap<(NodeId, usize), Option<NodeId>> = HashMap::new();
    replace(graph, roots, |b, node, args| {
        let count = rows(b, args);
        let (functions, fewest) = match &node.op {
            Op::MapSum { weighted, .. } => (args.len() - usize::from(*weighted), 1),
            Op::Map(row) if count > IN_TILES && !is_affine(b, row, args) => (args.len(), 2),
            _ => return None,
        };
        let mut new = args.to_vec();
        for arg in &mut new[..functions] {
            let found = *known.entry((*arg, fewest)).or_insert_with(|| predictor(b, *arg, count, fewest));
            *arg = found.unwrap_or(*arg);
        }
        (new != args).then(|| b.like(&node.op, new, node.dims.clone()))
    })
}

fn rows(b: &Builder, args: &[NodeId]) -> usize {
    b.common(args).map_or(0, |dims| dims.iter().product())
}

/// Whether a function is a step on the way from atoms to a predictor.
fn is_affine(b: &Builder, row: &ScalarRow, args: &[NodeId]) -> bool {
    let constant = |k: usize| b.constant_of(args[k]).is_some();
    match row {
        row if [&scalar::ADD, &scalar::SUB, &scalar::NEG].contains(&row) => true,
        row if *row == scalar::MUL => constant(0) || constant(1),
        row if *row == scalar::DIV => constant(1),
        _ => false,
    }
}

/// The same numbers by a design operator, if there is one that pays: it has dense columns, or adds up so many
/// others at least.
fn predictor(b: &mut Builder, id: NodeId, count: usize, fewest: usize) -> Option<NodeId> {
    let node = b.graph().node(id);
    if node.len() != count || count < FEWEST_ROWS || node.constant().is_some() {
        return None;
    }
    let (dims, span) = (node.dims.clone(), node.span);
    let mut form = form(Scope::rows(b.graph()), id, 0)?;
    let mut by_row = Vec::new();
    if count > IN_TILES {
        by_row = form.split_off(|part| is_by_row(b.graph(), part));
        if form.parts.iter().any(|part| is_computed(b.graph(), part, count)) {
            return None;
        }
    }
    if form.parts.iter().filter(|part| part.counts()).count() < fewest && !form.has_dense() {
        return None;
    }
    let entries = form.parts.iter().filter(|p| matches!(p, Part::Gather { .. })).count();
    if entries > MOST_ENTRIES {
        return None;
    }
    b.set_span(span);
    let (operator, coefficients) = assemble(b, form, count);
    let design = b.array(Design(Arc::new(operator)), &[coefficients]).ok()?;
    let design = b.reshape(design, dims);
    by_row.into_iter().try_fold(design, |sum, part| added(b, sum, part))
}

/// Whether each row has an element of its own, which a function computes: no coefficient, then.
fn is_by_row(graph: &Graph, part: &Part) -> bool {
    let Part::Gather { atom, elements, .. } = part else { return false };
    let node = graph.node(*atom);
    matches!(node.op, Op::Map(_)) && node.len() == elements.len() && !part.counts()
}

/// Whether as many numbers as there are rows, or more, are computed for a part: they had better stay with the
/// rows.
fn is_computed(graph: &Graph, part: &Part, rows: usize) -> bool {
    let Part::Gather { atom, .. } = part else { return false };
    let node = graph.node(*atom);
    matches!(node.op, Op::Map(_)) && node.len() >= rows
}

/// A part whose elements are those of its atom, added to an array.
fn added(b: &mut Builder, sum: NodeId, part: Part) -> Option<NodeId> {
    let Part::Gather { factors, atom, .. } = part else { return None };
    let dims = b.dims(sum).to_vec();
    let atom = b.reshape(atom, dims.clone());
    if factors.iter().all(|x| *x == -1.0) {
        return b.sub(sum, atom).ok();
    }
    let factors = b.constant(factors, dims);
    let atom = b.mul(factors, atom).ok()?;
    b.add2(sum, atom).ok()
}

/// The operator of a form, and the node of its coefficients: dense columns first, then those that count the
/// same in every row, then the nodes that are gathered from.
fn assemble(b: &mut Builder, form: Form, rows: usize) -> (Operator, NodeId) {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut columns: Vec<Columns> = Vec::new();
    let mut gathers = Vec::new();
    let mut constant = Vec::new();
    for part in form.parts {
        match part {
            Part::Dense { matrix, atom } => {
                let k = matrix.len() / rows;
                pieces.push(Piece { atom, elements: (0..k as u32).collect() });
                columns.push(Columns::Matrix(matrix, k));
            }
            Part::Column { factors, atom, element } if same(&factors) => {
                constant.push((atom, element, factors[0]))
            }
            Part::Column { factors, atom, element } => {
                pieces.push(Piece { atom, elements: vec![element] });
                columns.push(Columns::One(factors));
            }
            Part::Gather { elements, factors, atom } => gathers.push((elements, factors, atom)),
        }
    }
    let dense_columns = pieces.iter().map(|p| p.elements.len()).sum();
    let mut coefficients = dense_columns;
    let mut everywhere = Vec::new();
    for (atom, element, factor) in constant {
        pieces.push(Piece { atom, elements: vec![element] });
        everywhere.push((coefficients, factor));
        coefficients += 1;
    }
    let entries = gathers.len();
    let (mut places, mut factors) = (vec![0; rows * entries], vec![0.0; rows * entries]);
    let mut starts: Vec<(NodeId, usize)> = Vec::new();
    for (j, (elements, by, atom)) in gathers.into_iter().enumerate() {
        let start = starts.iter().find(|(a, _)| *a == atom).map(|(_, start)| *start).unwrap_or_else(|| {
            let n = b.graph().node(atom).len();
            pieces.push(Piece { atom, elements: (0..n as u32).collect() });
            starts.push((atom, coefficients));
            coefficients += n;
            coefficients - n
        });
        for i in 0..rows {
            places[i * entries + j] = start as u32 + elements[i];
            factors[i * entries + j] = by[i];
        }
    }
    let operator = Operator {
        by_column: Default::default(),
        rows,
        coefficients,
        offset: form.offset.map(Into::into),
        everywhere,
        dense: dense(columns, rows, dense_columns),
        columns: dense_columns,
        sparse: Sparse::new(entries, places, factors),
    };
    (operator, vector(b, pieces))
}

/// Elements of a node.
struct Piece {
    atom: NodeId,
    elements: Vec<u32>,
}

/// Dense columns: a row-major matrix with so many, or one.
enum Columns {
    Matrix(Arc<[f64]>, usize),
    One(Vec<f64>),
}

/// All columns side by side.
fn dense(mut columns: Vec<Columns>, rows: usize, width: usize) -> Option<Arc<[f64]>> {
    if columns.len() == 1
        && let Some(Columns::Matrix(matrix, _)) = columns.pop_if(|c| matches!(c, Columns::Matrix(..)))
    {
        return Some(matrix);
    }
    let mut all = vec![0.0; rows * width];
    let mut at = 0;
    for part in &columns {
        let (numbers, k): (&[f64], usize) = match part {
            Columns::Matrix(matrix, k) => (matrix, *k),
            Columns::One(numbers) => (numbers, 1),
        };
        for (row, from) in all.chunks_exact_mut(width.max(1)).zip(numbers.chunks_exact(k.max(1))) {
            row[at..at + k].copy_from_slice(from);
        }
        at += k;
    }
    (!columns.is_empty()).then(|| all.into())
}

/// The pieces one after another, those of the same node in one.
fn vector(b: &mut Builder, pieces: Vec<Piece>) -> NodeId {
    let mut joined: Vec<Piece> = Vec::new();
    for piece in pieces {
        match joined.last_mut() {
            Some(last) if last.atom == piece.atom => last.elements.extend(piece.elements),
            _ => joined.push(piece),
        }
    }
    let total = joined.iter().map(|p| p.elements.len()).sum();
    let nodes: Vec<NodeId> = joined
        .into_iter()
        .map(|p| {
            let n = p.elements.len();
            b.take(p.atom, p.elements, vec![n])
        })
        .collect();
    b.concat(&nodes, vec![total])
}
