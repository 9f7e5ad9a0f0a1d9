//! Functions of a sum of squares: norms, and densities of elliptical shape.
//!
//! For r² = Σ w t² with affine forms t = a·z + c and G = Σ w a aᵀ, the function h(r) has the Hessian h'/r G +
//! (h'' - h'/r)/r² v vᵀ with v = Σ w t a. By Cauchy and Schwarz v vᵀ ≤ r² G, so that the Hessian lies between
//! the least and the largest value of h'/r and h'', times G.

use super::ridge::{Bounds, Numbers, Reader};
use crate::dist::STUDENT_TAIL;
use crate::facts::Interval;
use crate::func::kernel::DISTANCE;
use crate::graph::{NodeId, Op};
use crate::ops::array::MatMul;
use crate::ops::operand::Broadcast;
use crate::ops::scalar::{self, ScalarRow};
use crate::structure::{Affine, Atom};
use std::sync::Arc;

/// c + Σ w t².
struct SumOfSquares {
    constant: f64,
    forms: Affine,
    weights: Vec<f64>,
}

/// Where h'/r and h'' lie for h(r) = f(c + r²); the arguments of f after the first are numbers.
fn bend(row: &ScalarRow, c: f64, rest: &[Interval]) -> Option<Interval> {
    if *row == scalar::SQRT || *row == DISTANCE {
        // h' = r/√(c + r²), h'' = c/(c + r²)^(3/2); a norm has a kink at 0.
        return (c >= 0.0).then(|| Interval::new(0.0, c.sqrt().recip()));
    }
    // log(c + r²): h'/r = 2/(c + r²), h'' = 2 (c - r²)/(c + r²)², least at r² = 3c.
    let log = |c: f64| (c > 0.0).then(|| Interval::new(-0.25 / c, 2.0 / c));
    if *row == scalar::LOG {
        return log(c);
    }
    if *row == scalar::LOG1P {
        return log(1.0 + c);
    }
    if *row == STUDENT_TAIL {
        // -(ν + k)/2 log(1 + q/ν)
        let [nu, k] = rest else { return None };
        let numbers = nu.is_point() && k.is_point() && nu.lo > 0.0 && k.lo > 0.0 && c >= 0.0;
        return numbers.then(|| log(nu.lo + c)).flatten().map(|i| i.scale(-0.5 * (nu.lo + k.lo)));
    }
    None
}

impl Reader<'_> {
    /// A function of a sum of squares of affine forms.
    pub(super) fn radial(&self, atom: &Atom) -> Option<Bounds> {
        let graph = self.structure.graph();
        let node = graph.node(atom.node);
        let Op::Map(row) = &node.op else { return None };
        if node.args[1..].iter().any(|&a| graph.node(a).constant().is_none()) {
            return None;
        }
        let numbers = Numbers::new(self.structure, &node.args, &node.dims);
        let index = Broadcast::between(&graph.node(node.args[0]).dims, &node.dims);
        let mut all = Vec::with_capacity(atom.weights.len());
        for &(e, w) in &atom.weights {
            let args = numbers.with(e, 0, Interval::NONNEGATIVE)?;
            let squares = self.sum_of_squares(node.args[0], index.at(e))?;
            let bend = bend(row, squares.constant, &args[1..])?.scale(-w);
            let rows = squares.weights.iter().enumerate().map(|(r, by)| (r, bend.scale(*by))).collect();
            all.push((Arc::new(squares.forms), rows));
        }
        Some(all)
    }

    /// An element as a constant and a weighted sum of squares of affine forms, no weight below zero.
    fn sum_of_squares(&self, id: NodeId, element: usize) -> Option<SumOfSquares> {
        let form = self.structure.form(id)?;
        let (columns, values) = form.row(element);
        let (mut forms, mut weights) = (Vec::new(), Vec::new());
        for (&variable, &by) in columns.iter().zip(values).filter(|(_, by)| **by != 0.0) {
            let (owner, own) = self.structure.owner(variable)?;
            let (form, each) = self.squares(owner, own)?;
            weights.extend(each.iter().map(|w| w * by));
            forms.push(form);
        }
        let sound = !forms.is_empty() && weights.iter().all(|w| *w >= 0.0);
        let constant = form.constant[element];
        sound.then(|| SumOfSquares { constant, forms: Affine::concat(forms.iter()), weights })
    }

    /// An element of a node that is a square, or a sum of squares: the forms and their weights.
    fn squares(&self, id: NodeId, element: usize) -> Option<(Affine, Vec<f64>)> {
        let graph = self.structure.graph();
        let node = graph.node(id);
        let square = |row: &ScalarRow, args: &[NodeId]| {
            *row == scalar::SQUARE || (*row == scalar::MUL && args[0] == args[1])
        };
        let affine = self.structure.affine(*node.args.first()?)?;
        let index = |dims: &[usize]| Broadcast::between(&graph.node(node.args[0]).dims, dims);
        match &node.op {
            Op::Map(row) if square(row, &node.args) => {
                let at = index(&node.dims).at(element);
                Some((affine.gather(1, |_| at), vec![1.0]))
            }
            Op::MapSum { row, weighted } => {
                let (args, weight) = node.args.split_at(node.args.len() - usize::from(*weighted));
                if !square(row, args) {
                    return None;
                }
                let (dims, list) = self.summands(node, weight.first().copied(), 1.0);
                let at = index(&dims);
                Some((
                    affine.gather(list.len(), |i| at.at(list[i].0)),
                    list.iter().map(|(_, w)| *w).collect(),
                ))
            }
            Op::Array(op) if op.downcast::<MatMul>().is_some() => {
                let product = node.args[0] == node.args[1] && graph.node(node.args[0]).dims.len() == 1;
                product.then(|| (affine.gather(affine.len(), |i| i), vec![1.0; affine.len()]))
            }
            Op::Constant(_)
            | Op::Input { .. }
            | Op::Map(_)
            | Op::Array(_)
            | Op::Ode(_)
            | Op::Recursion(_) => None,
        }
    }
}
