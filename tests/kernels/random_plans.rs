//! Random graphs: rewritten and as built they have the same value and gradient, for one draw and for sixteen.

use crate::common::picks::{Numbers, Picks, numbers};
use crate::common::property::for_all;
use proptest::collection::vec;
use stickler::dist::{self, Density};
use stickler::graph::{Builder, NodeId};
use stickler::num::real::F16;
use stickler::num::stream::Stream;
use stickler::ops::scalar::{ADD, DIV, EXP, MUL, NEG, QUADRATIC, SQUARE, SUB, ScalarRow};
use stickler::plan::Sweep;
use stickler::plan::{Plan, Workspace};
use stickler::rewrite::{TABLE, rewrite};

/// Coordinates of every graph.
const INPUTS: usize = 7;

/// Grows a graph by random steps: what they pick is given, and their data are drawn.
struct Growth {
    b: Builder,
    stream: Stream,
    picks: Picks,
    /// Vectors of one length, of the groups, and numbers.
    rows: Vec<NodeId>,
    groups: Vec<NodeId>,
    scalars: Vec<NodeId>,
    n: usize,
}

impl Growth {
    fn new(rows: usize, seed: u64) -> Self {
        let stream = Stream::new(seed, 0, 0);
        let mut b = Builder::new();
        let n = [3, 8, 40, 70][rows];
        let groups = vec![b.input(0, vec![4])];
        let scalars = (4..INPUTS).map(|i| b.input(i, vec![])).collect();
        let picks = Picks::default();
        let mut growth = Self { b, stream, picks, rows: Vec::new(), groups, scalars, n };
        let first = growth.gather();
        growth.rows.push(first);
        growth
    }

    fn numbers(&mut self, n: usize) -> NodeId {
        let values: Vec<f64> = (0..n).map(|_| 0.5 * self.stream.normal()).collect();
        self.b.constant(values, vec![n])
    }

    fn pick(&mut self, from: fn(&Self) -> &Vec<NodeId>) -> NodeId {
        let at = self.picks.below(from(self).len());
        from(self)[at]
    }

    fn gather(&mut self) -> NodeId {
        let table = (0..self.n).map(|_| self.stream.below(4) as u32).collect();
        let from = self.pick(|g| &g.groups);
        self.b.take(from, table, vec![self.n])
    }

    fn step(&mut self, numbers: Numbers) {
        self.picks = Picks::new(numbers);
        let (n, kind) = (self.n, self.picks.below(12));
        let (a, c) = (self.pick(|g| &g.rows), self.pick(|g| &g.rows));
        let (s, g) = (self.pick(|g| &g.scalars), self.pick(|g| &g.groups));
        match kind {
            0 => self.row(&ADD, &[a, c]),
            1 => self.row(&SUB, &[a, s]),
            2 => {
                let x = self.numbers(n);
                self.row(&MUL, &[a, x]);
            }
            3 => {
                let two = self.b.number(2.5);
                self.row(&DIV, &[a, two]);
            }
            4 => {
                let x = self.numbers(n);
                let column = self.b.mul(s, x).unwrap();
                self.row(&ADD, &[a, column]);
            }
            5 => {
                let gathered = self.gather();
                self.row(&ADD, &[a, gathered]);
            }
            6 => {
                let values: Vec<f64> = (0..4 * n).map(|_| 0.5 * self.stream.normal()).collect();
                let x = self.b.constant(values, vec![n, 4]);
                let product = self.b.matmul(x, g).unwrap();
                self.row(&ADD, &[a, product]);
            }
            7 => self.row(&NEG, &[a]),
            8 => {
                let values: Vec<f64> = (0..4 * n).map(|_| 0.3 * self.stream.normal()).collect();
                let x = self.b.constant(values, vec![n, 4]);
                let wide = self.b.map(&MUL, &[x, g]).unwrap();
                let sum = self.b.sum(wide, Some(1)).unwrap();
                self.rows.push(sum);
            }
            9 => {
                let half = self.b.number(0.1);
                let small = self.b.mul(half, a).unwrap();
                self.row(&EXP, &[small]);
            }
            10 => {
                let parts: Vec<NodeId> = (0..4).map(|i| self.b.take(g, vec![i], vec![])).collect();
                let parts: Vec<NodeId> = parts.iter().map(|&p| self.b.mul(p, s).unwrap()).collect();
                let joined = self.b.concat(&parts, vec![4]);
                self.groups.push(joined);
            }
            _ => {
                let square = self.b.unary(&SQUARE, s);
                let product = self.b.mul(s, square).unwrap();
                let sum = self.b.add2(product, s).unwrap();
                self.scalars.push(sum);
            }
        }
    }

    fn row(&mut self, row: &'static ScalarRow, args: &[NodeId]) {
        let node = self.b.map(row, args).unwrap();
        self.rows.push(node);
    }

