//! Coordinates for innovations: the states that they lead to.
//!
//! A random walk or an autoregression may be written with standardised innovations, `h[t] = m + φ (h[t-1] -
//! m) + s z[t]`. Every state then follows from all innovations before it, and the curvature of the log
//! density in them has no zeros. In the coordinates h it has few entries: `z[t] = (h[t] - rest) / slope`,
//! where rest and slope follow from states before and from what is no innovation. The map is triangular, so
//! its log determinant is `-Σ log |slope|`.

mod steps;

use super::{Coordinates, Form, Lowered, Parameter, Term, TermKind, lower_with};
use crate::data::Dataset;
use crate::facts::Range;
use crate::graph::{Builder, Graph, Node, NodeId, Op, Origin, Recursion};
use crate::model::defined_elements;
use crate::ops::array::{Concat, CumSum};
use crate::ops::scalar::{self, ScalarRow};
use crate::source::Span;
use crate::syntax::ast::Program;
use std::collections::HashMap;
use steps::{Steps, owners, solved, taken, through};

/// Fewest innovations that are worth it.
const FEWEST: usize = 8;
/// Most functions between innovations and what they are added to.
const DEEPEST: usize = 32;

/// A model, lowered as `declared` in its own coordinates, with states for the coordinates of all innovations;
/// None if there are none.
pub fn in_states(program: &Program, source: &str, data: &Dataset, declared: &Lowered) -> Option<Lowered> {
    let mut by_elements = Vec::new();
    defined_elements(&program.statements, &mut by_elements);
    let lead_on = !by_elements.is_empty() || declared.graph.iter().any(|(_, node)| is_running_sum(node));
    if !lead_on || !declared.parameters.iter().any(may_be_innovations) {
        return None;
    }
    let lowered = lower_with(program, source, data, Coordinates::States).ok()?;
    let mut found = one_more(&lowered)?;
    while let Some(next) = one_more(&found) {
        found = next;
    }
    Some(found)
}

/// The same with states for the coordinates of the innovations of the first node that has some.
fn one_more(lowered: &Lowered) -> Option<Lowered> {
    let graph = &lowered.graph;
    let terms: Vec<NodeId> = lowered.terms.iter().map(|t| t.node).collect();
    let needed = graph.needed(&terms);
    let candidates = graph.iter().filter(|(id, node)| needed[id.0 as usize] && accumulates(node));
    candidates.into_iter().find_map(|(id, node)| {
        let innovations = innovations(lowered, node)?;
        let span = node.span.or(lowered.terms.first().map(|t| t.span))?;
        Moving::new(graph, id, innovations).finish(lowered, span)
    })
}

/// Whether elements of a node are made of those before.
fn accumulates(node: &Node) -> bool {
    match &node.op {
        Op::Recursion(r) => r.ways.len() == 1 && r.sequences.iter().all(|s| s.size == 1),
        _ => is_running_sum(node),
    }
}

fn is_running_sum(node: &Node) -> bool {
    matches!(&node.op, Op::Array(op) if op.downcast::<CumSum>().is_some())
}

/// Whether a parameter is an array of unbounded coordinates, and long enough.
fn may_be_innovations(p: &Parameter) -> bool {
    let is_real = matches!(&p.form, Form::Transformed { transform, .. } if transform.name == "real");
    is_real && p.size >= FEWEST
}

/// The coordinates that are added in each step, one block for each sequence.
fn innovations(lowered: &Lowered, node: &Node) -> Option<Vec<NodeId>> {
    let Op::Recursion(r) = &node.op else { return Some(vec![added(lowered, node.args[0])?]) };
    let mut found: Vec<NodeId> = Vec::new();
    for argument in by_step(r).filter_map(|feed| r.arguments()[feed]) {
        found.extend(added(lowered, node.args[argument]).filter(|z| !found.contains(z)));
    }
    (found.len() == r.sequences.len()).then_some(found)
}

/// The feeds that are different in every step.
fn by_step(r: &Recursion) -> impl Iterator<Item = usize> {
    (0..r.feeds.len()).filter(|&feed| r.feeds[feed].origin == Origin::Step)
}

