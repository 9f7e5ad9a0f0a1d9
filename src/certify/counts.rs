//! Counts that are cut off: the density and the probability of what is left are bounded together.
//!
//! For a count with a natural parameter η (`dist::natural`) the log of a tail is T(η) - s A(η) with T convex.
//! Divided by, as in a truncated distribution, it leaves s A(η) - T(η), and s A(η) is what the density itself
//! has with the other sign: as like terms the two add up to nothing, and -T is concave.

use super::like::{Family, Like};
use super::ridge::{Findings, Numbers, Reader, Ridges, is_difference_of_tails};
use crate::dist::natural::{NATURAL, Natural, Partition};
use crate::facts::Interval;
use crate::graph::{Node, NodeId, Op};
use crate::ops::operand::Broadcast;
use crate::ops::scalar::{self, ScalarRow};
use crate::structure::{Affine, Atom};
use std::sync::Arc;

/// A sum over a set of counts: the least, and the largest if there is one.
type Set = (f64, Option<f64>);

/// Which sets of counts the elements of a node are the log probabilities of; None for those of single counts.
enum Kind {
    Density,
    AtMost,
    Above,
    /// Those of the first argument and not of the second, each a node of its own.
    Between([NodeId; 2]),
}

impl Reader<'_> {
    /// The atom as a density or a divisor of a count with a natural parameter, if it is one.
    pub(super) fn count(&self, term: usize, atom: &Atom, into: &mut Findings) -> Option<()> {
        let graph = self.structure.graph();
        let node = graph.node(atom.node);
        let (row, args, dims, weights) = self.summed(node, atom)?;
        let (natural, kind, args) = self.kind(row, args)?;
        let divides = !matches!(kind, Kind::Density);
        // A tail that multiplies is concave by itself, which its own facts know.
        if divides && weights.iter().any(|(_, w)| *w > 0.0) {
            return None;
        }
        let eta = self.natural_parameter(natural, args[natural.parameter])?;
        let at = Broadcast::between(&graph.node(args[natural.parameter]).dims, &dims);
        let numbers = Numbers::new(self.structure, args, &dims);
        let ends = match &kind {
            Kind::Between(nodes) => Some(nodes.map(|id| self.first_argument(id, &dims))),
            Kind::Density | Kind::AtMost | Kind::Above => None,
        };
        let (mut members, mut rows) = (Vec::with_capacity(weights.len()), Vec::new());
        for &(e, w) in &weights {
            let known = numbers.with(e, natural.parameter, Interval::REAL)?;
            if known.iter().enumerate().any(|(k, x)| k != natural.parameter && !x.is_point()) {
                return None;
            }
            let trials = natural.trials.map(|k| known[k].lo);
            let set = match (&kind, &ends) {
                (Kind::Between(_), Some([Some(high), Some(low)])) => Some((low(e) + 1.0, Some(high(e)))),
                (Kind::Between(_), _) => return None,
                (Kind::Density, _) => None,
                (Kind::AtMost, _) => Some((0.0, Some(known[0].lo))),
                (Kind::Above, _) => Some((known[0].lo + 1.0, trials)),
            };
            let size = trials.unwrap_or(1.0);
            // -w s A from a tail, w s A less from the density: in the log density each enters with the weight
            // -w s.
            members.push((at.at(e), -w * size));
            if let Some(set) = set {
                rows.push((at.at(e), variance(set, trials)?.scale(-w)));
            }
        }
        let family = match natural.partition {
            Partition::Exponential => Family::Exponential,
            Partition::Softplus => Family::Softplus,
        };
        into.like.push(Like { family, term, node: atom.node, affine: eta.clone(), members });
        if divides {
            into.ridges.push(Ridges { term, node: atom.node, affine: eta, rows });
        }
        Some(())
    }

    /// The function, its arguments, and the elements and weights of an atom that is an elementwise function
    /// or a sum of one.
    fn summed<'n>(
        &self,
        node: &'n Node,
        atom: &Atom,
    ) -> Option<(&'static ScalarRow, &'n [NodeId], Vec<usize>, Vec<(usize, f64)>)> {
        match &node.op {
            Op::Map(row) => Some((row, &node.args, node.dims.clone(), atom.weights.clone())),
            Op::MapSum { row, weighted } => {
                let (args, weight) = node.args.split_at(node.args.len() - usize::from(*weighted));
                let (dims, weights) = self.summands(node, weight.first().copied(), atom.weights[0].1);
                Some((row, args, dims, weights))
            }
            Op::Constant(_) | Op::Input { .. } | Op::Array(_) | Op::Ode(_) | Op::Recursion(_) => None,
        }
    }

    /// What a function is the log probability of, and its arguments: those of the first tail, for a
    /// difference of two.
    fn kind<'n>(
        &'n self,
        row: &ScalarRow,
        args: &'n [NodeId],
    ) -> Option<(&'static Natural, Kind, &'n [NodeId])> {
        if is_difference_of_tails(row) {
            let graph = self.structure.graph();
            let (high, low) = (graph.node(args[0]), graph.node(args[1]));
            let (Op::Map(first), Op::Map(second)) = (&high.op, &low.op) else { return None };
            let natural = NATURAL.iter().find(|n| *n.lcdf == **first && first == second)?;
            let same = high.args[1..] == low.args[1..] && high.dims == low.dims;
            return same.then_some((natural, Kind::Between([args[0], args[1]]), &high.args[..]));
        }
        let find = |of: fn(&Natural) -> &'static ScalarRow| NATURAL.iter().find(|n| of(n) == row);
        if let Some(natural) = find(|n| n.joint) {
            return Some((natural, Kind::Density, args));
        }
        if let Some(natural) = find(|n| n.lcdf) {
            return Some((natural, Kind::AtMost, args));
        }
        find(|n| n.lccdf).map(|natural| (natural, Kind::Above, args))
    }

    /// The form of η, from the argument that it is, or that is a function of it.
    fn natural_parameter(&self, natural: &Natural, id: NodeId) -> Option<Arc<Affine>> {
        match natural.link {
            None => self.structure.affine(id).cloned(),
            Some(link) if *link == scalar::EXP => self.structure.log_affine(id).cloned(),
            Some(link) => {
                let node = self.structure.graph().node(id);
                match &node.op {
                    Op::Map(row) if **row == *link => self.structure.affine(node.args[0]).cloned(),
                    Op::Constant(_)
                    | Op::Input { .. }
                    | Op::Map(_)
                    | Op::MapSum { .. }
                    | Op::Array(_)
                    | Op::Ode(_)
                    | Op::Recursion(_) => None,
                }
            }
        }
    }

    /// The first argument of a node, a number for each element, as it meets a result of these sizes.
    fn first_argument(&self, id: NodeId, dims: &[usize]) -> Option<impl Fn(usize) -> f64 + use<'_>> {
        let graph = self.structure.graph();
        let first = graph.node(id).args[0];
        let values = graph.node(first).constant()?;
        let index = Broadcast::between(&graph.node(first).dims, dims);
        (graph.node(id).dims == dims).then_some(move |e: usize| values[index.at(e)])
    }
}

/// Where the variance of a count lies that is known to be in a set; None unless the set has a count in it.
fn variance((least, most): Set, trials: Option<f64>) -> Option<Interval> {
    let whole = |x: f64| x.is_finite() && x.fract() == 0.0;
    let most = match (most, trials) {
        (Some(most), Some(n)) => Some(most.min(n)),
        (Some(most), None) => Some(most),
        (None, trials) => trials,
    };
    if !whole(least) || least < 0.0 || !most.is_none_or(|m| whole(m) && m >= least) {
        return None;
    }
    Some(most.map_or(Interval::NONNEGATIVE, |m| Interval::new(0.0, 0.25 * (m - least) * (m - least))))
}
