//! Second derivatives along affine directions: what each nonlinear atom of a log density adds to minus its
//! Hessian.
//!
//! A function f(a·z + c) has the Hessian f''(a·z + c) a aᵀ. Bounds on f'' come from the facts that rows
//! declare, composed by the chain rule where functions are nested, so that every bound holds for all z.

use super::like::{Family, Like};
use super::shape::{Curvature, Shapes};
use super::univariate::{Univariates, compose};
use crate::dist::{LOG_BETWEEN, NO_CUT};
use crate::facts::{Interval, common_dims};
use crate::graph::{Node, NodeId, Op};
use crate::ops::array::{LogSumExp, MatMul};
use crate::ops::operand::Broadcast;
use crate::ops::scalar::{self, ScalarRow};
use crate::structure::{Affine, Atom, Structure};
use std::sync::Arc;

/// Whether the first two arguments of a function are the logarithms of two tails, and it is that of their
/// difference.
pub(super) fn is_difference_of_tails(row: &ScalarRow) -> bool {
    [&scalar::LOG_DIFF_EXP, &LOG_BETWEEN].contains(&row)
}

/// Bounds on what one atom of one term adds to minus the Hessian.
pub(super) struct Ridges {
    /// Which term of the log density.
    pub(super) term: usize,
    /// Which node.
    pub(super) node: NodeId,
    /// The directions.
    pub(super) affine: Arc<Affine>,
    /// Rows of `affine` with bounds θ: minus the Hessian of the atom lies between Σ θ.lo a aᵀ and Σ θ.hi a
    /// aᵀ.
    pub(super) rows: Vec<(usize, Interval)>,
}

/// An atom of which no bound along affine directions is known.
pub(super) struct Rest {
    /// Which term of the log density.
    pub(super) term: usize,
    /// Which node.
    pub(super) node: NodeId,
    /// Whether it is at least known to be concave, as it enters the log density.
    pub(super) concave: bool,
}

/// Directions with bounds on the second derivative along each.
pub(super) type Bounds = Vec<(Arc<Affine>, Vec<(usize, Interval)>)>;

fn is_bounded(bounds: &Bounds) -> bool {
    let finite = |(_, theta): &(usize, Interval)| theta.lo.is_finite() && theta.hi.is_finite();
    bounds.iter().all(|(_, rows)| rows.iter().all(finite))
}

/// Everything nonlinear in a log density.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) ridges: Vec<Ridges>,
    pub(super) rest: Vec<Rest>,
    /// Terms of families whose weights are added before they are bounded.
    pub(super) like: Vec<Like>,
}

/// Reads the atoms of log densities.
pub(super) struct Reader<'s> {
    pub(super) structure: &'s Structure<'s>,
    univariates: Univariates<'s>,
    shapes: Shapes<'s>,
}

impl<'s> Reader<'s> {
    pub(super) fn new(structure: &'s Structure<'s>) -> Self {
        Self { structure, univariates: Univariates::new(structure), shapes: Shapes::new(structure) }
    }

    /// What the atom adds to minus the Hessian.
    pub(super) fn read(&mut self, term: usize, atom: &Atom, into: &mut Findings) {
        let node = self.structure.graph().node(atom.node);
        if let Some(like) = self.like(term, atom) {
            into.like.push(like);
            return;
        }
        if self.count(term, atom, into).is_some() {
            return;
        }
        let found = match &node.op {
            Op::Map(row) => self.elementwise(row, &node.args, &node.dims, &atom.weights),
            Op::MapSum { row, weighted } => {
                let (args, weight) = node.args.split_at(node.args.len() - usize::from(*weighted));
                let (dims, weights) = self.summands(node, weight.first().copied(), atom.weights[0].1);
                self.elementwise(row, args, &dims, &weights)
            }
            Op::Array(op) if op.downcast::<LogSumExp>().is_some() => {
                let axis = op.downcast::<LogSumExp>().and_then(|o| o.axis);
                self.log_sum_exp(node, axis, &atom.weights)
            }
            Op::Array(op) if op.downcast::<MatMul>().is_some() => self.bilinear(node, &atom.weights),
            Op::Constant(_) | Op::Input { .. } | Op::Array(_) | Op::Ode(_) | Op::Recursion(_) => None,
        };
        // What the chain rule leaves unbounded, a rule for the whole may bound.
        let found = match found {
            Some(bounds) if is_bounded(&bounds) => Some(bounds),
            found => self.nested_log_sum(atom).or_else(|| self.radial(atom)).or(found),
        };
        match found {
            Some(found) => into.ridges.extend(found.into_iter().map(|(affine, rows)| Ridges {
                term,
                node: atom.node,
                affine,
                rows,
            })),
            None => into.rest.push(Rest { term, node: atom.node, concave: self.is_concave(atom) }),
        }
    }

