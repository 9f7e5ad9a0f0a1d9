//! A method with the constants of one of the paper's models and all that its bound is made of, run over
//! seeds.

use super::*;
use std::ops::ControlFlow;
use stickler::vi::bound::{Bound, Measure};
use stickler::vi::noise::Geometry;
use stickler::vi::{Config, Start, fit};

/// Error of each seed (outer) at each checkpoint (inner).
pub type Errors = Vec<Vec<f64>>;

pub struct Experiment<'a> {
    pub model: &'a LinearModel,
    pub config: Config,
    pub bound: Bound,
    best: Vec<f64>,
    lowest: f64,
}

impl<'a> Experiment<'a> {
    /// The method with the constants of the model, from (0, I), one draw a step.
    pub fn new(model: &'a LinearModel, method: &str, step: &str) -> Self {
        let mut config = Config::named(method).expect("a method of the table");
        config.constants = Some(model.constants());
        config.step = Some(step.parse().expect("a step rule of the table"));
        (config.batch, config.elbo_draws, config.start) = (1, 2, Start::Standard);
        let (best, dense) = model.best(config.factor);
        let bound = bound(model, &config, &best);
        let lowest = model.objective(&best[..model.d], &dense);
        Experiment { model, config, bound, best, lowest }
    }

    /// What the theorem of the step rule bounds, at the checkpoints for each seed. A constant step depends on
    /// the length of the run, so each checkpoint of a gap is a run of its own.
    pub fn errors(&mut self, checkpoints: &[usize], seeds: u64, measure: Measure) -> Errors {
        (1..=seeds)
            .map(|seed| {
                self.config.seed = seed;
                match measure {
                    Measure::Distance => self.distances(checkpoints),
                    Measure::Gap => checkpoints.iter().map(|steps| self.gap(*steps)).collect(),
                }
            })
            .collect()
    }

    /// ‖w - w*‖² after runs of these lengths, for a step that depends on the length.
    pub fn last_distances(&mut self, lengths: &[usize], seeds: u64) -> Errors {
        (1..=seeds)
            .map(|seed| {
                self.config.seed = seed;
                lengths.iter().flat_map(|steps| self.distances(&[*steps])).collect()
            })
            .collect()
    }

    /// ‖w - w*‖² at the checkpoints of one run.
    fn distances(&mut self, checkpoints: &[usize]) -> Vec<f64> {
        self.config.steps = *checkpoints.last().expect("checkpoints");
        let (mut seen, best) = (Vec::new(), &self.best);
        fit(self.model, &self.config, &mut |p| {
            if checkpoints.contains(&p.step) {
                seen.push(distance_squared(p.iterate, best));
            }
            ControlFlow::Continue(())
        })
        .expect("a smooth target");
        seen
    }

    /// f(w̄) - inf f after a run of that length.
    fn gap(&mut self, steps: usize) -> f64 {
        self.config.steps = steps;
        let run = fit(self.model, &self.config, &mut keep_going).expect("a smooth target");
        self.model.objective(&run.mean, &run.factor()) - self.lowest
    }
}

/// The bound with the true distances of the model in it.
fn bound(model: &LinearModel, config: &Config, best: &[f64]) -> Bound {
    let (d, constants) = (model.d, model.constants());
    let away = |point: &[f64]| distance_squared(&best[..d], point) + dot(&best[d..], &best[d..]);
    let gaussian = matches!(model.likelihood, Likelihood::Normal { .. });
    let (residual, to_residual_mode) = match (config.estimator.name, gaussian) {
        // The theorem assumes that the residual has a stationary point; for the hierarchical model none was
        // found.
        ("stl", false) if model.name == "hierarchical" => (2.0 * constants.smoothness, f64::NAN),
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
    let mut start = vec![0.0; best.len()];
    (config.factor.make)(d).pack(&identity(d, 1.0), &mut start[d..]);
    Bound {
        noise: (config.estimator.noise)(&geometry).expect("an estimator of the paper"),
        smoothness: constants.smoothness,
        strong_concavity: constants.strong_concavity,
        start: distance_squared(&start, best),
        to_mode: geometry.to_mode,
    }
}

/// Mean over seeds at checkpoint k, and its standard error.
pub fn mean(errors: &Errors, k: usize) -> (f64, f64) {
    let n = errors.len() as f64;
    let mean = errors.iter().map(|e| e[k]).sum::<f64>() / n;
    let variance = errors.iter().map(|e| (e[k] - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// Least-squares slope of log error on log steps, from checkpoint `from` on, with its jackknife standard
/// error over seeds.
pub fn slope(errors: &Errors, checkpoints: &[usize], from: usize) -> (f64, f64) {
    let of = |errors: &Errors| {
        let x: Vec<f64> = checkpoints[from..].iter().map(|t| *t as f64).collect();
        let y: Vec<f64> = (from..checkpoints.len()).map(|k| mean(errors, k).0).collect();
        log_log_slope(&x, &y)
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

/// Least-squares slope of log y on log x.
pub fn log_log_slope(x: &[f64], y: &[f64]) -> f64 {
    let logs = |v: &[f64]| v.iter().map(|v| v.ln()).collect::<Vec<f64>>();
    let (x, y) = (logs(x), logs(y));
    let centre = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (centre(&x), centre(&y));
    let xy: f64 = x.iter().zip(&y).map(|(a, b)| (a - mx) * (b - my)).sum();
    xy / x.iter().map(|a| (a - mx).powi(2)).sum::<f64>()
}

/// 2^from, 2^(from + every), … up to 2^to.
pub fn powers(from: u32, to: u32, every: usize) -> Vec<usize> {
    (from..=to).step_by(every).map(|k| 1 << k).collect()
}
