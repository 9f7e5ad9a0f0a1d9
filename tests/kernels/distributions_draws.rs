//! Draws have the moments of their distribution, noncentered forms its density, and correlation matrices
//! total mass one.

use crate::events;

use events::{Array, Point, gradient};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use stickler::dist::{Sampler, find, log_density_sum};
use stickler::graph::{Builder, NodeId};
use stickler::plan::{Plan, Workspace};

const DRAWS: usize = 20_000;

fn draws(name: &str, args: &[&[f64]], size: usize) -> Vec<Vec<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(20_261_115);
    let dist = find(name).unwrap();
    let one = |rng: &mut ChaCha8Rng| -> Vec<f64> {
        let mut out = vec![0.0; size];
        match dist.sample {
            Sampler::Number(f) => out[0] = f(rng, &args.iter().map(|a| a[0]).collect::<Vec<_>>()),
            Sampler::Event(f) => f(rng, args, &mut out),
            Sampler::None => panic!("{name} cannot be drawn from"),
        }
        out
    };
    (0..DRAWS).map(|_| one(&mut rng)).collect()
}

/// Asserts that the mean of `values` is `expected`, within five of its standard errors.
fn check_mean(what: &str, values: impl Iterator<Item = f64> + Clone, expected: f64) {
    let n = DRAWS as f64;
    let mean = values.clone().sum::<f64>() / n;
    let variance = values.map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    assert!((mean - expected).abs() <= 5.0 * error + 1e-12, "{what}: {mean} ± {error}, expected {expected}");
}

/// Asserts means and covariances.
fn check_moments(name: &str, args: &[&[f64]], mean: &[f64], covariance: &[f64]) {
    let all = draws(name, args, mean.len());
    let k = mean.len();
    for i in 0..k {
        check_mean(&format!("{name} mean {i}"), all.iter().map(|d| d[i]), mean[i]);
        for j in 0..=i {
            let products = all.iter().map(|d| (d[i] - mean[i]) * (d[j] - mean[j]));
            check_mean(&format!("{name} covariance {i} {j}"), products, covariance[i * k + j]);
        }
    }
}

/// Asserts that each value occurs as often as its probability says.
fn check_frequencies(name: &str, args: &[&[f64]], values: std::ops::RangeInclusive<u32>) {
    let all = draws(name, args, 1);
    for x in values {
        let p = Point::named(name, &[f64::from(x)], args).value().exp();
        let hits = all.iter().filter(|d| d[0] == f64::from(x)).count() as f64;
        let (expected, error) = (p * DRAWS as f64, (p * (1.0 - p) * DRAWS as f64).sqrt());
        assert!(
            (hits - expected).abs() <= 4.5 * error + 2.0,
            "{name} {x}: {hits} against {expected} ± {error}"
        );
    }
}

#[test]
fn draws_of_integers_have_their_probabilities() {
    check_frequencies("bernoulli", &[&[0.3]], 0..=1);
    check_frequencies("bernoulli_logit", &[&[-1.1]], 0..=1);
    check_frequencies("binomial", &[&[12.0], &[0.3]], 0..=12);
    check_frequencies("binomial_logit", &[&[12.0], &[0.4]], 0..=12);
    check_frequencies("beta_binomial", &[&[9.0], &[0.5], &[1.5]], 0..=9);
    check_frequencies("poisson", &[&[3.4]], 0..=12);
    check_frequencies("poisson_log", &[&[1.1]], 0..=12);
    check_frequencies("neg_binomial", &[&[0.7], &[0.3]], 0..=15);
    check_frequencies("neg_binomial_2", &[&[3.0], &[1.5]], 0..=15);
    check_frequencies("neg_binomial_2_log", &[&[0.8], &[2.5]], 0..=15);
    check_frequencies("geometric", &[&[0.25]], 0..=15);
    check_frequencies("categorical", &[&[0.2, 0.5, 0.3]], 1..=3);
    check_frequencies("categorical_logit", &[&[0.2, -1.0, 0.9]], 1..=3);
    check_frequencies("ordered_logistic", &[&[0.4], &[-1.0, 0.2, 2.0]], 1..=4);
    check_frequencies("ordered_probit", &[&[0.4], &[-1.0, 0.2, 2.0]], 1..=4);
}

