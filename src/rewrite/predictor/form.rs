//! Nodes as affine functions of others, element by element.

use super::MOST_ENTRIES;
use crate::graph::{Graph, Node, NodeId, Op};
use crate::ops::array::{Concat, MatMul, Sum, Take, all_in_order};
use crate::ops::operand::Broadcast;
use crate::ops::scalar;
use std::ops::Deref;
use std::sync::Arc;

/// Most numbers of a product that is taken apart.
const MOST_NUMBERS: usize = 1 << 22;

/// Longest chain of sums and products that is followed.
const MOST_DEPTH: usize = 500;

/// A graph, and how far into it forms go.
#[derive(Clone, Copy)]
pub(super) struct Scope<'g> {
    graph: &'g Graph,
    /// Whether products with matrices, and parts put together, are taken apart into entries for each row:
    /// worth it for their sum alone.
    entries: bool,
}

impl<'g> Scope<'g> {
    /// Of forms that are computed row by row.
    pub(super) fn rows(graph: &'g Graph) -> Scope<'g> {
        Scope { graph, entries: false }
    }

    /// Of forms that are added up.
    pub(super) fn sums(graph: &'g Graph) -> Scope<'g> {
        Scope { graph, entries: true }
    }
}

impl Deref for Scope<'_> {
    type Target = Graph;

    fn deref(&self) -> &Graph {
        self.graph
    }
}

/// Coefficients times numbers that differ from row to row.
#[derive(Clone)]
pub(super) enum Part {
    /// A row-major matrix with a column for each element of a node.
    Dense { matrix: Arc<[f64]>, atom: NodeId },
    /// One element of a node, times a number for each row.
    Column { factors: Vec<f64>, atom: NodeId, element: u32 },
    /// For each row one element of a node, times a number.
    Gather { elements: Vec<u32>, factors: Vec<f64>, atom: NodeId },
}

/// An affine function of nodes, element by element.
#[derive(Clone)]
pub(super) struct Form {
    pub(super) offset: Option<Vec<f64>>,
    pub(super) parts: Vec<Part>,
}

/// A node as an affine function of others; None where it cannot be said in few parts.
pub(super) fn form(graph: Scope, id: NodeId, depth: usize) -> Option<Form> {
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
            if graph.entries && op.downcast::<Concat>().is_some() {
                return joined(graph, node, depth);
            }
            match op.downcast::<Take>() {
                Some(take) => part_of(graph, node.args[0], &take.table, depth),
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
fn atom(graph: Scope, id: NodeId) -> Form {
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

/// Listed elements of a node, which is an affine function itself where there are no more of them than it has:
/// what is read more than once is better computed once.
fn part_of(graph: Scope, id: NodeId, elements: &[u32], depth: usize) -> Option<Form> {
    let node = graph.node(id);
    if elements.len() == 1 || elements.len() > node.len() {
        return Some(taken(id, elements));
    }
    Some(form(graph, id, depth + 1)?.rows(node.len(), elements.len(), |i| elements[i] as usize))
}

/// Argument `k` of an elementwise node, met with the node's shape.
fn spread(graph: Scope, node: &Node, k: usize, depth: usize) -> Option<Form> {
    let arg = graph.node(node.args[k]);
    let form = form(graph, node.args[k], depth + 1)?;
    match Broadcast::between(&arg.dims, &node.dims) {
        Broadcast::Each => Some(form),
        _ if form.has_dense() => None,
        index => Some(form.rows(arg.len(), node.len(), |i| index.at(i))),
    }
}

/// Argument `varies` times a function of the constant argument `by`.
fn scaled(
    graph: Scope,
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
fn product(graph: Scope, id: NodeId) -> Option<Form> {
    let node = graph.node(id);
    let (matrix, vector) = (graph.node(node.args[0]), graph.node(node.args[1]));
    match (matrix.constant(), matrix.dims.as_slice(), vector.dims.as_slice()) {
        (Some(numbers), [_, _], [_]) => {
            let part = Part::Dense { matrix: numbers.clone(), atom: node.args[1] };
            Some(Form { offset: None, parts: vec![part] })
        }
        (Some(numbers), &[_, depth], &[_, width])
            if graph.entries && depth * node.len() <= MOST_NUMBERS && depth <= MOST_ENTRIES =>
        {
            let entry = |j: usize| Part::Gather {
                elements: (0..node.len()).map(|p| (j * width + p % width) as u32).collect(),
                factors: (0..node.len()).map(|p| numbers[p / width * depth + j]).collect(),
                atom: node.args[1],
            };
            Some(Form { offset: None, parts: (0..depth).map(entry).collect() })
        }
        _ => Some(atom(graph, id)),
    }
}

/// Parts put together: what each has is nothing in the rows of the others.
fn joined(graph: Scope, node: &Node, depth: usize) -> Option<Form> {
    let mut all = Form { offset: None, parts: Vec::new() };
    let mut start = 0;
    for &arg in &node.args {
        let own = start..start + graph.node(arg).len();
        let form = form(graph, arg, depth + 1)?.by_columns(own.len());
        if (all.parts.len() + form.parts.len()) * node.len() > MOST_NUMBERS {
            return None;
        }
        let within = |i: usize| if own.contains(&i) { i - own.start } else { 0 };
        let spread = form.rows(own.len(), node.len(), within);
        all = all.plus(spread.times(|i| f64::from(own.contains(&i)), node.len()));
        start = own.end;
    }
    Some(all)
}

/// A sum over the last axis of a matrix.
fn summed(graph: Scope, id: NodeId, axis: usize, depth: usize) -> Option<Form> {
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

impl Part {
    /// Whether rows differ in more than which element of a node is theirs.
    pub(super) fn counts(&self) -> bool {
        match self {
            Part::Dense { .. } => true,
            Part::Column { factors, .. } => !same(factors),
            Part::Gather { elements, .. } => !all_in_order(elements, elements.len()),
        }
    }
}

/// Whether all numbers are the same.
pub(super) fn same(numbers: &[f64]) -> bool {
    numbers.windows(2).all(|w| w[0] == w[1])
}

impl Form {
    pub(super) fn has_dense(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Dense { .. }))
    }

    /// Takes the parts away of which this holds.
    pub(super) fn split_off(&mut self, of: impl Fn(&Part) -> bool) -> Vec<Part> {
        self.parts.extract_if(.., |part| of(part)).collect()
    }

    /// Of so many rows these `n`.
    fn rows(self, before: usize, n: usize, which: impl Fn(usize) -> usize) -> Form {
        let numbers = |x: &[f64]| (0..n).map(|i| x[which(i)]).collect::<Vec<f64>>();
        let part = |part: Part| match part {
            Part::Dense { matrix, atom } => {
                let k = matrix.len() / before.max(1);
                let row = |i: usize| &matrix[which(i) * k..(which(i) + 1) * k];
                Part::Dense { matrix: (0..n).flat_map(row).copied().collect(), atom }
            }
            Part::Column { factors, atom, element } => {
                Part::Column { factors: numbers(&factors), atom, element }
            }
            Part::Gather { elements, factors, atom } => {
                let elements = (0..n).map(|i| elements[which(i)]).collect();
                Part::Gather { elements, factors: numbers(&factors), atom }
            }
        };
        Form {
            offset: self.offset.as_deref().map(numbers),
            parts: self.parts.into_iter().map(part).collect(),
        }
    }

    /// The same, of so many rows, with a part for each column of a matrix.
    fn by_columns(self, rows: usize) -> Form {
        let columns = |part: Part| match part {
            Part::Dense { matrix, atom } => {
                let k = matrix.len() / rows.max(1);
                let factors = |j: usize| matrix.iter().skip(j).step_by(k).copied().collect();
                (0..k).map(|j| Part::Column { factors: factors(j), atom, element: j as u32 }).collect()
            }
            Part::Column { .. } | Part::Gather { .. } => vec![part],
        };
        Form { offset: self.offset, parts: self.parts.into_iter().flat_map(columns).collect() }
    }

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
