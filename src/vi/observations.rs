//! Compiled models by observations: which terms of the log density are sums over the rows of the data, and their value on
//! some of the rows.

use super::subsample::{Subsample, SubsetEvaluator};
use crate::graph::{Builder, Graph, NodeId, Op};
use crate::lower::TermKind;
use crate::num::real::{F16, Real};
use crate::ops::array::{LogSumExp, MatMul, OpRef, Sum, Take};
use crate::ops::scalar;
use crate::plan::{Plan, Workspace};
use crate::source::Span;
use crate::target::{Evaluator, ModelTarget, Target};
use std::collections::HashMap;
use thiserror::Error;

/// Why a model cannot be evaluated on some of its observations.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotSeparable {
    /// A statement about data that is no sum over rows.
    #[error("the likelihood of this statement is not a sum over rows of the data")]
    NoSum(Span),
    /// Statements that sum over rows of different numbers.
    #[error(
        "this statement is about {found} values, and another about {rows}: there is no one number of observations"
    )]
    Rows {
        /// The statement.
        span: Span,
        /// What it sums over.
        found: usize,
        /// What another one sums over.
        rows: usize,
    },
    /// No statement about data.
    #[error("the model has no statement about data")]
    NoData,
}

/// A model whose likelihood is a sum over rows.
pub struct Observations<'a> {
    model: &'a ModelTarget,
    rows: usize,
    /// What does not depend on which rows are used.
    fixed: Vec<NodeId>,
    /// Sums over rows, with the constant that multiplies each.
    sums: Vec<(NodeId, f64)>,
}

impl<'a> Observations<'a> {
    /// Finds the sums over rows.
    pub fn of(model: &'a ModelTarget) -> Result<Self, NotSeparable> {
        let lowered = model.lowered();
        let mut found = Observations { model, rows: 0, fixed: Vec::new(), sums: Vec::new() };
        for term in &lowered.terms {
            if term.kind != TermKind::Likelihood {
                found.fixed.push(term.node);
                continue;
            }
            let before = found.sums.len();
            found.take_apart(&lowered.graph, term.node, 1.0);
            let sums = &found.sums[before..];
            let rows = sums.iter().map(|(sum, _)| rows_of(&lowered.graph, *sum)).max().unwrap_or(1);
            let whole = |sum: NodeId| rows_of(&lowered.graph, sum) == rows;
            if rows < 2
                || sums.iter().any(|(sum, _)| whole(*sum) && !goes_by_rows(&lowered.graph, *sum, rows))
            {
                return Err(NotSeparable::NoSum(term.span));
            }
            if found.rows != 0 && rows != found.rows {
                return Err(NotSeparable::Rows { span: term.span, found: rows, rows: found.rows });
            }
            found.rows = rows;
        }
        if found.rows == 0 {
            return Err(NotSeparable::NoData);
        }
        Ok(found)
    }

    /// Splits a scalar into what it is the sum of.
    fn take_apart(&mut self, graph: &Graph, id: NodeId, factor: f64) {
        let node = graph.node(id);
        let scalar_of = |id: NodeId| graph.node(id).constant().filter(|c| c.len() == 1).map(|c| c[0]);
        match &node.op {
            Op::Map(row) if **row == scalar::ADD => {
                node.args.iter().for_each(|&a| self.take_apart(graph, a, factor));
            }
            Op::Map(row) if **row == scalar::SUB => {
                self.take_apart(graph, node.args[0], factor);
                self.take_apart(graph, node.args[1], -factor);
            }
            Op::Map(row) if **row == scalar::MUL && scalar_of(node.args[0]).is_some() => {
                let by = scalar_of(node.args[0]).unwrap_or(1.0);
                self.take_apart(graph, node.args[1], factor * by);
            }
            Op::MapSum { .. } if rows_of(graph, id) > 1 => self.sums.push((id, factor)),
            Op::Array(op)
                if op.downcast::<Sum>().is_some_and(|s| s.axis.is_none()) && rows_of(graph, id) > 1 =>
            {
                self.sums.push((id, factor));
            }
            // A constant, a scalar of parameters alone, or something that is no sum: the same whatever the rows.
            Op::Constant(_)
            | Op::Input { .. }
            | Op::Map(_)
            | Op::MapSum { .. }
            | Op::Array(_)
            | Op::Ode(_)
            | Op::Recursion(_) => {
                self.fixed_piece(graph, id, factor);
            }
        }
    }

