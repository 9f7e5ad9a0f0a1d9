//! The log density of a model as a sum over groups of coordinates that do not meet in any of its elements.

use super::ModelTarget;
use crate::graph::{Builder, Graph, NodeId, Op};
use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::real::{F16, One, Packed, Real, Zero};
use crate::ops::array::Sum;
use crate::ops::operand::{Arg, Index, Lane, Operand};
use crate::ops::scalar::{self, MOST_ARGS, ScalarRow};
use crate::plan::{Plan, Workspace};
use crate::rewrite::{BY_ROWS, rewrite};
use crate::structure::{Group, groups};

/// Draws evaluated together.
pub const DRAWS: usize = F16::WIDTH;

/// Factors from ½ to 4 that are multiplied before the logarithm is taken: their product is finite.
const FACTORS: u16 = 256;
/// Elements handled at a time, few enough for what they need to stay in the first-level cache.
const TILE: usize = 32;

/// The parts of a log density that each group has of its own.
pub struct Grouped {
    /// Arrays whose elements are added up.
    plan: Plan,
    /// The same where these are not needed one by one: of an array whose elements have logarithms of factors
    /// in them, the arguments.
    ahead: Plan,
    /// The functions that these arrays are, and how often the logarithms count.
    last: Vec<Option<(&'static ScalarRow, f64)>>,
    /// For each array the group of each element.
    groups: Vec<Vec<Group>>,
    /// How often each array counts.
    factors: Vec<f64>,
    count: usize,
}

/// Buffers of one thread.
pub struct GroupedEvaluator<'g> {
    of: &'g Grouped,
    /// For the arrays, and for the arguments of their last functions.
    workspace: Option<Workspace<F16>>,
    ahead: Workspace<F16>,
    sums: Vec<F16>,
    products: Products,
}

