//! Where a formula ends: arrays without elements add nothing, censored values count from their limit,
//! truncated counts from whole numbers, and what cannot happen and did not adds nothing.

use stickler::data::Dataset;
use stickler::target::{ModelTarget, Target};

/// The log density and its gradient at a point.
fn density(model: &str, table: &str, z: f64) -> (f64, Vec<f64>) {
    let name = if table.starts_with('{') { "data.json" } else { "data.csv" };
    let data = Dataset::from_texts(&[(name, table)]).unwrap();
    let target = ModelTarget::new(model, &data).unwrap_or_else(|e| panic!("{model}: {e:?}"));
    let point = vec![z; target.dimension()];
    let (mut value, mut gradient) = ([0.0], vec![0.0; point.len()]);
    target.evaluator().evaluate(&point, 1, &mut value, &mut gradient);
    let sixteen: Vec<f64> = vec![z; 16 * target.dimension()];
    let (mut values, mut gradients) = ([0.0; 16], vec![0.0; sixteen.len()]);
    target.evaluator().evaluate(&sixteen, 16, &mut values, &mut gradients);
    assert!((values[3] - value[0]).abs() < 1e-12 * (1.0 + value[0].abs()), "{model}");
    (value[0], gradient)
}

#[test]
fn what_has_no_elements_adds_nothing() {
    let prior = density("param b ~ normal(0, 1)", "y\n1\n", 0.7);
    for (text, table) in [
        ("data { y : real[N] }\nparam b ~ normal(0, 1)\ny[2..N] ~ normal(b * y[1..N-1], 1)", "y\n1\n"),
        (
            "data { y : real[N]; x : real[N] }\nparam b ~ normal(0, 1)\ny ~ normal(b * x, 1)",
            "{\"y\": [], \"x\": []}",
        ),
        ("data { y : real[N] }\nparam b ~ normal(0, 1)\ny[1..0] ~ normal(b, 1)", "y\n1\n"),
        ("data { y : real[N] }\nparam b ~ normal(0, 1)\nparam c[0] ~ normal(b, 1)", "y\n1\n"),
        (
            "data { y : real[N] }\nparam b ~ normal(0, 1)\nlet e = exp(b * y[1..0])\ntarget += sum(e)",
            "y\n1\n",
        ),
        (
            "data { y : real[N] }\nparam b ~ normal(0, 1)\nfor t in 2..N { y[t] ~ normal(b * y[t-1], 1) }",
            "y\n1\n",
        ),
        ("data { k : count[N] }\nparam b ~ normal(0, 1)\nk ~ poisson_log(b)", "{\"k\": []}"),
    ] {
        assert_eq!(density(text, table, 0.7), prior, "{text}");
    }
    let both = "data { y : real[N] }\nparam b ~ normal(0, 1)\nlet e = concat(b * y[1..0], exp(b) * y)\ntarget += sum(e)";
    let (value, slope) = density(both, "y\n1\n", 0.7);
    assert!(
        (value - prior.0 - 0.7_f64.exp()).abs() < 1e-14
            && (slope[0] - prior.1[0] - 0.7_f64.exp()).abs() < 1e-14
    );
}

#[test]
fn a_censored_value_counts_from_its_limit() {
    let same = [
        ("normal(b, 1)", "upper = 2", "1\n5\n", "1\n2\n"),
        ("normal(b, 1)", "lower = -1", "1\n-7\n", "1\n-1\n"),
        ("lognormal(b, 1)", "lower = 0.5", "1\n0\n", "1\n0.5\n"),
        ("weibull(exp(b), 2)", "lower = 0.5, upper = 3", "1\n0\n9\n", "1\n0.5\n3\n"),
    ];
    for (distribution, limits, far, at) in same {
        let text =
            format!("data {{ y : real[N] }}\nparam b ~ normal(0, 1)\ny ~ censored({distribution}, {limits})");
        let (found, wanted) =
            (density(&text, &format!("y\n{far}"), 0.3), density(&text, &format!("y\n{at}"), 0.3));
        assert_eq!(found, wanted, "{distribution}");
    }
    let counts = |limit: &str, k: &str| {
        let text = format!(
            "data {{ k : count[N] }}\nparam b ~ normal(0, 1)\nk ~ censored(poisson(exp(b)), {limit})"
        );
        density(&text, &format!("k\n1\n{k}\n"), 0.3)
    };
    assert_eq!(counts("upper = 3.5", "7"), counts("upper = 4", "4"));
    assert_eq!(counts("lower = 0.5", "0"), counts("lower = 0", "0"));
    // P(X ≥ 2) of a normal number with mean 0.3.
    let (value, _) = density(
        "data { y : real[N] }\nparam b ~ flat()\ny ~ censored(normal(b, 1), upper = 2)",
        "y\n5\n",
        0.3,
    );
    assert!((value - 0.044_565_462_758_543_04_f64.ln()).abs() < 1e-12, "{value}");
}

#[test]
fn a_truncated_count_is_cut_between_whole_numbers() {
    for (limits, whole) in [
        ("lower = 0.5", "lower = 1"),
        ("upper = 3.7", "upper = 3"),
        ("lower = 0.1, upper = 4.5", "lower = 1, upper = 4"),
    ] {
        let text = |limits: &str| {
            format!(
                "data {{ k : count[N] }}\nparam b ~ normal(0, 1)\nk ~ truncated(poisson(exp(b)), {limits})"
            )
        };
        assert_eq!(
            density(&text(limits), "k\n1\n2\n3\n", 0.3),
            density(&text(whole), "k\n1\n2\n3\n", 0.3),
            "{limits}"
        );
    }
}

#[test]
fn what_cannot_happen_and_did_not_has_a_slope() {
    let head = "data { y : count[3] }\nparam f ~ beta(1, 1)\n";
    let with =
        format!("{head}let g = where([1, 2, 3] > 1, f, 0)\ny ~ multinomial([g[1], f / 2, 1 - f / 2 - g[1]])");
    let without = format!("{head}y[2..3] ~ multinomial([f / 2, 1 - f / 2])");
    let (found, wanted) = (density(&with, "y\n0\n2\n5\n", 0.3), density(&without, "y\n0\n2\n5\n", 0.3));
    assert!(
        (found.0 - wanted.0).abs() < 1e-12 && (found.1[0] - wanted.1[0]).abs() < 1e-12,
        "{found:?} {wanted:?}"
    );
}