#[test]
fn draws_of_vectors_have_their_moments() {
    let s = [0.7, 0.4, 0.4, 1.3];
    check_moments("multi_normal", &[&[1.0, -2.0], &s], &[1.0, -2.0], &s);
    let det = 0.7 * 1.3 - 0.16;
    let inverse = s.map(|v| v / det);
    let inverse = [inverse[3], -inverse[1], -inverse[2], inverse[0]];
    check_moments("multi_normal_prec", &[&[1.0, -2.0], &s], &[1.0, -2.0], &inverse);
    let l = [0.7, 0.0, 0.4, 1.3];
    let product = [0.49, 0.28, 0.28, 0.16 + 1.69];
    check_moments("multi_normal_cholesky", &[&[1.0, -2.0], &l], &[1.0, -2.0], &product);
    check_moments("multi_student_t", &[&[9.0], &[1.0, -2.0], &s], &[1.0, -2.0], &s.map(|v| v * 9.0 / 7.0));
    check_moments(
        "gaussian_random_walk",
        &[&[0.5], &[0.0]],
        &[0.0; 3],
        &[0.25, 0.25, 0.25, 0.25, 0.5, 0.5, 0.25, 0.5, 0.75],
    );
    check_moments("gaussian_random_walk", &[&[0.5], &[2.0]], &[0.0; 2], &[4.0, 4.0, 4.0, 4.25]);
}

#[test]
fn draws_of_shares_and_counts_have_their_moments() {
    let alpha = [2.0, 0.5, 4.0];
    let total: f64 = alpha.iter().sum();
    let share = alpha.map(|a| a / total);
    let covariance = |scale: f64| -> Vec<f64> {
        (0..9)
            .map(|p| {
                let (i, j) = (p / 3, p % 3);
                scale * (if i == j { share[i] } else { 0.0 } - share[i] * share[j])
            })
            .collect()
    };
    check_moments("dirichlet", &[&alpha], &share, &covariance(1.0 / (total + 1.0)));
    check_moments("multinomial", &[&share, &[10.0]], &share.map(|p| 10.0 * p), &covariance(10.0));
    let logits = share.map(f64::ln);
    check_moments("multinomial_logit", &[&logits, &[10.0]], &share.map(|p| 10.0 * p), &covariance(10.0));
    let spread = 10.0 * (10.0 + total) / (1.0 + total);
    check_moments("dirichlet_multinomial", &[&alpha, &[10.0]], &share.map(|p| 10.0 * p), &covariance(spread));
}

#[test]
fn draws_of_matrices_have_their_moments() {
    let s = [0.7, 0.1, 0.1, 1.3];
    // Cov(W_ij, W_kl) = nu (S_ik S_jl + S_il S_jk).
    let nu = 6.5;
    let covariance: Vec<f64> = (0..16)
        .map(|p| {
            let (i, j, k, l) = (p / 8, p / 4 % 2, p / 2 % 2, p % 2);
            nu * (s[i * 2 + k] * s[j * 2 + l] + s[i * 2 + l] * s[j * 2 + k])
        })
        .collect();
    check_moments("wishart", &[&[nu], &s], &s.map(|v| nu * v), &covariance);
    // E X = S / (nu - K - 1); enough degrees of freedom for a variance of the variance.
    for (i, &v) in s.iter().enumerate() {
        let all = draws("inv_wishart", &[&[14.0], &s], 4);
        check_mean(&format!("inv_wishart mean {i}"), all.iter().map(|d| d[i]), v / 11.0);
    }
    // Each correlation of an LKJ matrix is a stretched beta with variance 1 / (2 eta + K - 1).
    for eta in [0.7, 3.0] {
        let all = draws("lkj_corr", &[&[eta]], 9);
        let factors = draws("lkj_corr_cholesky", &[&[eta]], 9);
        for (i, j) in [(1, 0), (2, 0), (2, 1)] {
            let from_factor = |d: &Vec<f64>| (0..3).map(|k| d[i * 3 + k] * d[j * 3 + k]).sum::<f64>();
            let variance = 1.0 / (2.0 * eta + 2.0);
            check_mean("lkj mean", all.iter().map(|d| d[i * 3 + j]), 0.0);
            check_mean("lkj variance", all.iter().map(|d| d[i * 3 + j].powi(2)), variance);
            check_mean("lkj factor mean", factors.iter().map(from_factor), 0.0);
            check_mean("lkj factor variance", factors.iter().map(|d| from_factor(d).powi(2)), variance);
        }
        assert!(all.iter().all(|d| (0..3).all(|i| d[i * 4] == 1.0)));
    }
}

