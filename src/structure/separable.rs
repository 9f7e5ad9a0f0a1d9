//! A log density as a sum of functions of one affine form each: what can be integrated without sampling, and
//! what has a Hessian that is known form by form.

use super::Structure;
use super::affine::Affine;
use crate::facts::common_dims;
use crate::graph::{Builder, Graph, NodeId, Op, Origin, Recursion, unrolled};
use crate::ops::array::{Concat, CumSum, MatMul, Solve, Sum, Take, TriangularSolve};
use crate::ops::operand::Broadcast;
use crate::ops::scalar;
use std::collections::HashMap;

/// `log p(z) = F(A z + c)` with `F(t) = Σ_i φ_i(t_i)`: its Hessian in `t` is diagonal.
pub struct Separable {
    /// The forms t.
    pub affine: Affine,
    /// F as a graph whose inputs are the elements of t.
    pub graph: Graph,
    /// Its summands.
    pub roots: Vec<NodeId>,
}

/// How the elements of a node depend on the forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    /// On none, or on given variables alone.
    Constant,
    /// Each element on one form.
    Univariate,
    /// Each element is a sum of such.
    Additive,
}

/// Writes the sum of the roots as a sum of functions of one form each; None if it is not one.
pub fn separate(graph: &Graph, roots: &[NodeId], dimension: usize) -> Option<Separable> {
    separate_given(graph, roots, dimension, &|_| false)
}

/// The same where these of the variables are given: functions may depend on any of them, which are elements
/// of the forms too, each by itself.
pub fn separate_given(
    graph: &Graph,
    roots: &[NodeId],
    dimension: usize,
    is_given: &dyn Fn(usize) -> bool,
) -> Option<Separable> {
    // A quick look without coefficients, so that models that are not of this kind lose no time.
    let rank = |offset: usize| if is_given(offset) { 0 } else { AFFINE };
    if ranks(graph, roots, rank).contains(&NEITHER) {
        return None;
    }
    if let Some((graph, now)) = unrolled(graph, MOST_WRITTEN_OUT) {
        let roots: Vec<NodeId> = roots.iter().map(|r| now[r.0 as usize]).collect();
        return separate_plain(&graph, &roots, dimension, is_given);
    }
    separate_plain(graph, roots, dimension, is_given)
}

/// Most nodes of a recursion that is written out to be taken apart.
const MOST_WRITTEN_OUT: usize = 100_000;

fn separate_plain(
    graph: &Graph,
    roots: &[NodeId],
    dimension: usize,
    is_given: &dyn Fn(usize) -> bool,
) -> Option<Separable> {
    let structure = Structure::new(graph, roots, dimension);
    let mut copier = Copier {
        structure: &structure,
        varies: varies(graph, is_given),
        b: Builder::new(),
        known: HashMap::new(),
        forms: Vec::new(),
        count: 0,
    };
    let roots: Vec<NodeId> = roots.iter().map(|&r| Some(copier.copy(r)?.0)).collect::<Option<_>>()?;
    let affine = Affine::concat(copier.forms.iter());
    Some(Separable { affine, graph: copier.b.finish(), roots })
}

/// Whether each node depends on variables that are not given.
fn varies(graph: &Graph, is_given: &dyn Fn(usize) -> bool) -> Vec<bool> {
    let mut varies: Vec<bool> = Vec::with_capacity(graph.len());
    for (_, node) in graph.iter() {
        let all_given = |offset: usize| (offset..offset + node.len()).all(is_given);
        let input = matches!(node.op, Op::Input { offset } if !all_given(offset));
        varies.push(input || node.args.iter().any(|a| varies[a.0 as usize]));
    }
    varies
}

/// How nodes depend on the coordinates, as far as a quick look tells: affine, perhaps as a sum of functions
/// of one form each, or neither; 0 is constant.
const AFFINE: u8 = 1;
const PERHAPS: u8 = 2;
const NEITHER: u8 = 3;

