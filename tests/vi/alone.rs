//! Each method of stochastic gradients alone, with no further option, on the models of the paper: in units
//! that suit them and in units that do not.
//!
//! The tolerances. A gap of ε nats from the best member of the family moves its mean by at most √(2ε)
//! standard deviations (Pinsker's way: half a squared shift is a divergence). 0.02 nats is well below what a
//! comparison of models or an interval would show; means are held to 0.1 posterior standard deviations apart
//! from that.

use crate::vi_support;

use std::fmt::Write;
use std::ops::ControlFlow;
use stickler::data::Dataset;
use stickler::infer::methods::{Approximation, Descent, descend, judge};
use stickler::infer::{self, Finding, Options, Severity};
use stickler::num::stream::Stream;
use stickler::target::{ModelTarget, Target};
use stickler::vi::{Constants, Method, Progress, Row};
use vi_support::*;

const GAP: f64 = 0.02;
const SHIFT: f64 = 0.1;

fn models() -> [LinearModel; 3] {
    [LinearModel::linear(40, 4, 0.5), LinearModel::logistic(60, 4), LinearModel::hierarchical(3, 8, 1)]
}

fn go_on(_: &Progress<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn every_method_alone_reaches_the_optimum_whatever_the_units() {
    for units in [[1.0; 4], [1.0, 300.0, 0.01, 20.0]] {
        for model in models().map(|m| m.in_units(&units)) {
            for method in Method::table() {
                let descent = Descent::named(method.name, model.d).unwrap();
                let found = descend(&model, &descent, &Options::default(), &mut go_on).unwrap();
                let (best, dense) = model.best(descent.config.factor);
                let optimum = model.objective(&best[..model.d], &dense);
                let gap = model.objective(&found.run.mean, &found.run.factor()) - optimum;
                let what = format!("{} on {} in units {units:?}", method.name, model.name);
                assert!(gap < GAP, "{what}: {gap} nats from the optimum");
                for i in 0..model.d {
                    let sd = dot(&dense[i * model.d..][..model.d], &dense[i * model.d..][..model.d]).sqrt();
                    let shift = (found.run.mean[i] - best[i]) / sd;
                    assert!(shift.abs() < SHIFT, "{what}: mean {i} is {shift} standard deviations off");
                }
                assert!(
                    !found.findings.iter().any(|f| f.severity() == Severity::Doubtful),
                    "{what}: {:?}",
                    found.findings
                );
            }
        }
    }
}

/// Columns of sizes that nobody has standardised, and a hierarchy of three groups.
fn table() -> String {
    let mut stream = Stream::new(41, 0, 0);
    let mut text = String::from("income,age,share,group,y,price\n");
    for n in 0..240 {
        let (income, age) = (40_000.0 + 12_000.0 * stream.normal(), 45.0 + 15.0 * stream.normal());
        let (share, group) = (0.01 * stream.uniform(), n % 3);
        let eta = (income - 40_000.0) / 12_000.0 - 0.5 * (age - 45.0) / 15.0 + group as f64 - 1.0;
        let y = u8::from(stream.uniform() < 1.0 / (1.0 + (-eta).exp()));
        let price = 250.0 + 30.0 * eta + 10.0 * stream.normal();
        writeln!(text, "{income:.0},{age:.1},{share:.6},{},{y},{price:.2}", ["a", "b", "c"][group]).unwrap();
    }
    text
}

const LINEAR: &str = "data { income : real[N]; age : real[N]; price : real[N] }
param a ~ normal(0, 1000)
param b ~ normal(0, 1)
param c ~ normal(0, 100)
param sigma ~ half_normal(100)
price ~ normal(a + b * income + c * age, sigma)";

const LOGISTIC: &str = "data { income : real[N]; age : real[N]; share : real[N]; y : binary[N] }
param a ~ normal(0, 100)
param b ~ normal(0, 1)
param c ~ normal(0, 10)
param s ~ normal(0, 1000)
y ~ bernoulli_logit(a + b * income + c * age + s * share)";

const HIERARCHICAL: &str = "data { income : real[N]; age : real[N]; group : category[N] of J; y : binary[N] }
param a ~ normal(0, 100)
param b ~ normal(0, 1)
param g[J] ~ normal(a, 2)
y ~ bernoulli_logit(g[group] + b * (income - 40000) + 0.1 * age)";

fn compiled(text: &str) -> ModelTarget {
    ModelTarget::new(text, &Dataset::from_texts(&[("data.csv", &table())]).unwrap()).unwrap()
}

#[test]
fn every_method_alone_reaches_the_default_fit_on_raw_columns() {
    for text in [LINEAR, LOGISTIC, HIERARCHICAL] {
        let target = compiled(text);
        let fit = infer::fit(&target, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
        let best = Approximation::Gaussian(fit.approximation().unwrap());
        let sd: Vec<f64> = fit.gaussian.iter().map(|o| o.sd).collect();
        let mean: Vec<f64> = fit.gaussian.iter().map(|o| o.mean).collect();
        let reference = judge(&target, &best, 16_384, 9).elbo;
        for method in Method::table() {
            let descent = Descent::named(method.name, target.dimension()).unwrap();
            let found = descend(&target, &descent, &Options::default(), &mut go_on).unwrap();
            // A mean field has no correlations to show; its means and what it leaves out are held above.
            if descent.config.factor.full_rank {
                let q = Approximation::Gaussian(found.gaussian.clone());
                let gap = reference - judge(&target, &q, 16_384, 9).elbo;
                assert!(gap < GAP, "{}: {gap} nats behind the default fit of\n{text}", method.name);
            }
            let reported = target.constrain(&found.run.mean);
            for (i, name) in target.output_names().iter().enumerate().filter(|(_, n)| *n != "sigma") {
                let shift = (reported[i] - mean[i]) / sd[i];
                // Of the reference, 2048 draws: 0.02 standard deviations of noise.
                assert!(shift.abs() < SHIFT + 0.05, "{}: {name} is {shift} sd off", method.name);
            }
        }
    }
}

#[test]
fn the_steps_of_the_theorems_run_in_whitened_coordinates() {
    let target = compiled(LOGISTIC);
    let certificate = stickler::certify::certify(target.lowered());
    for (method, step) in [
        ("prox-energy", "prox_decay"),
        ("prox-energy", "prox_concave"),
        ("prox-energy", "log_t_over_t"),
        ("proj-entropy", "proj_decay"),
        ("proj-entropy", "proj_concave"),
        ("proj-stl", "proj_decay"),
    ] {
        let mut descent = Descent::named(method, 4).unwrap();
        descent.config.step = Some(step.parse().unwrap());
        let without = descend(&target, &descent, &Options::default(), &mut go_on);
        assert_eq!(without.is_err(), step != "log_t_over_t", "{step} needs constants");
        descent.certificate = Some(&certificate);
        let found = descend(&target, &descent, &Options::default(), &mut go_on).unwrap();
        assert!(
            found.findings.iter().any(|f| matches!(f, Finding::Constants { .. })),
            "{:?}",
            found.findings
        );
        assert!(found.run.elbo.is_finite());
    }
}

#[test]
fn the_step_for_gaussian_posteriors_is_for_those_alone() {
    let mut descent = Descent::named("proj-stl", 4).unwrap();
    descent.config.step = Some("stl_gaussian".parse().unwrap());
    let target = compiled(LOGISTIC);
    let certificate = stickler::certify::certify(target.lowered());
    descent.certificate = Some(&certificate);
    let refusal = descend(&target, &descent, &Options::default(), &mut go_on).unwrap_err().to_string();
    assert!(refusal.contains("not known to be Gaussian") && refusal.contains("'proj_decay'"), "{refusal}");
    for (method, instead) in [("prox-energy", "'prox_decay'"), ("sgd-stl", "'whitened'")] {
        let mut other = Descent::named(method, 4).unwrap();
        (other.config.step, other.certificate) = (descent.config.step, Some(&certificate));
        let refusal = descend(&target, &other, &Options::default(), &mut go_on).unwrap_err().to_string();
        assert!(refusal.contains(instead) && !refusal.contains("'proj_decay'"), "{method}: {refusal}");
    }
    let target = compiled(&LINEAR.replace("param sigma ~ half_normal(100)\n", "").replace("sigma", "10"));
    let certificate = stickler::certify::certify(target.lowered());
    descent.certificate = Some(&certificate);
    let found = descend(&target, &descent, &Options::default(), &mut go_on).unwrap();
    assert!(found.gap < 1e-6, "a Gaussian posterior in coordinates that whiten it: {}", found.gap);
}

#[test]
fn constants_in_raw_coordinates_can_be_given() {
    let model = LinearModel::logistic(60, 4);
    let mut descent = Descent::named("prox-energy", 4).unwrap();
    descent.raw = true;
    descent.config.constants = Some(model.constants());
    descent.config.step = Some("prox_decay".parse().unwrap());
    let found = descend(&model, &descent, &Options::default(), &mut go_on).unwrap();
    assert!(found.findings[0].to_string().contains("the model's own coordinates"), "{:?}", found.findings);
    let Constants { smoothness, .. } = model.constants();
    assert!(matches!(found.findings[1], Finding::Constants { smoothness: m, .. } if m == smoothness));
}

#[test]
fn a_start_of_ones_own_is_kept_and_leads_to_the_same_place() {
    let target = compiled(LOGISTIC);
    let mut descent = Descent::named("prox-stl", 4).unwrap();
    let mode = descend(&target, &descent, &Options::default(), &mut go_on).unwrap();
    // Two standard deviations from the mean in every coordinate.
    let init: Vec<f64> = mode.run.mean.iter().zip(&mode.run.sd()).map(|(m, s)| m + 2.0 * s).collect();
    descent.init = Some(init.clone());
    let mut first = None;
    let other = descend(&target, &descent, &Options::default(), &mut |p| {
        first.get_or_insert(p.elbo);
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(first.unwrap() < mode.run.elbo - 1.0, "the first draws are around the start that was given");
    for ((a, b), sd) in other.run.mean.iter().zip(&mode.run.mean).zip(&mode.run.sd()) {
        assert!((a - b).abs() < SHIFT * sd);
    }
}

#[test]
fn a_run_that_is_not_done_goes_on_in_the_coordinates_it_has_come_to() {
    // Few steps, from a mode whose curvature says little of the posterior: the tails are those of a
    // Student-t.
    let target = stickler::target::from_fn(2, |z: &[f64], g: &mut [f64]| {
        (0..2)
            .map(|i| {
                let t = 1e4 * z[i] * z[i];
                g[i] = -3.0 * 1e4 * z[i] / (1.0 + t) - 1e-2 * z[i];
                -1.5 * t.ln_1p() - 0.5e-2 * z[i] * z[i]
            })
            .sum()
    });
    let mut descent = Descent::named("prox-stl", 2).unwrap();
    descent.config.steps = 40;
    let many = descend(&target, &descent, &Options::default(), &mut go_on).unwrap();
    descent.rounds = 1;
    let one = descend(&target, &descent, &Options::default(), &mut go_on).unwrap();
    assert_eq!((one.run.steps, many.run.steps), (40, 40));
    assert!(many.gradients >= one.gradients && many.run.elbo >= one.run.elbo);
}
