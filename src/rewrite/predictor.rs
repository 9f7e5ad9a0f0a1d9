//! Recognises linear predictors: `alpha + X * beta`, sums of columns times coefficients, gathers by group.
//!
//! An argument of a summed function that is affine in other nodes of the graph, its atoms, becomes one design operator
//! applied to one vector of coefficients. The plan then computes predictor, function and adjoint in one pass over the rows.

use super::{Rule, replace};
use crate::graph::{Builder, Graph, Node, NodeId, Op};
use crate::ops::array::{Design, MatMul, Operator, Sum, Take};
use crate::ops::operand::Broadcast;
use crate::ops::scalar;
use std::sync::Arc;

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "linear-predictor",
    doc: "an affine argument of a summed function becomes one design operator",
    apply,
};

/// Fewest rows for which an operator pays.
const FEWEST_ROWS: usize = 4;

/// Most entries in each row that are not in dense columns.
const MOST_ENTRIES: usize = 64;

/// Longest chain of sums and products that is followed.
const MOST_DEPTH: usize = 500;

/// Coefficients times numbers that differ from row to row.
#[derive(Clone)]
enum Part {
    /// A row-major matrix with a column for each element of a node.
    Dense { matrix: Arc<[f64]>, atom: NodeId },
    /// One element of a node, times a number for each row.
    Column { factors: Vec<f64>, atom: NodeId, element: u32 },
    /// For each row one element of a node, times a number.
    Gather { elements: Vec<u32>, factors: Vec<f64>, atom: NodeId },
}

/// An affine function of nodes, element by element.
#[derive(Clone)]
struct Form {
    offset: Option<Vec<f64>>,
    parts: Vec<Part>,
}

fn apply(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    replace(graph, roots, |b, node, args| {
        let Op::MapSum { weighted, .. } = &node.op else { return None };
        let count = rows(b, args);
        let functions = args.len() - usize::from(*weighted);
        let mut new = args.to_vec();
        for arg in &mut new[..functions] {
            *arg = predictor(b, *arg, count).unwrap_or(*arg);
        }
        (new != args).then(|| b.like(&node.op, new, node.dims.clone()))
    })
}

fn rows(b: &Builder, args: &[NodeId]) -> usize {
    b.common(args).map_or(0, |dims| dims.iter().product())
}

/// The same numbers by a design operator, if there is one that pays.
fn predictor(b: &mut Builder, id: NodeId, count: usize) -> Option<NodeId> {
    let node = b.graph().node(id);
    if node.len() != count || count < FEWEST_ROWS || node.constant().is_some() {
        return None;
    }
    let (dims, span) = (node.dims.clone(), node.span);
    let form = form(b.graph(), id, 0)?;
    let pays = form.parts.iter().any(|part| match part {
        Part::Dense { .. } => true,
        Part::Column { factors, .. } => !same(factors),
        Part::Gather { elements, .. } => !elements.iter().enumerate().all(|(i, &e)| i == e as usize),
    });
    let entries = form.parts.iter().filter(|p| matches!(p, Part::Gather { .. })).count();
    if !pays || entries > MOST_ENTRIES {
        return None;
    }
    b.set_span(span);
    let (operator, coefficients) = assemble(b, form, count);
    let design = b.array(Design(Arc::new(operator)), &[coefficients]).ok()?;
    Some(b.reshape(design, dims))
}

fn same(numbers: &[f64]) -> bool {
    numbers.windows(2).all(|w| w[0] == w[1])
}

/// A node as an affine function of others; None where it cannot be said in few parts.
fn form(graph: &Graph, id: NodeId, depth: usize) -> Option<Form> {
    if depth == MOST_DEPTH {
        return None;
    }
    let node = graph.node(id);
    if let Some(numbers) = node.constant() {
        return Some(Form { offset: Some(numbers.to_vec()), parts: Vec::new() });
    }
    let constant = |k: usize| graph.node(node.args[k]).constant().is_some();
    match &node.op {
        Op::Map(row) if **row == scalar::ADD || **row == scalar::SUB => {
            let left = spread(graph, node, 0, depth)?;
            let sign = if **row == scalar::SUB { -1.0 } else { 1.0 };
            Some(left.plus(spread(graph, node, 1, depth)?.times(|_| sign, node.len())))
        }
        Op::Map(row) if **row == scalar::NEG => {
            Some(spread(graph, node, 0, depth)?.times(|_| -1.0, node.len()))
        }
        Op::Map(row) if **row == scalar::MUL && (constant(0) || constant(1)) => {
            let (varies, by) = if constant(0) { (1, 0) } else { (0, 1) };
            scaled(graph, node, [varies, by], |x| x, depth)
        }
        Op::Map(row) if **row == scalar::DIV && constant(1) => scaled(graph, node, [0, 1], f64::recip, depth),
        Op::Array(op) => {
            if op.downcast::<MatMul>().is_some() {
                return product(graph, id);
            }
            if let Some(Sum { axis: Some(axis) }) = op.downcast::<Sum>() {
                return summed(graph, id, *axis, depth);
            }
            match op.downcast::<Take>() {
                Some(take) => Some(taken(node.args[0], &take.table)),
                None => Some(atom(graph, id)),
            }
        }
        Op::Map(_)
        | Op::Constant(_)
        | Op::Input { .. }
        | Op::MapSum { .. }
        | Op::Ode(_)
        | Op::Recursion(_) => Some(atom(graph, id)),
    }
}

