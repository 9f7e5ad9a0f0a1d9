//! The theorems about gradient estimators: what they are, that they are unbiased, how noisy they are.
//! `vi_bases.rs` has the same for every base.

use crate::vi_support;

use stickler::num::linalg::symmetric_eigen;
use stickler::num::real::{Dual, Real};
use stickler::num::stream::Stream;
use stickler::target::{Target, from_fn};
use stickler::vi::draws::Draws;
use stickler::vi::estimator::{Estimates, Estimator};
use stickler::vi::factor::Space;
use stickler::vi::family::Family;
use stickler::vi::noise::Geometry;
use stickler::vi::table::find;
use stickler::vi::{Choice, Estimate, Row};
use vi_support::*;

fn normal() -> Choice<Family> {
    Choice::named("normal").unwrap()
}

/// A random `w` with `C` well inside the positive definite matrices.
fn random_w(space: &Space, d: usize, stream: &mut Stream) -> Vec<f64> {
    let dense: Vec<f64> =
        (0..d * d)
            .map(|k| {
                if k / d == k % d {
                    0.6 + stream.uniform()
                } else {
                    0.25 * stream.normal() / (d as f64).sqrt()
                }
            })
            .collect();
    let factor = (space.make)(d);
    let mut w: Vec<f64> = (0..d).map(|_| stream.normal()).collect();
    w.resize(d + factor.count(), 0.0);
    factor.pack(&dense, &mut w[d..]);
    w
}

fn random_u(d: usize, stream: &mut Stream) -> Vec<f64> {
    (0..d).map(|_| stream.normal()).collect()
}

/// The estimate at one draw.
fn at(
    model: &dyn Target,
    space: &'static Space,
    estimator: &'static Estimator,
    w: &[f64],
    u: &[f64],
) -> Vec<f64> {
    let mut gradient = vec![0.0; w.len()];
    Estimate::new(model, normal(), space, estimator, 1).at(w, u, &mut gradient).unwrap();
    gradient
}

/// Nodes of the tensor Gauss-Hermite rule in d dimensions with their weights.
fn tensor(n: usize, d: usize) -> Vec<(Vec<f64>, f64)> {
    let rule = gauss_hermite(n);
    let mut nodes = vec![(Vec::new(), 1.0)];
    for _ in 0..d {
        nodes = nodes
            .iter()
            .flat_map(|(u, w)| rule.iter().map(move |(x, v)| ([&u[..], &[*x]].concat(), w * v)))
            .collect();
    }
    nodes
}

/// Mean of the estimator and of its squared norm, by quadrature.
fn moments(
    model: &dyn Target,
    space: &'static Space,
    estimator: &'static Estimator,
    w: &[f64],
    nodes: &[(Vec<f64>, f64)],
) -> (Vec<f64>, f64) {
    let mut estimate = Estimate::new(model, normal(), space, estimator, 1);
    let (mut mean, mut second, mut g) = (vec![0.0; w.len()], 0.0, vec![0.0; w.len()]);
    for (u, weight) in nodes {
        estimate.at(w, u, &mut g).unwrap();
        mean.iter_mut().zip(&g).for_each(|(m, g)| *m += weight * g);
        second += weight * dot(&g, &g);
    }
    (mean, second)
}

/// Central differences in the packed coordinates.
fn differentiate(w: &[f64], f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let h = 1e-5;
    (0..w.len())
        .map(|k| {
            let (mut plus, mut minus) = (w.to_vec(), w.to_vec());
            plus[k] += h;
            minus[k] -= h;
            (f(&plus) - f(&minus)) / (2.0 * h)
        })
        .collect()
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    for (k, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{what}: entry {k} is {a}, expected {b}");
    }
}

/// What the estimators are derivatives of, with a tangent in w: free energy at z = m + C u, entropy, and log
/// q at z with its own parameters held. The density is that of a logistic regression, written out once more.
struct Reparameterised<'a> {
    model: &'a LinearModel,
    u: &'a [f64],
    /// (CCᵀ)⁻¹ and m, held.
    precision: &'a [f64],
    centre: &'a [f64],
}