    /// The atom as weighted members of a family of functions of affine forms, if it is one.
    fn like(&self, term: usize, atom: &Atom) -> Option<Like> {
        let graph = self.structure.graph();
        let node = graph.node(atom.node);
        let (Op::Map(row) | Op::MapSum { row, .. }) = &node.op else { return None };
        let (args, dims, weights) = match &node.op {
            Op::MapSum { weighted, .. } => {
                let (args, weight) = node.args.split_at(node.args.len() - usize::from(*weighted));
                let (dims, weights) = self.summands(node, weight.first().copied(), atom.weights[0].1);
                (args, dims, weights)
            }
            Op::Map(_)
            | Op::Constant(_)
            | Op::Input { .. }
            | Op::Array(_)
            | Op::Ode(_)
            | Op::Recursion(_) => (&node.args[..], node.dims.clone(), atom.weights.clone()),
        };
        let Some((family, by)) = Family::of(row) else {
            // Products, ratios and powers of exponentials are one exponential, each perhaps negative.
            let product = **row == scalar::MUL || **row == scalar::DIV;
            let signed: Vec<(NodeId, f64)> = args.iter().map(|&a| self.signed(a, product)).collect();
            let args: Vec<NodeId> = signed.iter().map(|s| s.0).collect();
            let sign: f64 = signed.iter().map(|s| s.1).product();
            let affine = self.structure.log_of_map(row, &args, &dims)?;
            let members = weights.into_iter().map(|(e, w)| (e, sign * w)).collect();
            return Some(Like { family: Family::Exponential, term, node: atom.node, affine, members });
        };
        let rest_known = args[1..]
            .iter()
            .all(|&a| graph.node(a).constant().is_some_and(|values| values.iter().all(|x| x.is_finite())));
        let affine = self.structure.affine(args[0])?.clone();
        let index = Broadcast::between(&graph.node(args[0]).dims, &dims);
        let members = weights.into_iter().map(|(e, w)| (index.at(e), by * w)).collect();
        rest_known.then_some(Like { family, term, node: atom.node, affine, members })
    }

    /// What a factor is up to its sign, and the sign.
    fn signed(&self, id: NodeId, product: bool) -> (NodeId, f64) {
        let node = self.structure.graph().node(id);
        match &node.op {
            Op::Map(row) if product && **row == scalar::NEG => (node.args[0], -1.0),
            Op::Constant(_)
            | Op::Input { .. }
            | Op::Map(_)
            | Op::MapSum { .. }
            | Op::Array(_)
            | Op::Ode(_)
            | Op::Recursion(_) => (id, 1.0),
        }
    }

    fn is_concave(&mut self, atom: &Atom) -> bool {
        let curvature = self.shapes.of(atom.node).curvature;
        atom.weights.iter().all(|&(_, w)| match curvature {
            Curvature::Affine => true,
            Curvature::Convex => w <= 0.0,
            Curvature::Concave => w >= 0.0,
            Curvature::Unknown => false,
        })
    }

