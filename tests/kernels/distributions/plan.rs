//! Every distribution from end to end: through the builder and the plan, element by element and summed, with
//! scalars and vectors mixed and with weights; and the noncentered forms.

use super::{data_positions, log_density, numbers, rows};
use stickler::dist::{self, BaseArg, Distribution};
use stickler::graph::{Builder, NodeId};
use stickler::num::real::{Dual, F16, Packed, Real};
use stickler::plan::{Plan, Workspace};

const WEIGHTS: [f64; 3] = [0.5, 2.0, 1.25];

/// A value of a distribution three times over, each a little different, and its arguments, some of them three
/// times over.
struct Case {
    dist: &'static Distribution,
    /// x and the arguments; each one number or three.
    columns: Vec<Vec<f64>>,
    /// Which are parameters; the others are constants.
    free: Vec<bool>,
}

impl Case {
    /// `vectors` says which columns have three numbers; bit 0 is x.
    fn new(dist: &'static Distribution, x: f64, args: &[f64], vectors: usize) -> Self {
        let data = data_positions(dist);
        let stretch = |k: usize, v: f64| {
            if vectors >> k & 1 == 0 {
                vec![v]
            } else if data.contains(&k) {
                vec![v; 3]
            } else {
                [0.0, 0.004, 0.01].iter().map(|d| v * (1.0 + d)).collect()
            }
        };
        let all = std::iter::once(x).chain(args.iter().copied());
        let columns: Vec<Vec<f64>> = all.enumerate().map(|(k, v)| stretch(k, v)).collect();
        let free = (0..columns.len()).map(|k| !data.contains(&k)).collect();
        Self { dist, columns, free }
    }

    fn inputs(&self) -> Vec<f64> {
        let chosen = self.columns.iter().zip(&self.free).filter(|(_, free)| **free);
        chosen.flat_map(|(c, _)| c.iter().copied()).collect()
    }

    fn nodes(&self, b: &mut Builder) -> Vec<NodeId> {
        let mut offset = 0;
        let mut node = |(column, free): (&Vec<f64>, &bool)| {
            let dims = if column.len() == 1 { vec![] } else { vec![3] };
            if !free {
                return b.constant(column.clone(), dims);
            }
            offset += column.len();
            b.input(offset - column.len(), dims)
        };
        self.columns.iter().zip(&self.free).map(&mut node).collect()
    }

    /// Element i by the parts' kernels alone.
    fn element(&self, i: usize) -> f64 {
        let row: Vec<f64> = self.columns.iter().map(|c| c[i % c.len()]).collect();
        log_density(self.dist, row[0], &row[1..])
    }

    fn with_inputs(&self, inputs: &[f64]) -> Self {
        let mut at = 0;
        let mut column = |(c, free): (&Vec<f64>, &bool)| {
            if !free {
                return c.clone();
            }
            at += c.len();
            inputs[at - c.len()..at].to_vec()
        };
        let columns = self.columns.iter().zip(&self.free).map(&mut column).collect();
        Self { dist: self.dist, columns, free: self.free.clone() }
    }
}

/// Value and gradient of a plan's only root, in one lane.
fn run(plan: &Plan, at: &[f64]) -> (f64, Vec<f64>) {
    let mut ws = Workspace::<F16>::new(plan);
    ws.inputs(plan).iter_mut().zip(at).for_each(|(v, x)| *v = F16::splat(*x));
    ws.forward(plan, true);
    ws.reverse(plan);
    (ws.root(plan, 0, 0).lane(2), ws.gradient(plan).iter().map(|g| g.lane(5)).collect())
}

/// The derivative of the gradient along a direction, by forward over reverse.
fn hessian_times(plan: &Plan, at: &[f64], direction: &[f64]) -> Vec<f64> {
    let mut ws = Workspace::<Dual>::new(plan);
    for ((v, x), d) in ws.inputs(plan).iter_mut().zip(at).zip(direction) {
        *v = Dual { v: *x, d: *d };
    }
    ws.forward(plan, true);
    ws.reverse(plan);
    ws.gradient(plan).iter().map(|g| g.d).collect()
}

fn close(a: f64, b: f64, scale: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs() + scale)
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (dist, _) in rows().filter(|(_, parts)| !parts.is_empty()) {
        let (x, args) = numbers(&dist.probes[0]);
        cases.extend((0..1 << (1 + args.len())).map(|vectors| Case::new(dist, x, &args, vectors)));
    }
    cases
}

