//! The theorems about gradient estimators: what they are, that they are unbiased, how noisy they are.

mod vi_support;

use stickler::num::linalg::symmetric_eigen;
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

fn log_density(model: &dyn Target, z: &[f64]) -> f64 {
    let (mut value, mut gradient) = ([0.0], vec![0.0; z.len()]);
    model.evaluator().evaluate(z, 1, &mut value, &mut gradient);
    value[0]
}

/// z = m + C u for packed parameters.
fn transform(space: &Space, d: usize, w: &[f64], u: &[f64]) -> Vec<f64> {
    let c = dense_factor(space, d, w);
    (0..d).map(|i| w[i] + dot(&c[i * d..(i + 1) * d], u)).collect()
}

/// log N(z; m, CCᵀ) up to the constant of 2π.
fn log_q(space: &Space, d: usize, v: &[f64], z: &[f64]) -> f64 {
    let mut residual: Vec<f64> = (0..d).map(|i| z[i] - v[i]).collect();
    // CCᵀ x = residual, by the Cholesky factor of the product.
    let c = dense_factor(space, d, v);
    let mut gram: Vec<f64> =
        (0..d * d).map(|k| dot(&c[(k / d) * d..(k / d + 1) * d], &c[(k % d) * d..(k % d + 1) * d])).collect();
    stickler::num::linalg::cholesky(&mut gram, d).unwrap();
    let plain = residual.clone();
    stickler::num::linalg::solve_cholesky(&gram, d, &mut residual);
    -0.5 * dot(&plain, &residual) - 0.5 * log_det_gram(&c, d)
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

#[test]
fn explicit_estimators_are_derivatives_of_the_reparameterised_objective() {
    let model = LinearModel::logistic(15, 3);
    let d = model.d;
    let mut stream = Stream::new(1, 0, 0);
    // The full storages hold matrices outside their space too; moving one entry alone leaves it, so only packed ones here.
    for space in ["triangular", "symmetric", "diagonal"].map(|s| find::<Space>(s).unwrap()) {
        for _ in 0..3 {
            let (w, u) = (random_w(space, d, &mut stream), random_u(d, &mut stream));
            let z = |w: &[f64]| transform(space, d, w, &u);
            let h = |w: &[f64]| -0.5 * log_det_gram(&dense_factor(space, d, w), d);
            let energy = |w: &[f64]| -log_density(&model, &z(w));
            let held = w.clone();
            let stl = |w: &[f64]| energy(w) + log_q(space, d, &held, &z(w));
            type Objective<'a> = &'a dyn Fn(&[f64]) -> f64;
            let objectives: [(&str, Objective<'_>); 4] = [
                ("energy", &energy),
                ("entropy", &|w| energy(w) + h(w)),
                ("stl", &stl),
                ("stl_energy", &|w| stl(w) - h(w)),
            ];
            for (name, objective) in objectives {
                let found = at(&model, space, find(name).unwrap(), &w, &u);
                assert_close(&found, &differentiate(&w, objective), 1e-6, &format!("{name}, {}", space.name));
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
    family: Choice<Family>,
    estimator: &'static Estimator,
    w: &[f64],
    count: usize,
) -> Vec<(f64, f64)> {
    let d = model.dimension();
    let mut estimate = Estimate::new(model, family, find("triangular").unwrap(), estimator, 1);
    let mut stream = Stream::new(3, 0, 0);
    let (mut g, mut u) = (vec![0.0; w.len()], vec![0.0; d]);
    let mut sums = vec![(0.0, 0.0); w.len()];
    for _ in 0..count {
        (family.row.fill)(family.value, &mut stream, &mut u);
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
        for ((mean, error), expected) in
            sample_mean(&model, normal(), estimator, &w, 30_000).iter().zip(&expected)
        {
            // Twenty numbers are compared: five standard errors leave one false alarm in a hundred thousand runs.
            assert!(
                (mean - expected).abs() < 5.0 * error + 1e-12,
                "{}: {mean} ± {error}, {expected}",
                estimator.name
            );
        }
    }
}

#[test]
fn sticking_keeps_the_mean_on_every_base() {
    let model = LinearModel::logistic(12, 2);
    let w = random_w(find("triangular").unwrap(), 2, &mut Stream::new(5, 0, 0));
    for family in ["student_t=8", "laplace"].map(|f| f.parse::<Choice<Family>>().unwrap()) {
        for (plain, sticking) in [("energy", "stl_energy"), ("entropy", "stl")] {
            let plain = sample_mean(&model, family, find(plain).unwrap(), &w, 30_000);
            let sticking = sample_mean(&model, family, find(sticking).unwrap(), &w, 30_000);
            for ((a, ea), (b, eb)) in plain.iter().zip(&sticking) {
                assert!((a - b).abs() < 5.0 * (ea + eb), "{family}: {a} ± {ea} against {b} ± {eb}");
            }
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

/// Moves `w` into σ_min(C) ≥ floor where there is a projection, and otherwise leaves only those that are inside.
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
