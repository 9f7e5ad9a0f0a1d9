//! The log density of a model at many points that share some coordinates: what follows from these alone is
//! computed once.

use super::model::Rewritten;
use super::{DRAWS, ModelTarget};
use crate::graph::{Graph, NodeId, Op};
use crate::num::real::{F16, One, Packed, Zero};
use crate::plan::{Plan, Workspace};
use std::ops::Range;

/// A log density in two parts: what follows from the shared coordinates alone, and the rest, which reads it
/// like further coordinates.
pub struct Given {
    /// First what the rest reads, then terms of the log density.
    shared: Plan,
    /// Where each of the former stands among the coordinates of the rest.
    read: Vec<Range<usize>>,
    /// The rest, with derivatives in the coordinates of the model alone, and in what it reads too.
    rest: Plan,
    whole: Plan,
    /// The shared coordinates.
    held: Vec<usize>,
    dimension: usize,
}

/// Buffers of one thread.
pub struct GivenEvaluator<'g> {
    of: &'g Given,
    shared: Workspace<F16>,
    rest: Workspace<F16>,
    whole: Option<Workspace<F16>>,
    /// The sum of the terms that follow from the shared coordinates alone; None before there are any.
    terms: Option<F16>,
    /// Whether the reverse sweep has used what the forward sweep kept for it.
    spent: bool,
}

impl ModelTarget {
    /// The log density at points that share these coordinates, in order.
    pub fn given(&self, held: &[usize]) -> Given {
        let dimension = self.lowered().dimension;
        let Rewritten { graph: whole, terms, .. } = self.rewritten();
        let Opened { graph, read, places, alone, others, end } = Opened::new(whole, terms, held, dimension);
        let shared = Plan::new(whole, &[read, alone].concat(), dimension);
        let rest = Plan::of_sum_in(&graph, &others, end, dimension);
        let whole = Plan::of_sum(&graph, &others, end);
        Given { shared, read: places, rest, whole, held: held.to_vec(), dimension }
    }
}

/// A graph that reads what follows from some coordinates alone like further coordinates.
pub(super) struct Opened {
    pub(super) graph: Graph,
    /// What it reads, in the graph of the model, and where each stands among the coordinates.
    pub(super) read: Vec<NodeId>,
    pub(super) places: Vec<Range<usize>>,
    /// Terms that follow from those coordinates alone, and the others.
    pub(super) alone: Vec<NodeId>,
    pub(super) others: Vec<NodeId>,
    /// Coordinates and further ones.
    pub(super) end: usize,
}

impl Opened {
    /// Of a graph of so many coordinates and its terms, where these coordinates are given.
    pub(super) fn new(graph: &Graph, terms: &[NodeId], held: &[usize], dimension: usize) -> Opened {
        let mut end = dimension;
        let follows = follows(graph, held, dimension);
        let of = |id: &NodeId| follows[id.0 as usize];
        let read = read(graph, terms, &follows);
        let mut next = |id: &NodeId| {
            end += graph.node(*id).len();
            end - graph.node(*id).len()..end
        };
        let places: Vec<Range<usize>> = read.iter().map(&mut next).collect();
        let open = graph.with_inputs(read.iter().zip(&places).map(|(&id, place)| (id, place.start)));
        let (alone, others): (Vec<NodeId>, Vec<NodeId>) = terms.iter().partition(|id| of(id) == From::Shared);
        Opened { graph: open, read, places, alone, others, end }
    }
}

/// What a node follows from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum From {
    /// No coordinate.
    Nothing,
    /// Shared coordinates alone.
    Shared,
    /// Others too.
    Others,
}

/// What each node follows from, where these of so many coordinates are shared.
fn follows(graph: &Graph, held: &[usize], dimension: usize) -> Vec<From> {
    let mut of = vec![From::Others; dimension];
    held.iter().for_each(|&i| of[i] = From::Shared);
    let mut follows: Vec<From> = Vec::with_capacity(graph.len());
    for (_, node) in graph.iter() {
        let from = match node.op {
            // Inputs beyond the coordinates are no part of the log density.
            Op::Input { offset } => of.iter().skip(offset).take(node.len()).max().copied(),
            Op::Constant(_)
            | Op::Map(_)
            | Op::MapSum { .. }
            | Op::Array(_)
            | Op::Ode(_)
            | Op::Recursion(_) => node.args.iter().map(|a| follows[a.0 as usize]).max(),
        };
        follows.push(from.unwrap_or(From::Nothing));
    }
    follows
}

/// The nodes that follow from the shared coordinates alone and that others read; coordinates themselves are
/// at hand.
fn read(graph: &Graph, terms: &[NodeId], follows: &[From]) -> Vec<NodeId> {
    let needed = graph.needed(terms);
    let users =
        graph.iter().filter(|(id, _)| needed[id.0 as usize] && follows[id.0 as usize] == From::Others);
    let computed = |id: &NodeId| !matches!(graph.node(*id).op, Op::Input { .. });
    let mut read: Vec<NodeId> = users
        .flat_map(|(_, node)| node.args.iter().copied())
        .filter(|id| follows[id.0 as usize] == From::Shared && computed(id))
        .collect();
    read.sort();
    read.dedup();
    read
}

