//! Classes of models whose answers are known: what a fit says is right, or it says that it may not be.

use crate::fits;

use stickler::data::Dataset;
use stickler::infer::{Ending, Fit};

fn nothing() -> Dataset {
    fits::json("{}")
}

/// Every quantity named, right or else doubtful.
fn right_or_doubtful(fit: &Fit, name: &str, truth: [f64; 2], what: &str) {
    if let Some(problem) = fits::wrong(fit, name, truth, 0.1) {
        assert!(fit.is_doubtful(), "{what}\n{problem}, unflagged");
    }
}

/// Mean and standard deviation of a mixture of normals by weight, mean and standard deviation.
fn mixture(parts: &[[f64; 3]]) -> [f64; 2] {
    let total: f64 = parts.iter().map(|p| p[0]).sum();
    let mean = parts.iter().map(|p| p[0] * p[1]).sum::<f64>() / total;
    let second = parts.iter().map(|p| p[0] * (p[2] * p[2] + p[1] * p[1])).sum::<f64>() / total;
    [mean, (second - mean * mean).sqrt()]
}

/// Modes that the model writes down, however far apart and however narrow.
#[test]
fn modes_that_are_written_down() {
    let far = |d: usize, at: f64| {
        format!(
            "param a[{d}] ~ flat()\n\
             target += log_mix(0.3, sum(normal_lpdf(a | -{at}, 1)), sum(normal_lpdf(a | {at}, 1)))"
        )
    };
    let two = |at: f64| mixture(&[[0.3, -at, 1.0], [0.7, at, 1.0]]);
    let posterior = |prior: f64| {
        // Of b ~ N(m, 0.1²) and y = 5 known to 2.
        let precision = 1.0 / 0.01 + 0.25;
        [(prior / 0.01 + 1.25) / precision, precision.sqrt().recip()]
    };
    let [near, far_off] = [posterior(0.0), posterior(10.0)];
    let conflict = mixture(&[[0.5, near[0], near[1]], [0.5, far_off[0], far_off[1]]]);
    let cases = [
        (
            "data { y : real; s : real }\n\
             param b ~ mixture(0.5: normal(0, 0.1), 0.5: normal(10, 0.1))\ny ~ normal(b, s)"
                .to_string(),
            "b",
            conflict,
        ),
        (
            "param b ~ mixture(0.2: normal(-40, 0.01), 0.5: normal(0, 1), 0.3: normal(300, 2))".into(),
            "b",
            mixture(&[[0.2, -40.0, 0.01], [0.5, 0.0, 1.0], [0.3, 300.0, 2.0]]),
        ),
        (
            "param a ~ flat()\n\
             target += log_sum_exp([log(0.25) + normal_lpdf(a | -7, 0.5), log(0.75) + normal_lpdf(a | 9, 2)])"
                .into(),
            "a",
            mixture(&[[0.25, -7.0, 0.5], [0.75, 9.0, 2.0]]),
        ),
        // A spike and a slab.
        (
            "param b ~ mixture(0.6: normal(0, 0.001), 0.4: normal(0, 5))".into(),
            "b",
            mixture(&[[0.6, 0.0, 0.001], [0.4, 0.0, 5.0]]),
        ),
        (far(5, 3.0), "a[1]", two(3.0)),
        (far(10, 3.0), "a[10]", two(3.0)),
        (far(20, 3.0), "a[7]", two(3.0)),
        (far(5, 30.0), "a[1]", two(30.0)),
    ];
    let data = fits::json(r#"{"y": 5, "s": 2}"#);
    for (model, name, truth) in cases {
        for seed in [1, 2] {
            let fit = fits::fitted(&model, &data, seed);
            right_or_doubtful(&fit, name, truth, &model);
            assert!(fit.status != Ending::Exact, "{model}: nothing is exact here");
        }
    }
}

/// Data in conflict: two heaps under a likelihood with long tails, the smaller far away and of little mass,
/// which moves the variance all the same.
#[test]
fn heaps_of_data_far_apart() {
    let y = [0.02534, 0.001508, -0.1195, -0.1005, 24.5, 25.0, 24.49];
    let s = 0.2546_f64;
    let log = |m: f64| -> f64 { y.iter().map(|y| -((y - m) / s).powi(2).ln_1p()).sum() };
    let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
    for i in 0..400_000 {
        let m = -20.0 + 70.0 * (f64::from(i) + 0.5) / 400_000.0;
        let p = (log(m) + 40.0).exp();
        (total, first, second) = (total + p, first + p * m, second + p * m * m);
    }
    let mean = first / total;
    let data = fits::json(&format!("{{\"y\": {y:?}}}"));
    let fit =
        fits::fitted(&format!("data {{ y : real[N] }}\nparam m ~ flat()\ny ~ cauchy(m, {s})"), &data, 1);
    right_or_doubtful(&fit, "m", [mean, (second / total - mean * mean).sqrt()], "two heaps");
}

/// Only what the graph proves is exact.
#[test]
fn exact_is_what_is_proved() {
    let data = fits::json(r#"{"y": [1.2, 0.3, -0.5], "x": [0.1, 0.9, -1.1]}"#);
    for (model, is_exact) in [
        ("data { y : real[N] }\nparam m ~ normal(0, 10)\ny ~ normal(m, 2)", true),
        (
            "data { y : real[N]; x : real[N] }\nparam a ~ flat()\nparam b ~ normal(0, 1)\ny ~ normal(a + b * x, 2)",
            true,
        ),
        ("data { y : real[N] }\nparam m ~ student_t(1e6, 0, 10)\ny ~ normal(m, 0.01)", false),
        ("data { y : real[N] }\nparam m ~ normal(0, 10)\ny ~ normal(where(m > 5, m + 3, m), 0.1)", false),
        (
            "data { y : real[N] }\nparam m ~ mixture(0.5: normal(0, 0.1), 0.5: normal(50, 0.1))\ny ~ normal(m, 1)",
            false,
        ),
    ] {
        let fit = fits::fitted(model, &data, 1);
        assert_eq!(fit.status == Ending::Exact, is_exact, "{model}\n{:?}", fit.findings);
    }
}

/// Posteriors that have no mass, and others like them that have: plateaus below the mode, priors without an
/// end on scales, ridges.
#[test]
fn what_has_no_mass_is_told() {
    let counts = fits::json(r#"{"y": [3, 5, 2, 4, 6, 1, 3, 4]}"#);
    let groups = fits::json(
        r#"{"y": [1.1, 0.4, -0.3, 0.9, 2.1, 1.7, 0.2, 0.6], "g": ["a", "a", "b", "b", "c", "c", "d", "d"]}"#,
    );
    let lines = fits::json(r#"{"y": [1.2, 0.7, 2, -0.4, 1.5], "x": [0.5, -0.3, 1.1, -1, 0.2]}"#);
    let groups_of = |scale: &str| {
        format!(
            "data {{ y : real[N]; g : category[N] of J }}\nparam m ~ normal(0, 5)\n{scale}\n\
             param u[J] ~ normal(0, tau)\ny ~ normal(m + u[g], 0.7)"
        )
    };
    let counted = |phi: &str| {
        format!("data {{ y : count[N] }}\nparam m ~ normal(0, 2)\n{phi}\ny ~ neg_binomial_2(exp(m), phi)")
    };
    let line = |priors: &str, mean: &str| {
        format!("data {{ y : real[N]; x : real[N] }}\n{priors}\ny ~ normal({mean}, 1)")
    };
    let cases = [
        (&counts, counted("param lp ~ flat()\nlet phi = exp(lp)"), true),
        (&counts, counted("param phi : real > 0 ~ flat()"), true),
        (&counts, counted("param phi ~ gamma(2, 0.1)"), false),
        (&groups, groups_of("param lt ~ flat()\nlet tau = exp(lt)"), true),
        (&groups, groups_of("param tau : real > 0 ~ flat()\ntarget += -log(tau)"), true),
        (&groups, groups_of("param v : real > 0 ~ flat()\ntarget += -log(v)\nlet tau = sqrt(v)"), true),
        (&groups, groups_of("param tau ~ half_normal(1)"), false),
        (&lines, line("param a ~ flat()\nparam b ~ flat()", "a * b * x"), true),
        (&lines, line("param a ~ flat()\nparam b ~ flat()", "a + b * x"), false),
        (&lines, line("param a ~ flat()", "inv_logit(a) * x"), true),
        (&nothing(), "param a ~ flat()\ntarget += a".to_string(), true),
        (&nothing(), "param a ~ flat()\ntarget += -0.5 * log1p(a^2)".to_string(), true),
        (&nothing(), "param a ~ flat()\ntarget += normal_lpdf(a | 0, 1)".to_string(), false),
    ];
    for (data, model, is_endless) in cases {
        let fit = fits::fitted(&model, data, 1);
        assert_eq!(fit.is_doubtful(), is_endless, "{model}\n{:?}", fit.findings);
    }
}

/// Flags that are false are none: half a line that is flat is no symmetry, and a probability has a mean.
#[test]
fn what_is_right_is_not_doubted() {
    let data = fits::json(r#"{"y": [1, 3, 0, 10], "z": [1, 2, 4]}"#);
    for model in [
        "param a ~ normal(0, 2)\ntarget += 3 * (a > 1.5)",
        "data { z : real[N] }\nparam x ~ normal(0, 1)\nz ~ normal(where(x > 0.5, 5, 0), 3)",
        "data { y : count[T] }\nparam a ~ normal(0, 3)\nparam w[T] ~ normal(0, 1)\n\
         let p = inv_logit(a + cumsum(w))\ny ~ binomial(10, p)",
    ] {
        let fit = fits::fitted(model, &data, 1);
        assert!(!fit.is_doubtful(), "{model}\n{:?}", fit.findings);
    }
}

/// Labels that are free are averaged over: that is told, and not where a prior tells them apart.
#[test]
fn averages_over_labels_are_told() {
    let data = fits::json(r#"{"y": [60, 61, 74, 73, 62, 59, 75, 74.5]}"#);
    let model = |first: &str| {
        format!(
            "data {{ y : real[N] }}\nparam mu[2] ~ normal({first}, 3)\nparam s ~ half_normal(5)\n\
             y ~ mixture(0.5: normal(mu[1], s), 0.5: normal(mu[2], s))"
        )
    };
    let free = fits::fitted(&model("67"), &data, 1);
    assert!(free.is_doubtful(), "{:?}", free.findings);
    let known = fits::fitted(&model("[60, 74]"), &data, 1);
    assert!(!known.is_doubtful(), "{:?}", known.findings);
}

/// A log density that is no number near the answer is told with its line and row.
#[test]
fn what_is_no_number_is_told() {
    let data = fits::json(r#"{"y": [1, 3, 2], "x": [0.5, 1.0, 1.5]}"#);
    let model = "data { y : real[N]; x : real[N] }\nparam b ~ normal(0, 1)\n\
                 y ~ normal(sqrt(b + x) + 0 * log(b + 2), 1)";
    let fit = fits::fitted(model, &data, 1);
    assert!(fit.is_doubtful(), "{:?}", fit.findings);
    // Its value is a number everywhere, its slope at none.
    let model = "data { y : real[N] }\nparam b ~ normal(0, 1)\ny ~ normal(b + 0 * sqrt(abs(b - b)), 1)";
    let fit = fits::fitted(model, &data, 1);
    assert!(fit.is_doubtful(), "{:?}", fit.findings);
}

/// Priors and data that disagree, and data that say nothing, are told; neither makes an answer doubtful.
#[test]
fn answers_are_compared_with_their_priors() {
    let grams = fits::json(r#"{"y": [3500, 3300, 2900, 3800]}"#);
    let model = |b: &str, s: &str| {
        format!(
            "data {{ y : real[N] }}\nparam a ~ normal(3000, 1000)\nparam b ~ normal(0, 1)\n\
             param s ~ half_normal({s})\ny ~ normal(a{b}, s)"
        )
    };
    for (b, s, kept, conflict) in [("", "1000", true, false), (" + 500 * b", "1", false, true)] {
        let fit = fits::fitted(&model(b, s), &grams, 1);
        assert_eq!(fit.has("prior-kept"), kept, "{b} {s}\n{:?}", fit.findings);
        assert_eq!(fit.has("prior-conflict"), conflict, "{b} {s}\n{:?}", fit.findings);
        assert!(!fit.is_doubtful(), "{:?}", fit.findings);
    }
}