    /// A sum of log densities of what has grown.
    fn term(&mut self, numbers: Numbers) -> NodeId {
        self.picks = Picks::new(numbers);
        let eta = self.rows[self.rows.len() - 1 - self.picks.below(2.min(self.rows.len()))];
        let n = self.n;
        let weight = (self.picks.below(3) == 1).then(|| self.b.constant(vec![0.5; n], vec![n]));
        if self.picks.below(4) == 1 {
            return self.squares();
        }
        let (name, args) = match self.picks.below(3) {
            0 => {
                let y: Vec<f64> = (0..n).map(|_| self.stream.below(2) as f64).collect();
                ("bernoulli_logit", vec![self.b.constant(y, vec![n]), eta])
            }
            1 => {
                let (y, sigma) = (self.numbers(n), self.b.number(1.5));
                ("normal", vec![y, eta, sigma])
            }
            _ => {
                let (y, s) = (self.numbers(n), self.pick(|g| &g.scalars));
                let sigma = self.b.unary(&EXP, s);
                ("normal", vec![y, eta, sigma])
            }
        };
        let Density::Parts(parts) = &dist::find(name).unwrap().density else {
            unreachable!("a sum of functions")
        };
        self.b.map_sum(parts[0].row, &args, weight).unwrap()
    }
}

impl Growth {
    /// A sum of squares about a product of numbers and rows, as effects have it that are not centred.
    fn squares(&mut self) -> NodeId {
        let (s, t) = (self.pick(|g| &g.scalars), self.pick(|g| &g.scalars));
        let (a, y, n) = (self.pick(|g| &g.rows), self.numbers(self.n), self.n);
        let product = self.b.mul(s, a).unwrap();
        let mean = self.b.add2(product, t).unwrap();
        let weights = match self.picks.below(3) {
            0 => self.b.constant((0..n).map(|i| 1.0 + 0.1 * i as f64).collect::<Vec<_>>(), vec![n]),
            1 => self.b.number(0.7),
            _ => self.b.unary(&SQUARE, t),
        };
        let (x, mu) = match self.picks.below(4) {
            0 => (mean, y),
            1 => (a, self.b.number(0.0)),
            2 => (y, a),
            _ => (y, mean),
        };
        self.b.map_sum(&QUADRATIC, &[x, mu, weights], None).unwrap()
    }
}

/// Value and gradient, in buffers that are full of what is no number before: whatever is read must have been
/// set.
fn run<T: Sweep>(plan: &Plan, at: &[f64]) -> Vec<f64> {
    let mut ws = Workspace::<T>::new(plan);
    for before in [f64::NAN, 0.0] {
        ws.inputs(plan).iter_mut().zip(at).for_each(|(v, x)| *v = T::splat(*x + before));
        ws.forward(plan, true);
        ws.reverse(plan);
    }
    let value = (0..plan.roots()).map(|r| ws.root(plan, r, 0).lane(0)).sum();
    std::iter::once(value).chain(ws.gradient(plan).iter().map(|g| g.lane(T::WIDTH - 1))).collect()
}

/// How much the results of these plans may differ, beside the largest.
const ROUNDING: f64 = 1e-9;

/// Whether rules and lanes change nothing on the graph that these steps and terms make.
fn compare(rows: usize, steps: &[Numbers], terms: [Numbers; 2], seed: u64) {
    let mut growth = Growth::new(rows, seed);
    steps.iter().for_each(|step| growth.step(*step));
    let roots = terms.map(|term| growth.term(term)).to_vec();
    let graph = growth.b.finish();
    let plain = Plan::new(&graph, &roots, INPUTS);
    let (graph, roots) = rewrite(graph, &roots, INPUTS, TABLE);
    let plan = Plan::new(&graph, &roots, INPUTS);
    let summed = Plan::of_sum(&graph, &roots, INPUTS);
    let at: Vec<f64> = (0..INPUTS).map(|i| 0.4 * (seed as f64 + 2.0 * i as f64).sin()).collect();
    let expected = run::<f64>(&plain, &at);
    if expected.iter().any(|x| !x.is_finite() || x.abs() > 1e8) {
        return;
    }
    let size = expected.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    for (what, got) in [
        ("in lanes", run::<F16>(&plain, &at)),
        ("rewritten", run::<f64>(&plan, &at)),
        ("rewritten, in lanes", run::<F16>(&plan, &at)),
        ("as a sum", run::<f64>(&summed, &at)),
        ("as a sum, in lanes", run::<F16>(&summed, &at)),
    ] {
        let off = got.iter().zip(&expected).fold(0.0_f64, |m, (g, e)| m.max((g - e).abs()));
        assert!(off <= ROUNDING * size, "{what}: {got:?} against {expected:?}");
    }
}

#[test]
fn rules_and_lanes_change_nothing_on_random_graphs() {
    let graphs = (0_usize..4, vec(numbers(), 0..16), [numbers(), numbers()], 0_u64..1000);
    for_all(300, graphs, |(rows, steps, terms, seed)| compare(rows, &steps, terms, seed));
}
