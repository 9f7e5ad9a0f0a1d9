//! Models of one parameter, whose answers are sums over fine grids: no shape of log density leads a fit
//! astray without a word.

use crate::fits;

use stickler::target::{ModelTarget, Target};

/// Points of the grid, on the unconstrained scale, and how far it goes.
const POINTS: usize = 400_001;
const REACH: f64 = 40.0;

/// Mean and standard deviation of the first quantity, and the log evidence.
fn exact(target: &ModelTarget) -> [f64; 3] {
    let step = 2.0 * REACH / (POINTS - 1) as f64;
    let grid: Vec<f64> = (0..POINTS).map(|k| step * k as f64 - REACH).collect();
    let mut logs = vec![0.0; POINTS];
    target.evaluator().log_density(&grid, POINTS, &mut logs);
    let values = target.constrain_batch(&grid, POINTS);
    let known = |x: &f64| if x.is_finite() { *x } else { f64::NEG_INFINITY };
    let top = logs.iter().map(known).fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|l| (known(l) - top).exp()).collect();
    let total: f64 = weights.iter().sum();
    let average = |of: &dyn Fn(f64) -> f64| {
        let terms = weights.iter().zip(&values).filter(|(w, _)| **w > 0.0).map(|(w, x)| w * of(*x));
        terms.sum::<f64>() / total
    };
    let mean = average(&|x| x);
    [mean, average(&|x| (x - mean).powi(2)).sqrt(), top + (total * step).ln()]
}

fn check(text: &str, data: &str) {
    let data = fits::json(data);
    let target = ModelTarget::new(text, &data).expect("lowers");
    let [mean, sd, evidence] = exact(&target);
    let fit = fits::fitted(text, &data, 1);
    assert_eq!(fits::wrong(&fit, &fit.outputs[0].name, [mean, sd], 0.03), None, "{text}");
    assert!(
        (fit.log_evidence - evidence).abs() < 0.03 && fit.khat < 0.7,
        "{text}\nlog evidence {} against {evidence}; k-hat {}, {:?}, {:?}",
        fit.log_evidence,
        fit.khat,
        fit.path,
        fit.findings
    );
}

/// An exponential of an exponential has no expectation under any Gaussian, and a Gaussian that is narrow
/// enough is exact for anything.
#[test]
fn exponentials_of_exponentials_are_not_taken_for_gaussian() {
    check("data { y : count[N] }\nparam b ~ half_normal(1)\ny ~ poisson_log(b)", r#"{"y": [3]}"#);
    check(
        "data { x : real[N]; y : count[N] }\nparam b ~ exponential(1)\ny ~ poisson_log(b * x)",
        r#"{"x": [-1, 0, 1, 2, 3], "y": [0, 1, 2, 1, 3]}"#,
    );
    check("data { y : real[N] }\nparam k ~ gamma(2, 1)\ny ~ weibull(k, 1)", r#"{"y": [3.0]}"#);
    check(
        "data { y : real[N] }\nparam b : real > 0 ~ normal(0, 1)\ny ~ gumbel(b, 1)",
        r#"{"y": [0.2, 1.5, 0.9]}"#,
    );
    check("param p : real < 0 ~ gumbel(0, 1)", "{}");
    check(
        "data { y : real[N] }\nparam b ~ normal(0, 2)\ny ~ exponential(exp(exp(-b)))",
        r#"{"y": [0.3, 0.2, 0.6]}"#,
    );
}

/// Functions of one affine form that are not concave have other modes.
#[test]
fn all_modes_of_a_function_of_one_form_are_found() {
    check("data { y : real[N] }\nparam b ~ normal(1, 2)\ny ~ normal(b^2, 0.3)", r#"{"y": [2.0, 3.0]}"#);
    check(
        "data { y : real[N] }\nparam b : real offset 6 multiplier 2 ~ normal(1, 2)\ny ~ normal(b^2, 0.3)",
        r#"{"y": [2.0, 3.0]}"#,
    );
    check(
        "data { y : real[N] }\nparam b ~ student_t(4, 1, 2)\ny ~ gamma(2, exp(b^2))",
        r#"{"y": [0.3, 0.2, 0.9, 0.4]}"#,
    );
    check(
        "data { y : count[N] }\nparam b ~ student_t(5, -2, 0.5)\ny ~ poisson_log(b^2)",
        r#"{"y": [6, 3, 9]}"#,
    );
    check(
        "data { y : real[N] }\nparam b ~ logistic(0, 1)\ny ~ von_mises(2 * b, 2)",
        r#"{"y": [0.4, 0.9, 0.1, 0.7]}"#,
    );
    check(
        "data { y : real[N] }\nparam b ~ normal(0, 1)\ny ~ normal(0, exp(b^2))",
        r#"{"y": [5.1, -3.2, 8.0, 2.2]}"#,
    );
}

/// A mode may be a kink, where the slope jumps and the curvature says nothing.
#[test]
fn modes_at_kinks_are_found() {
    check(
        "data { y : real[N] }\nparam b : real < 4.931 ~ gumbel(1, 2)\ny ~ double_exponential(b^2, 1)",
        r#"{"y": [10.476, 13.443, 9.7306, 12.321, 11.397, 9.3756, 11.071, 10.402, 9.3673]}"#,
    );
    check(
        "data { y : real[N] }\nparam b ~ double_exponential(1, 2)\ny ~ double_exponential(abs(b), 0.3)",
        r#"{"y": [2.1, 2.4, 2.2, 1.6]}"#,
    );
}

/// What is concave, or has one mode though it is not, has one answer.
#[test]
fn one_mode_is_enough_where_there_is_one() {
    check("data { y : binary[N] }\nparam b ~ normal(0, 5)\ny ~ bernoulli_logit(b)", r#"{"y": [1, 1, 1]}"#);
    check("data { y : count[N] }\nparam b ~ normal(0, 3)\ny ~ poisson_log(b)", r#"{"y": [0, 0, 1]}"#);
    check(
        "data { y : real[N] }\nparam b ~ normal(0, 10)\ny ~ student_t(3, b, 1)",
        r#"{"y": [0.3, -0.4, 1.1, 8.0]}"#,
    );
    check("data { y : real[N] }\nparam b ~ cauchy(0, 1)\ny ~ normal(b, 1)", r#"{"y": [2.5, 3.1]}"#);
    check(
        "data { y : real[N] }\nparam s ~ half_cauchy(1)\ny ~ normal(0, s)",
        r#"{"y": [2.5, 3.1, -0.3, 1.0]}"#,
    );
}

/// What a log density does where it jumps is in no gradient, and the answer is in the jumps.
#[test]
fn jumps_are_no_gaussian() {
    check(
        "data { y : real[N]; t : real[N] }\nparam tau ~ normal(4, 3)\ny ~ normal(where(t < tau, 1, 2), 0.7)",
        r#"{"y": [0.7, 1.2, 0.9, 1.4, 1.1, 2.6, 2.1, 1.7, 2.3], "t": [1, 2, 3, 4, 5, 6, 7, 8, 9]}"#,
    );
    check("param a ~ normal(0, 1)\ntarget += where(a > 0, 0, -5)", "{}");
    check(
        "data { y : real[N] }\nparam a ~ normal(0, 2)\ny ~ normal(floor(a), 2)",
        r#"{"y": [1.2, 0.4, 2.9]}"#,
    );
}
