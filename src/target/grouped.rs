//! The log density of a model as a sum over groups of coordinates that do not meet in any of its elements.

use super::ModelTarget;
use crate::graph::{Builder, NodeId, Op};
use crate::num::real::{F16, Real};
use crate::ops::array::Sum;
use crate::ops::scalar;
use crate::plan::{Plan, Workspace};
use crate::rewrite::{BY_ROWS, rewrite};
use crate::structure::{Group, groups};

/// Draws evaluated together.
pub const DRAWS: usize = F16::WIDTH;

/// The parts of a log density that each group has of its own.
pub struct Grouped {
    /// Arrays whose elements are added up.
    plan: Plan,
    /// For each array the group of each element.
    groups: Vec<Vec<Group>>,
    /// How often each array counts.
    factors: Vec<f64>,
    count: usize,
}

/// Buffers of one thread.
pub struct GroupedEvaluator<'g> {
    of: &'g Grouped,
    workspace: Workspace<F16>,
    sums: Vec<F16>,
}

impl ModelTarget {
    /// The log density by groups, of which there are so many, if each element of what is added up follows from one at most; the group of
    /// each coordinate is given.
    pub fn grouped(&self, coordinates: &[Group], count: usize) -> Option<Grouped> {
        let lowered = self.lowered();
        let (graph, roots) = rewrite(lowered.graph.clone(), &self.term_nodes(), lowered.dimension, BY_ROWS);
        let mut b = Builder::from_graph(graph);
        let (nodes, factors): (Vec<NodeId>, Vec<f64>) = summands(&mut b, roots)?.into_iter().unzip();
        let graph = b.finish();
        let known = groups(&graph, &nodes, coordinates);
        let of = |id: &NodeId| &known[id.0 as usize];
        let counts = |(id, _): &(&NodeId, &f64)| of(id).iter().any(|g| *g != Group::None);
        let (nodes, factors): (Vec<NodeId>, Vec<f64>) = nodes.iter().zip(&factors).filter(counts).unzip();
        let groups: Vec<Vec<Group>> = nodes.iter().map(|id| of(id).clone()).collect();
        let apart = groups.iter().flatten().all(|g| *g != Group::Several);
        let plan = Plan::new(&graph, &nodes, lowered.dimension);
        apart.then_some(Grouped { plan, groups, factors, count })
    }
}

/// Arrays whose elements add up to all roots, with how often each counts; constants are left out.
fn summands(b: &mut Builder, roots: Vec<NodeId>) -> Option<Vec<(NodeId, f64)>> {
    let mut open: Vec<(NodeId, f64)> = roots.into_iter().map(|r| (r, 1.0)).collect();
    let mut out = Vec::new();
    while let Some((id, factor)) = open.pop() {
        let node = b.graph().node(id).clone();
        let number = |k: usize| b.scalar_of(node.args[k]);
        match &node.op {
            Op::Constant(_) => {}
            Op::Map(row) if node.len() == 1 && (**row == scalar::ADD || **row == scalar::SUB) => {
                let sign = if **row == scalar::SUB { -factor } else { factor };
                open.extend([(node.args[0], factor), (node.args[1], sign)]);
            }
            Op::Map(row) if node.len() == 1 && **row == scalar::NEG => open.push((node.args[0], -factor)),
            Op::Map(row) if node.len() == 1 && **row == scalar::MUL && number(0).is_some() => {
                open.push((node.args[1], factor * number(0)?));
            }
            Op::Map(row) if node.len() == 1 && **row == scalar::MUL && number(1).is_some() => {
                open.push((node.args[0], factor * number(1)?));
            }
            Op::MapSum { row, weighted } => {
                let (args, weight) = node.args.split_at(node.args.len() - usize::from(*weighted));
                let each = b.map(row, args).ok()?;
                out.push((weight.first().map_or(Ok(each), |&w| b.mul(each, w)).ok()?, factor));
            }
            Op::Array(op) if op.downcast::<Sum>().is_some_and(|s| s.axis.is_none()) => {
                out.push((node.args[0], factor));
            }
            Op::Map(_) | Op::Input { .. } | Op::Array(_) | Op::Ode(_) | Op::Recursion(_) => {
                out.push((id, factor));
            }
        }
    }
    Some(out)
}

impl Grouped {
    /// Buffers to evaluate with.
    pub fn evaluator(&self) -> GroupedEvaluator<'_> {
        GroupedEvaluator {
            of: self,
            workspace: Workspace::new(&self.plan),
            sums: vec![F16::zero(); self.count],
        }
    }
}

impl GroupedEvaluator<'_> {
    /// What each group adds to the log density at sixteen draws (coordinate `i` of draw `b` at `i * 16 + b`), but for what no group
    /// has a part in: draw `b` of group `g` at `g * 16 + b`.
    pub fn evaluate(&mut self, z: &[f64]) -> &[f64] {
        let plan = &self.of.plan;
        F16::flat_mut(self.workspace.inputs(plan)).copy_from_slice(z);
        self.workspace.forward(plan, false);
        self.sums.fill(F16::zero());
        for (r, (groups, factor)) in self.of.groups.iter().zip(&self.of.factors).enumerate() {
            for (i, group) in groups.iter().enumerate() {
                if let Group::One(g) = group {
                    let sum = &mut self.sums[*g as usize];
                    *sum = sum.add_scaled(*factor, self.workspace.root(plan, r, i));
                }
            }
        }
        F16::flat(&self.sums)
    }
}
