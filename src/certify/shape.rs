//! Convex, concave, or neither, where no bound along affine directions is known: the composition rule of
//! convex analysis.

use super::ridge::Numbers;
use crate::facts::{Interval, common_dims};
use crate::graph::{Node, NodeId, Op};
use crate::ops::array::{LogSumExp, Max, Min};
use crate::ops::operand::Broadcast;
use crate::ops::scalar::{self, ScalarRow};
use crate::structure::Structure;
use std::collections::HashMap;

/// How a function of the coordinates bends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curvature {
    Affine,
    Convex,
    Concave,
    Unknown,
}

impl Curvature {
    /// Of a sum.
    fn plus(self, other: Curvature) -> Curvature {
        match (self, other) {
            (Curvature::Affine, c) | (c, Curvature::Affine) => c,
            (a, b) if a == b => a,
            (Curvature::Convex | Curvature::Concave | Curvature::Unknown, _) => Curvature::Unknown,
        }
    }

    /// Of a multiple.
    fn scale(self, by: f64) -> Curvature {
        match self {
            Curvature::Convex if by < 0.0 => Curvature::Concave,
            Curvature::Concave if by < 0.0 => Curvature::Convex,
            Curvature::Affine | Curvature::Convex | Curvature::Concave | Curvature::Unknown => self,
        }
    }
}

/// What is known of all elements of a node together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shape {
    pub(super) range: Interval,
    pub(super) curvature: Curvature,
}

const UNKNOWN: Shape = Shape { range: Interval::REAL, curvature: Curvature::Unknown };

/// Shapes of nodes, each found once.
pub(super) struct Shapes<'s> {
    structure: &'s Structure<'s>,
    known: HashMap<NodeId, Shape>,
}

impl<'s> Shapes<'s> {
    pub(super) fn new(structure: &'s Structure<'s>) -> Self {
        Self { structure, known: HashMap::new() }
    }

    /// The shape of a node.
    pub(super) fn of(&mut self, id: NodeId) -> Shape {
        if let Some(shape) = self.known.get(&id) {
            return *shape;
        }
        let shape = self.find(id).unwrap_or(UNKNOWN);
        self.known.insert(id, shape);
        shape
    }

    fn find(&mut self, id: NodeId) -> Option<Shape> {
        let node = self.structure.graph().node(id);
        if let Some(values) = node.constant() {
            if values.iter().any(|v| !v.is_finite()) {
                return None;
            }
            let range = values.iter().map(|&v| Interval::point(v)).reduce(Interval::hull)?;
            return Some(Shape { range, curvature: Curvature::Affine });
        }
        if self.structure.affine(id).is_some() {
            return Some(Shape { range: Interval::REAL, curvature: Curvature::Affine });
        }
        let form = self.structure.form(id)?.clone();
        let mut all: Option<Shape> = None;
        for e in 0..form.len() {
            let (columns, values) = form.row(e);
            let mut range = Interval::point(form.constant[e]);
            let mut curvature = Curvature::Affine;
            for (&variable, &by) in columns.iter().zip(values).filter(|(_, by)| **by != 0.0) {
                let Some((owner, _)) = self.structure.owner(variable) else {
                    range = Interval::REAL;
                    continue;
                };
                if owner == id {
                    return self.own(node);
                }
                let part = self.of(owner);
                range = range + part.range.scale(by);
                curvature = curvature.plus(part.curvature.scale(by));
            }
            let element = Shape { range, curvature };
            all = Some(all.map_or(element, |s| either(s, element)));
        }
        all
    }

    /// A node that is not affine in its arguments.
    fn own(&mut self, node: &Node) -> Option<Shape> {
        match &node.op {
            Op::Map(row) => self.elementwise(row, &node.args, &node.dims),
            Op::MapSum { row, weighted } => {
                let graph = self.structure.graph();
                let (args, weight) = node.args.split_at(node.args.len() - usize::from(*weighted));
                let signed = weight.first().and_then(|&w| graph.node(w).constant());
                if signed.is_some_and(|w| w.iter().any(|&w| !(w >= 0.0 && w.is_finite()))) {
                    return None;
                }
                let dims = common_dims(node.args.iter().map(|&a| graph.node(a).dims.as_slice()));
                let each = self.elementwise(row, args, &dims)?;
                Some(Shape { range: Interval::REAL, curvature: each.curvature })
            }
            Op::Array(op) => {
                let inner = self.of(node.args[0]);
                // log Σ exp and the maximum are convex and rise in every argument; the minimum is concave and
                // rises.
                let rising = (op.downcast::<LogSumExp>().is_some() || op.downcast::<Max>().is_some())
                    && matches!(inner.curvature, Curvature::Affine | Curvature::Convex);
                let falling = op.downcast::<Min>().is_some()
                    && matches!(inner.curvature, Curvature::Affine | Curvature::Concave);
                let curvature = match (rising, falling) {
                    (true, _) => Curvature::Convex,
                    (_, true) => Curvature::Concave,
                    (false, false) => return None,
                };
                Some(Shape { range: Interval::REAL, curvature })
            }
            Op::Constant(_) | Op::Input { .. } | Op::Ode(_) | Op::Recursion(_) => None,
        }
    }

    fn elementwise(&mut self, row: &'static ScalarRow, args: &[NodeId], dims: &[usize]) -> Option<Shape> {
        let graph = self.structure.graph();
        let varying: Vec<usize> =
            (0..args.len()).filter(|&k| graph.node(args[k]).constant().is_none()).collect();
        if *row == scalar::LOG_ADD_EXP || *row == scalar::FMAX {
            let convex =
                args.iter().all(|&a| matches!(self.of(a).curvature, Curvature::Affine | Curvature::Convex));
            return convex.then_some(Shape { range: Interval::REAL, curvature: Curvature::Convex });
        }
        let [k] = varying[..] else { return None };
        let inner = self.of(args[k]);
        let facts = row.facts.as_ref()?;
        let numbers = Numbers::new(self.structure, args, dims);
        // Constants that are the same for all elements need one look only.
        let same = args
            .iter()
            .enumerate()
            .all(|(j, &a)| j == k || Broadcast::between(&graph.node(a).dims, dims) == Broadcast::One);
        let count = if same { 1 } else { dims.iter().product() };
        let mut all: Option<Shape> = None;
        for e in 0..count {
            let jet = (facts.jet)(&numbers.with(e, k, inner.range)?, k)?;
            let rises = jet.slope.is_nonnegative();
            let falls = jet.slope.is_nonpositive();
            let bends = |inward: Curvature, outward: Curvature| {
                inner.curvature == Curvature::Affine
                    || (rises && inner.curvature == inward)
                    || (falls && inner.curvature == outward)
            };
            let curvature = if jet.curvature.is_nonnegative() && bends(Curvature::Convex, Curvature::Concave)
            {
                Curvature::Convex
            } else if jet.curvature.is_nonpositive() && bends(Curvature::Concave, Curvature::Convex) {
                Curvature::Concave
            } else {
                Curvature::Unknown
            };
            let element = Shape { range: jet.value, curvature };
            all = Some(all.map_or(element, |s| either(s, element)));
        }
        all
    }
}

/// What holds for both.
fn either(a: Shape, b: Shape) -> Shape {
    let curvature = match (a.curvature, b.curvature) {
        (x, y) if x == y => x,
        (Curvature::Affine, y) => y,
        (x, Curvature::Affine) => x,
        (Curvature::Convex | Curvature::Concave | Curvature::Unknown, _) => Curvature::Unknown,
    };
    Shape { range: a.range.hull(b.range), curvature }
}
