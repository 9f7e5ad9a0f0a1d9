//! `where`: the branch that is not taken does not spoil the gradient, whatever its functions have there.

use stickler::data::Dataset;
use stickler::target::{ModelTarget, Target};

const DATA: &str = "y,x,c\n0.3,0,1\n1.2,1,2\n-0.4,3,2\n0.1,-1,1\n0.9,0.5,2\n";
const HEAD: &str =
    "data { y : real[N]; x : real[N]; c : int[N] }\nparam a ~ normal(0, 1)\nparam p ~ lognormal(0, 1)\n";

/// Means whose other branch has slopes that are infinite or no number in some rows, and the same for parts of
/// the log density.
const CASES: [&str; 12] = [
    "y ~ normal(where(x > 0, a * x^p, 0), 1)",
    "y ~ normal(where(x <= 0, a, x^p), 1)",
    "y ~ normal(where(x > 0, exp(p * log(x)), 0), 1)",
    "y ~ normal(where(x > 0, log(p * x), a), 1)",
    "y ~ normal(where(x != 0, sin(a * x) / x, a), 1)",
    "y ~ normal(where(x > 0, exp(-p / x), 0), 1)",
    "y ~ normal(where(x > a, sqrt(x - a), 0), 1)",
    "y ~ normal(where(x > a, where(x > 0, x^p, sqrt(x - a)), log(a + 3 - x)), 1)",
    "target += sum(where(x > 0, lognormal_lpdf(x | a, p), bernoulli_lpmf(1 | inv_logit(a))))",
    "target += sum(where(c == 1, normal_lpdf(y | a, p), log_diff_exp(normal_lcdf(y + x | a, p), normal_lcdf(y | a, p))))",
    "let r = sqrt(x - a)\ny ~ normal(where(a < -2, r, a * x), 1)",
    "y ~ normal(where(x > 0, x^p, 0) * where(x > 0, 1 / x, 1), 1)",
];

#[test]
fn slopes_of_choices_are_those_of_differences() {
    let data = Dataset::from_texts(&[("data.csv", DATA)]).unwrap();
    for case in CASES {
        let source = format!("{HEAD}{case}\n");
        let target = ModelTarget::new(&source, &data).unwrap_or_else(|e| panic!("{case}: {e:?}"));
        let value = |z: &[f64]| {
            let mut value = [0.0];
            target.evaluator().log_density(z, 1, &mut value);
            value[0]
        };
        for z in [[0.3, -0.2], [-0.7, 0.4]] {
            let (mut at, mut gradient) = ([0.0], [0.0; 2]);
            target.evaluator().evaluate(&z, 1, &mut at, &mut gradient);
            for i in 0..2 {
                let step = |by: f64| {
                    let mut moved = z;
                    moved[i] += by;
                    value(&moved)
                };
                let difference = (8.0 * (step(1e-3) - step(-1e-3)) - (step(2e-3) - step(-2e-3))) / 12e-3;
                assert!(
                    (gradient[i] - difference).abs() < 1e-7 * (1.0 + difference.abs()),
                    "{case} at {z:?}, coordinate {i}: {} and {difference} by differences",
                    gradient[i]
                );
            }
        }
    }
}

/// A choice in every step of a loop looks at a few functions before it, not at all that the loop has done.
#[test]
fn choices_in_loops_stay_small() {
    let step = "where(s[t-1] > a, sqrt(s[t-1] + p), exp(-s[t-1]))";
    let model = format!(
        "param a ~ normal(0, 1)\nparam p ~ lognormal(0, 1)\nlet s[1] = a\nfor t in 2..40 {{\n  let s[t] = {step}\n  \
         if mod(t, 7) == 0 {{ target += s[t] }}\n}}\n"
    );
    let data = Dataset::from_texts(&[("data.csv", DATA)]).unwrap();
    let target = ModelTarget::new(&model, &data).unwrap_or_else(|e| panic!("{e:?}"));
    let written_out = target.lowered().written_out(1 << 20);
    let nodes = written_out.as_ref().map_or(target.lowered().graph.len(), |lowered| lowered.graph.len());
    assert!(nodes < 40 * 400, "{nodes} nodes");
}