impl ModelTarget {
    /// The log density by groups, of which there are so many, if each element of what is added up follows
    /// from one at most; the group of each coordinate is given.
    pub(crate) fn grouped(&self, coordinates: &[Group], count: usize) -> Option<Grouped> {
        let lowered = self.lowered();
        let (graph, roots) = rewrite(lowered.graph.clone(), &self.term_nodes(), lowered.dimension, BY_ROWS);
        let mut b = Builder::from_graph(graph);
        let (nodes, factors): (Vec<NodeId>, Vec<f64>) = summands(&mut b, roots)?.into_iter().unzip();
        let graph = b.finish();
        let known = groups(&graph, &nodes, coordinates);
        let of = |id: &NodeId| &known[id.0 as usize];
        let counts = |(id, _): &(&NodeId, &f64)| of(id).iter().any(|g| *g != Group::None);
        let (nodes, factors): (Vec<NodeId>, Vec<f64>) = nodes.iter().zip(&factors).filter(counts).unzip();
        let groups: Vec<Vec<Group>> = nodes.iter().map(|id| of(id).clone()).collect();
        let apart = groups.iter().flatten().all(|g| *g != Group::Several);
        let last: Vec<Option<(&'static ScalarRow, f64)>> =
            nodes.iter().map(|&id| factored(&graph, id)).collect();
        let ends = nodes.iter().zip(&last).flat_map(|(id, last)| match last {
            Some(_) => graph.node(*id).args.clone(),
            None => vec![*id],
        });
        let ahead = Plan::new(&graph, &ends.collect::<Vec<_>>(), lowered.dimension);
        let plan = Plan::new(&graph, &nodes, lowered.dimension);
        apart.then_some(Grouped { plan, ahead, last, groups, factors, count })
    }
}

/// The function that a node is element by element, if its values have logarithms of factors in them, and how
/// often these count.
fn factored(graph: &Graph, id: NodeId) -> Option<(&'static ScalarRow, f64)> {
    let node = graph.node(id);
    let Op::Map(row) = &node.op else { return None };
    let in_step = |a: &NodeId| [1, node.len()].contains(&graph.node(*a).len());
    let times = row.kernel.factored?;
    node.args.iter().all(in_step).then_some((*row, times))
}

/// Arrays whose elements add up to all roots, with how often each counts; constants are left out.
fn summands(b: &mut Builder, roots: Vec<NodeId>) -> Option<Vec<(NodeId, f64)>> {
    let mut open: Vec<(NodeId, f64)> = roots.into_iter().map(|r| (r, 1.0)).collect();
    let mut out = Vec::new();
    while let Some((id, factor)) = open.pop() {
        let node = b.graph().node(id).clone();
        let number = |k: usize| b.scalar_of(node.args[k]);
        match &node.op {
            Op::Constant(_) => {}
            Op::Map(row) if node.len() == 1 && (**row == scalar::ADD || **row == scalar::SUB) => {
                let sign = if **row == scalar::SUB { -factor } else { factor };
                open.extend([(node.args[0], factor), (node.args[1], sign)]);
            }
            Op::Map(row) if node.len() == 1 && **row == scalar::NEG => open.push((node.args[0], -factor)),
            Op::Map(row) if node.len() == 1 && **row == scalar::MUL && number(0).is_some() => {
                open.push((node.args[1], factor * number(0)?));
            }
            Op::Map(row) if node.len() == 1 && **row == scalar::MUL && number(1).is_some() => {
                open.push((node.args[0], factor * number(1)?));
            }
            Op::MapSum { row, weighted } => {
                let (args, weight) = node.args.split_at(node.args.len() - usize::from(*weighted));
                let each = b.map(row, args).ok()?;
                out.push((weight.first().map_or(Ok(each), |&w| b.mul(each, w)).ok()?, factor));
            }
            Op::Array(op) if op.downcast::<Sum>().is_some_and(|s| s.axis.is_none()) => {
                out.push((node.args[0], factor));
            }
            Op::Map(_) | Op::Input { .. } | Op::Array(_) | Op::Ode(_) | Op::Recursion(_) => {
                out.push((id, factor));
            }
        }
    }
    Some(out)
}

impl Grouped {
    /// Buffers to evaluate with.
    pub fn evaluator(&self) -> GroupedEvaluator<'_> {
        GroupedEvaluator {
            of: self,
            workspace: None,
            ahead: Workspace::new(&self.ahead),
            sums: vec![F16::zero(); self.count],
            products: Products { all: vec![F16::one(); self.count], taken: vec![0; self.count] },
        }
    }
}

impl GroupedEvaluator<'_> {
    /// What each group adds to the log density at sixteen draws (coordinate `i` of draw `b` at `i * 16 + b`),
    /// but for what no group has a part in: draw `b` of group `g` at `g * 16 + b`.
    pub fn evaluate(&mut self, z: &[f64]) -> &[f64] {
        let Grouped { ahead: plan, last, groups, factors, .. } = self.of;
        F16::flat_mut(self.ahead.inputs(plan)).copy_from_slice(z);
        self.ahead.forward(plan, false);
        self.sums.fill(F16::zero());
        let mut root = 0;
        for ((groups, factor), last) in groups.iter().zip(factors).zip(last) {
            let count = last.map_or(1, |(row, _)| row.args.len());
            let mut args = [Operand::empty(); MOST_ARGS];
            for (r, operand) in (root..).zip(&mut args[..count]) {
                let arg = self.ahead.root_values(plan, r);
                *operand = Operand { arg, index: if arg.len() == 1 { Index::One } else { Index::Each } };
            }
            root += count;
            match (last, args[0].arg) {
                (Some((row, times)), _) => {
                    let end = End { row, times: *times, args: &args[..count], groups, factor: *factor };
                    end.add(&mut self.sums, &mut self.products);
                }
                (None, Arg::Var(numbers)) => {
                    best_lanes(Add { numbers, groups, factor: *factor, to: &mut self.sums });
                }
                // Constants do not move with any group.
                (None, Arg::Const(_)) => {}
            }
        }
        F16::flat(&self.sums)
    }

    /// The gradient of the sum of what all groups add, each so many times (draw `b` of group `g` at `g * 16 +
    /// b`): coordinate `i` of draw `b` at `i * 16 + b`.
    pub fn gradient(&mut self, z: &[f64], times: &[[f64; DRAWS]]) -> &[f64] {
        let Grouped { plan, groups, factors, .. } = self.of;
        let workspace = self.workspace.get_or_insert_with(|| Workspace::new(plan));
        F16::flat_mut(workspace.inputs(plan)).copy_from_slice(z);
        workspace.forward(plan, true);
        F16::flat_mut(&mut self.sums).copy_from_slice(times.as_flattened());
        let times = &self.sums;
        workspace.reverse_from(plan, |r, to| {
            best_lanes(Hand { times, groups: &groups[r], factor: factors[r], to });
        });
        F16::flat(workspace.gradient(plan))
    }
}