impl Reparameterised<'_> {
    /// (energy, entropy, log q up to a constant) at `(m, C)`, C by rows.
    fn at(&self, w: &[Dual]) -> [Dual; 3] {
        let d = self.model.d;
        let (m, c) = w.split_at(d);
        let sum = |terms: &mut dyn Iterator<Item = Dual>| terms.fold(Dual::splat(0.0), |s, x| s + x);
        let z: Vec<Dual> =
            (0..d).map(|i| m[i] + sum(&mut (0..d).map(|j| c[i * d + j] * Dual::splat(self.u[j])))).collect();
        let quadratic = |p: &[f64], x: &[Dual]| {
            sum(&mut (0..d * d).map(|k| x[k / d] * x[k % d] * Dual::splat(p[k]))) * Dual::splat(0.5)
        };
        let losses = &mut self.model.rows.chunks_exact(d).zip(&self.model.y).map(|(a, y)| {
            let eta = sum(&mut (0..d).map(|i| z[i] * Dual::splat(a[i])));
            eta.exp().log1p() - eta * Dual::splat(*y)
        });
        let energy = quadratic(&self.model.prior, &z) + sum(losses);
        let off: Vec<Dual> = z.iter().zip(self.centre).map(|(z, m)| *z - Dual::splat(*m)).collect();
        [energy, -log_det(c.to_vec(), d), -quadratic(self.precision, &off)]
    }
}

/// log det C by elimination.
fn log_det(mut c: Vec<Dual>, d: usize) -> Dual {
    let mut sum = Dual::splat(0.0);
    for k in 0..d {
        sum += c[k * d + k].ln();
        for i in k + 1..d {
            let factor = c[i * d + k] / c[k * d + k];
            for j in k..d {
                let above = c[k * d + j];
                c[i * d + j] -= factor * above;
            }
        }
    }
    sum
}

#[test]
fn explicit_estimators_are_automatic_derivatives_of_the_reparameterised_objective() {
    let model = LinearModel::logistic(15, 3);
    let d = model.d;
    let mut stream = Stream::new(1, 0, 0);
    for space in Space::table() {
        for _ in 0..3 {
            let (w, u) = (random_w(space, d, &mut stream), random_u(d, &mut stream));
            let c = dense_factor(space, d, &w);
            let gram: Vec<f64> = (0..d * d)
                .map(|k| dot(&c[(k / d) * d..(k / d + 1) * d], &c[(k % d) * d..(k % d + 1) * d]))
                .collect();
            let precision = symmetric_power(&gram, d, -1.0);
            let objective = Reparameterised { model: &model, u: &u, precision: &precision, centre: &w[..d] };
            let all = [&w[..d], &c].concat();
            // One direction at a time, among all matrices; the gradient within a space is the projection,
            // which is `pack`.
            let slopes: Vec<[f64; 3]> = (0..all.len())
                .map(|k| {
                    let dual = |(i, x): (usize, &f64)| Dual { v: *x, d: f64::from(u8::from(i == k)) };
                    objective.at(&all.iter().enumerate().map(dual).collect::<Vec<_>>()).map(|x| x.d)
                })
                .collect();
            let combined = |[energy, entropy, log_q]: [f64; 3]| -> Vec<f64> {
                let dense: Vec<f64> =
                    slopes.iter().map(|s| energy * s[0] + entropy * s[1] + log_q * s[2]).collect();
                let mut packed = vec![0.0; w.len()];
                packed[..d].copy_from_slice(&dense[..d]);
                (space.make)(d).pack(&dense[d..], &mut packed[d..]);
                packed
            };
            for (name, parts) in [
                ("energy", [1.0, 0.0, 0.0]),
                ("entropy", [1.0, 1.0, 0.0]),
                ("stl", [1.0, 0.0, 1.0]),
                ("stl_energy", [1.0, -1.0, 1.0]),
            ] {
                let found = at(&model, space, find(name).unwrap(), &w, &u);
                assert_close(&found, &combined(parts), 1e-11, &format!("{name}, {}", space.name));
            }
        }
    }
}

