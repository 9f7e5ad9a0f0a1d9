//! The convergence theorems, measured: errors below the bounds at every checkpoint, and slopes at or below the rates.
//!
//! Expectations are means over seeds. A measured mean may lie above the true one by chance, so a bound is compared with the
//! mean less three standard errors, and so is a slope; the bounds are loose enough for this to make no difference.

mod vi_support;

use std::ops::ControlFlow;
use stickler::vi::bound::{Bound, Measure};
use stickler::vi::noise::Geometry;
use stickler::vi::{Choice, Config, Start, fit};
use vi_support::*;

/// Error of each seed (outer) at each checkpoint (inner).
type Errors = Vec<Vec<f64>>;

struct Experiment<'a> {
    model: &'a LinearModel,
    config: Config,
    bound: Bound,
    best: Vec<f64>,
    lowest: f64,
}

impl<'a> Experiment<'a> {
    /// The method with the constants of the model, from (0, I).
    fn new(model: &'a LinearModel, method: &str, step: &str) -> Self {
        let mut config = Config::named(method).unwrap();
        config.constants = Some(model.constants());
        config.step = Some(step.parse().unwrap());
        config.batch = 1;
        config.elbo_draws = 2;
        config.start = Start::Standard;
        let (best, dense) = model.best(config.factor);
        let bound = bound(model, &config, &best);
        let lowest = model.objective(&best[..model.d], &dense);
        Experiment { model, config, bound, best, lowest }
    }

    /// ‖w - w*‖² at the checkpoints, for each seed.
    fn distances(&mut self, checkpoints: &[usize], seeds: u64) -> Errors {
        self.config.steps = *checkpoints.last().unwrap();
        (1..=seeds)
            .map(|seed| {
                self.config.seed = seed;
                let mut seen = Vec::new();
                let best = &self.best;
                fit(self.model, &self.config, &mut |p| {
                    if checkpoints.contains(&p.step) {
                        seen.push(distance_squared(p.iterate, best));
                    }
                    ControlFlow::Continue(())
                })
                .unwrap();
                seen
            })
            .collect()
    }

    /// f(w̄) - inf f for runs of each length, for each seed: a constant step depends on the length.
    fn gaps(&mut self, lengths: &[usize], seeds: u64) -> Errors {
        (1..=seeds)
            .map(|seed| {
                self.config.seed = seed;
                lengths
                    .iter()
                    .map(|steps| {
                        self.config.steps = *steps;
                        let run = fit(self.model, &self.config, &mut keep_going).unwrap();
                        self.model.objective(&run.mean, &run.factor) - self.lowest
                    })
                    .collect()
            })
            .collect()
    }

    fn check_bounds(&self, errors: &Errors, checkpoints: &[usize], measure: Measure) {
        let step = self.config.step.unwrap();
        let guarantee = step.row.guarantee.unwrap();
        assert_eq!(guarantee.measure, measure);
        for (k, steps) in checkpoints.iter().enumerate() {
            let (mean, error) = mean(errors, k);
            let bound = (guarantee.bound)(&self.bound, step.value, *steps).unwrap();
            assert!(
                mean - 3.0 * error <= bound,
                "{}, {step}, {steps} steps: error {mean:.3e} ± {error:.1e}, bound {bound:.3e}",
                self.model.name
            );
        }
    }
}

fn bound(model: &LinearModel, config: &Config, best: &[f64]) -> Bound {
    let d = model.d;
    let constants = model.constants();
    let away = |point: &[f64]| distance_squared(&best[..d], point) + dot(&best[d..], &best[d..]);
    let gaussian = matches!(model.likelihood, Likelihood::Normal { .. });
    let (residual, to_residual_mode) = match (config.estimator.name, gaussian) {
        ("stl", false) => {
            let (residual, mode) = residual_constants(model);
            (residual, away(&mode))
        }
        _ => (0.0, 0.0),
    };
    let geometry = Geometry {
        dimension: d,
        kurtosis: 3.0,
        smoothness: constants.smoothness,
        residual,
        to_mode: away(&model.mode()),
        to_residual_mode,
    };
    let mut start = vec![0.0; d];
    let factor = (config.factor.make)(d);
    start.resize(best.len(), 0.0);
    factor.pack(&identity(d, 1.0), &mut start[d..]);
    Bound {
        noise: (config.estimator.noise)(&geometry).unwrap(),
        smoothness: constants.smoothness,
        strong_concavity: constants.strong_concavity,
        start: distance_squared(&start, best),
        to_mode: geometry.to_mode,
    }
}

