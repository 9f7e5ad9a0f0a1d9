//! Logarithms of sums and of differences of exponentials: nested sums, and probabilities of intervals.

use super::ridge::{Bounds, Numbers, Reader};
use crate::dist::{self, Density, Distribution};
use crate::facts::Interval;
use crate::graph::{NodeId, Op};
use crate::ops::array::LogSumExp;
use crate::ops::operand::Broadcast;
use crate::ops::scalar::{self, Facts, ScalarRow};
use crate::structure::{Affine, Atom};
use std::sync::Arc;

/// Most summands that a nested sum is taken apart into.
const MOST_LEAVES: usize = 200;

/// An element of a node that is affine.
type Leaf = (NodeId, usize);

impl Reader<'_> {
    /// log Σ exp of affine forms, however the sum is nested. Its Hessian diag(p) - p pᵀ lies between 0 and ½
    /// I, and below ¼ along the difference of two, or along the only one that is not constant.
    pub(super) fn nested_log_sum(&self, atom: &Atom) -> Option<Bounds> {
        let (mut forms, mut rows) = (Vec::new(), Vec::new());
        for &(e, w) in &atom.weights {
            let mut leaves = Vec::new();
            self.leaves((atom.node, e), &mut leaves)?;
            let each: Vec<Affine> = leaves.iter().map(|leaf| self.leaf(*leaf)).collect::<Option<_>>()?;
            let bound = |most: f64| Interval::new(0.0, most).scale(-w);
            if let [a, b] = &each[..] {
                rows.push((forms.len(), bound(0.25)));
                forms.push(a.plus(b, -1.0));
                continue;
            }
            let moves = |form: &Affine| form.row(0).1.iter().any(|v| *v != 0.0);
            let moving: Vec<Affine> = each.into_iter().filter(moves).collect();
            let most = if moving.len() == 1 { 0.25 } else { 0.5 };
            for form in moving {
                rows.push((forms.len(), bound(most)));
                forms.push(form);
            }
        }
        Some(vec![(Arc::new(Affine::concat(forms.iter())), rows)])
    }

    fn leaf(&self, (node, element): Leaf) -> Option<Affine> {
        Some(self.structure.affine(node)?.gather(1, |_| element))
    }

    /// The forms whose exponentials are summed; None if it is no such sum.
    fn leaves(&self, (id, element): Leaf, into: &mut Vec<Leaf>) -> Option<()> {
        if into.len() >= MOST_LEAVES {
            return None;
        }
        if self.structure.affine(id).is_some() {
            into.push((id, element));
            return Some(());
        }
        let ([variable], [1.0]) = self.structure.form(id)?.row(element) else { return None };
        let (owner, own) = self.structure.owner(*variable)?;
        let graph = self.structure.graph();
        let node = graph.node(owner);
        match &node.op {
            Op::Map(row) if **row == scalar::LOG_ADD_EXP => node.args.iter().try_for_each(|&a| {
                let index = Broadcast::between(&graph.node(a).dims, &node.dims);
                self.leaves((a, index.at(own)), into)
            }),
            Op::Array(op) => {
                let axis = op.downcast::<LogSumExp>()?.axis;
                let source = graph.node(node.args[0]);
                let (count, inner) = match axis {
                    None => (source.len(), 1),
                    Some(k) => (source.dims[k], source.dims[k + 1..].iter().product()),
                };
                let start = (own / inner) * count * inner + own % inner;
                (0..count).try_for_each(|l| self.leaves((node.args[0], start + l * inner), into))
            }
            Op::Constant(_)
            | Op::Input { .. }
            | Op::Map(_)
            | Op::MapSum { .. }
            | Op::Ode(_)
            | Op::Recursion(_) => None,
        }
    }

    /// The log probability of an interval under a location family with a log-concave density exp(-V): log ∫
    /// exp(-V(x - μ)) dx from one number to another. It is concave in μ (Prékopa), and its second derivative,
    /// a variance of V' less a mean of V'', is not below the least of -V''.
    pub(super) fn interval_probability(
        &self,
        args: &[NodeId],
        dims: &[usize],
        weights: &[(usize, f64)],
    ) -> Option<Bounds> {
        let graph = self.structure.graph();
        let (upper, lower) = (graph.node(args[0]), graph.node(args[1]));
        let (Op::Map(row), Op::Map(other)) = (&upper.op, &lower.op) else { return None };
        let (density, location) = location_family(row).filter(|_| row == other)?;
        let affine = self.structure.affine(upper.args[location])?;
        let fixed = |k: usize| k == 0 || k == location || graph.node(upper.args[k]).constant().is_some();
        let same = upper.args[1..] == lower.args[1..] && (0..upper.args.len()).all(fixed);
        let (top, bottom) = (graph.node(upper.args[0]), graph.node(lower.args[0]));
        let (high, low) = (top.constant()?, bottom.constant()?);
        if !same || upper.dims != dims || lower.dims != dims {
            return None;
        }
        let at = |dims_of: &[usize]| Broadcast::between(dims_of, dims);
        let (of_high, of_low) = (at(&top.dims), at(&bottom.dims));
        let from = at(&graph.node(upper.args[location]).dims);
        let numbers = Numbers::new(self.structure, &upper.args, dims);
        let mut rows = Vec::with_capacity(weights.len());
        for &(e, w) in weights {
            let bend = (density.jet)(&numbers.with(e, location, Interval::REAL)?, location)?.curvature;
            if !(bend.is_nonpositive() && low[of_low.at(e)] < high[of_high.at(e)]) {
                return None;
            }
            rows.push((from.at(e), Interval::new(bend.lo, 0.0).scale(-w)));
        }
        Some(vec![(affine.clone(), rows)])
    }
}

/// The facts of the density whose cumulative probability a row is, and the place of its location, if it has
/// one.
fn location_family(lcdf: &ScalarRow) -> Option<(&'static Facts, usize)> {
    let is_it = |d: &&&'static Distribution| d.lcdf.is_some_and(|row| row == lcdf);
    let family = dist::TABLE.iter().find(is_it)?;
    let Density::Parts([first, rest @ ..]) = family.density else { return None };
    let facts = first.row.facts.as_ref()?;
    let (0, location) = facts.difference? else { return None };
    let plain = first.of.iter().enumerate().all(|(i, of)| i == *of);
    // All else that the density is made of has neither the variable nor the location in it.
    let whole =
        rest.iter().flat_map(|part| part.of).all(|&of| (1..dist::LOG1M_X).contains(&of) && of != location);
    (plain && whole).then_some((facts, location))
}
