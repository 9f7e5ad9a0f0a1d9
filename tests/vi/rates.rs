//! The convergence theorems, measured: errors below the bounds at every checkpoint, and slopes at or below
//! the rates.
//!
//! Expectations are means over seeds. A measured mean may lie above the true one by chance, so a bound is
//! compared with the mean less three standard errors, and so is a slope; the bounds are loose enough for this
//! to make no difference.

use crate::vi_support;

use stickler::vi::Choice;
use stickler::vi::bound::Measure;
use vi_support::experiment::{Errors, Experiment, mean, powers, slope};
use vi_support::*;

fn check_bounds(experiment: &Experiment, errors: &Errors, checkpoints: &[usize], measure: Measure) {
    let step = experiment.config.step.unwrap();
    let guarantee = step.row.guarantee.unwrap();
    assert_eq!(guarantee.measure, measure);
    for (k, steps) in checkpoints.iter().enumerate() {
        let (mean, error) = mean(errors, k);
        let bound = (guarantee.bound)(&experiment.bound, step.value, *steps).unwrap();
        assert!(
            mean - 3.0 * error <= bound,
            "{}, {step}, {steps} steps: error {mean:.3e} ± {error:.1e}, bound {bound:.3e}",
            experiment.model.name
        );
    }
}

fn small_linear() -> LinearModel {
    LinearModel::linear(8, 2, 1.0)
}

fn small_logistic() -> LinearModel {
    LinearModel::logistic(12, 2)
}

fn small_hierarchical() -> LinearModel {
    LinearModel::hierarchical(2, 4, 1)
}

#[test]
fn prox_with_decaying_steps_converges_as_one_over_t() {
    // The rate is that of the tail: slopes are taken after the warm-up of 4a/μ² steps.
    for (model, last, seeds) in
        [(small_linear(), 13, 12), (small_logistic(), 14, 12), (small_hierarchical(), 16, 6)]
    {
        let checkpoints = powers(4, last, 1);
        let mut experiment = Experiment::new(&model, "prox-energy", "prox_decay");
        let errors = experiment.errors(&checkpoints, seeds, Measure::Distance);
        check_bounds(&experiment, &errors, &checkpoints, Measure::Distance);
        let (slope, error) = slope(&errors, &checkpoints, checkpoints.len() - 4);
        assert!(slope - 3.0 * error <= -1.0 && slope < -0.8, "{}: slope {slope:.2} ± {error:.2}", model.name);
    }
}

#[test]
fn projection_with_decaying_steps_converges_as_one_over_t() {
    // The warm-up is 8a/μ² steps here, with twice the a: four times as long as that of the prox.
    for (model, method, last) in [
        (small_linear(), "proj-entropy", 15),
        (small_logistic(), "proj-entropy", 16),
        (small_hierarchical(), "proj-entropy", 18),
        (small_logistic(), "proj-stl", 17),
    ] {
        let checkpoints = powers(4, last, 1);
        let mut experiment = Experiment::new(&model, method, "proj_decay");
        let errors = experiment.errors(&checkpoints, 8, Measure::Distance);
        check_bounds(&experiment, &errors, &checkpoints, Measure::Distance);
        let (slope, error) = slope(&errors, &checkpoints, checkpoints.len() - 4);
        let what = format!("{}, {method}: slope {slope:.2} ± {error:.2}", model.name);
        assert!(slope - 3.0 * error <= -1.0 && slope < -0.8, "{what}");
    }
}

#[test]
fn constant_steps_of_the_concave_theorems_converge_at_least_as_one_over_root_t() {
    // A constant step forgets the start after (a/μ²) log(1/ε) steps or so: the weaker the prior, the longer
    // the runs.
    let short = [128, 1024, 8192];
    let long = [1024, 8192, 65_536];
    for (model, lengths) in [(small_linear(), short), (small_logistic(), short), (small_hierarchical(), long)]
    {
        let mut methods = vec![("prox-energy", "prox_concave"), ("proj-entropy", "proj_concave")];
        // The bound for STL assumes a stationary point of log p - log q_{w*}, which the hierarchical model
        // may not have.
        if model.name != "hierarchical" {
            methods.push(("proj-stl", "proj_concave"));
        }
        for (method, step) in methods {
            let mut experiment = Experiment::new(&model, method, step);
            let errors = experiment.errors(&lengths, 5, Measure::Gap);
            check_bounds(&experiment, &errors, &lengths, Measure::Gap);
            let (slope, error) = slope(&errors, &lengths, 0);
            assert!(slope - 3.0 * error <= -0.5, "{}, {method}: slope {slope:.2} ± {error:.2}", model.name);
        }
    }
}

