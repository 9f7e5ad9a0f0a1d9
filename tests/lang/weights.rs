//! A row of weight 0 counts for nothing, in value and slope, whatever stands in it.

use stickler::data::Dataset;
use stickler::target::{ModelTarget, Target};

fn evaluate(model: &str, data: &str, z: &[f64]) -> (f64, Vec<f64>) {
    let data = Dataset::from_texts(&[("d.json", data)]).unwrap();
    let target = ModelTarget::new(model, &data).unwrap_or_else(|e| panic!("{model}\n{e:?}"));
    let (mut value, mut slopes) = ([0.0], vec![0.0; z.len()]);
    target.evaluator().evaluate(z, 1, &mut value, &mut slopes);
    (value[0], slopes)
}

/// Two rows, beside the same with a third of weight 0 in which something is no number, or infinite.
#[test]
fn rows_of_weight_zero_are_left_out() {
    let head =
        "data { y : count[N]; x : real[N]; w : real[N] }\nparam b ~ normal(0, 1)\nparam a ~ normal(0, 1)\n";
    let without = r#"{"y": [1, 2], "x": [0.5, 1.0], "w": [1, 2]}"#;
    let with = r#"{"y": [1, 2, 3], "x": [0.5, 1.0, 999], "w": [1, 2, 0]}"#;
    for statements in [
        "y ~ poisson_log(a + b * x) weight w",
        "let mu = exp(a + b * x)\ny ~ poisson(mu + 0.1) weight w",
        "for i in 1..N { y[i] ~ poisson(exp(a + b * x[i]) + 0.1) weight w[i] }",
        "for i in 1..N {\n  let m = exp(a + b * x[i])\n  if x[i] < 100 { y[i] ~ poisson(m) }\n  y[i] ~ poisson(m + 1) weight w[i]\n}",
        "y ~ zero_inflated(inv_logit(a), poisson(exp(a + b * x) + 0.1)) weight w",
        "y ~ mixture(0.3: poisson(exp(a + b * x) + 1), 0.7: poisson(exp(b * x) + 2)) weight w",
        "y ~ truncated(poisson(exp(a + b * x) + 1), lower = 1) weight w",
        "y ~ neg_binomial_2(exp(exp(b * x)) + 1, exp(a)) weight w",
        "fn own_lpmf(k, r) = k * log(r) - r\ny ~ own(exp(a + b * x) + 0.1) weight w",
        "let X = transpose([x, x^2])\nlet c = [a, b]\ny ~ poisson(exp(X * c) + 0.1) weight w",
    ] {
        let model = format!("{head}{statements}");
        for z in [[1.0, 0.3], [2.0, -1.0], [-1.5, 0.2]] {
            let (value, slopes) = evaluate(&model, without, &z);
            let (other, others) = evaluate(&model, with, &z);
            assert!((value - other).abs() < 1e-12 * value.abs(), "{statements}: {value} against {other}");
            let same = slopes.iter().zip(&others).all(|(a, b)| (a - b).abs() < 1e-11 * a.abs().max(1.0));
            assert!(same, "{statements}: {slopes:?} against {others:?}");
        }
    }
}

#[test]
fn where_all_have_weight_zero_the_prior_is_left() {
    let model =
        "data { y : real[N]; w : real[N] }\nparam b ~ normal(0, 1)\ny ~ normal(exp(exp(b)), 1) weight w";
    let (value, slopes) = evaluate(model, r#"{"y": [1, 2], "w": [0, 0]}"#, &[30.0]);
    assert!(
        (value + 450.0 + 0.918_938_533_204_672_7).abs() < 1e-10 && slopes == [-30.0],
        "{value} {slopes:?}"
    );
}
