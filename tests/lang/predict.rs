//! Predicted quantities are draws of their distributions at each posterior draw: moments, supports and joint
//! behaviour.

use std::ops::ControlFlow;
use stickler::data::Dataset;
use stickler::infer::{self, Options};
use stickler::target::{ModelTarget, Target};

const DATA: &str = "y\n1.0\n2.0\n3.0\n2.5\n";

fn model(text: &str) -> ModelTarget {
    let data = Dataset::from_texts(&[("data.csv", DATA)]).unwrap();
    ModelTarget::new(
        &format!("data {{ y : real[N] }}\nparam mu ~ normal(0, 10)\ny ~ normal(mu, 1)\n{text}"),
        &data,
    )
    .unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

/// Many draws of the predicted quantities at one point after another near `mu`.
fn draws(model: &ModelTarget, mu: f64) -> Vec<Vec<f64>> {
    (0..20_000).map(|i| model.constrain(&[mu + 1e-12 * f64::from(i)])[1..].to_vec()).collect()
}

fn mean(rows: &[Vec<f64>], j: usize) -> f64 {
    rows.iter().map(|r| r[j]).sum::<f64>() / rows.len() as f64
}

#[test]
fn draws_follow_the_distribution_as_written() {
    let all = model(
        "predict a ~ truncated(normal(mu, 1), lower = 1)\npredict b ~ zero_inflated(0.3, poisson(4))\n\
         predict c ~ mixture(0.25: normal(-10, 1), 0.75: normal(10, 1))\npredict d ~ censored(normal(0, 1), upper = 0)\n\
         predict e[2] ~ multi_normal([mu, 5], [[1, 0.5], [0.5, 1]])\npredict f ~ categorical([0.2, 0.8])\n\
         predict g[3] ~ normal([0, mu, 100], 1)",
    );
    let names = ["mu", "a", "b", "c", "d", "e[1]", "e[2]", "f", "g[1]", "g[2]", "g[3]"];
    assert_eq!(all.output_names(), names);
    let rows = draws(&all, 0.0);
    assert!(rows.iter().all(|r| r[0] >= 1.0));
    // The mean of a standard normal beyond 1 is φ(1) / Φ(-1).
    let expected = [1.525, 2.8, 5.0, -0.39894, 0.0, 5.0, 1.8, 0.0, 0.0, 100.0];
    for (j, e) in expected.iter().enumerate() {
        let noise = if j == 2 { 0.35 } else { 0.1 };
        assert!((mean(&rows, j) - e).abs() < noise, "{}: {} against {e}", names[j + 1], mean(&rows, j));
    }
    let product = rows.iter().map(|r| r[4] * (r[5] - 5.0)).sum::<f64>() / rows.len() as f64;
    assert!((product - 0.5).abs() < 0.05, "covariance {product}");
}

/// Where arguments are outside their domains there is nothing to draw from.
#[test]
fn a_distribution_that_does_not_exist_has_no_draws() {
    let dists = [
        "half_normal(mu)",
        "normal(0, mu)",
        "exponential(mu)",
        "weibull(2, mu)",
        "uniform(0, mu)",
        "bernoulli(mu)",
        "truncated(normal(0, mu), lower = 1)",
        "zero_inflated(mu, poisson(2))",
        "mixture(mu: normal(0, 1), 1 - mu: normal(5, 1))",
    ];
    // What is known of the argument does not show that it is outside.
    let text: String = dists.iter().enumerate().map(|(i, d)| format!("predict z{i} ~ {d}\n")).collect();
    let text = text.replace("mu", "(mu + sin(mu))");
    let model = model(&text);
    let drawn = |mu: f64| model.constrain(&[mu])[1..].to_vec();
    assert!(drawn(-0.5).iter().all(|x| x.is_nan()), "{:?}", drawn(-0.5));
    assert!(drawn(0.5).iter().all(|x| x.is_finite()), "{:?}", drawn(0.5));
}

#[test]
fn a_point_has_one_prediction_alone_and_in_a_batch() {
    let model = model("predict a[2] ~ normal(mu, 1)");
    let points = [0.3, -1.2, 0.7];
    let batch = model.constrain_batch(&points, 3);
    for (b, &z) in points.iter().enumerate() {
        let one = model.constrain(&[z]);
        assert_eq!(one.len(), 3);
        (0..3).for_each(|j| assert_eq!(one[j], batch[j * 3 + b]));
    }
}

#[test]
fn a_fit_summarises_predictions_and_keeps_draws() {
    let model = model("derive twice = 2 * mu\npredict new ~ normal(mu, 1)");
    let options = Options { keep: 1000, ..Options::default() };
    let fit = infer::fit(&model, &options, &mut |_| ControlFlow::Continue(())).unwrap();
    let (variance, centre) = (1.0 / (4.0 + 0.01), 8.5 / 4.01);
    let new = fit.outputs.iter().find(|o| o.name == "new").unwrap();
    assert!((new.mean - centre).abs() < 0.03, "{}", new.mean);
    assert!((new.sd - (1.0_f64 + variance).sqrt()).abs() < 0.02, "{}", new.sd);
    assert_eq!(fit.kept.len(), 3);
    assert!(fit.kept.iter().all(|c| c.len() == 1000));
    assert!((0..1000).all(|i| fit.kept[1][i] == 2.0 * fit.kept[0][i]));
    let csv = stickler::report::csv(&fit);
    assert_eq!(csv.lines().count(), 1001);
    assert!(csv.starts_with("mu,twice,new\n"));
    let mut tiny = fit;
    tiny.kept = vec![vec![1.5e-200], vec![-2e300], vec![3.0]];
    assert_eq!(stickler::report::csv(&tiny).lines().last(), Some("1.5e-200,-2e300,3"));
}

#[test]
fn tails_of_predictions_do_not_decide_how_many_draws_a_fit_takes() {
    let draws = |text: &str| {
        let fit = infer::fit(&model(text), &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(!fit.is_doubtful(), "{:?}", fit.findings);
        fit.draws
    };
    // Their number is that for any quantity beside the parameters, whatever its tails.
    let calm = draws("predict calm ~ normal(mu, 1)");
    assert_eq!(calm, draws("predict wild[5] ~ cauchy(mu, 100)"));
    assert_eq!(calm, draws("derive wild = 1 / (mu - 2)"));
    assert!(calm >= draws(""));
}

/// Column `name` of many draws near `mu`.
fn column(model: &ModelTarget, rows: &[Vec<f64>], name: &str) -> Vec<f64> {
    let j = model.output_names().iter().position(|n| n == name).unwrap_or_else(|| panic!("no {name}"));
    rows.iter().map(|r| r[j - 1]).collect()
}

fn moments(x: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    (mean, x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n)
}

#[test]
fn a_forecast_of_several_steps_is_the_process_itself() {
    let all = model(
        "predict f[1] ~ normal(0.8 * y[N] + mu, 1)\nfor h in 2..6 { predict f[h] ~ normal(0.8 * f[h-1], 0.5) }\n\
         derive last = f[6] - f[5]",
    );
    assert_eq!(all.output_names(), ["mu", "f[1]", "f[2]", "f[3]", "f[4]", "f[5]", "f[6]", "last"]);
    assert_eq!(all.beside(), 7);
    let rows = draws(&all, 1.0);
    let (mut mean, mut variance) = (3.0, 1.0);
    for h in 2..=6 {
        (mean, variance) = (0.8 * mean, 0.64 * variance + 0.25);
        let (m, v) = moments(&column(&all, &rows, &format!("f[{h}]")));
        assert!((m - mean).abs() < 0.03, "step {h}: mean {m} against {mean}");
        assert!((v / variance - 1.0).abs() < 0.05, "step {h}: variance {v} against {variance}");
    }
    let (f5, f6) = (column(&all, &rows, "f[5]"), column(&all, &rows, "f[6]"));
    let last = column(&all, &rows, "last");
    assert!((0..last.len()).all(|i| last[i] == f6[i] - f5[i]));
    let joint = f5.iter().zip(&f6).map(|(a, b)| (a - moments(&f5).0) * b).sum::<f64>() / f5.len() as f64;
    assert!((joint / (0.8 * moments(&f5).1) - 1.0).abs() < 0.05, "covariance {joint}");
}

#[test]
fn a_new_group_and_a_test_statistic_use_what_was_drawn() {
    let all = model(
        "predict theta ~ gamma(4, 2)\npredict n ~ poisson(50)\npredict k ~ binomial(n, 0.5)\npredict y_new ~ normal(mu, theta)\n\
         predict y_rep[N] ~ normal(mu, 1)\nderive highest = max(y_rep)\nlet shifted = y_rep + 1\nderive twice = 2 * mu\n\
         derive lowest = min(shifted)\npredict vector[2] ~ multi_normal([theta, 0], [[1, 0], [0, 1]])",
    );
    assert_eq!(all.output_names()[..2], ["mu", "twice"]);
    let rows = draws(&all, 0.0);
    // E theta² = var + mean² = 1 + 4.
    assert!((moments(&column(&all, &rows, "y_new")).1 / 5.0 - 1.0).abs() < 0.1);
    assert!((moments(&column(&all, &rows, "k")).0 - 25.0).abs() < 0.2);
    assert!((moments(&column(&all, &rows, "vector[1]")).0 - 2.0).abs() < 0.05);
    let (n, k) = (column(&all, &rows, "n"), column(&all, &rows, "k"));
    assert!(n.iter().zip(&k).all(|(n, k)| k <= n));
    let rep: Vec<Vec<f64>> = (1..=4).map(|i| column(&all, &rows, &format!("y_rep[{i}]"))).collect();
    let (highest, lowest) = (column(&all, &rows, "highest"), column(&all, &rows, "lowest"));
    for i in 0..rows.len() {
        let of = |f: fn(f64, f64) -> f64| rep.iter().map(|r| r[i]).reduce(f).unwrap();
        assert_eq!((highest[i], lowest[i]), (of(f64::max), of(f64::min) + 1.0));
    }
}

#[test]
fn what_follows_a_draw_is_the_same_alone_and_in_a_batch_and_with_loops_and_equations() {
    let all = model(
        "fn decay(t, state, rate) = [-rate * state[1]]\npredict rate ~ lognormal(mu / 10, 0.1)\n\
         let state = ode(decay, [2], 0, [1, 2], rate)\nderive left = state[2, 1]\nlet s[1] = rate\n\
         for t in 2..400 { let s[t] = tanh(0.5 * s[t-1] + rate) }\nderive end = s[400]\n\
         for j in 1..2 { predict v[j] ~ multi_normal([rate, state[j, 1]], [[1, 0], [0, 1]]) }",
    );
    let names = ["mu", "rate", "left", "end", "v[1,1]", "v[1,2]", "v[2,1]", "v[2,2]"];
    assert_eq!(all.output_names(), names);
    let points = [0.3, -1.2, 0.7];
    let batch = all.constrain_batch(&points, 3);
    for (b, &z) in points.iter().enumerate() {
        let one = all.constrain(&[z]);
        (0..names.len()).for_each(|j| assert_eq!(one[j], batch[j * 3 + b], "{}", names[j]));
        assert!((one[2] - 2.0 * (-2.0 * one[1]).exp()).abs() < 1e-6);
        let end = (2..=400).fold(one[1], |s, _| (0.5 * s + one[1]).tanh());
        assert!((one[3] - end).abs() < 1e-12);
    }
}

#[test]
fn elements_are_derived_one_by_one_and_carry_labels() {
    let data = Dataset::from_texts(&[("data.csv", "y,g\n1,north\n2,south\n")]).unwrap();
    let text = "data { y : real[N]; g : category[N] of J }\nparam a[J] ~ normal(0, 1)\ny ~ normal(a[g], 1)\n\
                for j in 1..J { derive twice[j] = 2 * a[j] }\nderive thrice[J] = 3 * a\n\
                derive best = a * (a == max(a))\nfor k in 2..3 { derive curve[k] = k * a[1] }\nif N > 1 { derive x[J] = a } else { derive x[J] = 2 * a }\n\
                for j in 1..J { for k in 1..2 { predict cell[j, k] ~ normal(a[j], k) } }";
    let model = ModelTarget::new(text, &data).unwrap();
    let both = |name: &str| [format!("{name}[north]"), format!("{name}[south]")];
    let mut names: Vec<String> = ["a", "twice", "thrice", "best"].iter().flat_map(|n| both(n)).collect();
    names.extend(["curve[2]".to_string(), "curve[3]".to_string()]);
    names.extend(both("x"));
    names.extend(["north,1", "north,2", "south,1", "south,2"].map(|i| format!("cell[{i}]")));
    assert_eq!(model.output_names(), names);
    let values = model.constrain(&[0.5, -1.0]);
    assert_eq!(values[..12], [0.5, -1.0, 1.0, -2.0, 1.5, -3.0, 0.5, 0.0, 1.0, 1.5, 0.5, -1.0]);
}