    /// A piece that is computed whole. One that is constant is left out of gradients by the plan itself.
    fn fixed_piece(&mut self, graph: &Graph, id: NodeId, factor: f64) {
        if graph.node(id).constant().is_some() || factor == 1.0 {
            self.fixed.push(id);
        } else {
            self.sums.push((id, factor));
        }
    }
}

/// The number of rows that a sum adds up: the first axis of what it is a sum of.
fn rows_of(graph: &Graph, sum: NodeId) -> usize {
    let args = &graph.node(sum).args;
    let widest = args.iter().map(|&a| &graph.node(a).dims).max_by_key(|dims| dims.len());
    widest.and_then(|dims| dims.first().copied()).unwrap_or(1)
}

/// Whether each row of what a sum adds up needs that row of the data alone.
fn goes_by_rows(graph: &Graph, sum: NodeId, rows: usize) -> bool {
    let node = graph.node(sum);
    let rank = node.args.iter().map(|&a| graph.node(a).dims.len()).max().unwrap_or(0);
    node.args.iter().all(|&a| is_by_rows(graph, a, rank, rows))
}

fn is_by_rows(graph: &Graph, id: NodeId, rank: usize, rows: usize) -> bool {
    let node = graph.node(id);
    if node.dims.len() != rank || node.dims.first() != Some(&rows) {
        return true;
    }
    match &node.op {
        Op::Constant(_) | Op::Input { .. } => true,
        Op::Map(_) => node.args.iter().all(|&a| is_by_rows(graph, a, rank, rows)),
        Op::Array(op) => match way(op, graph.node(node.args[0]).dims.len()) {
            Way::Picks => true,
            Way::Rows => is_by_rows(graph, node.args[0], graph.node(node.args[0]).dims.len(), rows),
            Way::Whole => false,
        },
        Op::MapSum { .. } | Op::Ode(_) | Op::Recursion(_) => false,
    }
}

/// How an operation on arrays treats the first axis.
enum Way {
    /// Each entry of the result is an entry of the argument.
    Picks,
    /// Each row of the result needs that row of the first argument alone.
    Rows,
    /// Neither.
    Whole,
}

fn way(op: &OpRef, rank: usize) -> Way {
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

impl Target for Observations<'_> {
    fn dimension(&self) -> usize {
        self.model.dimension()
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        self.model.evaluator()
    }

    fn coordinate_names(&self) -> Vec<String> {
        self.model.coordinate_names()
    }

    fn output_names(&self) -> Vec<String> {
        self.model.output_names()
    }

    fn beside(&self) -> usize {
        self.model.beside()
    }

    fn constrain(&self, z: &[f64]) -> Vec<f64> {
        self.model.constrain(z)
    }
}

impl Subsample for Observations<'_> {
    fn observations(&self) -> usize {
        self.rows
    }

    fn subset_evaluator(&self) -> Box<dyn SubsetEvaluator + '_> {
        Box::new(OnSubset { whole: self, rows: Vec::new(), plan: None })
    }
}

/// The model on some rows, scheduled anew when they change.
struct OnSubset<'a> {
    whole: &'a Observations<'a>,
    rows: Vec<usize>,
    plan: Option<(Plan, Workspace<F16>)>,
}

impl OnSubset<'_> {
    fn schedule(&mut self, rows: &[usize]) {
        let whole = self.whole;
        let graph = &whole.model.lowered().graph;
        let mut cut = Cut {
            graph,
            rows,
            total: whole.rows,
            b: Builder::new(),
            copies: HashMap::new(),
            parts: HashMap::new(),
        };
        let share = whole.rows as f64 / rows.len().max(1) as f64;
        let mut roots: Vec<NodeId> = whole.fixed.iter().map(|&id| cut.copy(id)).collect();
        for &(sum, factor) in &whole.sums {
            let varies = rows_of(graph, sum) == whole.rows
                && matches!(graph.node(sum).op, Op::MapSum { .. } | Op::Array(_));
            let (node, by) = if varies { (cut.sum(sum), factor * share) } else { (cut.copy(sum), factor) };
            let by = cut.b.number(by);
            roots.push(cut.b.mul(by, node).unwrap_or(node));
        }
        let plan = Plan::new(&cut.b.finish(), &roots, whole.model.dimension());
        let workspace = Workspace::new(&plan);
        self.plan = Some((plan, workspace));
        self.rows = rows.to_vec();
    }
}

