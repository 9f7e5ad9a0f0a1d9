//! Chains over many rows, computed tile by tile: values and gradients are those of forward mode through plans
//! that store every array.

use crate::common::picks::{Numbers, Picks, numbers};
use crate::common::property::for_all;
use proptest::collection::vec;
use std::cell::Cell;
use std::sync::Arc;
use stickler::dist::{self, Density};
use stickler::graph::{Builder, Graph, NodeId};
use stickler::num::real::{Dual, F16};
use stickler::num::stream::Stream;
use stickler::ops::array::{Design, Operator, Sparse};
use stickler::ops::scalar::{ADD, DIV, EXP, MUL, QUADRATIC, SQUARE, SUB, ScalarRow};
use stickler::plan::Sweep;
use stickler::plan::{Plan, Workspace, dump};
use stickler::rewrite::{TABLE, rewrite};

/// Coordinates: two groups of effects and three numbers.
const GROUPS: [usize; 2] = [5, 12];
const INPUTS: usize = 20;

/// Grows chains over rows: what their steps pick is given, and their data are drawn.
struct Chains {
    b: Builder,
    stream: Stream,
    picks: Picks,
    n: usize,
    rows: Vec<NodeId>,
    scalars: Vec<NodeId>,
}

impl Chains {
    fn new(rows: usize, seed: u64) -> Self {
        let stream = Stream::new(seed, 0, 0);
        // Multiples of a tile, and not.
        let n = [258, 300, 512, 515, 640, 1030][rows];
        let mut b = Builder::new();
        let scalars = (17..INPUTS).map(|i| b.input(i, vec![])).collect();
        let mut chains = Self { b, stream, picks: Picks::default(), n, rows: Vec::new(), scalars };
        let first = [0, 1].map(|which| chains.gather(which));
        chains.rows.extend(first);
        chains
    }

    fn effects(&mut self, which: usize) -> NodeId {
        self.b.input([0, GROUPS[0]][which], vec![GROUPS[which]])
    }

    fn gather(&mut self, which: usize) -> NodeId {
        let table = (0..self.n).map(|_| self.stream.below(GROUPS[which]) as u32).collect();
        let effects = self.effects(which);
        self.b.take(effects, table, vec![self.n])
    }

    fn numbers(&mut self) -> NodeId {
        let values: Vec<f64> = (0..self.n).map(|_| 0.5 * self.stream.normal()).collect();
        self.b.constant(values, vec![self.n])
    }

    fn any_row(&mut self) -> NodeId {
        let at = self.picks.below(self.rows.len());
        self.rows[at]
    }

    fn row(&mut self, row: &'static ScalarRow, args: &[NodeId]) -> NodeId {
        let node = self.b.map(row, args).unwrap();
        self.rows.push(node);
        node
    }

    fn step(&mut self, numbers: Numbers) {
        self.picks = Picks::new(numbers);
        let kind = self.picks.below(8);
        let (a, c, x) = (self.any_row(), self.any_row(), self.numbers());
        let s = self.scalars[self.picks.below(self.scalars.len())];
        match kind {
            0 => self.row(&ADD, &[a, c]),
            1 => self.row(&MUL, &[a, c]),
            2 => self.row(&SUB, &[s, a]),
            3 => {
                let which = self.picks.below(2);
                let gathered = self.gather(which);
                self.row(&MUL, &[gathered, x])
            }
            4 => {
                let small = self.b.number(0.1);
                let small = self.b.mul(small, a).unwrap();
                self.row(&EXP, &[small])
            }
            5 => {
                let square = self.b.unary(&SQUARE, a);
                let one = self.b.number(1.5);
                let below = self.b.add2(one, square).unwrap();
                self.row(&DIV, &[c, below])
            }
            6 => {
                let predictor = self.predictor();
                self.row(&MUL, &[predictor, a])
            }
            _ => self.across(a),
        };
    }