/// The product of factors of each group whose logarithm is still to be subtracted, and how many these are.
struct Products {
    all: Vec<F16>,
    taken: Vec<u16>,
}

/// An array as a function of its arguments.
struct End<'a> {
    row: &'static ScalarRow,
    /// How often the logarithms of its factors count.
    times: f64,
    args: &'a [Operand<'a, F16>],
    groups: &'a [Group],
    factor: f64,
}

impl End<'_> {
    /// Adds its elements to the sums of their groups.
    fn add(&self, sums: &mut [F16], products: &mut Products) {
        let (mut values, mut factors) = ([F16::zero(); TILE], [F16::zero(); TILE]);
        let (kernel, times) = (<F16 as Lane>::scalar(self.row.kernel), self.times * self.factor);
        for (start, groups) in (0..).step_by(TILE).zip(self.groups.chunks(TILE)) {
            let mut tile = [Operand::empty(); MOST_ARGS];
            tile.iter_mut().zip(self.args).for_each(|(t, a)| *t = a.from(start));
            let (values, factors) = (&mut values[..groups.len()], &mut factors[..groups.len()]);
            kernel.factored(&tile[..self.args.len()], values, factors);
            best_lanes(Add { numbers: values, groups, factor: self.factor, to: &mut *sums });
            best_lanes(Multiply { factors, groups, times, sums: &mut *sums, products: &mut *products });
        }
        best_lanes(Settle { times, sums, products });
    }
}

/// Multiplies factors into the products of their groups.
struct Multiply<'a> {
    factors: &'a [F16],
    groups: &'a [Group],
    times: f64,
    sums: &'a mut [F16],
    products: &'a mut Products,
}

impl LaneWork<F16> for Multiply<'_> {
    type Out = ();

    #[inline(always)]
    fn run<U: Real>(self, view: View<F16, U>) {
        let (sums, products) = (view.slice_mut(self.sums), view.slice_mut(&mut self.products.all));
        for (x, group) in view.slice(self.factors).iter().zip(self.groups) {
            let Group::One(g) = group else { continue };
            let g = *g as usize;
            products[g] = products[g] * *x;
            self.products.taken[g] += 1;
            if self.products.taken[g] == FACTORS {
                settle(&mut sums[g], &mut products[g], &mut self.products.taken[g], self.times);
            }
        }
    }
}

/// Subtracts, so many times, the logarithms of all products that are left.
struct Settle<'a> {
    times: f64,
    sums: &'a mut [F16],
    products: &'a mut Products,
}

impl LaneWork<F16> for Settle<'_> {
    type Out = ();

    #[inline(always)]
    fn run<U: Real>(self, view: View<F16, U>) {
        let (sums, products) = (view.slice_mut(self.sums), view.slice_mut(&mut self.products.all));
        for ((sum, product), taken) in sums.iter_mut().zip(products).zip(&mut self.products.taken) {
            if *taken > 0 {
                settle(sum, product, taken, self.times);
            }
        }
    }
}

