//! Where a log density, or its gradient, is no number at a point: which statement, which row, and what it was
//! computed from.

use super::{Evaluator, ModelTarget, PlanEvaluator, Target};
use crate::graph::{Graph, Node, NodeId, Op};
use crate::lower::Term;
use crate::plan::Plan;

/// The first operation whose result is not a number, though what it is computed from is finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Trouble {
    /// The line of the statement, from 1.
    pub line: usize,
    /// The statement.
    pub statement: String,
    /// The row, from 1, where there are several.
    pub row: Option<usize>,
    /// The operation, and what it is computed from; None where only its slope is no number.
    pub operation: Option<(String, Vec<f64>)>,
    /// The parameters there.
    pub place: Vec<(String, f64)>,
}

/// Most parameters that are told.
const MOST_TOLD: usize = 4;

impl ModelTarget {
    /// What is not a number at a point, if anything is.
    pub(super) fn find_trouble(&self, z: &[f64]) -> Option<Trouble> {
        let terms = &self.lowered().terms;
        let of_value = terms.iter().find_map(|term| Some((term, Some(self.first_in(term, z)?))));
        let (term, found) =
            of_value.or_else(|| Some((terms.iter().find(|t| self.has_no_slope(t, z))?, None)))?;
        let source = &self.lowered().source;
        let place = self.output_names().into_iter().zip(self.constrain(z)).take(MOST_TOLD).collect();
        let (row, operation) = found.map_or((None, None), |(row, operation)| (row, Some(operation)));
        Some(Trouble {
            line: term.span.line_column(source).0,
            statement: term.span.text(source).to_string(),
            row,
            operation,
            place,
        })
    }

    /// The first operation of a term that makes something that is no number, with its row.
    fn first_in(&self, term: &Term, z: &[f64]) -> Option<(Option<usize>, (String, Vec<f64>))> {
        let graph = &self.lowered().graph;
        let needed = graph.needed(&[term.node]);
        let nodes: Vec<NodeId> =
            graph.iter().filter(|(id, _)| needed[id.0 as usize]).map(|(id, _)| id).collect();
        let values = self.values(&nodes, z);
        let of = |id: NodeId| nodes.binary_search(&id).ok().map_or(&[][..], |k| &values[k]);
        let (node, e) = nodes.iter().find_map(|&id| Some((id, of(id).iter().position(|x| x.is_nan())?)))?;
        Some(told(graph, graph.node(node), e, of))
    }

    fn has_no_slope(&self, term: &Term, z: &[f64]) -> bool {
        let plan = Plan::of_sum(&self.lowered().graph, &[term.node], z.len());
        let (mut value, mut gradient) = ([0.0], vec![0.0; z.len()]);
        PlanEvaluator::new(&plan).evaluate(z, 1, &mut value, &mut gradient);
        value[0].is_finite() && gradient.iter().any(|g| g.is_nan())
    }
}

/// The row of element `e` of a node, and the operation with its arguments there. A sum over rows is no number
/// from the first row on that is none.
fn told<'v>(
    graph: &Graph,
    node: &Node,
    e: usize,
    of: impl Fn(NodeId) -> &'v [f64],
) -> (Option<usize>, (String, Vec<f64>)) {
    let rows = node.args.iter().map(|a| graph.node(*a).len()).max().unwrap_or(1);
    let at = |row: usize| -> Vec<f64> {
        let element = |a: &NodeId| {
            let values = of(*a);
            values.get(if values.len() == 1 { 0 } else { row }).copied().unwrap_or(f64::NAN)
        };
        node.args.iter().map(element).collect()
    };
    let (name, row) = match &node.op {
        Op::Map(row) => (row.name.to_string(), e),
        Op::MapSum { row, .. } => {
            let is_none = |k: &usize| row.at(&at(*k)[..row.args.len()]).is_nan();
            (row.name.to_string(), (0..rows).find(is_none).unwrap_or(0))
        }
        Op::Array(op) => return (None, (op.0.name().to_string(), Vec::new())),
        Op::Constant(_) | Op::Input { .. } | Op::Ode(_) | Op::Recursion(_) => {
            return (None, ("a number".into(), Vec::new()));
        }
    };
    ((rows > 1).then_some(row + 1), (name, at(row)))
}