    /// A linear predictor of its own.
    fn predictor(&mut self) -> NodeId {
        let (n, coefficients) = (self.n, GROUPS[1]);
        let operator = Operator {
            by_column: Default::default(),
            rows: n,
            coefficients,
            offset: None,
            everywhere: vec![(0, 0.5)],
            dense: None,
            columns: 0,
            sparse: Sparse::new(
                2,
                (0..2 * n).map(|_| self.stream.below(coefficients) as u32).collect(),
                (0..2 * n).map(|_| self.stream.normal()).collect(),
            ),
        };
        let effects = self.effects(1);
        self.b.array(Design(Arc::new(operator)), &[effects]).unwrap()
    }

    /// Meets a vector that is repeated: as many rows as there are, five at a time.
    fn across(&mut self, a: NodeId) -> NodeId {
        if !self.n.is_multiple_of(GROUPS[0]) {
            return a;
        }
        let wide = self.b.reshape(a, vec![self.n / GROUPS[0], GROUPS[0]]);
        let effects = self.effects(0);
        let product = self.b.mul(wide, effects).unwrap();
        let flat = self.b.reshape(product, vec![self.n]);
        self.rows.push(flat);
        flat
    }

    fn term(&mut self, numbers: Numbers) -> NodeId {
        self.picks = Picks::new(numbers);
        let n = self.n;
        let (last, other) = (self.rows[self.rows.len() - 1], self.any_row());
        let weights: Vec<f64> = (0..n).map(|i| 1.0 + 0.3 * (i as f64).sin()).collect();
        let weight = (self.picks.below(3) == 1).then(|| self.b.constant(weights, vec![n]));
        match self.picks.below(4) {
            0 => {
                let y: Vec<f64> = (0..n).map(|_| self.stream.below(2) as f64).collect();
                let y = self.b.constant(y, vec![n]);
                let Density::Parts(parts) = &dist::find("bernoulli_logit").unwrap().density else {
                    unreachable!("a sum of functions")
                };
                self.b.map_sum(parts[0].row, &[y, last], weight).unwrap()
            }
            1 => {
                let (y, precision) = (self.numbers(), self.b.number(0.7));
                self.b.map_sum(&QUADRATIC, &[y, last, precision], weight).unwrap()
            }
            2 => self.b.map_sum(&MUL, &[last, other], weight).unwrap(),
            _ => self.b.sum(last, None).unwrap(),
        }
    }
}

fn point<T: Sweep>(plan: &Plan, at: &[f64]) -> Workspace<T> {
    let mut ws = Workspace::<T>::new(plan);
    ws.inputs(plan).iter_mut().zip(at).for_each(|(v, x)| *v = T::splat(*x));
    ws
}

/// The sum of all elements of the first roots.
fn total<T: Sweep>(plan: &Plan, ws: &Workspace<T>, roots: usize, of: impl Fn(T) -> f64) -> f64 {
    let sizes = plan.root_sizes();
    (0..roots).flat_map(|r| (0..sizes[r]).map(move |i| (r, i))).map(|(r, i)| of(ws.root(plan, r, i))).sum()
}

/// The sum of all roots, without and with slopes, and its gradient.
fn run<T: Sweep>(plan: &Plan, at: &[f64]) -> Vec<f64> {
    let mut ws = point::<T>(plan, at);
    let value = |ws: &Workspace<T>| total(plan, ws, plan.roots(), |x| x.lane(0));
    ws.forward(plan, false);
    let alone = value(&ws);
    // Twice: a sweep leaves nothing behind.
    for _ in 0..2 {
        ws.forward(plan, true);
        ws.reverse(plan);
    }
    let gradient = ws.gradient(plan).iter().map(|g| g.lane(T::WIDTH - 1));
    [alone, value(&ws)].into_iter().chain(gradient).collect()
}

