//! Predicted quantities are draws of their distributions at each posterior draw: moments, supports and joint behaviour.

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
    assert!((new.mean - centre).abs() < 0.1, "{}", new.mean);
    assert!((new.sd - (1.0_f64 + variance).sqrt()).abs() < 0.1, "{}", new.sd);
    assert_eq!(fit.kept.len(), 3);
    assert!(fit.kept.iter().all(|c| c.len() == 1000));
    assert!((0..1000).all(|i| fit.kept[1][i] == 2.0 * fit.kept[0][i]));
    let csv = stickler::report::csv(&fit);
    assert_eq!(csv.lines().count(), 1001);
    assert!(csv.starts_with("mu,twice,new\n"));
}

#[test]
fn predictions_do_not_decide_how_many_draws_a_fit_takes() {
    let draws = |text: &str| {
        let fit = infer::fit(&model(text), &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(fit.flags.is_empty(), "{:?}", fit.flags);
        fit.draws
    };
    assert_eq!(draws(""), draws("predict wild[5] ~ cauchy(mu, 100)"));
}