#[test]
fn any_constant_step_stays_below_its_bound() {
    let checkpoints = powers(3, 12, 1);
    for model in [small_linear(), small_logistic(), small_hierarchical()] {
        for (method, prox) in [("prox-energy", true), ("proj-entropy", false)] {
            let mut experiment = Experiment::new(&model, method, "constant=1");
            let (a, mu) = (experiment.bound.noise.a, experiment.bound.strong_concavity);
            let gamma = 0.5 * mu / a;
            experiment.config.step = Some(Choice::with("constant", gamma).unwrap());
            let errors = experiment.errors(&checkpoints, 6, Measure::Distance);
            for (k, steps) in checkpoints.iter().enumerate() {
                let b = &experiment.bound;
                let bound =
                    if prox { b.prox_constant(gamma, *steps) } else { b.proj_constant(gamma, *steps) };
                let (mean, error) = mean(&errors, k);
                let what = format!("{}, {method}, {steps} steps", model.name);
                assert!(mean - 3.0 * error <= bound, "{what}: {mean:.3e} above {bound:.3e}");
            }
            // The θ-weighted average under the same step, for a target that need only be concave.
            let average = if prox { "theta_prox" } else { "theta_proj" };
            experiment.config.average = Some(Choice::named(average).unwrap());
            let lengths = [64, 2048];
            let errors = experiment.errors(&lengths, 5, Measure::Gap);
            for (k, steps) in lengths.into_iter().enumerate() {
                let b = &experiment.bound;
                let bound = if prox {
                    b.prox_concave_constant(gamma, steps)
                } else {
                    b.proj_concave_constant(gamma, steps)
                };
                let (mean, error) = mean(&errors, k);
                let what = format!("{}, {method}, average of {steps}", model.name);
                assert!(mean - 3.0 * error <= bound, "{what}: {mean:.3e} above {bound:.3e}");
            }
        }
    }
}

#[test]
fn the_step_that_needs_no_constant_stays_below_its_bound() {
    for model in [small_linear(), small_logistic(), small_hierarchical()] {
        let factor = 1.0 / model.constants().strong_concavity;
        let mut experiment = Experiment::new(&model, "prox-energy", "constant=1");
        experiment.config.step = Some(Choice::with("log_t_over_t", factor).unwrap());
        // The first lengths for which the corollary speaks: T / log T ≥ 2aA/μ.
        let speaks = |steps: &usize| experiment.bound.prox_log_t_over_t(factor, *steps).is_some();
        let lengths: Vec<usize> = powers(4, 20, 1).into_iter().filter(speaks).take(3).collect();
        assert_eq!(lengths.len(), 3, "{}", model.name);
        let errors = experiment.last_distances(&lengths, 6);
        check_bounds(&experiment, &errors, &lengths, Measure::Distance);
        assert!(
            experiment.bound.prox_log_t_over_t(factor, 10).is_none(),
            "{}: ten steps are too few for the corollary",
            model.name
        );
    }
}

#[test]
fn sticking_the_landing_converges_geometrically_on_a_gaussian_posterior() {
    let model = small_linear();
    let mut experiment = Experiment::new(&model, "proj-stl", "stl_gaussian");
    let checkpoints: Vec<usize> = (1..=40).map(|k| 1000 * k).collect();
    let errors = experiment.errors(&checkpoints, 3, Measure::Distance);
    // Rounding leaves w* itself uncertain at 1e-15 or so; the theorem is held down to a distance of 1e-12.
    let settled = 1e-24;
    let step = experiment.config.step.unwrap();
    for (k, steps) in checkpoints.iter().enumerate() {
        let bound = (step.row.guarantee.unwrap().bound)(&experiment.bound, 0.0, *steps).unwrap();
        let (mean, error) = mean(&errors, k);
        assert!(mean - 3.0 * error <= bound.max(settled), "{steps} steps: {mean:.3e}, bound {bound:.3e}");
    }
    let (last, _) = mean(&errors, checkpoints.len() - 1);
    assert!(last <= settled, "still {last:.3e} away after {} steps", checkpoints.last().unwrap());
    // The rate itself, of every seed: the exponent from the start to the first checkpoint that is settled, of
    // which the theorem promises log(1 - μγ/2) a step.
    let b = &experiment.bound;
    let gamma = (0.5 * b.strong_concavity / b.noise.a).min(2.0 / b.strong_concavity);
    let promised = (-0.5 * b.strong_concavity * gamma).ln_1p();
    for seed in &errors {
        let k = seed.iter().position(|e| *e <= settled).unwrap();
        let measured = (seed[k] / b.start).ln() / checkpoints[k] as f64;
        assert!(measured <= promised, "{measured:.3e} a step, promised {promised:.3e}");
    }
}
