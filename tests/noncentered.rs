//! A parameter keeps its distribution when it is written `noncentered`: its mean and spread under the prior alone are those of
//! the centred form, for every prior with a restricted support.

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