    /// The shape over which a sum of an elementwise function runs, and the weight of each summand.
    pub(super) fn summands(
        &self,
        node: &Node,
        weight: Option<NodeId>,
        times: f64,
    ) -> (Vec<usize>, Vec<(usize, f64)>) {
        let graph = self.structure.graph();
        let dims = common_dims(node.args.iter().map(|&a| graph.node(a).dims.as_slice()));
        let weights = weight.and_then(|w| {
            let node = graph.node(w);
            Some((node.constant()?, Broadcast::between(&node.dims, &dims)))
        });
        let each = |i: usize| match &weights {
            Some((values, index)) => values[index.at(i)] * times,
            None => times,
        };
        let count = dims.iter().product();
        let list = (0..count).map(|i| (i, each(i))).filter(|(_, w)| *w != 0.0).collect();
        (dims, list)
    }

    fn elementwise(
        &mut self,
        row: &'static ScalarRow,
        args: &[NodeId],
        dims: &[usize],
        weights: &[(usize, f64)],
    ) -> Option<Bounds> {
        let graph = self.structure.graph();
        let varying: Vec<usize> =
            (0..args.len()).filter(|&k| graph.node(args[k]).constant().is_none()).collect();
        let index = |k: usize| Broadcast::between(&graph.node(args[k]).dims, dims);
        if varying.len() > 1 && row.facts.as_ref().is_some_and(|f| f.shifts) {
            return self.shifted(row, args, dims, weights);
        }
        if let [i, j] = varying[..]
            && let (Some(a), Some(b)) = (self.structure.affine(args[i]), self.structure.affine(args[j]))
        {
            let pick =
                |form: &Affine, index: &Broadcast| form.gather(weights.len(), |e| index.at(weights[e].0));
            let (a, b) = (pick(a, &index(i)), pick(b, &index(j)));
            if *row == scalar::MUL {
                return Some(products(&a, &b, weights.iter().map(|w| w.1)));
            }
            let bound = self.difference(row, args, dims, (i, j), weights)?;
            let rows = bound.into_iter().enumerate().collect();
            return Some(vec![(Arc::new(a.plus(&b, -1.0)), rows)]);
        }
        let [k] = varying[..] else {
            return self.same_direction(row, args, dims, weights, &varying);
        };
        let inner = self.univariates.of(args[k])?;
        let at = index(k);
        let numbers = Numbers::new(self.structure, args, dims);
        let mut rows = Vec::with_capacity(weights.len());
        for &(e, w) in weights {
            let from = at.at(e);
            let element = &inner.elements[from];
            let mut bend = compose(row, &numbers, (e, k), element)?.curvature;
            if *row == scalar::LOG_ADD_EXP {
                let number = numbers.with(e, k, Interval::REAL)?[1 - k].lo;
                bend = element.log_add_number(number).map_or(bend, |known| bend.meet(known));
            }
            rows.push((inner.rows[from] as usize, bend.scale(-w)));
        }
        Some(vec![(inner.affine.clone(), rows)])
    }

    /// Bounds for a function of the difference of two affine arguments.
    fn difference(
        &self,
        row: &'static ScalarRow,
        args: &[NodeId],
        dims: &[usize],
        pair: (usize, usize),
        weights: &[(usize, f64)],
    ) -> Option<Vec<Interval>> {
        // log(eᵃ + eᵇ) = b + log(1 + eᵃ⁻ᵇ)
        if *row == scalar::LOG_ADD_EXP {
            return Some(weights.iter().map(|&(_, w)| Interval::new(0.0, 0.25).scale(-w)).collect());
        }
        let facts = row.facts.as_ref()?;
        let (i, j) = facts.difference?;
        if (i.min(j), i.max(j)) != pair {
            return None;
        }
        let numbers = Numbers::new(self.structure, args, dims);
        let bound = |&(e, w): &(usize, f64)| {
            let mut at = numbers.with(e, i, Interval::REAL)?;
            at[j] = Interval::ZERO;
            Some((facts.jet)(&at, i)?.curvature.scale(-w))
        };
        weights.iter().map(bound).collect()
    }