/// The block of unbounded coordinates that a node is a multiple of, but for what is added.
fn added(lowered: &Lowered, mut id: NodeId) -> Option<NodeId> {
    let graph = &lowered.graph;
    for _ in 0..DEEPEST {
        let node = graph.node(id);
        if let Op::Input { offset } = node.op {
            let parameter = lowered.parameters.iter().find(|p| p.named.node == id)?;
            let elsewhere = graph.iter().any(|(other, node)| {
                let range = offset..offset + parameter.size;
                other != id && matches!(node.op, Op::Input { offset } if range.contains(&offset))
            });
            return (may_be_innovations(parameter) && !elsewhere).then_some(id);
        }
        let is_known = matches!(&node.op, Op::Map(row) if AFFINE.contains(row)) || node.as_take().is_some();
        let passes = |arg: &&NodeId| {
            let below = graph.node(**arg);
            below.constant().is_none() && (node.as_take().is_some() || below.dims == node.dims)
        };
        // Of several that could be it the last one: innovations are written after what they are added to.
        id = *node.args.iter().rfind(passes).filter(|_| is_known)?;
    }
    None
}

/// Functions that are affine in each argument, or in the first.
static AFFINE: [&ScalarRow; 6] =
    [&scalar::ADD, &scalar::SUB, &scalar::NEG, &scalar::MUL, &scalar::DIV, &scalar::FMA];

/// A node as `slope · z[places] + rest`, element by element.
struct Affine {
    /// Which innovations.
    block: usize,
    places: Vec<u32>,
    slope: NodeId,
    rest: NodeId,
}

/// Innovations at some places, in terms of states.
struct Piece {
    places: Vec<u32>,
    values: NodeId,
    slope: NodeId,
}

/// A graph that is written anew with states as coordinates.
struct Moving<'g> {
    graph: &'g Graph,
    /// The node whose elements become coordinates.
    states: NodeId,
    innovations: Vec<NodeId>,
    /// For each node whether it follows from an innovation.
    follows: Vec<bool>,
    b: Builder,
    now: Vec<Option<NodeId>>,
}