#[inline(always)]
fn settle<U: Real>(sum: &mut U, product: &mut U, taken: &mut u16, times: f64) {
    *sum = sum.add_scaled(-times, product.ln());
    (*product, *taken) = (U::one(), 0);
}

/// Adds the elements of an array, so many times each, to the sums of their groups.
struct Add<'a> {
    numbers: &'a [F16],
    groups: &'a [Group],
    factor: f64,
    to: &'a mut [F16],
}

impl LaneWork<F16> for Add<'_> {
    type Out = ();

    #[inline(always)]
    fn run<U: Real>(self, view: View<F16, U>) {
        let (numbers, to) = (view.slice(self.numbers), view.slice_mut(self.to));
        for (x, group) in numbers.iter().zip(self.groups) {
            if let Group::One(g) = group {
                let sum = &mut to[*g as usize];
                *sum = sum.add_scaled(self.factor, *x);
            }
        }
    }
}

/// Adds to each element of an array, so many times, what its group counts.
struct Hand<'a> {
    times: &'a [F16],
    groups: &'a [Group],
    factor: f64,
    to: &'a mut [F16],
}

impl LaneWork<F16> for Hand<'_> {
    type Out = ();

    #[inline(always)]
    fn run<U: Real>(self, view: View<F16, U>) {
        let (times, to) = (view.slice(self.times), view.slice_mut(self.to));
        for (x, group) in to.iter_mut().zip(self.groups) {
            if let Group::One(g) = group {
                *x = x.add_scaled(self.factor, times[*g as usize]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::num::stream::Stream;
    use crate::target::Target;

    /// Effects by group, written in one way or another, with the parameter that has them and how many
    /// coordinates of it each group has.
    const MODELS: [(&str, &str, usize); 6] = [
        ("param u[3, 2] ~ normal(0, t)\nb ~ bernoulli_logit(m + u[g, 1] + u[g, 2] .* x)", "u", 2),
        ("param u[3] ~ normal(m, t)\nk ~ binomial_logit(n, u[g])", "u", 1),
        ("param u[3] ~ normal(m, t) noncentered\nk ~ poisson_log(u[g] + log(n + 1.0))", "u", 1),
        (
            "param u[3] ~ normal(0, t)\nfor i in 1..N { k[i] ~ binomial_logit(n[i], m + x[i] * u[g[i]]) }",
            "u",
            1,
        ),
        ("param u[3, 2] ~ normal(0, t)\nk ~ binomial_logit(n, m + u[g, 1] + u[g, 2] .* x)", "u", 2),
        (
            "param u[3] ~ normal(0, t)\nk ~ mixture(0.3: poisson_log(u[g]), 0.7: poisson_log(u[g] + 1.0))",
            "u",
            1,
        ),
    ];

    fn model(rest: &str) -> ModelTarget {
        // So many rows that each group has more factors than are multiplied at once.
        let rows =
            "1,1,4,a,0.5\n0,0,2,b,-1\n1,3,5,a,0.2\n0,2,2,c,1.5\n1,0,6,b,0.1\n".repeat(FACTORS as usize + 1);
        let data = Dataset::from_texts(&[("data.csv", &format!("b,k,n,g,x\n{rows}"))]).unwrap();
        let head = "data { b : binary[N]; k : count[N]; n : count[N]; g : category[N]; x : real[N] }\nparam m ~ normal(0, 2)\nparam t ~ exponential(1)\n";
        ModelTarget::new(&format!("{head}{rest}"), &data).unwrap_or_else(|e| panic!("{rest}: {e:?}"))
    }

    /// Where one group moves, its part changes as the log density does, and no other does.
    #[test]
    fn a_group_has_its_own_part() {
        for (rest, name, each) in MODELS {
            let model = model(rest);
            let d = model.dimension();
            let parameter = model.lowered().parameters.iter().find(|p| p.named.name == name).unwrap();
            let (offset, count) = (parameter.offset, parameter.size / each);
            let mut coordinates = vec![Group::None; d];
            (0..parameter.size).for_each(|i| coordinates[offset + i] = Group::One((i / each) as u32));
            let grouped = model.grouped(&coordinates, count).unwrap_or_else(|| panic!("{rest}: not apart"));
            let mut stream = Stream::new(1, 2, 3);
            let mut z: Vec<f64> = (0..d * DRAWS).map(|_| 0.5 * stream.normal()).collect();
            let (mut evaluator, mut whole) = (grouped.evaluator(), model.evaluator());
            let (mut before, mut after) = ([0.0; DRAWS], [0.0; DRAWS]);
            for g in 0..count {
                let parts = evaluator.evaluate(&z).to_vec();
                whole.log_density(&z, DRAWS, &mut before);
                let moved = offset + g * each..offset + (g + 1) * each;
                z[moved.start * DRAWS..moved.end * DRAWS].iter_mut().for_each(|z| *z += 0.7);
                whole.log_density(&z, DRAWS, &mut after);
                let now = evaluator.evaluate(&z);
                for (p, (now, then)) in now.iter().zip(&parts).enumerate() {
                    let by = if p / DRAWS == g { after[p % DRAWS] - before[p % DRAWS] } else { 0.0 };
                    let rounding = 1e-14 * (before[p % DRAWS].abs() + after[p % DRAWS].abs());
                    assert!(
                        (now - then - by).abs() < 1e-10 + rounding,
                        "{rest}: group {g}, {p}: {now} {then} {by}"
                    );
                }
            }
        }
    }

    /// The gradient with each group counted so many times is that of the sum of their parts.
    #[test]
    fn groups_hand_on_their_slopes() {
        for (rest, name, each) in MODELS {
            let model = model(rest);
            let d = model.dimension();
            let parameter = model.lowered().parameters.iter().find(|p| p.named.name == name).unwrap();
            let mut coordinates = vec![Group::None; d];
            (0..parameter.size)
                .for_each(|i| coordinates[parameter.offset + i] = Group::One((i / each) as u32));
            let count = parameter.size / each;
            let grouped = model.grouped(&coordinates, count).unwrap();
            let mut evaluator = grouped.evaluator();
            let mut stream = Stream::new(4, 2, 3);
            let z: Vec<f64> = (0..d * DRAWS).map(|_| 0.5 * stream.normal()).collect();
            let times: Vec<[f64; DRAWS]> =
                (0..count).map(|_| [(); DRAWS].map(|()| stream.normal())).collect();
            let gradient = evaluator.gradient(&z, &times).to_vec();
            let mut sum = |z: &[f64], b: usize| -> f64 {
                let parts = evaluator.evaluate(z);
                (0..count).map(|g| times[g][b] * parts[g * DRAWS + b]).sum()
            };
            for p in 0..d * DRAWS {
                let mut moved = z.clone();
                let h = 1e-5;
                moved[p] = z[p] + h;
                let ahead = sum(&moved, p % DRAWS);
                moved[p] = z[p] - h;
                let expected = (ahead - sum(&moved, p % DRAWS)) / (2.0 * h);
                assert!((gradient[p] - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{rest}: {p}");
            }
        }
    }

    /// Groups that meet in an element are not told apart.
    #[test]
    fn groups_that_meet_are_not_apart() {
        let model = model("param u[3] ~ normal(0, t)\nk ~ binomial_logit(n, u[g] + u[1] * x)");
        let coordinates: Vec<Group> = (0..model.dimension())
            .map(|i| if i < 2 { Group::None } else { Group::One(i as u32 - 2) })
            .collect();
        assert!(model.grouped(&coordinates, 3).is_none());
    }
}
