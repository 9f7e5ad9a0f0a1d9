//! Compiled models by observations: which terms of the log density are sums over the rows of the data, and
//! their value on some of the rows.

use super::cut::{Cut, Part, Way, way};
use super::subsample::{Subsample, SubsetEvaluator};
use crate::graph::{Graph, NodeId, Op};
use crate::lower::TermKind;
use crate::ops::array::Sum;
use crate::ops::scalar;
use crate::plan::Plan;
use crate::source::Span;
use crate::target::{Evaluator, ModelTarget, PlanEvaluator, Target};
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// Why a model cannot be evaluated on some of its observations.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotSeparable {
    /// A statement about data that is no sum over rows.
    #[error("the likelihood of this statement is no sum of terms that need one row of the data each")]
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
    /// The model on some of its rows, for the numbers of rows that were asked for.
    parts: Mutex<Vec<Arc<Part>>>,
}

impl<'a> Observations<'a> {
    /// Finds the sums over rows.
    pub fn of(model: &'a ModelTarget) -> Result<Self, NotSeparable> {
        let lowered = model.lowered();
        let mut found =
            Observations { model, rows: 0, fixed: Vec::new(), sums: Vec::new(), parts: Mutex::default() };
        for term in &lowered.terms {
            if term.kind != TermKind::Likelihood {
                found.fixed.push(term.node);
                continue;
            }
            let before = found.sums.len();
            found.take_apart(&lowered.graph, term.node, 1.0);
            let sums = &found.sums[before..];
            let rows = sums.iter().map(|(sum, _)| rows_of(&lowered.graph, *sum)).max().unwrap_or(1);
            let over_rows = sums.iter().filter(|(sum, _)| rows_of(&lowered.graph, *sum) == rows);
            if rows < 2 || !go_by_rows(&lowered.graph, over_rows.map(|(sum, _)| *sum), rows) {
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
            // A constant, a scalar of parameters alone, or something that is no sum: the same whatever the
            // rows.
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

/// What the rows of an array are made of.
#[derive(Clone, Copy, Default)]
struct Makeup {
    /// That row of the data.
    data: bool,
    /// Something that is computed whole, whatever the rows: a Gaussian process at all its points, the path of
    /// a state.
    whole: bool,
}

impl Makeup {
    const DATA: Makeup = Makeup { data: true, whole: false };
    const WHOLE: Makeup = Makeup { data: false, whole: true };

    fn and(self, other: Makeup) -> Makeup {
        Makeup { data: self.data || other.data, whole: self.whole || other.whole }
    }
}

/// Whether each row of what the sums of a statement add up needs that row of the data alone, besides
/// parameters and what is computed from them. Sums of rows that hold no data of their own, and come out of
/// something whole, are those of data that hang together.
fn go_by_rows(graph: &Graph, sums: impl Iterator<Item = NodeId>, rows: usize) -> bool {
    let made = sums.fold(Makeup::default(), |made, sum| {
        let args = &graph.node(sum).args;
        let rank = args.iter().map(|&a| graph.node(a).dims.len()).max().unwrap_or(0);
        made.and(made_of(graph, args, rank, rows))
    });
    made.data || !made.whole
}

fn made_of(graph: &Graph, args: &[NodeId], rank: usize, rows: usize) -> Makeup {
    args.iter().fold(Makeup::default(), |made, &a| made.and(makeup(graph, a, rank, rows)))
}

fn makeup(graph: &Graph, id: NodeId, rank: usize, rows: usize) -> Makeup {
    let node = graph.node(id);
    if node.dims.len() != rank || node.dims.first() != Some(&rows) {
        return Makeup::default();
    }
    match &node.op {
        Op::Constant(_) => Makeup::DATA,
        Op::Input { .. } => Makeup::default(),
        Op::Map(_) => made_of(graph, &node.args, rank, rows),
        Op::Array(op) => {
            let from = &graph.node(node.args[0]).dims;
            match way(op, from.len()) {
                // Which one of something else is picked is told by the row.
                Way::Picks if from.first() != Some(&rows) => Makeup::DATA,
                Way::Picks => Makeup::default(),
                Way::Rows => makeup(graph, node.args[0], from.len(), rows),
                Way::Whole => Makeup::WHOLE,
            }
        }
        Op::MapSum { .. } | Op::Ode(_) | Op::Recursion(_) => Makeup::WHOLE,
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
        Box::new(OnSubset { whole: self, everything: None, parts: Vec::new() })
    }
}

impl Observations<'_> {
    /// The model restricted to so many rows; scheduled once for all evaluators.
    fn part(&self, rows: usize) -> Arc<Part> {
        // A thread that panicked while it held the lock left nothing half done: an entry is made before it is
        // added.
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(part) = parts.iter().find(|part| part.rows() == rows) {
            return part.clone();
        }
        let part = Arc::new(self.restricted(rows));
        parts.push(part.clone());
        part
    }

    fn restricted(&self, rows: usize) -> Part {
        let graph = &self.model.lowered().graph;
        let mut cut = Cut::new(graph, self.model.dimension(), self.rows, rows);
        let share = self.rows as f64 / rows.max(1) as f64;
        let mut roots: Vec<NodeId> = self.fixed.iter().map(|&id| cut.copy(id)).collect();
        for &(sum, factor) in &self.sums {
            let varies = rows_of(graph, sum) == self.rows
                && matches!(graph.node(sum).op, Op::MapSum { .. } | Op::Array(_));
            let (node, by) = if varies { (cut.sum(sum), factor * share) } else { (cut.copy(sum), factor) };
            roots.push(cut.times(by, node));
        }
        cut.finish(&roots)
    }
}

/// Evaluates on rows of any number; for each number there is one schedule, in which only the data change with
/// the rows.
struct OnSubset<'a> {
    whole: &'a Observations<'a>,
    everything: Option<Box<dyn Evaluator + 'a>>,
    parts: Vec<OnRows>,
}

/// A part of the model, and the rows whose data stand in its evaluator.
struct OnRows {
    part: Arc<Part>,
    rows: Vec<usize>,
    evaluator: PlanEvaluator<Arc<Plan>>,
}

impl OnRows {
    fn new(part: Arc<Part>) -> OnRows {
        OnRows {
            evaluator: PlanEvaluator::new(part.plan.clone()),
            rows: Vec::with_capacity(part.rows()),
            part,
        }
    }

    fn choose(&mut self, rows: &[usize]) {
        if self.rows != rows {
            self.rows.clear();
            self.rows.extend_from_slice(rows);
            self.part.load(rows, self.evaluator.data());
        }
    }
}

impl OnSubset<'_> {
    fn part(&mut self, rows: usize) -> &mut OnRows {
        let found = self.parts.iter().position(|p| p.part.rows() == rows);
        let at = found.unwrap_or_else(|| {
            self.parts.push(OnRows::new(self.whole.part(rows)));
            self.parts.len() - 1
        });
        &mut self.parts[at]
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
        if rows.len() == self.whole.rows {
            let everything = self.everything.get_or_insert_with(|| self.whole.model.evaluator());
            return everything.evaluate(z, draws, log_density, gradient);
        }
        let part = self.part(rows.len());
        part.choose(rows);
        part.evaluator.evaluate(z, draws, log_density, gradient);
    }
}