impl<'g> Moving<'g> {
    /// Begins with what the states are made of besides innovations.
    fn new(graph: &'g Graph, states: NodeId, innovations: Vec<NodeId>) -> Moving<'g> {
        let mut follows = vec![false; graph.len()];
        for (id, node) in graph.iter() {
            follows[id.0 as usize] =
                innovations.contains(&id) || node.args.iter().any(|a| follows[a.0 as usize]);
        }
        let needed = graph.needed(&[states]);
        let mut moving =
            Moving { graph, states, innovations, follows, b: Builder::new(), now: vec![None; graph.len()] };
        for (id, _) in graph.iter().filter(|(id, _)| needed[id.0 as usize]) {
            if !moving.follows(id) {
                moving.copy(id);
            }
        }
        moving
    }

    fn follows(&self, id: NodeId) -> bool {
        self.follows[id.0 as usize]
    }

    fn now(&self, id: NodeId) -> Option<NodeId> {
        self.now[id.0 as usize]
    }

    /// Writes a node whose arguments are written.
    fn copy(&mut self, id: NodeId) -> Option<()> {
        let node = self.graph.node(id);
        let args = node.args.iter().map(|a| self.now(*a)).collect::<Option<Vec<NodeId>>>()?;
        self.b.set_span(node.span);
        self.now[id.0 as usize] = Some(self.b.like(&node.op, args, node.dims.clone()));
        Some(())
    }

    /// The model with states as coordinates; None where innovations do not follow from states one by one.
    fn finish(mut self, lowered: &Lowered, span: Span) -> Option<Lowered> {
        let node = self.graph.node(self.states);
        self.b.set_span(node.span);
        let (blocks, states) = match &node.op {
            Op::Recursion(r) => self.recursion(r, &node.args)?,
            _ => self.running_sum(node)?,
        };
        self.now[self.states.0 as usize] = Some(states);
        let mut log_det = self.b.number(0.0);
        for (block, pieces) in blocks.iter().enumerate() {
            let id = self.innovations[block];
            self.now[id.0 as usize] = Some(self.gathered(block, pieces)?);
            for piece in pieces {
                let logs = self.log_slopes(piece)?;
                log_det = self.b.sub(log_det, logs).ok()?;
            }
        }
        for (id, _) in self.graph.iter() {
            if self.now(id).is_none() {
                self.copy(id)?;
            }
        }
        let now = self.now.iter().copied().collect::<Option<Vec<NodeId>>>()?;
        let mut moved = lowered.renamed(self.b.finish(), |id| now[id.0 as usize]);
        moved.terms.push(Term { node: log_det, kind: TermKind::Jacobian, span });
        let values: Vec<NodeId> = self.innovations.iter().map(|z| now[z.0 as usize]).collect();
        let parameters = moved.parameters.iter_mut().filter(|p| values.contains(&p.named.node));
        parameters.for_each(|p| p.form = Form::Noncentered);
        Some(moved)
    }

    /// The coordinates of a block, flat.
    fn coordinates(&mut self, block: usize) -> Option<NodeId> {
        let node = self.graph.node(self.innovations[block]);
        let Op::Input { offset } = node.op else { return None };
        Some(self.b.input(offset, vec![node.len()]))
    }

    /// Coordinates of a block at some places.
    fn at(&mut self, block: usize, places: &[u32]) -> Option<NodeId> {
        let x = self.coordinates(block)?;
        Some(self.b.take(x, places.to_vec(), vec![places.len()]))
    }

    /// The innovations of a block: those at places of pieces, and those that lead to no state, which are
    /// coordinates themselves.
    fn gathered(&mut self, block: usize, pieces: &[Piece]) -> Option<NodeId> {
        let node = self.graph.node(self.innovations[block]);
        let (mut where_is, mut parts, mut next) = (vec![None; node.len()], Vec::new(), 0);
        for piece in pieces {
            for &place in &piece.places {
                if where_is[place as usize].replace(next).is_some() {
                    return None;
                }
                next += 1;
            }
            parts.push(self.b.broadcast_to(piece.values, &[piece.places.len()]));
        }
        let left: Vec<u32> = (0..node.len() as u32).filter(|&p| where_is[p as usize].is_none()).collect();
        parts.push(self.at(block, &left)?);
        left.iter().zip(next..).for_each(|(&place, at)| where_is[place as usize] = Some(at));
        let all = self.b.concat(&parts, vec![node.len()]);
        let table = where_is.into_iter().collect::<Option<Vec<u32>>>()?;
        Some(self.b.take(all, table, node.dims.clone()))
    }

    /// `Σ log |slope|`; None where a slope may be zero, and a state say nothing of its innovation.
    fn log_slopes(&mut self, piece: &Piece) -> Option<NodeId> {
        let range = self.b.range(piece.slope);
        let size = match (range.within(Range::POSITIVE), range.negated().within(Range::POSITIVE)) {
            (true, _) => piece.slope,
            (false, true) => self.b.unary(&scalar::NEG, piece.slope),
            (false, false) => return None,
        };
        let logs = self.b.unary(&scalar::LOG, size);
        let count = self.b.number((piece.places.len() / self.b.graph().node(logs).len()) as f64);
        let sum = self.b.sum(logs, None).ok()?;
        self.b.mul(count, sum).ok()
    }

    /// A node as an affine function of innovations, element by element.
    fn affine(&mut self, id: NodeId, depth: usize) -> Option<Affine> {
        let node = self.graph.node(id);
        if let Some(block) = self.innovations.iter().position(|z| *z == id) {
            let (slope, rest) = (self.b.number(1.0), self.b.number(0.0));
            return Some(Affine { block, places: (0..node.len() as u32).collect(), slope, rest });
        }
        let mut following = (0..node.args.len()).filter(|&k| self.follows(node.args[k]));
        let (Some(k), None, true) = (following.next(), following.next(), depth < DEEPEST) else {
            return None;
        };
        let below = self.graph.node(node.args[k]);
        let of = self.affine(node.args[k], depth + 1)?;
        if let Some(take) = node.as_take() {
            let [slope, rest] =
                [of.slope, of.rest].map(|x| taken(&mut self.b, x, &below.dims, &take.table, &take.dims));
            let places = take.table.iter().map(|&p| of.places[p as usize]).collect();
            return Some(Affine { slope, rest, places, ..of });
        }
        let Op::Map(row) = &node.op else { return None };
        let others: Vec<Option<NodeId>> = node.args.iter().map(|a| self.now(*a)).collect();
        let line = through(&mut self.b, row, k, &others, [of.slope, of.rest])?;
        (below.dims == node.dims).then_some(Affine { slope: line[0], rest: line[1], ..of })
    }

    /// The states of a running sum, and the innovations.
    fn running_sum(&mut self, node: &Node) -> Option<(Vec<Vec<Piece>>, NodeId)> {
        let of = self.affine(node.args[0], 0)?;
        let n = node.dims.last().copied()?;
        let flat = [node.len()];
        let sums = self.at(of.block, &of.places)?;
        let zero = self.b.number(0.0);
        let after_zero = self.b.concat(&[zero, sums], vec![node.len() + 1]);
        let before =
            (0..node.len() as u32).map(|i| if (i as usize).is_multiple_of(n) { 0 } else { i }).collect();
        let before = self.b.take(after_zero, before, flat.to_vec());
        let steps = self.b.sub(sums, before).ok()?;
        let all: Vec<u32> = (0..node.len() as u32).collect();
        let line = [of.slope, of.rest].map(|x| taken(&mut self.b, x, &node.dims, &all, &flat));
        let piece = self.piece(of.places, line, steps)?;
        Some((vec![vec![piece]], self.b.reshape(sums, node.dims.clone())))
    }

    /// Innovations at some places from `slope · z + rest`.
    fn piece(&mut self, places: Vec<u32>, line: [NodeId; 2], value: NodeId) -> Option<Piece> {
        Some(Piece { places, values: solved(&mut self.b, line, value)?, slope: line[0] })
    }

    /// The states of a loop, and the innovations of each of its sequences.
    fn recursion(&mut self, r: &Recursion, args: &[NodeId]) -> Option<(Vec<Vec<Piece>>, NodeId)> {
        let arguments = r.arguments();
        let mut fed: HashMap<usize, Affine> = HashMap::new();
        for (feed, argument) in arguments.iter().enumerate() {
            if let Some(k) = argument.filter(|&k| self.follows(args[k])) {
                let by_step = r.feeds[feed].origin == Origin::Step;
                fed.insert(feed, self.affine(args[k], 0).filter(|_| by_step)?);
            }
        }
        let order = owners(r, fed.keys().copied().collect())?;
        let mut pieces: Vec<Vec<Piece>> = self.innovations.iter().map(|_| Vec::new()).collect();
        let mut sequences = vec![NodeId(0); r.sequences.len()];
        for &(k, feed) in &order {
            let of = fed.get(&feed)?;
            let mut parts = Vec::new();
            if let Some(initial) = r.initial()[k] {
                self.first_states(args[initial], of.block, &mut parts, &mut pieces)?;
            }
            parts.push(self.at(of.block, &of.places)?);
            sequences[k] = self.b.concat(&parts, vec![r.sequences[k].lags + r.steps]);
        }
        let mut steps = Steps { r, sequences, fed: HashMap::new() };
        for (feed, argument) in arguments.iter().enumerate() {
            if let Some(value) = argument.and_then(|k| self.now(args[k])) {
                steps.fed.insert(feed, value);
            }
        }
        for (k, feed) in order {
            let of = fed.remove(&feed)?;
            let line = steps.affine(&mut self.b, k, feed)?;
            let states = self.at(of.block, &of.places)?;
            let value = solved(&mut self.b, line, states)?;
            steps.fed.insert(feed, value);
            let mut piece = self.piece(of.places, [of.slope, of.rest], value)?;
            piece.slope = self.b.mul(line[0], piece.slope).ok()?;
            pieces[of.block].push(piece);
        }
        Some((pieces, self.b.concat(&steps.sequences, vec![r.len()])))
    }

    /// The states before the first step of a loop: those that follow from innovations are coordinates.
    fn first_states(
        &mut self,
        initial: NodeId,
        block: usize,
        parts: &mut Vec<NodeId>,
        pieces: &mut [Vec<Piece>],
    ) -> Option<()> {
        let node = self.graph.node(initial);
        let is_list = matches!(&node.op, Op::Array(op) if op.downcast::<Concat>().is_some());
        for part in if is_list { node.args.clone() } else { vec![initial] } {
            if !self.follows(part) {
                parts.push(self.now(part)?);
                continue;
            }
            let of = self.affine(part, 0).filter(|of| of.block == block)?;
            let states = self.at(block, &of.places)?;
            parts.push(states);
            pieces[block].push(self.piece(of.places, [of.slope, of.rest], states)?);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use crate::data::Dataset;
    use crate::lower::Lowered;
    use crate::target::{ModelTarget, Target};

    const ROWS: usize = 12;

    /// A model as declared, and in states.
    fn both(text: &str) -> (Lowered, Option<Lowered>) {
        let rows: String = (0..ROWS).map(|i| format!("{}\n", (i as f64).cos())).collect();
        let data = Dataset::from_texts(&[("data.csv", &format!("y\n{rows}"))]).unwrap();
        let program = crate::syntax::parse(text).unwrap();
        let declared = crate::lower::lower(&program, text, &data).unwrap();
        let moved = super::in_states(&program, text, &data, &declared);
        (declared, moved)
    }

    fn density(target: &ModelTarget, z: &[f64]) -> f64 {
        let mut value = [0.0];
        target.evaluator().log_density(z, 1, &mut value);
        value[0]
    }

    /// Which coordinates are innovations, from the values that both models give: log p of the states x is
    /// that of the innovations z with log |dz / dx| added, by differences.
    fn same_posterior(text: &str, moved_blocks: usize) {
        let (declared, moved) = both(text);
        let moved = moved.expect(text);
        let blocks = moved.parameters.iter().filter(|p| p.form.is_noncentered()).count();
        assert_eq!(blocks, moved_blocks, "{text}");
        let (declared, moved) = (ModelTarget::from_lowered(declared), ModelTarget::from_lowered(moved));
        let d = declared.dimension();
        let x: Vec<f64> = (0..d).map(|i| 0.4 * (i as f64 * 1.7).sin() - 0.1).collect();
        // Parameters of these models are unbounded, or logarithms of scales in the same place of both.
        let innovations = |x: &[f64]| -> Vec<f64> {
            let values = moved.constrain(x);
            let real = |p: &crate::lower::Parameter| p.form.is_noncentered();
            let mut z = x.to_vec();
            let mut at = 0;
            for p in &moved.lowered().parameters {
                if real(p) {
                    z[p.offset..p.offset + p.size].copy_from_slice(&values[at..at + p.size]);
                }
                at += p.size;
            }
            z
        };
        let z = innovations(&x);
        let step = 1e-5;
        let column = |j: usize| {
            let [ahead, behind] = [step, -step].map(|h| {
                let mut moved = x.clone();
                moved[j] += h;
                innovations(&moved)
            });
            ahead.into_iter().zip(behind).map(|(a, b)| (a - b) / (2.0 * step)).collect::<Vec<f64>>()
        };
        let jacobian = nalgebra::DMatrix::from_fn(d, d, |i, j| column(j)[i]);
        let log_det = jacobian.determinant().abs().ln();
        let (a, b) = (density(&declared, &z) + log_det, density(&moved, &x));
        assert!((a - b).abs() < 1e-6, "{text}: {a} {b}");
        for (p, q) in declared.constrain(&z).iter().zip(moved.constrain(&x)) {
            assert!((p - q).abs() < 1e-10, "{text}: {p} {q}");
        }
    }

    #[test]
    fn states_describe_the_same_posterior_as_innovations() {
        let scale = "data { y : real[T] }\nparam s ~ half_normal(1)\nparam m ~ normal(0, 1)\nparam z[T] ~ normal(0, 1)\n";
        for text in [
            "let h = cumsum(s * z)\ny ~ normal(h, 1)",
            "let h = m + s * cumsum(z)\nderive last = h[T]\ny ~ normal(h, 1)",
            "let h[1] = m + s * z[1]\nfor t in 2..T { let h[t] = m + 0.6 * (h[t-1] - m) + s * z[t] }\ny ~ normal(0, exp(h))",
            "let h[1] = m\nfor t in 2..T { let h[t] = 0.9 * h[t-1] - z[t] / s }\ny ~ normal(h, 1)",
            "let e = z * s\nlet h[1] = e[1]\nlet h[2] = e[2]\nfor t in 3..T { let h[t] = 0.5 * h[t-1] - 0.2 * h[t-2] + e[t] }\ny ~ normal(h, 1)",
            "let h[1] = z[T] * s\nfor t in 2..T { let h[t] = y[t-1] * h[t-1] + z[t-1] * s }\ny ~ normal(h, 1 + z^2)",
        ] {
            same_posterior(&format!("{scale}{text}"), 1);
        }
        let two = format!("{scale}param f[T] ~ normal(0, 1)\nparam r ~ half_normal(1)\n");
        for text in [
            "let level = m + cumsum(r * cumsum(f) + s * z)\ny ~ normal(level, 1)",
            "let a[1] = m\nlet b[1] = 0\nfor t in 2..T {\n  let b[t] = b[t-1] + r * f[t]\n  let a[t] = a[t-1] + b[t] + s * z[t]\n}\ny ~ normal(a, 1)",
        ] {
            same_posterior(&format!("{two}{text}"), 2);
        }
    }

    #[test]
    fn what_leads_to_no_states_stays_as_it_is() {
        let start = "data { y : real[T] }\nparam s ~ half_normal(1)\nparam z[T] ~ normal(0, 1)\n";
        for text in [
            "y ~ normal(s * z, 1)",
            "let h[1] = 0\nfor t in 2..T { let h[t] = 0.5 * h[t-1] + exp(z[t]) }\ny ~ normal(h, s)",
            "let h[1] = 0\nfor t in 2..T { let h[t] = h[t-1] * (1 + z[t]) * z[t] }\ny ~ normal(h, s)",
            "let h[1] = 0\nfor t in 2..T { let h[t] = h[t-1] + (y[t] > 0) * s * z[t] }\ny ~ normal(h, s)",
            "let h[1] = 0\nfor t in 2..T { let h[t] = s * h[t-1] + y[t-1] }\ny ~ normal(h + z, s)",
        ] {
            let text = format!("{start}{text}");
            assert!(both(&text).1.is_none(), "{text}");
        }
    }
}