/// Mean over seeds at checkpoint k, and its standard error.
fn mean(errors: &Errors, k: usize) -> (f64, f64) {
    let n = errors.len() as f64;
    let mean = errors.iter().map(|e| e[k]).sum::<f64>() / n;
    let variance = errors.iter().map(|e| (e[k] - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// Least-squares slope of log error on log steps, from checkpoint `from` on, with its jackknife standard error over seeds.
fn slope(errors: &Errors, checkpoints: &[usize], from: usize) -> (f64, f64) {
    let of = |errors: &Errors| {
        let x: Vec<f64> = checkpoints[from..].iter().map(|t| (*t as f64).ln()).collect();
        let y: Vec<f64> = (from..checkpoints.len()).map(|k| mean(errors, k).0.ln()).collect();
        let (mx, my) = (x.iter().sum::<f64>() / x.len() as f64, y.iter().sum::<f64>() / y.len() as f64);
        let xy: f64 = x.iter().zip(&y).map(|(a, b)| (a - mx) * (b - my)).sum();
        xy / x.iter().map(|a| (a - mx).powi(2)).sum::<f64>()
    };
    let n = errors.len();
    let without: Vec<f64> = (0..n)
        .map(|skip| {
            of(&errors.iter().enumerate().filter(|(k, _)| *k != skip).map(|(_, e)| e.clone()).collect())
        })
        .collect();
    let centre = without.iter().sum::<f64>() / n as f64;
    let spread: f64 = without.iter().map(|s| (s - centre).powi(2)).sum();
    (of(errors), (spread * (n as f64 - 1.0) / n as f64).sqrt())
}

fn powers(from: u32, to: u32) -> Vec<usize> {
    (from..=to).map(|k| 1 << k).collect()
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
        let checkpoints = powers(4, last);
        let mut experiment = Experiment::new(&model, "prox-energy", "prox_decay");
        let errors = experiment.distances(&checkpoints, seeds);
        experiment.check_bounds(&errors, &checkpoints, Measure::Distance);
        let (slope, error) = slope(&errors, &checkpoints, checkpoints.len() - 4);
        assert!(slope - 3.0 * error <= -1.0 && slope < -0.8, "{}: slope {slope:.2} ± {error:.2}", model.name);
    }
}

#[test]
fn projection_with_decaying_steps_stays_below_its_bound() {
    for (model, method) in [
        (small_linear(), "proj-entropy"),
        (small_logistic(), "proj-entropy"),
        (small_hierarchical(), "proj-entropy"),
        (small_logistic(), "proj-stl"),
    ] {
        let checkpoints = powers(4, 13);
        let mut experiment = Experiment::new(&model, method, "proj_decay");
        let errors = experiment.distances(&checkpoints, 6);
        experiment.check_bounds(&errors, &checkpoints, Measure::Distance);
        if model.name == "linear" {
            let (slope, error) = slope(&errors, &checkpoints, checkpoints.len() - 3);
            assert!(slope - 3.0 * error <= -1.0, "slope {slope:.2} ± {error:.2}");
        }
    }
}

#[test]
fn constant_steps_of_the_concave_theorems_converge_at_least_as_one_over_root_t() {
    // A constant step forgets the start after (a/μ²) log(1/ε) steps or so: the weaker the prior, the longer the runs.
    let short = [128, 1024, 8192];
    let long = [1024, 8192, 65_536];
    for (model, lengths) in [(small_linear(), short), (small_logistic(), short), (small_hierarchical(), long)]
    {
        let mut methods = vec![("prox-energy", "prox_concave"), ("proj-entropy", "proj_concave")];
        // The bound for STL assumes a stationary point of log p - log q_{w*}, which the hierarchical model may not have.
        if model.name != "hierarchical" {
            methods.push(("proj-stl", "proj_concave"));
        }
        for (method, step) in methods {
            let mut experiment = Experiment::new(&model, method, step);
            let errors = experiment.gaps(&lengths, 5);
            experiment.check_bounds(&errors, &lengths, Measure::Gap);
            let (slope, error) = slope(&errors, &lengths, 0);
            assert!(slope - 3.0 * error <= -0.5, "{}, {method}: slope {slope:.2} ± {error:.2}", model.name);
        }
    }
}

#[test]
fn any_constant_step_stays_below_its_bound() {
    let model = small_logistic();
    let checkpoints = powers(3, 12);
    for (method, prox) in [("prox-energy", true), ("proj-entropy", false)] {
        let mut experiment = Experiment::new(&model, method, "constant=1");
        let (a, mu) = (experiment.bound.noise.a, experiment.bound.strong_concavity);
        let gamma = 0.5 * mu / a;
        experiment.config.step = Some(Choice::with("constant", gamma).unwrap());
        let errors = experiment.distances(&checkpoints, 6);
        for (k, steps) in checkpoints.iter().enumerate() {
            let b = &experiment.bound;
            let bound = if prox { b.prox_constant(gamma, *steps) } else { b.proj_constant(gamma, *steps) };
            let (mean, error) = mean(&errors, k);
            assert!(mean - 3.0 * error <= bound, "{method}, {steps} steps: {mean:.3e} above {bound:.3e}");
        }
        // The θ-weighted average under the same step, for a target that need only be concave.
        experiment.config.average =
            Some(Choice::named(if prox { "theta_prox" } else { "theta_proj" }).unwrap());
        for (k, steps) in [64, 2048].into_iter().enumerate() {
            let errors = experiment.gaps(&[64, 2048], 5);
            let b = &experiment.bound;
            let bound = if prox {
                b.prox_concave_constant(gamma, steps)
            } else {
                b.proj_concave_constant(gamma, steps)
            };
            let (mean, error) = mean(&errors, k);
            assert!(
                mean - 3.0 * error <= bound,
                "{method}, average of {steps}: {mean:.3e} above {bound:.3e}"
            );
        }
    }
}

#[test]
fn the_step_that_needs_no_constant_stays_below_its_bound() {
    let model = small_linear();
    let factor = 1.0 / model.constants().strong_concavity;
    let mut experiment = Experiment::new(&model, "prox-energy", "constant=1");
    experiment.config.step = Some(Choice::with("log_t_over_t", factor).unwrap());
    for steps in [2048, 8192] {
        let errors = experiment.distances(&[steps], 6);
        experiment.check_bounds(&errors, &[steps], Measure::Distance);
    }
    assert!(
        experiment.bound.prox_log_t_over_t(factor, 10).is_none(),
        "ten steps are too few for the corollary"
    );
}

#[test]
fn sticking_the_landing_converges_geometrically_on_a_gaussian_posterior() {
    let model = small_linear();
    let mut experiment = Experiment::new(&model, "proj-stl", "stl_gaussian");
    let checkpoints: Vec<usize> = (1..=40).map(|k| 1000 * k).collect();
    let errors = experiment.distances(&checkpoints, 3);
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
}
