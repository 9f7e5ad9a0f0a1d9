//! Densities at points, with gradients and Hessian-vector products, for the tests of discrete and
//! multivariate rows.
#![allow(dead_code)]

use stickler::dist::{Density, Distribution, Domain, Support, find, log_density, log_density_sum};
use stickler::facts::Structure;
use stickler::graph::{Builder, NodeId};
use stickler::num::real::Dual;
use stickler::plan::{Plan, Workspace};

/// Numbers with their axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub values: Vec<f64>,
    pub dims: Vec<usize>,
}

impl Array {
    pub fn new(values: &[f64], dims: &[usize]) -> Self {
        Self { values: values.to_vec(), dims: dims.to_vec() }
    }

    /// A number, a vector or a square matrix.
    pub fn of_rank(values: &[f64], rank: usize) -> Self {
        let dims = match rank {
            0 => vec![],
            1 => vec![values.len()],
            _ => vec![values.len().isqrt(); 2],
        };
        Self::new(values, &dims)
    }

    /// `n` copies along a new first axis.
    pub fn repeated(&self, n: usize) -> Self {
        let mut dims = vec![n];
        dims.extend(&self.dims);
        Self { values: self.values.repeat(n), dims }
    }

    /// Equal-shaped arrays along a new first axis.
    pub fn stacked(all: &[&Array]) -> Self {
        let mut dims = vec![all.len()];
        dims.extend(&all[0].dims);
        Self { values: all.iter().flat_map(|a| a.values.clone()).collect(), dims }
    }
}

/// A value and arguments of a distribution.
#[derive(Clone)]
pub struct Point {
    pub dist: &'static Distribution,
    /// The value first, then the arguments.
    pub pieces: Vec<Array>,
}

impl Point {
    pub fn new(dist: &'static Distribution, x: &[f64], args: &[&[f64]]) -> Self {
        let mut pieces = vec![Array::of_rank(x, dist.event)];
        for (spec, values) in dist.args.iter().zip(args) {
            // The points of a Gaussian process may have several coordinates.
            let points = spec.domain == Domain::Data && spec.rank == 1 && values.len() > x.len();
            let dims = [x.len(), values.len() / x.len().max(1)];
            let piece = if points { Array::new(values, &dims) } else { Array::of_rank(values, spec.rank) };
            pieces.push(piece);
        }
        Self { dist, pieces }
    }

    pub fn named(name: &str, x: &[f64], args: &[&[f64]]) -> Self {
        Self::new(find(name).unwrap_or_else(|| panic!("no distribution {name}")), x, args)
    }

    /// Which pieces have derivatives: x unless it is discrete, and arguments that are not data.
    pub fn free(&self) -> Vec<usize> {
        let of_args = self.dist.args.iter().enumerate().filter(|(_, a)| {
            // An optional scale of zero stands for another argument.
            !matches!(a.domain, Domain::Count | Domain::Data) && a.default != Some(0.0)
        });
        let x = (!self.dist.discrete).then_some(0);
        x.into_iter().chain(of_args.map(|(k, _)| k + 1)).collect()
    }

    /// The log density of each event.
    pub fn each(&self) -> Array {
        let mut b = Builder::new();
        let nodes: Vec<NodeId> =
            self.pieces.iter().map(|p| b.constant(p.values.clone(), p.dims.clone())).collect();
        let id = log_density(&mut b, self.dist, nodes[0], &nodes[1..]).unwrap();
        Array::new(b.constant_of(id).unwrap(), b.dims(id))
    }

    /// The sum over events.
    pub fn value(&self) -> f64 {
        self.each().values.iter().sum()
    }

    /// The plan of the sum over events, with the free pieces as inputs one after another.
    pub fn plan(&self) -> (Plan, Vec<f64>) {
        let free = self.free();
        let mut b = Builder::new();
        let mut start = Vec::new();
        let mut nodes = Vec::new();
        for (k, piece) in self.pieces.iter().enumerate() {
            if free.contains(&k) {
                let node = b.input(start.len(), piece.dims.clone());
                // Derivatives are taken in all directions, also out of the set on which the density is
                // defined.
                if let Some(structure) = self.structure(k) {
                    b.assert_structure(node, structure);
                }
                nodes.push(node);
                start.extend(&piece.values);
            } else {
                nodes.push(b.constant(piece.values.clone(), piece.dims.clone()));
            }
        }
        let root = log_density_sum(&mut b, self.dist, nodes[0], &nodes[1..], None).unwrap();
        (Plan::new(&b.finish(), &[root], start.len()), start)
    }

    fn structure(&self, k: usize) -> Option<Structure> {
        match (k, self.dist.support) {
            (0, Support::Simplex) => return Some(Structure::Simplex),
            (0, Support::CorrMatrix) => return Some(Structure::Correlation),
            (0, Support::CholeskyCorr) => return Some(Structure::CholeskyCorrelation),
            (0, _) => return None,
            _ => {}
        }
        (self.dist.args[k - 1].domain == Domain::Simplex).then_some(Structure::Simplex)
    }