impl Given {
    /// Whether what follows from the shared coordinates alone is most of the work.
    pub fn saves_much(&self) -> bool {
        self.shared.operations() > self.rest.operations()
    }

    /// Buffers to evaluate with.
    pub fn evaluator(&self) -> GivenEvaluator<'_> {
        GivenEvaluator {
            of: self,
            shared: Workspace::new(&self.shared),
            rest: Workspace::new(&self.rest),
            whole: None,
            terms: None,
            spent: false,
        }
    }
}

impl GivenEvaluator<'_> {
    /// Writes `log_density[b]` and `gradient[i * draws + b]` for each draw `b`, where every `width` draws
    /// have the shared coordinates of the first `width` again. Derivatives in these are not written.
    pub fn evaluate(
        &mut self,
        z: &[f64],
        draws: usize,
        width: usize,
        log_density: &mut [f64],
        gradient: &mut [f64],
    ) {
        self.share(z, draws, width);
        for first in (0..draws).step_by(width) {
            self.ahead(&z[first..], draws, width, true, &mut log_density[first..]);
            self.rest.reverse(&self.of.rest);
            let rows = gradient.chunks_exact_mut(draws).zip(self.rest.gradient(&self.of.rest));
            for (i, (row, slope)) in rows.enumerate().take(self.of.dimension) {
                if self.of.held.binary_search(&i).is_err() {
                    (0..width).for_each(|b| row[first + b] = slope.lane(b));
                }
            }
        }
    }

    /// The log densities alone.
    pub fn log_density(&mut self, z: &[f64], draws: usize, width: usize, log_density: &mut [f64]) {
        self.share(z, draws, width);
        for first in (0..draws).step_by(width) {
            self.ahead(&z[first..], draws, width, false, &mut log_density[first..]);
        }
    }

    /// The forward sweep of the rest at the first `width` draws.
    fn ahead(&mut self, z: &[f64], draws: usize, width: usize, slopes: bool, log_density: &mut [f64]) {
        let plan = &self.of.rest;
        put(&mut self.rest.inputs(plan)[..self.of.dimension], z, draws, width);
        self.rest.forward(plan, slopes);
        let total = self.rest.total(plan) + self.terms.unwrap_or_else(F16::zero);
        (0..width).for_each(|b| log_density[b] = total.lane(b));
    }

    /// The derivatives in the shared coordinates at up to sixteen points, one after another: coordinate `i`
    /// of point `b` at `i * width + b` of `z`.
    pub fn shared_gradient(&mut self, z: &[f64], width: usize) -> Vec<[f64; DRAWS]> {
        let Given { shared, whole: plan, read, held, dimension, .. } = self.of;
        self.share(z, width, width);
        if std::mem::replace(&mut self.spent, true) {
            self.shared.forward(shared, true);
        }
        let whole = self.whole.get_or_insert_with(|| Workspace::new(plan));
        put(&mut whole.inputs(plan)[..*dimension], z, width, width);
        hand_over(&self.shared, (shared, read), whole.inputs(plan));
        whole.forward(plan, true);
        whole.reverse(plan);
        let slopes = whole.gradient(plan);
        self.shared.reverse_from(shared, |root, to| match read.get(root) {
            Some(place) => to.iter_mut().zip(&slopes[place.clone()]).for_each(|(to, x)| *to += *x),
            None => to.iter_mut().for_each(|to| *to += F16::one()),
        });
        let through = self.shared.gradient(shared);
        held.iter().map(|&i| std::array::from_fn(|b| (slopes[i] + through[i]).lane(b))).collect()
    }

    /// Computes what follows from the shared coordinates of the first `width` draws, if it has not just been
    /// computed for them.
    fn share(&mut self, z: &[f64], draws: usize, width: usize) {
        let Given { shared: plan, held, read, .. } = self.of;
        let inputs = self.shared.inputs(plan);
        let lane = |b: usize| b.min(width - 1);
        let same = |&i: &usize| (0..DRAWS).all(|b| inputs[i].lane(b) == z[i * draws + lane(b)]);
        if self.terms.is_some() && held.iter().all(same) {
            return;
        }
        put(inputs, z, draws, width);
        self.shared.forward(plan, true);
        self.spent = false;
        hand_over(&self.shared, (plan, read), self.rest.inputs(&self.of.rest));
        let terms = (read.len()..plan.roots()).map(|root| self.shared.root(plan, root, 0));
        self.terms = Some(terms.fold(F16::zero(), |sum, x| sum + x));
    }
}

/// Sets coordinates to those of the first `width` draws; lanes beyond repeat the last.
fn put(inputs: &mut [F16], z: &[f64], draws: usize, width: usize) {
    for (input, row) in F16::flat_mut(inputs).chunks_exact_mut(DRAWS).zip(z.chunks(draws)) {
        input[..width].copy_from_slice(&row[..width]);
        input[width..].fill(row[width - 1]);
    }
}

/// Copies what the rest reads to where it reads it.
pub(super) fn hand_over(
    from: &Workspace<F16>,
    (shared, places): (&Plan, &[Range<usize>]),
    inputs: &mut [F16],
) {
    for (root, place) in places.iter().enumerate() {
        let values = from.root_values(shared, root);
        inputs[place.clone()].iter_mut().enumerate().for_each(|(i, to)| *to = values.get(i));
    }
}
