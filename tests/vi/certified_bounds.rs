//! What is promised end to end: measured errors of certified runs stay below the printed bounds, the
//! divergence below its bound, and the evidence inside its interval.

use crate::certificates;

use certificates::model;
use std::ops::ControlFlow;
use stickler::certify::{Certificate, Tier, certify};
use stickler::infer::Gaussian;
use stickler::infer::certified::{Plan, Promise, plans, promise, run};
use stickler::num::linalg::{cholesky, symmetric_eigen};
use stickler::num::stream::Stream;
use stickler::target::{ModelTarget, Target};
use stickler::vi::Scale;

const LINE: &str = "data { x : real[N]; y : real[N] }
param a ~ normal(0, 2)
param b ~ normal(0, 1)
y ~ normal(a + b * x, 1.5)
";
const LINE_CSV: &str = "x,y\n-1,0.3\n0,1.2\n1.5,2.2\n2,1.1\n-0.5,-0.4\n";

const COIN: &str = "data { x : real[N]; b : binary[N] }
param a ~ normal(0, 1)
b ~ bernoulli_logit(a * x)
";
const COIN_CSV: &str = "x,b\n1,1\n-0.5,0\n0.8,1\n1.2,0\n0.3,1\n";

const SEEDS: u64 = 40;

/// The mean over seeds of the squared distance of the result from the optimum, and the bound.
fn measured(
    target: &ModelTarget,
    plan: &Plan,
    distance: impl Fn(&[f64], &[f64]) -> f64,
    epsilon: f64,
) -> Vec<(&'static str, f64, f64)> {
    let licensed = plan.licenses.iter().filter_map(|license| {
        let steps = license.steps_for(epsilon).filter(|steps| *steps <= 30_000)?;
        let mut total = 0.0;
        let mut bound = None;
        for seed in 0..SEEDS {
            let result =
                run(target, plan, license, steps, seed, &mut |_| ControlFlow::Continue(())).expect("a run");
            bound = result.bound;
            total += distance(result.mean.as_slice(), result.covariance.as_slice());
        }
        Some((license.rule.name, total / SEEDS as f64, bound.expect("a bound")))
    });
    licensed.collect()
}

/// Mean and variance of the best Gaussian for one coordinate, by Newton steps on Gauss's integrals over a
/// fine grid.
fn best_gaussian(target: &ModelTarget) -> (f64, f64) {
    let mut evaluator = target.evaluator();
    let (mut m, mut c) = (0.0, 0.5);
    let grid: Vec<f64> = (-800..=800).map(|i| f64::from(i) / 100.0).collect();
    let weight: f64 = grid.iter().map(|u| (-0.5 * u * u).exp()).sum();
    for _ in 0..200 {
        let (mut slope, mut curvature) = (0.0, 0.0);
        for u in &grid {
            let w = (-0.5 * u * u).exp() / weight;
            let (mut value, mut gradient, mut second) = ([0.0], [0.0], [0.0]);
            let z = [m + c * u];
            evaluator.evaluate(&z, 1, &mut value, &mut gradient);
            evaluator.hessian_vectors(&z, &[1.0], 1, &mut second);
            slope += w * gradient[0];
            curvature -= w * second[0];
        }
        m += slope / curvature;
        c = curvature.sqrt().recip();
    }
    (m, c)
}

#[test]
fn runs_of_a_logistic_model_stay_below_their_bounds() {
    let target = model(COIN, COIN_CSV);
    let certificate = certify(target.lowered());
    assert_eq!(certificate.tier, Tier::StronglyConcaveSmooth);
    let (m, c) = best_gaussian(&target);
    let [raw, whitened] = plans(&target, &certificate, 0.05);
    // In one dimension the whitened coordinate is the raw one times the root of the upper bound.
    let upper = certificate.most_matrix.as_ref().expect("a matrix")[0];
    for (plan, unit) in [(raw.expect("raw"), 1.0), (whitened.expect("whitened"), upper)] {
        let distance =
            |mean: &[f64], cov: &[f64]| unit * ((mean[0] - m).powi(2) + (cov[0].sqrt() - c).powi(2));
        let found = measured(&target, &plan, distance, 1.0);
        assert!(!found.is_empty(), "no license needs few enough steps");
        for (rule, error, bound) in found.into_iter().filter(|(rule, ..)| rule.contains("decay")) {
            assert!(error <= bound, "{rule}: {error} is above the bound {bound}");
            assert!(bound <= 1.0 && error > 0.0, "{rule}: {error}, {bound}");
        }
    }
}

/// ‖w - w*‖² for the symmetric root, where the optimum is the standard normal at the centre.
fn whitened_distance(certificate: &Certificate, centre: &[f64], mean: &[f64], covariance: &[f64]) -> f64 {
    let d = centre.len();
    let mut root = certificate.most_matrix.clone().expect("a matrix");
    cholesky(&mut root, d).expect("positive definite");
    let at = |i: usize, j: usize| if i >= j { root[i * d + j] } else { 0.0 };
    let moved: Vec<f64> = (0..d).map(|i| (0..d).map(|k| at(k, i) * (mean[k] - centre[k])).sum()).collect();
    let mut inner = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..d {
            for k in 0..d {
                inner[i * d + j] += (0..d).map(|l| at(k, i) * covariance[k * d + l] * at(l, j)).sum::<f64>();
            }
        }
    }
    let spread: f64 = symmetric_eigen(&inner, d)
        .expect("eigenvalues")
        .values
        .iter()
        .map(|v| (v.max(0.0).sqrt() - 1.0).powi(2))
        .sum();
    moved.iter().map(|x| x * x).sum::<f64>() + spread
}

