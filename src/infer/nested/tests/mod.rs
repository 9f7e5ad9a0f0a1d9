//! What is integrated out against closed forms, and the two ways to it against each other.

mod crossed;
mod groups;

use crate::data::Dataset;
use crate::infer::gaussian::Gaussian;
use crate::infer::importance::pilot::judge;
use crate::infer::nested::conditional::Conditional;
use crate::infer::nested::explore::explore;
use crate::infer::nested::groups::pick;
use crate::infer::nested::hessian::pattern::pattern;
use crate::infer::nested::lanes::{LANES, Lanes};
use crate::infer::nested::lattice::Lattice;
use crate::infer::nested::marginal::Marginal;
use crate::infer::nested::marginal::directions;
use crate::infer::nested::partition::{How, Partition, partitions};
use crate::infer::nested::placement::Nested;
use crate::infer::nested::solver::Solver;
use crate::infer::options::Options;
use crate::infer::transport::warped::Warped;
use crate::num::linalg::{cholesky, log_det_cholesky, solve_cholesky};
use crate::num::real::LN_2PI;
use crate::num::special::{lgamma, log_phi};
use crate::num::stream::Stream;
use crate::target::{ModelTarget, Target, from_fn};
use crate::vi::Scale;

const Y: [f64; 5] = [3.0, -1.0, 0.5, 2.0, -2.5];

fn schools() -> ModelTarget {
    let rows: String = Y.iter().map(|y| format!("{y}\n")).collect();
    let data = Dataset::from_texts(&[("data.csv", &format!("y\n{rows}"))]).unwrap();
    let text = "data { y : real[J] }\nparam theta[J]\nparam mu ~ normal(0, 5)\nparam tau ~ half_normal(3)\n\
                theta ~ normal(mu, tau)\ny ~ normal(theta, 2)";
    ModelTarget::new(text, &data).unwrap()
}

/// log p(y, log tau): y is Gaussian with covariance (4 + tau²) I + 25 11ᵀ.
fn exact(log_tau: f64) -> f64 {
    let (n, tau) = (Y.len(), log_tau.exp());
    let mut covariance: Vec<f64> =
        (0..n * n).map(|p| 25.0 + if p / n == p % n { 4.0 + tau * tau } else { 0.0 }).collect();
    cholesky(&mut covariance, n).unwrap();
    let mut solved = Y.to_vec();
    solve_cholesky(&covariance, n, &mut solved);
    let square: f64 = solved.iter().zip(Y).map(|(a, b)| a * b).sum();
    let root = (2.0 / std::f64::consts::PI).sqrt() / 3.0;
    let prior = root.ln() - tau * tau / 18.0 + log_tau;
    prior - 0.5 * (square + log_det_cholesky(&covariance, n) + n as f64 * LN_2PI)
}

fn marginal(target: &ModelTarget, parts: Partition, log_tau: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let conditional = Conditional::new(target, parts, 1).unwrap();
    let marginal = Marginal::new(&conditional, &conditional.outer_scales());
    let (mut value, mut slope) = (vec![0.0; log_tau.len()], vec![0.0; log_tau.len()]);
    marginal.evaluator().evaluate(log_tau, log_tau.len(), &mut value, &mut slope);
    (value, slope)
}

