//! Whole fits: good answers without options, the same bits on any number of threads, refusals that teach.

use crate::vi_support;

use std::ops::ControlFlow;
use stickler::target::from_fn;
use stickler::vi::draws::Draws;
use stickler::vi::family::Family;
use stickler::vi::step::{Needs, Rule};
use stickler::vi::subsample::Subsample;
use stickler::vi::table::find;
use stickler::vi::{Choice, Config, Constants, Error, Method, Row, Run, Start, fit, fit_subsampled};
use vi_support::*;

fn models() -> [LinearModel; 3] {
    [LinearModel::linear(40, 4, 0.5), LinearModel::logistic(60, 4), LinearModel::hierarchical(3, 8, 1)]
}

/// How many nats the answer is from the best one of its family.
fn gap(model: &LinearModel, config: &Config, run: &Run) -> f64 {
    let (best, dense) = model.best(config.factor);
    model.objective(&run.mean, &run.factor()) - model.objective(&best[..model.d], &dense)
}

#[test]
fn every_method_alone_reaches_a_good_answer() {
    for model in models() {
        for method in Method::table() {
            let config = Config::named(method.name).unwrap();
            let run = fit(&model, &config, &mut keep_going).unwrap();
            let gap = gap(&model, &config, &run);
            // A KL divergence of 0.02 nats moves a posterior mean by at most 0.2 standard deviations.
            assert!(gap < 0.02, "{} on {}: {gap} nats from the optimum", method.name, model.name);
            assert_eq!(run.steps, config.steps);
            assert!(run.trace.len() <= config.trace + 1 && run.trace.last().unwrap().step == config.steps);
        }
    }
}