#[test]
fn runs_on_a_gaussian_posterior_converge_as_promised() {
    let target = model(LINE, LINE_CSV);
    let certificate = certify(target.lowered());
    assert_eq!(certificate.tier, Tier::Exact);
    let [_, whitened] = plans(&target, &certificate, 0.01);
    let plan = whitened.expect("whitened");
    let distance =
        |mean: &[f64], cov: &[f64]| whitened_distance(&certificate, &plan.coordinates.centre, mean, cov);
    let found = measured(&target, &plan, distance, 1e-3);
    let (_, error, bound) =
        found.iter().find(|(rule, ..)| *rule == "stl_gaussian").expect("the Gaussian rule");
    assert!(error <= bound && *bound <= 1e-3, "{error} is above the bound {bound}");
}

/// log ∫ p by importance sampling from a wide normal, with its standard error.
fn evidence(target: &ModelTarget, mean: &[f64], sd: &[f64]) -> (f64, f64) {
    let d = mean.len();
    let mut rng = Stream::new(3, 9, 0);
    let mut evaluator = target.evaluator();
    let logs: Vec<f64> = (0..200_000)
        .map(|_| {
            let u: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
            let z: Vec<f64> = (0..d).map(|i| mean[i] + 1.5 * sd[i] * u[i]).collect();
            let mut value = [0.0];
            evaluator.log_density(&z, 1, &mut value);
            let log_q: f64 = (0..d)
                .map(|i| -0.5 * u[i] * u[i] - (1.5 * sd[i]).ln() - 0.5 * (2.0 * std::f64::consts::PI).ln())
                .sum();
            value[0] - log_q
        })
        .collect();
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let n = logs.len() as f64;
    let mean = logs.iter().map(|l| (l - top).exp()).sum::<f64>() / n;
    let square = logs.iter().map(|l| (l - top).exp().powi(2)).sum::<f64>() / n;
    (top + mean.ln(), ((square / (mean * mean) - 1.0) / n).sqrt())
}

fn promised(target: &ModelTarget, certificate: &Certificate, mean: Vec<f64>, factor: Vec<f64>) -> Promise {
    let q = Gaussian { mean, factor: Scale::Dense(factor) };
    promise(target, certificate, &q, 1, 7).expect("a promise")
}

#[test]
fn the_divergence_and_the_evidence_lie_within_their_bounds() {
    let target = model(COIN, COIN_CSV);
    let certificate = certify(target.lowered());
    let (m, c) = best_gaussian(&target);
    let (truth, error) = evidence(&target, &[m], &[c]);
    assert!(error < 0.01);
    // The best Gaussian, and two that are off.
    for (shift, stretch) in [(0.0, 1.0), (0.3, 1.0), (-0.2, 1.3)] {
        let p = promised(&target, &certificate, vec![m + shift], vec![c * stretch]);
        let inside = p.evidence_least <= truth + 3.0 * error && truth - 3.0 * error <= p.evidence_most;
        assert!(inside, "{truth} is not between {} and {}", p.evidence_least, p.evidence_most);
        // KL(q ‖ p) = log p(x) - ELBO.
        let divergence = truth - p.evidence_least;
        assert!(
            p.kl + p.evidence_most - p.evidence_least >= divergence - 3.0 * error,
            "{} < {divergence}",
            p.kl
        );
        let gap = elbo(&target, m, c) - elbo(&target, m + shift, c * stretch);
        assert!(p.gap_nats >= gap - 1e-6, "the gap {gap} is above its bound {}", p.gap_nats);
        assert!(p.kl >= truth - elbo(&target, m + shift, c * stretch) - 3.0 * error);
    }
}

/// The ELBO of one coordinate by integration over a grid.
fn elbo(target: &ModelTarget, m: f64, c: f64) -> f64 {
    let mut evaluator = target.evaluator();
    let grid: Vec<f64> = (-800..=800).map(|i| f64::from(i) / 100.0).collect();
    let weight: f64 = grid.iter().map(|u| (-0.5 * u * u).exp()).sum();
    let energy: f64 = grid
        .iter()
        .map(|u| {
            let mut value = [0.0];
            evaluator.log_density(&[m + c * u], 1, &mut value);
            value[0] * (-0.5 * u * u).exp() / weight
        })
        .sum();
    energy + c.ln() + 0.5 + 0.5 * (2.0 * std::f64::consts::PI).ln()
}

#[test]
fn the_evidence_of_a_conjugate_model_is_exact() {
    let target = model(LINE, LINE_CSV);
    let certificate = certify(target.lowered());
    let [raw, _] = plans(&target, &certificate, 0.01);
    let centre = raw.expect("raw").coordinates.centre;
    // The posterior: its precision is the certified matrix, both bounds being the same.
    let precision = certificate.most_matrix.clone().expect("a matrix");
    let det = precision[0] * precision[3] - precision[1] * precision[2];
    let covariance = [precision[3] / det, -precision[1] / det, -precision[2] / det, precision[0] / det];
    let mut factor = covariance.to_vec();
    cholesky(&mut factor, 2).expect("positive definite");
    factor[1] = 0.0;
    let p = promised(&target, &certificate, centre.clone(), factor);
    // log p(x) = log p(x, z) + log 2π - ½ log det(precision) at the mode z.
    let truth = target.split(&centre).total() + (2.0 * std::f64::consts::PI).ln() - 0.5 * det.ln();
    assert!(
        (p.evidence_least - truth).abs() < 1e-6 && (p.evidence_most - truth).abs() < 1e-6,
        "{truth} {p:?}"
    );
    assert!(p.kl < 1e-9 && p.mean_error < 1e-4 && (p.curvature - 1.0).abs() < 1e-9, "{p:?}");
}