#[test]
fn estimators_are_unbiased_by_quadrature() {
    let nodes = tensor(24, 2);
    let model = LinearModel::logistic(12, 2);
    let mut stream = Stream::new(2, 0, 0);
    for space in ["triangular", "symmetric", "diagonal"].map(|s| find::<Space>(s).unwrap()) {
        let w = random_w(space, 2, &mut stream);
        let objective = |w: &[f64]| model.objective(&w[..2], &dense_factor(space, 2, w));
        let entropy = |w: &[f64]| -0.5 * log_det_gram(&dense_factor(space, 2, w), 2);
        for estimator in Estimator::table() {
            let (mean, _) = moments(&model, space, estimator, &w, &nodes);
            let expected = match estimator.estimates {
                Estimates::Objective => differentiate(&w, objective),
                Estimates::FreeEnergy => differentiate(&w, |w| objective(w) - entropy(w)),
            };
            assert_close(&mean, &expected, 1e-6, &format!("{}, {}", estimator.name, space.name));
        }
    }
}

/// The mean of an estimator over many draws, with the standard error of each entry.
fn sample_mean(
    model: &dyn Target,
    estimator: &'static Estimator,
    w: &[f64],
    count: usize,
) -> Vec<(f64, f64)> {
    let d = model.dimension();
    let mut estimate = Estimate::new(model, normal(), find("triangular").unwrap(), estimator, 1);
    let mut stream = Stream::new(3, 0, 0);
    let (mut g, mut u) = (vec![0.0; w.len()], vec![0.0; d]);
    let mut sums = vec![(0.0, 0.0); w.len()];
    for _ in 0..count {
        stream.fill_normal(&mut u);
        estimate.at(w, &u, &mut g).unwrap();
        sums.iter_mut().zip(&g).for_each(|(s, g)| *s = (s.0 + g, s.1 + g * g));
    }
    let n = count as f64;
    sums.iter().map(|(s, q)| (s / n, ((q / n - (s / n).powi(2)).max(0.0) / n).sqrt())).collect()
}

#[test]
fn the_mean_over_many_draws_is_the_gradient() {
    let model = LinearModel::logistic(12, 2);
    let space = find::<Space>("triangular").unwrap();
    let w = random_w(space, 2, &mut Stream::new(4, 0, 0));
    let nodes = tensor(24, 2);
    for estimator in Estimator::table() {
        let (expected, _) = moments(&model, space, estimator, &w, &nodes);
        for ((mean, error), expected) in sample_mean(&model, estimator, &w, 30_000).iter().zip(&expected) {
            // Twenty numbers are compared: five standard errors leave one false alarm in a hundred thousand
            // runs.
            assert!(
                (mean - expected).abs() < 5.0 * error + 1e-12,
                "{}: {mean} ± {error}, {expected}",
                estimator.name
            );
        }
    }
}

#[test]
fn noise_stays_below_the_bounds_at_random_parameters() {
    let model = LinearModel::logistic(12, 2);
    let d = 2;
    let nodes = tensor(20, d);
    let constants = model.constants();
    let mode = model.mode();
    let mut stream = Stream::new(6, 0, 0);
    for space in ["triangular", "symmetric", "diagonal"].map(|s| find::<Space>(s).unwrap()) {
        let (best, _) = model.best(space);
        let (residual, residual_mode) = residual_constants(&model);
        let away = |point: &[f64]| {
            distance_squared(&best[..d], point) + best[d..].iter().map(|c| c * c).sum::<f64>()
        };
        let geometry = Geometry {
            dimension: d,
            kurtosis: 3.0,
            smoothness: constants.smoothness,
            residual,
            to_mode: away(&mode),
            to_residual_mode: away(&residual_mode),
        };
        assert!(geometry.to_mode <= d as f64 / constants.strong_concavity, "‖w* - w̄‖² ≤ d/μ");
        for estimator in Estimator::table() {
            let Some(noise) = (estimator.noise)(&geometry) else { continue };
            // The bound for STL is proved for factors that hold every covariance.
            if estimator.name == "stl" && !space.full_rank {
                continue;
            }
            for round in 0..6 {
                let mut w = random_w(space, d, &mut stream);
                w.iter_mut().for_each(|x| *x *= 0.3 * f64::from(1 << round));
                into_constraint(space, d, &mut w, 1.0 / constants.smoothness.sqrt());
                let (_, second) = moments(&model, space, estimator, &w, &nodes);
                let bound = noise.at(distance_squared(&w, &best));
                assert!(second <= bound, "{}, {}: {second} above {bound}", estimator.name, space.name);
                if estimator.name == "energy" {
                    let sharp = geometry
                        .sharp_energy(distance_squared(&w[..d], &mode), w[d..].iter().map(|c| c * c).sum());
                    assert!(second <= sharp && sharp <= bound, "sharp form: {second}, {sharp}, {bound}");
                }
            }
        }
    }
}

