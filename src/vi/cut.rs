//! A model cut down to so many of its observations, as a plan in which data are no constants: which
//! observations they are is told before each evaluation, so that a step costs what its observations cost and
//! nothing is scheduled anew.

use crate::graph::{Builder, Graph, NodeId, Op};
use crate::ops::array::{LogSumExp, Lookup, MatMul, OpRef, Sum, Take};
use crate::ops::scalar::{self, ScalarRow};
use crate::plan::Plan;
use std::collections::HashMap;
use std::sync::Arc;

/// How an operation on arrays treats the first axis.
pub(super) enum Way {
    /// Each entry of the result is an entry of the argument.
    Picks,
    /// Each row of the result needs that row of the first argument alone.
    Rows,
    /// Neither.
    Whole,
}

/// How this one does, given the number of axes of its first argument.
pub(super) fn way(op: &OpRef, rank: usize) -> Way {
    let later = |axis: Option<usize>| axis.is_some_and(|a| a > 0);
    let by_rows = op.downcast::<Sum>().is_some_and(|s| later(s.axis))
        || op.downcast::<LogSumExp>().is_some_and(|s| later(s.axis))
        || (op.downcast::<MatMul>().is_some() && rank == 2);
    match op.downcast::<Take>() {
        Some(_) => Way::Picks,
        None if by_rows => Way::Rows,
        None => Way::Whole,
    }
}

/// A model on some of its rows.
pub(super) struct Part {
    pub(super) plan: Arc<Plan>,
    rows: usize,
    columns: Vec<Column>,
}

impl Part {
    /// Number of rows that it is made for.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Writes what the plan reads for these rows.
    pub(super) fn load(&self, rows: &[usize], data: &mut [f64]) {
        let mut rest = data;
        for column in &self.columns {
            let (to, after) = rest.split_at_mut(rows.len() * column.width);
            column.load(rows, to);
            rest = after;
        }
    }
}

/// Data with `width` numbers for each row.
struct Column {
    width: usize,
    content: Content,
}

enum Content {
    /// Numbers.
    Values(Arc<[f64]>),
    /// Places in an array of the model.
    Table(Arc<[u32]>),
    /// The places of the rows themselves in an array of that many rows.
    Rows,
}

impl Column {
    fn load(&self, rows: &[usize], to: &mut [f64]) {
        let width = self.width;
        for (to, &row) in to.chunks_exact_mut(width.max(1)).zip(rows) {
            let places = row * width..(row + 1) * width;
            match &self.content {
                Content::Values(values) => to.copy_from_slice(&values[places]),
                Content::Table(table) => {
                    to.iter_mut().zip(&table[places]).for_each(|(t, &p)| *t = f64::from(p))
                }
                Content::Rows => to.iter_mut().zip(places).for_each(|(t, p)| *t = p as f64),
            }
        }
    }
}

/// Copies of nodes into a graph of their own, whole or restricted to rows that are chosen later.
pub(super) struct Cut<'a> {
    graph: &'a Graph,
    /// Number of coordinates.
    dimension: usize,
    /// Number of rows in all, and of those that are chosen.
    total: usize,
    rows: usize,
    b: Builder,
    copies: HashMap<NodeId, NodeId>,
    parts: HashMap<NodeId, NodeId>,
    columns: Vec<Column>,
    /// The first input that is free.
    next: usize,
}

impl<'a> Cut<'a> {
    /// For `rows` of `total` rows of a model with so many coordinates.
    pub(super) fn new(graph: &'a Graph, dimension: usize, total: usize, rows: usize) -> Self {
        Cut {
            graph,
            dimension,
            total,
            rows,
            b: Builder::new(),
            copies: HashMap::new(),
            parts: HashMap::new(),
            columns: Vec::new(),
            next: dimension,
        }
    }

    /// The plan for the sum of these.
    pub(super) fn finish(self, roots: &[NodeId]) -> Part {
        let plan = Arc::new(Plan::of_sum(&self.b.finish(), roots, self.dimension));
        Part { plan, rows: self.rows, columns: self.columns }
    }