/// The ranks of the roots, from those of the inputs by their offset.
fn ranks(graph: &Graph, roots: &[NodeId], input: impl Fn(usize) -> u8) -> Vec<u8> {
    let needed = graph.needed(roots);
    let mut rank = vec![0; graph.len()];
    for (id, node) in graph.iter().filter(|(id, _)| needed[id.0 as usize]) {
        let of: Vec<u8> = node.args.iter().map(|a| rank[a.0 as usize]).collect();
        rank[id.0 as usize] = rank_of(&node.op, &of, &input);
    }
    roots.iter().map(|r| rank[r.0 as usize]).collect()
}

/// The highest rank of an element that a recursion defines, from the ranks of its arguments: step by step,
/// without writing it out.
fn rank_of_recursion(r: &Recursion, of: &[u8]) -> u8 {
    let (offsets, arguments) = (r.offsets(), r.arguments());
    let initial = r.sequences.iter().zip(r.initial());
    let mut elements: Vec<Vec<u8>> = initial.map(|(s, at)| vec![at.map_or(0, |k| of[k]); s.lags]).collect();
    for step in 0..r.steps {
        let input = |offset: usize| {
            let feed = offsets.iter().position(|o| *o == offset).unwrap_or(0);
            match r.feeds[feed].origin {
                Origin::Earlier { sequence, lag } => {
                    elements[sequence][r.sequences[sequence].lags + step - lag]
                }
                Origin::Fixed | Origin::Step => arguments[feed].map_or(0, |k| of[k]),
            }
        };
        let found = ranks(&r.graph, &r.ways[r.way_of(step)], input);
        if found.contains(&NEITHER) {
            return NEITHER;
        }
        elements.iter_mut().zip(found).for_each(|(all, rank)| all.push(rank));
    }
    elements.into_iter().flatten().max().unwrap_or(0)
}

/// The rank of an operation, from the ranks of its arguments.
fn rank_of(op: &Op, of: &[u8], input: impl Fn(usize) -> u8) -> u8 {
    let most = of.iter().copied().max().unwrap_or(0);
    let varying = of.iter().filter(|r| **r > 0).count();
    match op {
        Op::Constant(_) => 0,
        Op::Input { offset } => input(*offset),
        Op::Ode(_) => NEITHER,
        Op::Recursion(r) => rank_of_recursion(r, of),
        Op::Map(row) if **row == scalar::ADD || **row == scalar::SUB || **row == scalar::NEG => most,
        // Scaling by constants keeps what is affine affine.
        Op::Map(row) if varying == 1 && (**row == scalar::MUL || (**row == scalar::DIV && of[1] == 0)) => {
            most
        }
        Op::Map(row) if **row == scalar::MUL && varying == 2 && most == AFFINE => PERHAPS,
        Op::Map(_) | Op::MapSum { .. } if most == 0 => 0,
        // What happens at a jump is in no slope, and slopes are what is integrated.
        Op::Map(row) | Op::MapSum { row, .. } if varying > 0 && row.jumps => NEITHER,
        Op::Map(_) | Op::MapSum { .. } if varying == 1 => most.max(PERHAPS),
        Op::Map(row) | Op::MapSum { row, .. } => {
            let pair = row.facts.as_ref().and_then(|f| f.difference);
            if pair.is_some() && varying == 2 && most == AFFINE { PERHAPS } else { NEITHER }
        }
        Op::Array(op) => {
            let product = op.downcast::<MatMul>().is_some()
                || op.downcast::<Solve>().is_some()
                || op.downcast::<TriangularSolve>().is_some();
            let linear = op.downcast::<Take>().is_some()
                || op.downcast::<Concat>().is_some()
                || op.downcast::<Sum>().is_some()
                || op.downcast::<CumSum>().is_some()
                || (product && varying <= 1);
            if linear { most } else { NEITHER }
        }
    }
}

