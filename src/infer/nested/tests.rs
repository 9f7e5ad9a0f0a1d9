//! What is integrated out against closed forms, and the two ways to it against each other.

use super::conditional::Conditional;
use super::marginal::Marginal;
use super::partition::{Partition, partition};
use crate::data::Dataset;
use crate::num::linalg::{cholesky, log_det_cholesky, solve_cholesky};
use crate::target::{ModelTarget, Target};

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
    prior - 0.5 * (square + log_det_cholesky(&covariance, n) + n as f64 * super::LOG_TWO_PI)
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
    let parts = partition(&target, 1).unwrap();
    assert_eq!(
        (&parts.inner[..], &parts.outer[..], parts.quadratic),
        (&[0, 1, 2, 3, 4, 5][..], &[6][..], true)
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

/// Newton's steps on what is quadratic end where one factorisation does.
#[test]
fn both_ways_agree_where_both_are_exact() {
    let target = schools();
    let parts = partition(&target, 1).unwrap();
    let points = [-2.0, -0.5, 0.0, 0.7, 1.5, 3.0];
    let (one, _) = marginal(&target, parts.clone(), &points);
    let (steps, _) = marginal(&target, Partition { quadratic: false, ..parts }, &points);
    for (a, b) in one.iter().zip(steps) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

#[test]
fn a_scale_is_never_taken_as_quadratic() {
    let data = Dataset::from_texts(&[("data.csv", "y\n3\n-1\n")]).unwrap();
    let text =
        "data { y : real[N] }\nparam a ~ normal(0, 1)\nparam b ~ normal(0, 1)\ny ~ normal(a * b, exp(b))";
    let target = ModelTarget::new(text, &data).unwrap();
    let parts = partition(&target, 1).unwrap();
    assert_eq!((&parts.inner[..], &parts.outer[..]), (&[0][..], &[1][..]));
}