/// The same by tangents, where all nodes are roots and so have places of their own.
fn by_tangents(graph: &Graph, roots: &[NodeId], at: &[f64]) -> Vec<f64> {
    let needed = graph.needed(roots);
    let others = graph.iter().map(|(id, _)| id).filter(|id| needed[id.0 as usize]);
    let all: Vec<NodeId> = roots.iter().copied().chain(others).collect();
    let plan = Plan::new(graph, &all, INPUTS);
    assert!(!dump(&plan).contains("in tiles"));
    let mut value = 0.0;
    let mut slopes = Vec::new();
    for k in 0..INPUTS {
        let mut ws = point::<Dual>(&plan, at);
        ws.inputs(&plan)[k].d = 1.0;
        ws.forward(&plan, false);
        value = total(&plan, &ws, roots.len(), |x| x.v);
        slopes.push(total(&plan, &ws, roots.len(), |x| x.d));
    }
    [value, value].into_iter().chain(slopes).collect()
}

/// What a graph is made of: which of six numbers of rows it has, its steps, its terms, and the seed of its
/// data.
type Recipe = (usize, Vec<Numbers>, [Numbers; 3], u64);

/// A graph with a few sums over rows, the last step between them, and arrays that nothing else reads.
fn grown((rows, steps, [first, second, third], seed): &Recipe) -> (Graph, Vec<NodeId>, Vec<NodeId>) {
    let mut chains = Chains::new(*rows, *seed);
    let (between, before) = steps.split_last().unwrap();
    before.iter().for_each(|step| chains.step(*step));
    let mut sums = vec![chains.term(*first)];
    chains.step(*between);
    sums.extend([chains.term(*second), chains.term(*third)]);
    sums.dedup();
    let (last, other, small) = (chains.rows[chains.rows.len() - 1], chains.any_row(), chains.b.number(0.2));
    let scaled = chains.b.mul(small, last).unwrap();
    let arrays = vec![chains.b.unary(&EXP, scaled), chains.b.map(&MUL, &[other, scaled]).unwrap()];
    (chains.b.finish(), sums, arrays)
}

/// Whether what plans give is what is expected.
fn compare(expected: &[f64], plans: &[(&str, &Plan)], at: &[f64]) {
    let size = expected.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    for (what, plan) in plans {
        for (lanes, got) in [("one draw", run::<f64>(plan, at)), ("sixteen", run::<F16>(plan, at))] {
            let off = got.iter().zip(expected).fold(0.0_f64, |m, (g, e)| m.max((g - e).abs()));
            assert!(off <= 1e-10 * size, "{what}, {lanes}: {got:?} against {expected:?}");
        }
    }
}

/// Checks the plans of one graph; how many of them have tiles.
fn tiled(recipe: &Recipe) -> usize {
    let (graph, sums, arrays) = grown(recipe);
    let at: Vec<f64> = (0..INPUTS).map(|i| 0.6 * (recipe.3 as f64 + 2.0 * i as f64).sin()).collect();
    let [expected, of_arrays] = [&sums, &arrays].map(|roots| by_tangents(&graph, roots, &at));
    if expected.iter().chain(&of_arrays).any(|x| !x.is_finite() || x.abs() > 1e8) {
        return 0;
    }
    let each = Plan::new(&graph, &sums, INPUTS);
    let summed = Plan::of_sum(&graph, &sums, INPUTS);
    let stored = Plan::new(&graph, &arrays, INPUTS);
    let count = [&each, &summed, &stored].into_iter().filter(|p| dump(p).contains("in tiles")).count();
    let (graph, roots) = rewrite(graph, &sums, INPUTS, TABLE);
    let rewritten = Plan::of_sum(&graph, &roots, INPUTS);
    let plans = [("each root", &each), ("as a sum", &summed), ("rewritten", &rewritten)];
    compare(&expected, &plans, &at);
    compare(&of_arrays, &[("arrays", &stored)], &at);
    count
}

#[test]
fn tiles_change_neither_value_nor_gradient() {
    let graphs = (0_usize..6, vec(numbers(), 1..11), [numbers(), numbers(), numbers()], 0_u64..1000);
    let plans = Cell::new(0);
    for_all(120, graphs, |recipe| plans.set(plans.get() + tiled(&recipe)));
    assert!(plans.get() > 200, "only {} plans had tiles", plans.get());
}
