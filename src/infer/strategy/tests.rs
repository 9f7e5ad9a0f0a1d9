//! Coordinates of effects and states against densities and sums known from outside.

use crate::data::Dataset;
use crate::infer::model::Model;
use crate::infer::options::Options;
use crate::infer::strategy::fit_model;
use crate::lower::Coordinates;
use crate::target::{ModelTarget, Target};
use std::ops::ControlFlow;

const TEXT: &str = "data { y : real[J] }\nparam theta[J]\nparam mu ~ normal(0, 5)\nparam tau ~ half_cauchy(5)\n\
                    theta ~ normal(mu, tau)\ny ~ normal(theta, 2)";

fn density(target: &ModelTarget, z: &[f64]) -> f64 {
    let mut value = [0.0];
    target.evaluator().log_density(z, 1, &mut value);
    value[0]
}

/// log p of the coordinates w is that of the effects x with log |dx / dw| added, and the values reported
/// are the same.
#[test]
fn other_coordinates_describe_the_same_posterior() {
    let data = Dataset::from_texts(&[("data.csv", "y\n3\n-1\n0.5\n")]).unwrap();
    let program = crate::syntax::parse(TEXT).unwrap();
    let model = Model { program: &program, source: TEXT, data: &data };
    let declared = model.compile(Coordinates::Declared).unwrap();
    let (mu, log_tau) = (0.7, -0.4_f64);
    for blend in [[0.0; 3], [1.0; 3], [0.2, 0.5, 0.9]] {
        let choice = if blend == [0.0; 3] {
            Coordinates::Standardised
        } else {
            Coordinates::Blended(vec![("theta".into(), blend.to_vec())])
        };
        let other = model.compile(choice).unwrap();
        assert_eq!(other.lowered().effects.len(), 1);
        assert_eq!(other.output_names(), declared.output_names());
        let theta = [1.0, -2.0, 0.3];
        let w: Vec<f64> = theta
            .iter()
            .zip(blend)
            .map(|(x, b)| b * mu + (b * log_tau).exp() * (x - mu) / log_tau.exp())
            .collect();
        let x = [theta[0], theta[1], theta[2], mu, log_tau];
        let z = [w[0], w[1], w[2], mu, log_tau];
        let jacobian: f64 = blend.iter().map(|b| (1.0 - b) * log_tau).sum();
        let (a, b) = (density(&declared, &x) + jacobian, density(&other, &z));
        assert!((a - b).abs() < 1e-10, "{blend:?}: {a} {b}");
        for (p, q) in declared.constrain(&x).iter().zip(other.constrain(&z)) {
            assert!((p - q).abs() < 1e-12);
        }
    }
}

#[test]
fn what_a_model_says_of_its_coordinates_is_kept() {
    let data = Dataset::from_texts(&[("data.csv", "y\n3\n-1\n")]).unwrap();
    for text in [
        "data { y : real[J] }\nparam mu ~ normal(0, 5)\nparam tau ~ half_cauchy(5)\n\
         param theta[J] ~ normal(mu, tau) centered\ny ~ normal(theta, 2)",
        "data { y : real[J] }\nparam mu ~ normal(0, 5)\nparam theta[J] ~ normal(0, 3)\ny ~ normal(theta + mu, 2)",
    ] {
        let program = crate::syntax::parse(text).unwrap();
        let model = Model { program: &program, source: text, data: &data };
        assert!(model.compile(Coordinates::Standardised).unwrap().lowered().effects.is_empty(), "{text}");
    }
}

/// The scale of a random walk written in innovations, against a sum over it with the covariance `s²
/// min(i, j)` of the walk.
#[test]
fn innovations_are_taken_by_the_states_that_they_lead_to() {
    let y = [0.3, 0.9, -0.2, 0.8, 1.9, 2.6, 1.8, 3.1, 2.2, 3.9, 4.4, 3.6_f64];
    let n = y.len();
    let text = "data { y : real[T] }\nparam s ~ half_normal(1)\nparam z[T] ~ normal(0, 1)\nlet h[1] = s * z[1]\n\
                for t in 2..T { let h[t] = h[t-1] + s * z[t] }\ny ~ normal(h, 0.7)";
    let rows: String = y.iter().map(|y| format!("{y}\n")).collect();
    let data = Dataset::from_texts(&[("data.csv", &format!("y\n{rows}"))]).unwrap();
    let program = crate::syntax::parse(text).unwrap();
    let model = Model { program: &program, source: text, data: &data };
    let declared = model.compile(Coordinates::Declared).unwrap();
    let fit = fit_model(&model, &declared, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(fit.has("states-taken"), "{:?}", fit.findings);
    let (mut sums, y) = ([0.0; 3], nalgebra::DVector::from_row_slice(&y));
    for k in 0..3000 {
        let s = 0.002 * (f64::from(k) + 0.5);
        let walk = |i: usize, j: usize| s * s * (i.min(j) + 1) as f64 + if i == j { 0.49 } else { 0.0 };
        let root = nalgebra::DMatrix::from_fn(n, n, walk).cholesky().unwrap();
        let log = -0.5 * (s * s + y.dot(&root.solve(&y))) - root.l().diagonal().map(f64::ln).sum();
        (0..3).for_each(|p| sums[p] += log.exp() * s.powi(p as i32));
    }
    let mean = sums[1] / sums[0];
    let sd = (sums[2] / sums[0] - mean * mean).sqrt();
    let s = &fit.outputs[0];
    assert!((s.mean - mean).abs() < 0.03 * sd && (s.sd / sd).ln().abs() < 0.03, "{s:?}: {mean} {sd}");
}