impl SubsetEvaluator for OnSubset<'_> {
    fn evaluate_subset(
        &mut self,
        rows: &[usize],
        z: &[f64],
        draws: usize,
        log_density: &mut [f64],
        gradient: &mut [f64],
    ) {
        if self.plan.is_none() || self.rows != rows {
            self.schedule(rows);
        }
        let Some((plan, workspace)) = &mut self.plan else { return };
        for first in (0..draws).step_by(F16::WIDTH) {
            let width = F16::WIDTH.min(draws - first);
            for (i, input) in workspace.inputs(plan).iter_mut().enumerate() {
                for lane in 0..F16::WIDTH {
                    input.set_lane(lane, z[i * draws + first + lane.min(width - 1)]);
                }
            }
            workspace.forward(plan, true);
            let roots = plan.root_sizes().len();
            let total = (0..roots).fold(F16::zero(), |sum, r| sum + workspace.root(plan, r, 0));
            (0..width).for_each(|lane| log_density[first + lane] = total.lane(lane));
            workspace.reverse(plan);
            for (i, g) in workspace.gradient(plan).iter().enumerate() {
                (0..width).for_each(|lane| gradient[i * draws + first + lane] = g.lane(lane));
            }
        }
    }
}

/// Copies of nodes into a graph of their own, whole or restricted to some rows.
struct Cut<'a> {
    graph: &'a Graph,
    rows: &'a [usize],
    /// Number of rows in all.
    total: usize,
    b: Builder,
    copies: HashMap<NodeId, NodeId>,
    parts: HashMap<NodeId, NodeId>,
}

impl Cut<'_> {
    fn copy(&mut self, id: NodeId) -> NodeId {
        if let Some(&done) = self.copies.get(&id) {
            return done;
        }
        let node = self.graph.node(id);
        let args = node.args.iter().map(|&a| self.copy(a)).collect();
        let copy = self.b.like(&node.op, args, node.dims.clone());
        self.copies.insert(id, copy);
        copy
    }

    /// A sum over the chosen rows alone.
    fn sum(&mut self, id: NodeId) -> NodeId {
        let node = self.graph.node(id);
        let rank = node.args.iter().map(|&a| self.graph.node(a).dims.len()).max().unwrap_or(0);
        let args = node.args.iter().map(|&a| self.aligned(a, rank)).collect();
        self.b.like(&node.op, args, node.dims.clone())
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
        let width: usize = node.dims[1..].iter().product();
        let mut dims = node.dims.clone();
        dims[0] = self.rows.len();
        let places = || self.rows.iter().flat_map(|&r| r * width..(r + 1) * width);
        let part = match &node.op {
            Op::Constant(values) => {
                let chosen: Vec<f64> = places().map(|p| values[p]).collect();
                self.b.constant(chosen, dims)
            }
            Op::Map(_) => {
                let rank = node.dims.len();
                let args = node.args.iter().map(|&a| self.aligned(a, rank)).collect();
                self.b.like(&node.op, args, dims)
            }
            Op::Array(op) => match (way(op, self.graph.node(node.args[0]).dims.len()), op.downcast::<Take>())
            {
                (Way::Picks, Some(take)) => {
                    let table: Vec<u32> = places().map(|p| take.table[p]).collect();
                    let base = self.copy(node.args[0]);
                    self.b.take(base, table, dims)
                }
                (Way::Rows, _) => {
                    let mut args = vec![self.part(node.args[0])];
                    args.extend(node.args[1..].iter().map(|&a| self.copy(a)).collect::<Vec<_>>());
                    self.b.like(&node.op, args, dims)
                }
                (Way::Picks | Way::Whole, _) => self.chosen(id, places().map(|p| p as u32).collect(), dims),
            },
            Op::Input { .. } | Op::MapSum { .. } | Op::Ode(_) | Op::Recursion(_) => {
                self.chosen(id, places().map(|p| p as u32).collect(), dims)
            }
        };
        self.parts.insert(id, part);
        part
    }

    /// Rows of something that is computed whole.
    fn chosen(&mut self, id: NodeId, table: Vec<u32>, dims: Vec<usize>) -> NodeId {
        let whole = self.copy(id);
        self.b.take(whole, table, dims)
    }
}