#[test]
fn sums_and_elements_agree() {
    for case in cases() {
        let len = case.columns.iter().map(Vec::len).max().unwrap();
        let mut b = Builder::new();
        let nodes = case.nodes(&mut b);
        let weight = (len == 3).then(|| b.constant(WEIGHTS.to_vec(), vec![3]));
        let each = dist::log_density(&mut b, case.dist, nodes[0], &nodes[1..]).unwrap();
        let plain = dist::log_density_sum(&mut b, case.dist, nodes[0], &nodes[1..], None).unwrap();
        let weighted = dist::log_density_sum(&mut b, case.dist, nodes[0], &nodes[1..], weight).unwrap();
        let plan = Plan::new(&b.finish(), &[each, plain, weighted], case.inputs().len());
        let mut ws = Workspace::<f64>::new(&plan);
        ws.inputs(&plan).copy_from_slice(&case.inputs());
        ws.forward(&plan, false);
        let (mut sum, mut weighted_sum, mut size) = (0.0, 0.0, 0.0);
        for i in 0..len {
            let expected = case.element(i);
            let w = if len == 3 { WEIGHTS[i] } else { 1.0 };
            assert!(close(ws.root(&plan, 0, i), expected, 0.0, 1e-13), "{}: element {i}", case.dist.name);
            (sum, weighted_sum, size) = (sum + expected, weighted_sum + w * expected, size + expected.abs());
        }
        assert!(close(ws.root(&plan, 1, 0), sum, size, 1e-13), "{}: sum", case.dist.name);
        assert!(close(ws.root(&plan, 2, 0), weighted_sum, size, 1e-13), "{}: weighted sum", case.dist.name);
    }
}

#[test]
fn gradients_through_the_plan() {
    for case in cases() {
        let len = case.columns.iter().map(Vec::len).max().unwrap();
        let inputs = case.inputs();
        let mut b = Builder::new();
        let nodes = case.nodes(&mut b);
        let weight = (len == 3).then(|| b.constant(WEIGHTS.to_vec(), vec![3]));
        let sum = dist::log_density_sum(&mut b, case.dist, nodes[0], &nodes[1..], weight).unwrap();
        let each = dist::log_density(&mut b, case.dist, nodes[0], &nodes[1..]).unwrap();
        let one = b.number(1.0);
        let scaled = b.mul(each, weight.unwrap_or(one)).unwrap();
        let elements = b.sum(scaled, None).unwrap();
        let graph = b.finish();
        let plan = Plan::new(&graph, &[sum], inputs.len());
        let (_, gradient) = run(&plan, &inputs);
        let (_, other) = run(&Plan::new(&graph, &[elements], inputs.len()), &inputs);
        let total = |inputs: &[f64]| -> f64 {
            let moved = case.with_inputs(inputs);
            (0..len).map(|i| moved.element(i) * if len == 3 { WEIGHTS[i] } else { 1.0 }).sum()
        };
        let name = case.dist.name;
        for k in 0..inputs.len() {
            let h = 1e-3 * inputs[k].abs().max(1e-3);
            let central = |h: f64, f: &dyn Fn(&[f64]) -> f64| {
                let (mut up, mut down) = (inputs.clone(), inputs.clone());
                (up[k], down[k]) = (up[k] + h, down[k] - h);
                (f(&up) - f(&down)) / (2.0 * h)
            };
            let extrapolated = |f: &dyn Fn(&[f64]) -> f64| (4.0 * central(0.5 * h, f) - central(h, f)) / 3.0;
            let expected = extrapolated(&total);
            assert!(
                close(gradient[k], expected, 0.0, 1e-7),
                "{name}: {} against {expected} in {k}",
                gradient[k]
            );
            assert!(close(gradient[k], other[k], 0.0, 1e-12), "{name}: elements and sum differ in {k}");
            let direction: Vec<f64> = (0..inputs.len()).map(|j| if j == k { 1.0 } else { 0.0 }).collect();
            for (j, second) in hessian_times(&plan, &inputs, &direction).into_iter().enumerate() {
                let expected = extrapolated(&|at: &[f64]| run(&plan, at).1[j]);
                assert!(
                    close(second, expected, 0.0, 1e-6),
                    "{name}: {second} against {expected} in ({j}, {k})"
                );
            }
        }
    }
}

/// log p(x) + log |dx/dz| = log p₀(z) for x built from z.
#[test]
fn noncentered_forms_have_the_same_density() {
    for (dist, _) in rows() {
        let Some(form) = &dist.noncentered else { continue };
        let quantile = form.base.quantile.unwrap();
        for probe in dist.probes {
            let (_, args) = numbers(probe);
            let base_arg = |a: &BaseArg| match a {
                BaseArg::Number(v) => *v,
                BaseArg::Arg(k) => args[*k],
            };
            let base_args: Vec<f64> = form.base_args.iter().map(base_arg).collect();
            for p in [0.01, 0.3, 0.9] {
                let z = quantile(p, &base_args);
                let mut b = Builder::new();
                let input = b.input(0, vec![]);
                let nodes: Vec<NodeId> = args.iter().map(|&a| b.number(a)).collect();
                let x = (form.build)(&mut b, input, &nodes).unwrap();
                let (x, slope) = {
                    let plan = Plan::new(&b.finish(), &[x], 1);
                    let (x, gradient) = run(&plan, &[z]);
                    (x, gradient[0])
                };
                let (here, there) = (log_density(dist, x, &args), log_density(form.base, z, &base_args));
                assert!(
                    close(here + slope.abs().ln(), there, here.abs(), 1e-12),
                    "{} with {args:?} at z = {z}: {here} + log {slope} against {there}",
                    dist.name
                );
            }
        }
    }
}