#[test]
fn draws_of_gaussian_processes_have_their_covariance() {
    let x = [0.0_f64, 0.4, 1.1];
    let (alpha, rho, jitter) = (1.3, 0.7, 0.01);
    type Form = (&'static str, fn(f64, f64) -> f64);
    let forms: [Form; 4] = [
        ("gp_exp_quad", |d, r| (-d * d / (2.0 * r * r)).exp()),
        ("gp_matern32", |d, r| (1.0 + 3f64.sqrt() * d / r) * (-(3f64.sqrt()) * d / r).exp()),
        ("gp_matern52", |d, r| {
            let s = 5f64.sqrt() * d / r;
            (1.0 + s + s * s / 3.0) * (-s).exp()
        }),
        ("gp_exponential", |d, r| (-d / r).exp()),
    ];
    for (name, form) in forms {
        let covariance: Vec<f64> = (0..9)
            .map(|p| {
                let (i, j): (usize, usize) = (p / 3, p % 3);
                alpha * alpha * form((x[i] - x[j]).abs(), rho) + if i == j { jitter } else { 0.0 }
            })
            .collect();
        check_moments(name, &[&x, &[alpha], &[rho], &[jitter]], &[0.0; 3], &covariance);
    }
}

/// log |det| by Gaussian elimination.
fn log_abs_det(mut a: Vec<Vec<f64>>) -> f64 {
    let n = a.len();
    let mut total = 0.0;
    for c in 0..n {
        let pivot = (c..n).max_by(|&i, &j| a[i][c].abs().total_cmp(&a[j][c].abs())).unwrap();
        a.swap(c, pivot);
        total += a[c][c].abs().ln();
        for r in c + 1..n {
            let factor = a[r][c] / a[c][c];
            let top = a[c].clone();
            a[r].iter_mut().zip(&top).skip(c).for_each(|(x, t)| *x -= factor * t);
        }
    }
    total
}

/// Checks log p(x(z)) + log |dx/dz| = Σ log N(z) for a point's arguments, in batches or not.
fn check_noncentered(point: &Point) {
    let dist = point.dist;
    let form = dist.noncentered.as_ref().unwrap();
    let size = point.pieces[0].values.len();
    let build = |b: &mut Builder, z: NodeId| {
        let args: Vec<NodeId> =
            point.pieces[1..].iter().map(|p| b.constant(p.values.clone(), p.dims.clone())).collect();
        (form.build)(b, z, &args).unwrap()
    };
    let x_of = |z: &[f64]| -> Vec<f64> {
        let mut b = Builder::new();
        let z = b.constant(z.to_vec(), point.pieces[0].dims.clone());
        let x = build(&mut b, z);
        assert_eq!(b.dims(x), point.pieces[0].dims, "{}", dist.name);
        b.constant_of(x).unwrap().to_vec()
    };
    let z: Vec<f64> = (0..size).map(|i| 0.7 - 0.4 * i as f64).collect();
    let x = x_of(&z);
    let jacobian: Vec<Vec<f64>> = (0..size)
        .map(|i| {
            let (mut up, mut down) = (z.clone(), z.clone());
            up[i] += 0.5;
            down[i] -= 0.5;
            x_of(&up).iter().zip(x_of(&down)).map(|(u, d)| u - d).collect()
        })
        .collect();
    let mut at = point.clone();
    at.pieces[0].values = x;
    let base: f64 = z.iter().map(|z| -0.5 * z * z - 0.5 * (2.0 * std::f64::consts::PI).ln()).sum();
    let got = at.value() + log_abs_det(jacobian);
    assert!((got - base).abs() < 1e-6 * (1.0 + base.abs()), "{}: {got} against {base}", dist.name);
}

#[test]
fn noncentered_forms_have_the_density_of_their_base() {
    let mut seen = 0;
    for dist in events::rows().filter(|d| d.noncentered.is_some()) {
        for mut point in events::probes(dist) {
            if let Some(jitter) = dist.args.iter().position(|a| a.name == "jitter") {
                point.pieces[jitter + 1].values[0] = 0.01;
            }
            check_noncentered(&point);
            let mut many = point.clone();
            many.pieces[0] = point.pieces[0].repeated(2);
            check_noncentered(&many);
            for (k, spec) in dist.args.iter().enumerate().filter(|(_, a)| a.name != "x") {
                let other: Vec<f64> = point.pieces[k + 1].values.iter().map(|v| 1.5 * v).collect();
                let other = Array { values: other, ..point.pieces[k + 1].clone() };
                let mut each = many.clone();
                each.pieces[k + 1] = Array::stacked(&[&point.pieces[k + 1], &other]);
                if spec.default != Some(0.0) {
                    check_noncentered(&each);
                }
            }
            seen += 1;
        }
    }
    assert!(seen >= 16);
}

/// Nodes and weights of ∫ f over (-1, 1) after x = tanh(π/2 sinh t): singular ends do no harm.
fn double_exponential(steps: i32) -> Vec<(f64, f64, f64)> {
    let h = 3.0 / f64::from(steps);
    (-steps..=steps)
        .map(|i| {
            let t = h * f64::from(i);
            let u = std::f64::consts::FRAC_PI_2 * t.sinh();
            let weight = h * std::f64::consts::FRAC_PI_2 * t.cosh() / u.cosh().powi(2);
            // x, its weight, and √(1 - x²) = 1 / cosh u without cancellation.
            (u.tanh(), weight, 1.0 / u.cosh())
        })
        .collect()
}

/// exp of the log density of one matrix, as a function that is cheap to call.
fn density_of(name: &str, n: usize, eta: f64) -> impl FnMut(&[f64]) -> f64 {
    let mut b = Builder::new();
    let (x, eta) = (b.input(0, vec![n, n]), b.number(eta));
    let root = log_density_sum(&mut b, find(name).unwrap(), x, &[eta], None).unwrap();
    let plan = Plan::new(&b.finish(), &[root], n * n);
    let mut ws = Workspace::<f64>::new(&plan);
    move |x: &[f64]| {
        ws.inputs(&plan).copy_from_slice(x);
        ws.forward(&plan, false);
        ws.root(&plan, 0, 0).exp()
    }
}

#[test]
fn correlation_matrices_have_total_mass_one() {
    let nodes = double_exponential(30);
    for eta in [1.0, 1.7, 4.0] {
        let (mut of_matrix, mut of_factor) =
            (density_of("lkj_corr", 2, eta), density_of("lkj_corr_cholesky", 2, eta));
        let (mut matrix, mut factor) = (0.0, 0.0);
        for &(r, w, s) in &nodes {
            if s < 1e-7 {
                continue;
            }
            matrix += w * of_matrix(&[1.0, r, r, 1.0]);
            factor += w * of_factor(&[1.0, 0.0, r, s]);
        }
        assert!((matrix - 1.0).abs() < 1e-6 && (factor - 1.0).abs() < 1e-6, "{eta}: {matrix} {factor}");
    }
    let nodes: Vec<_> = double_exponential(20).into_iter().filter(|n| n.2 > 1e-4).collect();
    for eta in [1.0, 2.5] {
        let (mut of_matrix, mut of_factor) =
            (density_of("lkj_corr", 3, eta), density_of("lkj_corr_cholesky", 3, eta));
        let (mut matrix, mut factor) = (0.0, 0.0);
        for &(a, u, sa) in &nodes {
            for &(b, v, sb) in &nodes {
                for &(c, w, sc) in &nodes {
                    // r23 = ab + c √((1-a²)(1-b²)); the factor's last row is (b, c √(1-b²), √((1-b²)(1-c²))).
                    let r = a * b + c * sa * sb;
                    matrix += u * v * w * sa * sb * of_matrix(&[1.0, a, b, a, 1.0, r, b, r, 1.0]);
                    factor += u * v * w * sb * of_factor(&[1.0, 0.0, 0.0, a, sa, 0.0, b, c * sb, sb * sc]);
                }
            }
        }
        assert!((matrix - 1.0).abs() < 1e-5 && (factor - 1.0).abs() < 1e-5, "{eta}: {matrix} {factor}");
    }
}

#[test]
fn a_long_walk_is_a_sum_of_steps() {
    // The walk as a multivariate normal with covariance sigma² min(s, t).
    let x = [0.3, -1.0, 0.2, 0.9];
    let sigma = 0.7_f64;
    let covariance: Vec<f64> = (0..16).map(|p| sigma * sigma * (1 + (p / 4).min(p % 4)) as f64).collect();
    let walk = Point::named("gaussian_random_walk", &x, &[&[sigma], &[0.0]]);
    let normal = Point::named("multi_normal", &x, &[&[0.0; 4], &covariance]);
    assert!((walk.value() - normal.value()).abs() < 1e-12);
    let (plan, z) = walk.plan();
    assert!((gradient(&plan, &z).0 - walk.value()).abs() < 1e-12);
}