    /// Bounds for a function of differences of affine arguments, of which but one moves against the others.
    fn shifted(
        &self,
        row: &'static ScalarRow,
        args: &[NodeId],
        dims: &[usize],
        weights: &[(usize, f64)],
    ) -> Option<Bounds> {
        let graph = self.structure.graph();
        let forms: Vec<(&Affine, Broadcast)> = args
            .iter()
            .map(|&a| Some((&**self.structure.affine(a)?, Broadcast::between(&graph.node(a).dims, dims))))
            .collect::<Option<_>>()?;
        let facts = row.facts.as_ref()?;
        let (mut all, mut rows) = (Vec::with_capacity(weights.len()), Vec::with_capacity(weights.len()));
        for &(e, w) in weights {
            let each: Vec<Affine> =
                forms.iter().map(|(form, index)| form.gather(1, |_| index.at(e))).collect();
            let (k, form, at) = (0..each.len()).find_map(|k| moving(&each, k).map(|(f, at)| (k, f, at)))?;
            rows.push((all.len(), (facts.jet)(&at, k)?.curvature.scale(-w)));
            all.push(form);
        }
        Some(vec![(Arc::new(Affine::concat(all.iter())), rows)])
    }

    /// A product, or a log of a sum of exponentials, of functions of the same affine form.
    fn same_direction(
        &mut self,
        row: &'static ScalarRow,
        args: &[NodeId],
        dims: &[usize],
        weights: &[(usize, f64)],
        varying: &[usize],
    ) -> Option<Bounds> {
        if is_difference_of_tails(row) {
            return self.interval_probability(args, dims, weights);
        }
        let product = *row == scalar::MUL;
        if !(product || *row == scalar::LOG_ADD_EXP) || varying.len() != 2 {
            return None;
        }
        let (a, b) = (self.univariates.of(args[0])?, self.univariates.of(args[1])?);
        let graph = self.structure.graph();
        let index = |k: usize| Broadcast::between(&graph.node(args[k]).dims, dims);
        let (at_a, at_b) = (index(0), index(1));
        let mut rows = Vec::with_capacity(weights.len());
        for &(e, w) in weights {
            let (i, j) = (at_a.at(e), at_b.at(e));
            let (from_a, from_b) = (a.rows[i] as usize, b.rows[j] as usize);
            let same = a.affine.row(from_a) == b.affine.row(from_b)
                && a.affine.constant[from_a] == b.affine.constant[from_b];
            if !same {
                return None;
            }
            let (f, g) = (&a.elements[i], &b.elements[j]);
            let curvature = if product { f.jet.times(g.jet).curvature } else { f.log_add_exp(g) };
            rows.push((from_a, curvature.scale(-w)));
        }
        Some(vec![(a.affine.clone(), rows)])
    }

    /// log Σ exp of affine forms: its Hessian diag(p) - p pᵀ lies between 0 and ½ I, and below ¼ along the
    /// only direction if all other arguments are constant.
    fn log_sum_exp(&self, node: &Node, axis: Option<usize>, weights: &[(usize, f64)]) -> Option<Bounds> {
        let affine = self.structure.affine(node.args[0])?;
        let source = self.structure.graph().node(node.args[0]);
        let (count, inner) = match axis {
            None => (source.len(), 1),
            Some(k) => (source.dims[k], source.dims[k + 1..].iter().product()),
        };
        let mut rows = Vec::new();
        for &(o, w) in weights {
            let start = (o / inner) * count * inner + o % inner;
            let members = (0..count).map(|l| start + l * inner);
            let moving: Vec<usize> = members.filter(|&r| affine.row(r).1.iter().any(|v| *v != 0.0)).collect();
            let most = if moving.len() == 1 && count > 1 { 0.25 } else { 0.5 };
            rows.extend(moving.into_iter().map(|r| (r, Interval::new(0.0, most).scale(-w))));
        }
        Some(vec![(affine.clone(), rows)])
    }