struct Copier<'s> {
    structure: &'s Structure<'s>,
    /// Whether each node depends on variables that are not given.
    varies: Vec<bool>,
    b: Builder,
    known: HashMap<NodeId, (NodeId, Class)>,
    forms: Vec<Affine>,
    count: usize,
}

impl Copier<'_> {
    /// A new input for each element of a form.
    fn input(&mut self, form: Affine, dims: Vec<usize>) -> NodeId {
        let at = self.count;
        self.count += form.len();
        self.forms.push(form);
        self.b.input(at, dims)
    }

    /// The node in the new graph, and how it depends on the inputs there; None if not as it must.
    fn copy(&mut self, id: NodeId) -> Option<(NodeId, Class)> {
        if let Some(known) = self.known.get(&id) {
            return Some(*known);
        }
        let copied = self.make(id)?;
        self.known.insert(id, copied);
        Some(copied)
    }

    fn make(&mut self, id: NodeId) -> Option<(NodeId, Class)> {
        let node = self.structure.graph().node(id);
        if let Some(values) = node.constant() {
            return Some((self.b.constant(values.clone(), node.dims.clone()), Class::Constant));
        }
        if let Some(form) = self.structure.affine(id) {
            let form = Affine::clone(form);
            let class = if self.varies[id.0 as usize] { Class::Univariate } else { Class::Constant };
            return Some((self.input(form, node.dims.clone()), class));
        }
        match &node.op {
            Op::Map(row) => self.elementwise(row, &node.args, None, Some(&node.dims)),
            Op::MapSum { row, weighted } => {
                let (args, weight) = node.args.split_at(node.args.len() - usize::from(*weighted));
                self.elementwise(row, args, Some(weight.first().copied()), None)
            }
            Op::Array(op) => self.linear(op, &node.args),
            Op::Constant(_) | Op::Input { .. } | Op::Ode(_) | Op::Recursion(_) => None,
        }
    }

    /// Operations that are linear in everything that varies.
    fn linear(&mut self, op: &crate::ops::array::OpRef, args: &[NodeId]) -> Option<(NodeId, Class)> {
        let copied: Vec<(NodeId, Class)> = args.iter().map(|&a| self.copy(a)).collect::<Option<_>>()?;
        let nodes: Vec<NodeId> = copied.iter().map(|c| c.0).collect();
        let all = copied.iter().all(|c| c.1 != Class::Additive);
        let varying = copied.iter().filter(|c| c.1 != Class::Constant).count();
        if let Some(take) = op.downcast::<Take>() {
            let dims = take.dims.clone();
            return Some((self.b.take(nodes[0], take.table.to_vec(), dims), copied[0].1));
        }
        if let Some(concat) = op.downcast::<Concat>() {
            let class = if all { Class::Univariate } else { Class::Additive };
            return Some((self.b.concat(&nodes, concat.dims.clone()), class));
        }
        let built = if let Some(sum) = op.downcast::<Sum>() {
            self.b.array(sum.clone(), &nodes)
        } else if op.downcast::<CumSum>().is_some() {
            self.b.array(CumSum, &nodes)
        } else if op.downcast::<MatMul>().is_some() && varying == 1 {
            self.b.array(MatMul, &nodes)
        } else {
            return None;
        };
        Some((built.ok()?, Class::Additive))
    }

    /// An elementwise function, summed over its elements if `sum` says so (with the weight given there).
    fn elementwise(
        &mut self,
        row: &'static scalar::ScalarRow,
        args: &[NodeId],
        sum: Option<Option<NodeId>>,
        dims: Option<&[usize]>,
    ) -> Option<(NodeId, Class)> {
        let varying: Vec<usize> = (0..args.len()).filter(|&k| self.varies[args[k].0 as usize]).collect();
        if row.jumps && !varying.is_empty() {
            return None;
        }
        if let ([i, j], Some(pair)) = (&varying[..], row.facts.as_ref().and_then(|f| f.difference))
            && (pair.0.min(pair.1), pair.0.max(pair.1)) == (*i, *j)
        {
            return self.of_difference(row, args, pair, sum);
        }
        if let ([0, 1], true, Some(dims)) = (&varying[..], *row == scalar::MUL, dims) {
            return self.product(args, dims);
        }
        let copied: Vec<(NodeId, Class)> = args.iter().map(|&a| self.copy(a)).collect::<Option<_>>()?;
        let nodes: Vec<NodeId> = copied.iter().map(|c| c.0).collect();
        let linear = *row == scalar::ADD
            || *row == scalar::SUB
            || *row == scalar::NEG
            || (varying.len() == 1 && (*row == scalar::MUL || (*row == scalar::DIV && varying[0] == 0)));
        let smooth = varying.len() <= 1 && copied.iter().all(|c| c.1 != Class::Additive);
        if !linear && !smooth {
            return None;
        }
        match sum {
            None => {
                let class = match (varying.is_empty(), smooth) {
                    (true, _) => Class::Constant,
                    (false, true) => Class::Univariate,
                    (false, false) => Class::Additive,
                };
                Some((self.b.map(row, &nodes).ok()?, class))
            }
            Some(weight) => {
                let weight = self.weight(weight)?;
                Some((self.b.map_sum(row, &nodes, weight).ok()?, Class::Additive))
            }
        }
    }

    /// The weight of a sum in the new graph, if it has one; None if it is no number.
    fn weight(&mut self, weight: Option<NodeId>) -> Option<Option<NodeId>> {
        let Some(weight) = weight else { return Some(None) };
        let (copied, class) = self.copy(weight)?;
        (class == Class::Constant).then_some(Some(copied))
    }

    /// A function of the difference of two affine forms, which becomes one form.
    fn of_difference(
        &mut self,
        row: &'static scalar::ScalarRow,
        args: &[NodeId],
        (i, j): (usize, usize),
        sum: Option<Option<NodeId>>,
    ) -> Option<(NodeId, Class)> {
        let graph = self.structure.graph();
        let (a, b) = (self.structure.affine(args[i])?, self.structure.affine(args[j])?);
        let dims = common_dims([i, j].into_iter().map(|k| graph.node(args[k]).dims.as_slice()));
        let spread = |form: &Affine, id: NodeId| {
            let index = Broadcast::between(&graph.node(id).dims, &dims);
            form.gather(dims.iter().product(), |e| index.at(e))
        };
        let difference = spread(a, args[i]).plus(&spread(b, args[j]), -1.0);
        let mut nodes = Vec::with_capacity(args.len());
        for (k, &arg) in args.iter().enumerate() {
            nodes.push(match k {
                _ if k == i => self.input(difference.clone(), dims.clone()),
                _ if k == j => self.b.number(0.0),
                _ => self.copy(arg)?.0,
            });
        }
        match sum {
            None => Some((self.b.map(row, &nodes).ok()?, Class::Univariate)),
            Some(weight) => {
                let weight = self.weight(weight)?;
                Some((self.b.map_sum(row, &nodes, weight).ok()?, Class::Additive))
            }
        }
    }

    /// a b = ¼(a + b)² - ¼(a - b)²
    fn product(&mut self, args: &[NodeId], dims: &[usize]) -> Option<(NodeId, Class)> {
        let graph = self.structure.graph();
        let (a, b) = (self.structure.affine(args[0])?, self.structure.affine(args[1])?);
        let spread = |form: &Affine, id: NodeId| {
            let index = Broadcast::between(&graph.node(id).dims, dims);
            form.gather(dims.iter().product(), |e| index.at(e))
        };
        let (a, b) = (spread(a, args[0]), spread(b, args[1]));
        let squares = [1.0, -1.0].map(|sign| {
            let input = self.input(a.plus(&b, sign), dims.to_vec());
            self.b.unary(&scalar::SQUARE, input)
        });
        let difference = self.b.sub(squares[0], squares[1]).ok()?;
        let quarter = self.b.number(0.25);
        Some((self.b.mul(quarter, difference).ok()?, Class::Additive))
    }
}