    /// Directions in the free pieces in which the density may move: single numbers, symmetric pairs of a
    /// symmetric matrix, numbers on and below the diagonal of a triangular one.
    pub fn directions(&self) -> Vec<Vec<(usize, f64)>> {
        let mut all = Vec::new();
        let mut offset = 0;
        for k in self.free() {
            let piece = &self.pieces[k];
            let (symmetric, triangular) = if k == 0 {
                let s = self.dist.support;
                (matches!(s, Support::CorrMatrix | Support::CovMatrix), s == Support::CholeskyCorr)
            } else {
                let d = self.dist.args[k - 1].domain;
                (d == Domain::Covariance, d == Domain::CholeskyFactor)
            };
            let n = piece.dims.last().copied().unwrap_or(1);
            for p in 0..piece.values.len() {
                let (matrix, i, j) = (p / (n * n), p / n % n, p % n);
                if (symmetric || triangular) && j > i {
                    continue;
                }
                let mut direction = vec![(offset + p, 1.0)];
                if symmetric && j < i {
                    direction.push((offset + matrix * n * n + j * n + i, 1.0));
                }
                all.push(direction);
            }
            offset += piece.values.len();
        }
        all
    }
}

/// Value and gradient.
pub fn gradient(plan: &Plan, z: &[f64]) -> (f64, Vec<f64>) {
    let mut ws = Workspace::<f64>::new(plan);
    ws.inputs(plan).copy_from_slice(z);
    ws.forward(plan, true);
    ws.reverse(plan);
    (ws.root(plan, 0, 0), ws.gradient(plan).to_vec())
}

/// The Hessian times a vector.
pub fn hessian_times(plan: &Plan, z: &[f64], v: &[f64]) -> Vec<f64> {
    let mut ws = Workspace::<Dual>::new(plan);
    for (i, w) in ws.inputs(plan).iter_mut().enumerate() {
        *w = Dual { v: z[i], d: v[i] };
    }
    ws.forward(plan, true);
    ws.reverse(plan);
    ws.gradient(plan).iter().map(|g| g.d).collect()
}

/// The derivative of `f` at 0 by central differences of fourth order.
pub fn difference(h: f64, f: impl Fn(f64) -> f64) -> f64 {
    (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
}

/// `z` moved by `t` along a direction.
pub fn moved(z: &[f64], direction: &[(usize, f64)], t: f64) -> Vec<f64> {
    let mut z = z.to_vec();
    direction.iter().for_each(|&(i, d)| z[i] += t * d);
    z
}

/// Asserts that gradient and Hessian agree with finite differences at a point.
pub fn check_derivatives(point: &Point) {
    let (plan, z) = point.plan();
    let (value, slopes) = gradient(&plan, &z);
    let name = point.dist.name;
    assert!((value - point.value()).abs() <= 1e-12 * (1.0 + value.abs()), "{name}: {value}");
    let directions = point.directions();
    for direction in &directions {
        let size = direction.iter().map(|&(i, _)| z[i].abs()).fold(0.0, f64::max);
        let h = if size == 0.0 { 1e-3 } else { 1e-3 * size.min(1.0) };
        let expected = difference(h, |t| gradient(&plan, &moved(&z, direction, t)).0);
        let got: f64 = direction.iter().map(|&(i, d)| slopes[i] * d).sum();
        let noise = 1e-14 * value.abs() / h;
        assert!(
            (got - expected).abs() <= 1e-7 * (1.0 + expected.abs()) + noise,
            "{name} {:?} along {direction:?}: {got} against {expected}",
            point.pieces
        );
        let mut v = vec![0.0; z.len()];
        direction.iter().for_each(|&(i, d)| v[i] = d);
        let product = hessian_times(&plan, &z, &v);
        for other in &directions {
            let along = |g: &[f64]| other.iter().map(|&(i, d)| g[i] * d).sum::<f64>();
            let expected = difference(h, |t| along(&gradient(&plan, &moved(&z, direction, t)).1));
            let got = along(&product);
            let noise = 1e-13 * along(&slopes).abs() / h;
            assert!(
                (got - expected).abs() <= 1e-6 * (1.0 + expected.abs()) + noise,
                "{name} {:?}: second derivative along {direction:?} and {other:?}: {got} against {expected}",
                point.pieces
            );
        }
    }
}

/// The rows that these tests are about.
pub fn rows() -> impl Iterator<Item = &'static Distribution> {
    stickler::dist::TABLE
        .iter()
        .copied()
        .filter(|row| row.discrete || row.event > 0 || matches!(row.density, Density::Events(_)))
}

/// The points that a row names.
pub fn probes(dist: &'static Distribution) -> impl Iterator<Item = Point> {
    dist.probes.iter().map(move |p| Point::new(dist, p.x, p.args))
}

/// The reference values.
pub fn reference() -> Vec<serde_json::Value> {
    serde_json::from_str(include_str!("../../reference/distributions_b.json")).unwrap()
}

/// The numbers of a list.
pub fn numbers(value: &serde_json::Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}