    /// Elements of a matrix product of affine forms: sums of products.
    fn bilinear(&self, node: &Node, weights: &[(usize, f64)]) -> Option<Bounds> {
        let graph = self.structure.graph();
        let (a, b) = (self.structure.affine(node.args[0])?, self.structure.affine(node.args[1])?);
        let (inner, m) =
            match (graph.node(node.args[0]).dims.as_slice(), graph.node(node.args[1]).dims.as_slice()) {
                ([_, k], [_, m]) => (*k, *m),
                ([_, k], _) => (*k, 1),
                (_, right) => (a.len(), right.last().copied().unwrap_or(1)),
            };
        let pairs: Vec<(usize, usize, f64)> = weights
            .iter()
            .flat_map(|&(o, w)| (0..inner).map(move |l| ((o / m) * inner + l, l * m + o % m, w)))
            .collect();
        let left = a.gather(pairs.len(), |e| pairs[e].0);
        let right = b.gather(pairs.len(), |e| pairs[e].1);
        Some(products(&left, &right, pairs.iter().map(|p| p.2)))
    }
}

/// a b = ¼(a + b)² - ¼(a - b)², so that w a b adds -w/2 along a + b and w/2 along a - b to minus the Hessian.
fn products(a: &Affine, b: &Affine, weights: impl Iterator<Item = f64> + Clone) -> Bounds {
    [(1.0, -0.5), (-1.0, 0.5)]
        .into_iter()
        .map(|(sign, by)| {
            let rows = weights.clone().enumerate().map(|(i, w)| (i, Interval::point(by * w))).collect();
            (Arc::new(a.plus(b, sign)), rows)
        })
        .collect()
}

/// Argument `k` less one of the others, and where all arguments lie after that; None unless all the others
/// move together. Ends that are as good as infinite stay where they are.
fn moving(each: &[Affine], k: usize) -> Option<(Affine, Vec<Interval>)> {
    let still = |form: &Affine| form.row(0).1.iter().all(|v| *v == 0.0);
    let far = |form: &Affine| still(form) && form.constant[0].abs() == NO_CUT;
    let near = |j: &usize| *j != k && !far(&each[*j]);
    let first = (0..each.len()).find(near)?;
    let mut at = vec![Interval::REAL; each.len()];
    for j in (0..each.len()).filter(|j| *j != k) {
        let apart = each[j].plus(&each[first], -1.0);
        at[j] = match far(&each[j]) {
            true => Interval::point(each[j].constant[0]),
            false if still(&apart) => Interval::point(apart.constant[0]),
            false => return None,
        };
    }
    Some((each[k].plus(&each[first], -1.0), at))
}

/// The constant arguments of an elementwise function, element by element.
pub(super) struct Numbers<'s> {
    args: Vec<Option<(&'s [f64], Broadcast)>>,
}

impl<'s> Numbers<'s> {
    pub(super) fn new(structure: &'s Structure<'s>, args: &[NodeId], dims: &[usize]) -> Self {
        let graph = structure.graph();
        let read = |&a: &NodeId| {
            let node = graph.node(a);
            Some((&node.constant()?[..], Broadcast::between(&node.dims, dims)))
        };
        Self { args: args.iter().map(read).collect() }
    }

    /// The arguments that meet element `e`, with `range` for argument `k`, every number for others that vary;
    /// None where a constant is not finite, of which facts need not know.
    pub(super) fn with(&self, e: usize, k: usize, range: Interval) -> Option<Vec<Interval>> {
        let one = |arg: &Option<(&[f64], Broadcast)>| match arg {
            None => Some(Interval::REAL),
            Some((values, index)) => Some(values[index.at(e)]).filter(|x| x.is_finite()).map(Interval::point),
        };
        let mut out: Vec<Interval> = self.args.iter().map(one).collect::<Option<_>>()?;
        out[k] = range;
        Some(out)
    }
}