/// A node as itself.
fn atom(graph: &Graph, id: NodeId) -> Form {
    taken(id, &(0..graph.node(id).len() as u32).collect::<Vec<_>>())
}

/// Listed elements of a node.
fn taken(atom: NodeId, elements: &[u32]) -> Form {
    let factors = vec![1.0; elements.len()];
    let part = match elements {
        [element] => Part::Column { factors, atom, element: *element },
        _ => Part::Gather { elements: elements.to_vec(), factors, atom },
    };
    Form { offset: None, parts: vec![part] }
}

/// Argument `k` of an elementwise node, met with the node's shape.
fn spread(graph: &Graph, node: &Node, k: usize, depth: usize) -> Option<Form> {
    let arg = graph.node(node.args[k]);
    let form = form(graph, node.args[k], depth + 1)?;
    let index = Broadcast::between(&arg.dims, &node.dims);
    let n = node.len();
    let mut parts = Vec::with_capacity(form.parts.len());
    for part in form.parts {
        let numbers = |x: &[f64]| (0..n).map(|i| x[index.at(i)]).collect::<Vec<f64>>();
        parts.push(match part {
            Part::Dense { .. } if index == Broadcast::Each => part,
            Part::Dense { .. } => return None,
            Part::Column { factors, atom, element } => {
                Part::Column { factors: numbers(&factors), atom, element }
            }
            Part::Gather { elements, factors, atom } => {
                let elements = (0..n).map(|i| elements[index.at(i)]).collect();
                Part::Gather { elements, factors: numbers(&factors), atom }
            }
        });
    }
    let offset = form.offset.map(|x| (0..n).map(|i| x[index.at(i)]).collect());
    Some(Form { offset, parts })
}

/// Argument `varies` times a function of the constant argument `by`.
fn scaled(
    graph: &Graph,
    node: &Node,
    [varies, by]: [usize; 2],
    f: fn(f64) -> f64,
    depth: usize,
) -> Option<Form> {
    let arg = graph.node(node.args[by]);
    let numbers = arg.constant()?;
    let index = Broadcast::between(&arg.dims, &node.dims);
    Some(spread(graph, node, varies, depth)?.times(|i| f(numbers[index.at(i)]), node.len()))
}

/// A constant matrix times a vector.
fn product(graph: &Graph, id: NodeId) -> Option<Form> {
    let node = graph.node(id);
    let (matrix, vector) = (graph.node(node.args[0]), graph.node(node.args[1]));
    match (matrix.constant(), matrix.dims.as_slice(), vector.dims.as_slice()) {
        (Some(numbers), [_, _], [_]) => {
            let part = Part::Dense { matrix: numbers.clone(), atom: node.args[1] };
            Some(Form { offset: None, parts: vec![part] })
        }
        _ => Some(atom(graph, id)),
    }
}

/// A sum over the last axis of a matrix.
fn summed(graph: &Graph, id: NodeId, axis: usize, depth: usize) -> Option<Form> {
    let arg = graph.node(id).args[0];
    let [n, m] = graph.node(arg).dims[..] else { return Some(atom(graph, id)) };
    if axis != 1 || m > MOST_ENTRIES {
        return Some(atom(graph, id));
    }
    let inner = form(graph, arg, depth + 1)?;
    let added = |x: &[f64]| (0..n).map(|i| x[i * m..(i + 1) * m].iter().sum()).collect::<Vec<f64>>();
    let mut parts = Vec::new();
    for part in inner.parts {
        match part {
            Part::Dense { .. } => return Some(atom(graph, id)),
            Part::Column { factors, atom, element } => {
                parts.push(Part::Column { factors: added(&factors), atom, element });
            }
            Part::Gather { elements, factors, atom } => {
                for j in 0..m {
                    let elements = (0..n).map(|i| elements[i * m + j]).collect();
                    let factors = (0..n).map(|i| factors[i * m + j]).collect();
                    parts.push(Part::Gather { elements, factors, atom });
                }
            }
        }
    }
    Some(Form { offset: inner.offset.map(|x| added(&x)), parts })
}

impl Form {
    fn plus(mut self, other: Form) -> Form {
        self.offset = match (self.offset, other.offset) {
            (Some(a), Some(b)) => Some(a.iter().zip(&b).map(|(a, b)| a + b).collect()),
            (a, b) => a.or(b),
        };
        self.parts.extend(other.parts);
        self
    }

    fn times(mut self, by: impl Fn(usize) -> f64, n: usize) -> Form {
        let scale = |x: &mut [f64]| x.iter_mut().enumerate().for_each(|(i, x)| *x *= by(i));
        self.offset.iter_mut().for_each(|x| scale(x));
        for part in &mut self.parts {
            match part {
                Part::Dense { matrix, .. } => {
                    let k = matrix.len() / n.max(1);
                    *matrix = matrix.iter().enumerate().map(|(p, x)| x * by(p / k.max(1))).collect();
                }
                Part::Column { factors, .. } | Part::Gather { factors, .. } => scale(factors),
            }
        }
        self
    }
}

/// The operator of a form, and the node of its coefficients: dense columns first, then those that count the same in every
/// row, then the nodes that are gathered from.
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
        rows,
        coefficients,
        offset: form.offset.map(Into::into),
        everywhere,
        dense: dense(columns, rows, dense_columns),
        columns: dense_columns,
        places,
        factors,
        entries,
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