/// Moves `w` into σ_min(C) ≥ floor where there is a projection, and otherwise leaves only those that are
/// inside.
fn into_constraint(space: &Space, d: usize, w: &mut [f64], floor: f64) {
    let mut factor = (space.make)(d);
    if !factor.project(&mut w[d..], floor) {
        let c = dense_factor(space, d, w);
        let gram: Vec<f64> = (0..d * d)
            .map(|k| dot(&c[(k / d) * d..(k / d + 1) * d], &c[(k % d) * d..(k % d + 1) * d]))
            .collect();
        let smallest = symmetric_eigen(&gram, d).unwrap().values[0].sqrt();
        if smallest < floor {
            w[d..].iter_mut().for_each(|c| *c *= floor / smallest);
        }
    }
}

#[test]
fn the_sharp_noise_bound_is_attained_by_an_isotropic_quadratic() {
    let (d, big_m) = (3, 2.5);
    let centre = [0.4, -1.0, 2.0];
    let target = from_fn(d, move |z: &[f64], g: &mut [f64]| {
        (0..d).for_each(|i| g[i] = -big_m * (z[i] - centre[i]));
        -0.5 * big_m * distance_squared(z, &centre)
    });
    let mut stream = Stream::new(7, 0, 0);
    for family in ["normal", "laplace", "student_t=6"].map(|f| f.parse::<Choice<Family>>().unwrap()) {
        let kurtosis = (family.row.kurtosis)(family.value);
        // Three points with the first five moments of the base: exact for the fourth powers of u at hand.
        let (node, tail) = (kurtosis.sqrt(), 0.5 / kurtosis);
        let rule = [(-node, tail), (0.0, 1.0 - 2.0 * tail), (node, tail)];
        let m: Vec<f64> = random_u(d, &mut stream);
        let c: Vec<f64> = (0..d * d).map(|_| stream.normal()).collect();
        let mut second = 0.0;
        for (a, wa) in rule {
            for (b, wb) in rule {
                for (e, we) in rule {
                    let u = [a, b, e];
                    let z: Vec<f64> = (0..d).map(|i| m[i] + dot(&c[i * d..(i + 1) * d], &u)).collect();
                    let (mut value, mut g) = ([0.0], vec![0.0; d]);
                    target.evaluator().evaluate(&z, 1, &mut value, &mut g);
                    // The unprojected estimator is (π, π uᵀ): its squared norm is ‖π‖²(1 + ‖u‖²).
                    second += wa * wb * we * dot(&g, &g) * (1.0 + dot(&u, &u));
                }
            }
        }
        let geometry = Geometry {
            dimension: d,
            kurtosis,
            smoothness: big_m,
            residual: 0.0,
            to_mode: 0.0,
            to_residual_mode: 0.0,
        };
        let sharp = geometry.sharp_energy(distance_squared(&m, &centre), dot(&c, &c));
        assert!((second / sharp - 1.0).abs() < 1e-12, "{family}: {second} against {sharp}");
    }
}

/// In one dimension no factor is projected: the estimator itself attains the bound.
#[test]
fn the_sharp_noise_bound_is_attained_by_the_energy_estimator_in_one_dimension() {
    let (big_m, centre) = (2.5, 0.4);
    let target = from_fn(1, move |z: &[f64], g: &mut [f64]| {
        g[0] = -big_m * (z[0] - centre);
        -0.5 * big_m * (z[0] - centre).powi(2)
    });
    for family in ["normal", "laplace", "student_t=6"].map(|f| f.parse::<Choice<Family>>().unwrap()) {
        let kurtosis = (family.row.kurtosis)(family.value);
        let (node, tail) = (kurtosis.sqrt(), 0.5 / kurtosis);
        for space in Space::table() {
            let w = [-0.7, 1.3];
            let mut estimate = Estimate::new(&target, family, space, find("energy").unwrap(), 1);
            let mut second = 0.0;
            for (u, weight) in [(-node, tail), (0.0, 1.0 - 2.0 * tail), (node, tail)] {
                let mut g = [0.0; 2];
                estimate.at(&w, &[u], &mut g).unwrap();
                second += weight * dot(&g, &g);
            }
            let geometry = Geometry {
                dimension: 1,
                kurtosis,
                smoothness: big_m,
                residual: 0.0,
                to_mode: 0.0,
                to_residual_mode: 0.0,
            };
            let sharp = geometry.sharp_energy((w[0] - centre) * (w[0] - centre), w[1] * w[1]);
            assert!((second / sharp - 1.0).abs() < 1e-12, "{family}, {}: {second}, {sharp}", space.name);
        }
    }
}

