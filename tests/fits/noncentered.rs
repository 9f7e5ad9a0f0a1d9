//! A parameter keeps its distribution when it is written `noncentered`: its mean and spread under the prior
//! alone are those of the centred form, for every prior with a restricted support.

use crate::fits;

use std::ops::ControlFlow;
use stickler::data::Dataset;
use stickler::infer::{Options, fit};
use stickler::target::ModelTarget;

fn mean_and_sd(prior: &str) -> (f64, f64) {
    let data = Dataset::from_texts::<&str, &str>(&[]).expect("no data");
    let target = ModelTarget::new(&format!("param x ~ {prior}\n"), &data).expect("compiles");
    let fit = fit(&target, &Options::default(), &mut |_| ControlFlow::Continue(())).expect("fits");
    (fit.outputs[0].mean, fit.outputs[0].sd)
}

#[test]
fn the_prior_stays_what_it_was() {
    // Known means and standard deviations.
    for (prior, mean, sd) in [
        ("exponential(2)", 0.5, 0.5),
        ("gamma(3, 2)", 1.5, 3.0_f64.sqrt() / 2.0),
        (
            "half_normal(2)",
            2.0 * (2.0 / std::f64::consts::PI).sqrt(),
            2.0 * (1.0 - 2.0 / std::f64::consts::PI).sqrt(),
        ),
        ("weibull(2, 1)", 0.5 * std::f64::consts::PI.sqrt(), (1.0 - std::f64::consts::PI / 4.0).sqrt()),
        ("uniform(-1, 3)", 1.0, 4.0 / 12.0_f64.sqrt()),
        ("normal(3, 2)", 3.0, 2.0),
    ] {
        for form in [prior.to_string(), format!("{prior} noncentered")] {
            let found = mean_and_sd(&form);
            assert!((found.0 - mean).abs() < 0.05 * sd, "{form}: mean {} against {mean}", found.0);
            assert!((found.1 / sd).ln().abs() < 0.05, "{form}: sd {} against {sd}", found.1);
        }
    }
}

/// Where the standardised coordinates that a model asks for do not serve, because data say much of every
/// effect, it is fitted in others: with the answer of the same model without a word on them.
#[test]
fn coordinates_change_no_answer() {
    let (mut g, mut t, mut y) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..48 {
        let (group, time) = (i / 6, 0.2 + 1.16 * f64::from(i % 6));
        let start = (1.5 + 0.4 * f64::from(group).sin()).exp();
        let rate = (-1.0 + 0.3 * f64::from(3 * group).cos()).exp();
        g.push(group + 1);
        t.push(time);
        y.push(start * (-rate * time).exp() + 0.1 * f64::from(7 * i).sin());
    }
    let data = fits::json(&format!(r#"{{"g": {g:?}, "t": {t:?}, "y": {y:?}}}"#));
    let model = |asked: &str| {
        format!(
            "data {{ g : category[N] of J; t : real[N]; y : real[N] }}\nparam mA ~ normal(1, 1)\n\
             param mk ~ normal(-1, 1)\nparam tau[2] ~ exponential(2)\nparam lA[J] ~ normal(mA, tau[1]){asked}\n\
             param lk[J] ~ normal(mk, tau[2]){asked}\nparam s ~ half_normal(1)\n\
             y ~ normal(exp(lA[g]) * exp(-exp(lk[g]) * t), s)"
        )
    };
    let [asked, open] = [" noncentered", ""].map(|asked| fits::fitted(&model(asked), &data, 1));
    assert!(!asked.is_doubtful() && !open.is_doubtful(), "{:?} {:?}", asked.findings, open.findings);
    for output in &open.outputs {
        assert_eq!(fits::wrong(&asked, &output.name, [output.mean, output.sd], 0.1), None);
    }
}