    /// A node as it is.
    pub(super) fn copy(&mut self, id: NodeId) -> NodeId {
        if let Some(&done) = self.copies.get(&id) {
            return done;
        }
        let node = self.graph.node(id);
        let args = node.args.iter().map(|&a| self.copy(a)).collect();
        let copy = self.b.like(&node.op, args, node.dims.clone());
        self.copies.insert(id, copy);
        copy
    }

    /// A multiple of a number.
    pub(super) fn times(&mut self, by: f64, node: NodeId) -> NodeId {
        let by = self.b.number(by);
        self.b.like(&Op::Map(&scalar::MUL), vec![by, node], Vec::new())
    }

    /// A sum over the chosen rows alone.
    pub(super) fn sum(&mut self, id: NodeId) -> NodeId {
        let node = self.graph.node(id);
        let rank = node.args.iter().map(|&a| self.graph.node(a).dims.len()).max().unwrap_or(0);
        let args: Vec<NodeId> = node.args.iter().map(|&a| self.aligned(a, rank)).collect();
        match (&node.op, args.split_last()) {
            // Weights that are not known beforehand are factors.
            (Op::MapSum { row, weighted: true }, Some((&weight, args)))
                if self.b.constant_of(weight).is_none() =>
            {
                self.weighted(row, args, weight)
            }
            _ => self.b.like(&node.op, args, node.dims.clone()),
        }
    }

    fn weighted(&mut self, row: &'static ScalarRow, args: &[NodeId], weight: NodeId) -> NodeId {
        let dims = |b: &Builder, args: &[NodeId]| b.common(args).unwrap_or_default();
        let each = dims(&self.b, args);
        let each = self.b.like(&Op::Map(row), args.to_vec(), each);
        let all = dims(&self.b, &[each, weight]);
        let product = self.b.like(&Op::Map(&scalar::MUL), vec![each, weight], all);
        self.b.like(&Op::Array(OpRef::from(Sum { axis: None })), vec![product], Vec::new())
    }

    /// An operand whose first axis is that of the rows if it has `rank` axes.
    fn aligned(&mut self, id: NodeId, rank: usize) -> NodeId {
        let dims = &self.graph.node(id).dims;
        if dims.len() == rank && dims.first() == Some(&self.total) { self.part(id) } else { self.copy(id) }
    }

    /// The chosen rows of an array.
    fn part(&mut self, id: NodeId) -> NodeId {
        if let Some(&done) = self.parts.get(&id) {
            return done;
        }
        let node = self.graph.node(id);
        let mut dims = node.dims.clone();
        dims[0] = self.rows;
        let part = match &node.op {
            Op::Constant(values) => self.column(Content::Values(values.clone()), dims),
            Op::Map(_) => {
                let rank = node.dims.len();
                let args = node.args.iter().map(|&a| self.aligned(a, rank)).collect();
                self.b.like(&node.op, args, dims)
            }
            Op::Array(op) => match (way(op, self.graph.node(node.args[0]).dims.len()), op.downcast::<Take>())
            {
                (Way::Picks, Some(take)) => {
                    self.looked_up(node.args[0], Content::Table(take.table.clone()), dims)
                }
                (Way::Rows, _) => {
                    let mut args = vec![self.part(node.args[0])];
                    args.extend(node.args[1..].iter().map(|&a| self.copy(a)).collect::<Vec<_>>());
                    self.b.like(&node.op, args, dims)
                }
                (Way::Picks | Way::Whole, _) => self.looked_up(id, Content::Rows, dims),
            },
            Op::Input { .. } | Op::MapSum { .. } | Op::Ode(_) | Op::Recursion(_) => {
                self.looked_up(id, Content::Rows, dims)
            }
        };
        self.parts.insert(id, part);
        part
    }

    /// Elements of something that is computed whole, at places that depend on the rows.
    fn looked_up(&mut self, id: NodeId, places: Content, dims: Vec<usize>) -> NodeId {
        let whole = self.copy(id);
        let places = self.column(places, dims.clone());
        self.b.like(&Op::Array(OpRef::from(Lookup)), vec![whole, places], dims)
    }

    /// An input for data of the chosen rows.
    fn column(&mut self, content: Content, dims: Vec<usize>) -> NodeId {
        self.columns.push(Column { width: dims[1..].iter().product(), content });
        let first = self.next;
        self.next += dims.iter().product::<usize>();
        self.b.input(first, dims)
    }
}