#[test]
fn only_sticking_estimators_are_noiseless_at_a_gaussian_optimum() {
    let model = LinearModel::linear(20, 4, 0.7);
    let mut stream = Stream::new(8, 0, 0);
    for space in Space::table().iter().filter(|s| s.full_rank) {
        let (best, _) = model.best(space);
        for estimator in Estimator::table() {
            let draws: Vec<Vec<f64>> =
                (0..20).map(|_| at(&model, space, estimator, &best, &random_u(4, &mut stream))).collect();
            let spread = draws.iter().map(|g| distance_squared(g, &draws[0])).fold(0.0, f64::max).sqrt();
            let size = draws.iter().map(|g| dot(g, g)).fold(0.0, f64::max).sqrt();
            if estimator.sticks {
                assert!(spread < 1e-10, "{}, {}: spread {spread}", estimator.name, space.name);
            } else {
                assert!(spread > 1.0, "{}, {}: spread {spread}", estimator.name, space.name);
            }
            if estimator.name == "stl" {
                assert!(size < 1e-10, "the STL gradient at the optimum is {size}");
            }
        }
    }
}

/// Mean, and mean squared distance from `expected`, of the estimates from many batches.
fn over_batches(
    model: &dyn Target,
    draws: &Draws,
    w: &[f64],
    expected: &[f64],
    batches: u64,
) -> (Vec<f64>, Vec<f64>) {
    let (space, estimator, batch) = (find("triangular").unwrap(), find("energy").unwrap(), 16);
    let mut estimate = Estimate::new(model, normal(), space, estimator, batch);
    let (mut mean, mut square, mut g) = (vec![0.0; w.len()], vec![0.0; w.len()], vec![0.0; w.len()]);
    for k in 0..batches {
        let u = draws.batch(&normal(), model.dimension(), batch, 77, k).unwrap();
        estimate.at(w, &u, &mut g).unwrap();
        for i in 0..w.len() {
            mean[i] += g[i] / batches as f64;
            square[i] += (g[i] - expected[i]).powi(2) / batches as f64;
        }
    }
    (mean, square)
}

#[test]
fn every_kind_of_draws_keeps_the_mean() {
    let model = LinearModel::logistic(12, 2);
    let space = find::<Space>("triangular").unwrap();
    let w = random_w(space, 2, &mut Stream::new(9, 0, 0));
    let (expected, _) = moments(&model, space, find("energy").unwrap(), &w, &tensor(24, 2));
    let batches = 1500;
    let mut noise = Vec::new();
    for draws in Draws::table() {
        let (mean, square) = over_batches(&model, draws, &w, &expected, batches);
        for i in 0..w.len() {
            let error = (square[i] / batches as f64).sqrt();
            assert!((mean[i] - expected[i]).abs() < 4.5 * error, "{}: entry {i} is biased", draws.name);
        }
        noise.push(square.iter().sum::<f64>());
    }
    // The third row is the Sobol sequence: 16 evenly spread points in the plane.
    assert!(noise[2] < 0.2 * noise[0], "noise of each kind: {noise:?}");
}

#[test]
fn antithetic_pairs_leave_no_noise_that_is_odd_in_u() {
    // For a quadratic the gradient of the mean is affine in u, so pairs give it exactly.
    let model = LinearModel::linear(12, 3, 1.0);
    let space = find::<Space>("triangular").unwrap();
    let w = random_w(space, 3, &mut Stream::new(10, 0, 0));
    let (expected, _) = moments(&model, space, find("energy").unwrap(), &w, &tensor(4, 3));
    let (_, square) = over_batches(&model, find("antithetic").unwrap(), &w, &expected, 20);
    assert!(square[..3].iter().all(|s| *s < 1e-20) && square[3..].iter().all(|s| *s > 1e-4), "{square:?}");
}