#[test]
fn what_is_quadratic_is_integrated_out_exactly() {
    let target = schools();
    let parts = partitions(&target, 1).swap_remove(0);
    assert_eq!(
        (&parts.inner[..], &parts.outer[..], parts.how),
        (&[0, 1, 2, 3, 4, 5][..], &[6][..], How::Quadratic)
    );
    let points: Vec<f64> = (0..35).map(|k| -3.0 + 0.2 * f64::from(k)).collect();
    let (value, slope) = marginal(&target, parts, &points);
    // Constants of normal densities are dropped from the model, the same ones everywhere.
    let constant = value[0] - exact(points[0]);
    for ((x, value), slope) in points.iter().zip(value).zip(slope) {
        assert!((value - exact(*x) - constant).abs() < 1e-10, "{x}: {value}");
        let h = 1e-5;
        let expected = (exact(x + h) - exact(x - h)) / (2.0 * h);
        assert!((slope - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{x}: {slope} {expected}");
    }
}

/// Coefficients whose Hessian is a sum of two matrices: y is Gaussian with covariance sigma² I + X Xᵀ.
#[test]
fn coefficients_are_integrated_out_exactly() {
    let x = |row: usize, column: usize| (1.0 + (row * (column + 2)) as f64).sin();
    let y = |row: usize| (3.0 * row as f64).cos();
    let (n, k) = (12, 4);
    let row = |i: usize| format!("{},{},{},{},{}\n", y(i), x(i, 0), x(i, 1), x(i, 2), x(i, 3));
    let rows: String = (0..n).map(row).collect();
    let data = Dataset::from_texts(&[("data.csv", &format!("y,a,b,c,d\n{rows}"))]).unwrap();
    let text = "data {\ny : real[N]\na : real[N]\nb : real[N]\nc : real[N]\nd : real[N]\n}\n\
                param w[4] ~ normal(0, 1)\nparam sigma ~ exponential(1)\n\
                y ~ normal(w[1] * a + w[2] * b + w[3] * c + w[4] * d, sigma)";
    let target = ModelTarget::new(text, &data).unwrap();
    let exact = |log_sigma: f64| {
        let sigma = log_sigma.exp();
        let entry = |p: usize| {
            let product: f64 = (0..k).map(|c| x(p / n, c) * x(p % n, c)).sum();
            product + if p / n == p % n { sigma * sigma } else { 0.0 }
        };
        let mut covariance: Vec<f64> = (0..n * n).map(entry).collect();
        cholesky(&mut covariance, n).unwrap();
        let mut solved: Vec<f64> = (0..n).map(y).collect();
        solve_cholesky(&covariance, n, &mut solved);
        let square: f64 = solved.iter().enumerate().map(|(i, a)| a * y(i)).sum();
        log_sigma - sigma - 0.5 * (square + log_det_cholesky(&covariance, n))
    };
    let points: Vec<f64> = (0..40).map(|i| -2.0 + 0.15 * f64::from(i)).collect();
    let parts = partitions(&target, 1).swap_remove(0);
    assert_eq!(parts.inner.len(), k);
    let (value, _) = marginal(&target, parts, &points);
    let constant = value[0] - exact(points[0]);
    for (x, value) in points.iter().zip(value) {
        assert!((value - exact(*x) - constant).abs() < 1e-10, "{x}: {value}");
    }
}

/// Newton's steps on what is quadratic end where one factorisation does.
#[test]
fn both_ways_agree_where_both_are_exact() {
    let target = schools();
    let parts = partitions(&target, 1).swap_remove(0);
    let points = [-2.0, -0.5, 0.0, 0.7, 1.5, 3.0];
    let (one, _) = marginal(&target, parts.clone(), &points);
    let (steps, _) = marginal(&target, Partition { how: How::Searched, ..parts }, &points);
    for (a, b) in one.iter().zip(steps) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

/// What is explored is where the closed form has its top; polynomials through anchors follow that, and have
/// the slope of their own values.
#[test]
fn polynomials_through_anchors_follow_the_closed_form() {
    let target = schools();
    let parts = partitions(&target, 1).swap_remove(0);
    let mut conditional = Conditional::new(&target, parts, 1).unwrap();
    let q = explore(&mut conditional, 1).unwrap();
    let grid = (0..600).map(|k| -3.0 + 0.01 * f64::from(k));
    let top = grid.max_by(|a, b| exact(*a).total_cmp(&exact(*b))).unwrap();
    assert!((q.mean[0] - top).abs() < 0.5 * q.scales()[0], "{:?} {top}", q.mean);
    assert!(conditional.smooth(&q, 1));
    let apart = 0.02;
    let points: Vec<f64> = (0..101).map(|k| q.mean[0] + apart * f64::from(k - 50)).collect();
    let (mut value, mut slope) = (vec![0.0; points.len()], vec![0.0; points.len()]);
    let marginal = Marginal::new(&conditional, &q.scales());
    marginal.evaluator().evaluate(&points, points.len(), &mut value, &mut slope);
    let constant = value[50] - exact(points[50]);
    for k in 5..points.len() - 5 {
        // What the data add to the Hessian is the same everywhere, and what the prior adds is known.
        let off = value[k] - exact(points[k]) - constant;
        assert!(off.abs() < 1e-6, "{}: {off}", points[k]);
        let expected = (value[k + 5] - value[k - 5]) / (10.0 * apart);
        assert!(
            (slope[k] - expected).abs() < 0.01 * (1.0 + expected.abs()),
            "{}: {} {expected}",
            points[k],
            slope[k]
        );
    }
    // Where the scale is next to nothing, or huge, no anchor is near, and the curvature of the prior is known
    // all the same.
    let far = [-12.0, -8.0, -5.0, 4.0, 6.0].map(|by| q.mean[0] + by);
    let mut value = [0.0; 5];
    marginal.evaluator().log_density(&far, far.len(), &mut value);
    for (value, at) in value.iter().zip(far) {
        let off = value - exact(at) - constant;
        assert!(off.abs() < 1e-5, "{at}: {off}");
    }
}

#[test]
fn a_scale_is_never_taken_as_quadratic() {
    let data = Dataset::from_texts(&[("data.csv", "y\n3\n-1\n")]).unwrap();
    let text =
        "data { y : real[N] }\nparam a ~ normal(0, 1)\nparam b ~ normal(0, 1)\ny ~ normal(a * b, exp(b))";
    let target = ModelTarget::new(text, &data).unwrap();
    let parts = partitions(&target, 1).swap_remove(0);
    assert_eq!((&parts.inner[..], &parts.outer[..]), (&[0][..], &[1][..]));
}

/// A moving average with a coefficient of 3 multiplies rounding by 3 at every step: what is integrated out is
/// then not known, and must not be taken for a large number.
#[test]
fn what_cancels_beyond_all_digits_is_not_a_value() {
    let rows: String = (0..200).map(|t| format!("{}\n", (f64::from(t) * 0.7).sin())).collect();
    let data = Dataset::from_texts(&[("data.csv", &format!("y\n{rows}"))]).unwrap();
    let text = "data { y : real[T] }\nparam mu ~ normal(0, 5)\nparam a ~ normal(0, 1)\nlet e[1] = y[1] - mu\n\
                for t in 2..T { let e[t] = y[t] - mu - a * e[t-1] }\ne ~ normal(0, 1)";
    let target = ModelTarget::new(text, &data).unwrap();
    let parts = Partition { inner: vec![0], outer: vec![1], how: How::Quadratic };
    let (value, _) = marginal(&target, parts, &[0.3, 3.0]);
    assert!(value[0].is_finite() && !(value[1] >= value[0]), "{value:?}");
}

/// Twelve groups of one observation each, three of them far from where the mean is at first.
fn outlying(likelihood: &str, far: f64) -> Option<Vec<f64>> {
    let rows: String = (0..12).map(|j| format!("{}\n", if j < 3 { far } else { 0.1 })).collect();
    let data = Dataset::from_texts(&[("data.csv", &format!("y\n{rows}"))]).unwrap();
    let text = format!(
        "data {{ y : real[J] }}\nparam tau ~ half_normal(1)\nparam theta[J] ~ normal(0, tau)\ny ~ {likelihood}"
    );
    let target = ModelTarget::new(&text, &data).unwrap();
    let parts = Partition { inner: (1..13).collect(), outer: vec![0], how: How::Searched };
    pattern(&target, &parts, 1).map(|(_, diagonal)| diagonal)
}

/// Heavy tails bend the other way far out and have a mode all the same; what is curved may have several.
#[test]
fn heavy_tails_are_searched_and_curved_means_are_not() {
    let steps = outlying("student_t(4, theta, 0.3)", 1.0).expect("a pattern");
    assert!(steps.iter().all(|x| *x > 0.0) && steps.contains(&1.0), "{steps:?}");
    assert_eq!(outlying("normal(exp(theta), 0.3)", 20.0), None);
}

/// Sums of independent Student-t's hang together, and their mass is known: draws that are stretched find all
/// of it with even weights, and a Gaussian's do not.
#[test]
fn long_tails_of_what_hangs_together_are_drawn() {
    // y = A x has independent elements with four degrees of freedom, whose densities are (1 + y² / 4)^(-5/2)
    // but for constants.
    const A: [[f64; 3]; 3] = [[1.0, 0.1, -0.05], [0.04, 1.0, 0.1], [-0.1, 0.05, 1.0]];
    let target = from_fn(4, |z: &[f64], g: &mut [f64]| {
        let y = A.map(|row| row.iter().zip(&z[1..]).map(|(a, x)| a * x).sum::<f64>());
        g[0] = -z[0];
        for i in 0..3 {
            g[1 + i] = (0..3).map(|k| -5.0 * y[k] / (4.0 + y[k] * y[k]) * A[k][i]).sum();
        }
        -0.5 * z[0] * z[0] - 2.5 * y.map(|y| (0.25 * y * y).ln_1p()).iter().sum::<f64>()
    });
    let parts = Partition { inner: vec![1, 2, 3], outer: vec![0], how: How::Searched };
    let mut conditional = Conditional::new(&target, parts, 1).unwrap();
    assert!(conditional.is_one_block());
    let q = Gaussian { mean: vec![0.0], factor: Scale::identity(1) };
    let judged = |conditional: &Conditional| {
        let marginal = Marginal::new(conditional, &[1.0]);
        judge(&Nested::new(conditional, Warped::flat(&marginal), 1, &[]), &q, 4096, &Options::default())
    };
    let before = judged(&conditional);
    conditional.lengthen(&q);
    let after = judged(&conditional);
    assert!(before.khat > 0.6 && after.khat < 0.4, "{} {}", before.khat, after.khat);
    assert!(after.elbo.half_variance < 0.5 * before.elbo.half_variance, "{:?} {:?}", before.elbo, after.elbo);
    // The integral of (1 + y² / 4)^(-5/2) is 8/3.
    let det = A[0][0] * (A[1][1] * A[2][2] - A[1][2] * A[2][1])
        - A[0][1] * (A[1][0] * A[2][2] - A[1][2] * A[2][0])
        + A[0][2] * (A[1][0] * A[2][1] - A[1][1] * A[2][0]);
    let mass = (8.0_f64 / 3.0).powi(3) / det * (2.0 * std::f64::consts::PI).sqrt();
    let ratios = &after.pilot.ratios;
    let found = ratios.iter().map(|r| r.exp()).sum::<f64>() / ratios.len() as f64;
    assert!((found / mass).ln().abs() < 0.03, "{found} {mass}");
}