#[test]
fn the_elbo_has_its_constants_and_an_honest_error() {
    let model = LinearModel::linear(40, 4, 0.5);
    let evidence = model.log_evidence().unwrap();
    let run = fit(&model, &Config::named("proj-stl").unwrap(), &mut keep_going).unwrap();
    // At a Gaussian posterior log p - log q is the evidence at every draw.
    assert!(
        (run.elbo - evidence).abs() < 1e-6 && run.elbo_se < 1e-6,
        "{} ± {}, {evidence}",
        run.elbo,
        run.elbo_se
    );
    let mut config = Config::named("mean-field").unwrap();
    config.elbo_draws = 4000;
    let run = fit(&model, &config, &mut keep_going).unwrap();
    let exact = -model.objective(&run.mean, &run.factor());
    assert!((run.elbo - exact).abs() < 4.0 * run.elbo_se, "{} ± {}, exactly {exact}", run.elbo, run.elbo_se);
    assert!(exact < evidence);
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
    let model = LinearModel::logistic(20, 3);
    for method in ["prox-energy", "proj-stl", "prox-stl"] {
        for draws in Draws::table() {
            let mut config = Config::named(method).unwrap();
            (config.steps, config.batch, config.draws) = (40, 64, draws);
            let one = fit(&model, &config, &mut keep_going).unwrap();
            config.threads = 2;
            let two = fit(&model, &config, &mut keep_going).unwrap();
            assert_eq!(bits(&one.averaged), bits(&two.averaged), "{method}, {}", draws.name);
            assert_eq!(
                (one.elbo.to_bits(), one.elbo_se.to_bits()),
                (two.elbo.to_bits(), two.elbo_se.to_bits())
            );
            config.seed = 2;
            let other = fit(&model, &config, &mut keep_going).unwrap();
            assert_ne!(bits(&one.averaged), bits(&other.averaged), "the seed must matter");
        }
    }
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn every_step_rule_works_with_every_operator_that_it_may_have() {
    let model = LinearModel::logistic(30, 3);
    for rule in Rule::table() {
        for method in ["prox-energy", "proj-entropy", "sgd-stl", "mean-field"] {
            let mut config = Config::named(method).unwrap();
            config.step = Some(Choice::named(rule.name).unwrap());
            config.steps = 400;
            if rule.needs != Needs::Nothing {
                config.constants = Some(model.constants());
            }
            match fit(&model, &config, &mut keep_going) {
                Ok(run) => assert!(run.elbo.is_finite(), "{} with {method}", rule.name),
                Err(Error::Combination { .. }) => {
                    assert_ne!(rule.needs, Needs::Nothing, "{} with {method}", rule.name)
                }
                Err(other) => panic!("{} with {method}: {other}", rule.name),
            }
        }
    }
}

#[test]
fn rules_without_a_step_to_choose_come_close() {
    let model = LinearModel::logistic(60, 4);
    for (method, step) in [
        ("prox-energy", "dog"),
        ("prox-stl", "dowg"),
        ("proj-entropy", "dowg"),
        ("prox-energy", "adam=0.03"),
        ("proj-entropy", "adam=0.03"),
        // And without an operator.
        ("sgd-stl", "adam=0.03"),
        ("sgd-stl", "dog"),
        ("sgd-stl", "dowg"),
    ] {
        let mut config = Config::named(method).unwrap();
        config.step = Some(step.parse().unwrap());
        config.steps = 3000;
        let run = fit(&model, &config, &mut keep_going).unwrap();
        let gap = gap(&model, &config, &run);
        assert!(gap < 0.05, "{method} with {step}: {gap}");
    }
}

#[test]
fn known_constants_choose_the_rule_of_the_theorem() {
    let d = 2;
    let of = |method: &str, constants: Option<(f64, f64)>| {
        let mut config = Config::named(method).unwrap();
        config.constants =
            constants.map(|(smoothness, strong_concavity)| Constants { smoothness, strong_concavity });
        let resolved = config.resolve(d).unwrap();
        (resolved.step.row.name, resolved.average.row.name)
    };
    assert_eq!(of("prox-energy", None), ("curvature", "polynomial"));
    assert_eq!(of("prox-energy", Some((4.0, 1.0))), ("prox_decay", "last"));
    assert_eq!(of("prox-energy", Some((4.0, 0.0))), ("prox_concave", "theta_prox"));
    assert_eq!(of("prox-energy", Some((4.0, -1.0))), ("curvature", "polynomial"));
    assert_eq!(of("proj-stl", Some((4.0, 1.0))), ("proj_decay", "last"));
    assert_eq!(of("proj-entropy", Some((4.0, 0.0))), ("proj_concave", "theta_proj"));
    assert_eq!(of("prox-stl", Some((4.0, 1.0))), ("curvature", "polynomial"));
}

#[test]
fn senseless_combinations_are_refused_with_those_that_make_sense() {
    let refusal = |change: &dyn Fn(&mut Config)| {
        let mut config = Config::named("prox-energy").unwrap();
        change(&mut config);
        config.resolve(3).unwrap_err().to_string()
    };
    let message = refusal(&|c| c.estimator = find("stl").unwrap());
    assert!(
        message.contains("'energy' or 'stl_energy'") && message.contains("'projection' or 'none'"),
        "{message}"
    );
    let message = refusal(&|c| {
        c.estimator = find("entropy").unwrap();
        c.operator = find("projection").unwrap();
    });
    assert!(message.contains("no closed form") && message.contains("'symmetric'"), "{message}");
    let message = refusal(&|c| {
        c.factor = find("symmetric").unwrap();
        c.step = Some("adam".parse().unwrap());
    });
    assert!(message.contains("a step of its own") && message.contains("'triangular'"), "{message}");
    let message = refusal(&|c| c.step = Some("prox_decay".parse().unwrap()));
    assert!(message.contains("strong concavity") && message.contains("curvature"), "{message}");
    let message = refusal(&|c| {
        c.step = Some("proj_decay".parse().unwrap());
        c.constants = Some(Constants { smoothness: 2.0, strong_concavity: 1.0 });
    });
    assert!(message.contains("operator 'projection'") && message.contains("'prox_decay'"), "{message}");
    let message = refusal(&|c| c.average = Some("theta_prox".parse().unwrap()));
    assert!(message.contains("constant step") && message.contains("'polynomial'"), "{message}");
    assert!(message.contains("'constant' or 'prox_concave'"), "{message}");
    let message = refusal(&|c| {
        c.average = Some("theta_proj".parse().unwrap());
        c.constants = Some(Constants { smoothness: 2.0, strong_concavity: 1.0 });
        c.step = Some("prox_concave".parse().unwrap());
    });
    assert!(
        message.contains("operator 'projection', not 'prox'") && message.contains("'theta_prox'"),
        "{message}"
    );
    let message = refusal(&|c| {
        c.draws = find("antithetic").unwrap();
        c.batch = 3;
    });
    assert!(message.contains("even") && message.contains('3'), "{message}");
    assert!(refusal(&|c| c.steps = 0).contains("steps must be between 1"));
}

#[test]
fn names_that_are_not_in_a_table_get_the_nearest_one() {
    let message = Config::named("prox-enrgy").unwrap_err().to_string();
    assert!(message.contains("did you mean 'prox-energy'?") && message.contains("proj-stl"), "{message}");
    let message = "student_t=3".parse::<Choice<Family>>().unwrap_err().to_string();
    assert!(message.contains("not above 4") && message.contains("student_t=6"), "{message}");
    assert!("iid=3".parse::<Choice<Draws>>().unwrap_err().to_string().contains("takes no number"));
    assert!("constant=fast".parse::<Choice<Rule>>().unwrap_err().to_string().contains("not a number"));
}

#[test]
fn values_that_are_not_finite_are_walked_away_from() {
    // A narrow posterior that is not finite beyond |z| = 3, from a start ten times wider than that.
    let target = from_fn(2, |z: &[f64], g: &mut [f64]| {
        (0..2).for_each(|i| g[i] = -100.0 * z[i]);
        if z.iter().any(|z| z.abs() > 3.0) { f64::NAN } else { -50.0 * dot(z, z) }
    });
    let mut config = Config::named("prox-stl").unwrap();
    config.start = Start::Scaled { mean: vec![1.0, -1.0], scale: 30.0 };
    let run = fit(&target, &config, &mut keep_going).unwrap();
    assert!(run.rejected > 0, "the first batches can not have been finite");
    assert!(run.sd().iter().all(|s| (s - 0.1).abs() < 1e-3), "{:?}", run.sd());
}

#[test]
fn a_target_that_is_never_finite_is_an_error_that_says_where() {
    let target = from_fn(2, |z: &[f64], g: &mut [f64]| {
        (g[0], g[1]) = (-z[0], f64::INFINITY);
        -0.5 * z[0] * z[0]
    });
    let error = fit(&target, &Config::named("prox-energy").unwrap(), &mut keep_going).unwrap_err();
    assert!(matches!(error, Error::NonFinite { step: 0, .. }));
    assert!(error.to_string().contains("the gradient with respect to 'z[2]'"), "{error}");
}

#[test]
fn a_watcher_can_stop_a_fit_and_keep_the_answer() {
    let model = LinearModel::logistic(20, 2);
    let mut seen = 0;
    let run = fit(&model, &Config::named("proj-stl").unwrap(), &mut |p| {
        seen = p.step;
        if p.step == 300 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    assert!(run.stopped && run.steps == 300 && seen == 300);
    assert!(gap(&model, &Config::named("proj-stl").unwrap(), &run) < 0.02);
}

#[test]
fn a_pass_over_all_subsets_has_the_gradient_of_the_whole() {
    let model = LinearModel::logistic(12, 2);
    let z = [0.3, -0.7];
    let (mut value, mut whole) = ([0.0], [0.0; 2]);
    stickler::target::Target::evaluator(&model).evaluate(&z, 1, &mut value, &mut whole);
    let mut sum = [0.0; 2];
    let mut evaluator = model.subset_evaluator();
    for rows in [[0, 5, 7, 2], [1, 3, 4, 6], [8, 9, 10, 11]] {
        let mut g = [0.0; 2];
        evaluator.evaluate_subset(&rows, &z, 1, &mut value, &mut g);
        (0..2).for_each(|i| sum[i] += g[i] / 3.0);
    }
    assert!(distance_squared(&sum, &whole) < 1e-24);
}

#[test]
fn sub_sampling_reaches_the_answer_of_the_whole() {
    let model = LinearModel::logistic(200, 3);
    let mut config = Config::named("prox-energy").unwrap();
    config.steps = 4000;
    let run = fit_subsampled(&model, 50, &config, &mut keep_going).unwrap();
    assert!(gap(&model, &config, &run) < 0.05, "{}", gap(&model, &config, &run));
    let exact = -model.objective(&run.mean, &run.factor());
    assert!((run.elbo - exact).abs() < 4.0 * run.elbo_se, "the ELBO is over all observations");
    let error = fit_subsampled(&model, 201, &config, &mut keep_going).unwrap_err().to_string();
    assert!(error.contains("between 1 and the number of observations, 200"), "{error}");
}

#[test]
fn a_family_with_the_shape_of_the_target_leaves_no_divergence() {
    // Independent Laplace coordinates with means 1, -2 and standard deviations 0.5, 2: normalised, so the
    // evidence is 0.
    let (mean, sd) = ([1.0, -2.0], [0.5, 2.0]);
    let target = from_fn(2, move |z: &[f64], g: &mut [f64]| {
        (0..2)
            .map(|i| {
                let rate = 2_f64.sqrt() / sd[i];
                g[i] = -rate * (z[i] - mean[i]).signum();
                -rate * (z[i] - mean[i]).abs() + (0.5 * rate).ln()
            })
            .sum()
    });
    let fit_with = |family: &str| {
        let mut config = Config::named("mean-field").unwrap();
        config.family = family.parse().unwrap();
        config.steps = 4000;
        fit(&target, &config, &mut keep_going).unwrap()
    };
    let (laplace, student, normal) = (fit_with("laplace"), fit_with("student_t=5"), fit_with("normal"));
    assert!(laplace.elbo.abs() < 0.01, "{}", laplace.elbo);
    assert!(normal.elbo + 3.0 * normal.elbo_se < student.elbo && student.elbo < laplace.elbo);
    for i in 0..2 {
        assert!((laplace.mean[i] - mean[i]).abs() < 0.1 * sd[i]);
        assert!((laplace.sd()[i] / sd[i] - 1.0).abs() < 0.05);
    }
}
