//! Fits a model in the coordinates that suit it: hierarchical effects as declared, standardised, or in
//! between.
//!
//! In the coordinates `w = b m + s^b (x - m) / s` of an effect `x ~ normal(m, s)`, the spread of w given s
//! does not depend on s to first order if `b = 1 - v / s²`, where v is the conditional variance of x. In
//! standardised coordinates `v / s²` is one over the diagonal of the precision matrix, so the Gaussian fitted
//! there says which blend suits each element.

use crate::data::Dataset;
use crate::infer::approximate::gaussian::Gaussian;
use crate::infer::approximate::transport::layers::{Bent, LAYERS, grow};
use crate::infer::diagnose::doubt::doubt;
use crate::infer::diagnose::level::level;
use crate::infer::search::rivals::Rival;
use crate::infer::search::whiten;
use crate::infer::strategy::{Attempt, Tried, in_suitable_coordinates, outcome};
use crate::infer::{
    Approach, Ending, Error, Finding, Fit, KHAT_LIMIT, Options, Path, Progress, approach, by_sampling,
    complete, conclude, polished, refine,
};
use crate::lower::{Coordinates, Lowered, lower_with};
use crate::num::linalg::invert_lower;
use crate::source::Checked;
use crate::syntax::ast::Program;
use crate::target::{ModelTarget, Target};
use crate::vi::Scale;
use std::ops::ControlFlow;

/// Blends below this are as good as none.
const WORTH_BLENDING: f64 = 0.15;
/// The gap, in nats, to which coordinates are compared.
const ROUGH: f64 = 0.25;
/// Gradients for the coordinates declared, which often lead into a funnel.
const BRIEF: usize = 6000;
/// Coordinates whose ELBO is further behind, in nats, are given up at once.
const NEAR: f64 = 3.0;

pub(super) type Watch<'a> = &'a mut dyn FnMut(&Progress) -> ControlFlow<()>;

/// A model as read, with its data.
#[derive(Clone, Copy)]
pub struct Model<'a> {
    /// The checked program.
    pub program: &'a Program,
    /// Its text.
    pub source: &'a str,
    /// The data.
    pub data: &'a Dataset,
}

impl Model<'_> {
    fn lower(&self, coordinates: Coordinates) -> Checked<Lowered> {
        lower_with(self.program, self.source, self.data, coordinates)
    }

    fn compile(&self, coordinates: Coordinates) -> Checked<ModelTarget> {
        self.lower(coordinates).map(ModelTarget::from_lowered)
    }

    /// The model with effects of groups in standardised coordinates, where it has any that were not declared
    /// so.
    pub(super) fn standardised(&self) -> Option<ModelTarget> {
        let lowered =
            self.lower(Coordinates::Standardised).ok().filter(|lowered| !lowered.effects.is_empty());
        lowered.map(ModelTarget::from_lowered)
    }
}

/// Fits a model, `declared` in the coordinates of its text, in the coordinates that suit it best.
pub fn fit_model(
    model: &Model,
    declared: &ModelTarget,
    options: &Options,
    watch: Watch,
) -> Result<Fit, Error> {
    let clock = std::time::Instant::now();
    if let Some(names) = level(declared) {
        return Err(Error::Level(names));
    }
    let mut fit = in_suitable_coordinates(model, declared, options, watch)?;
    in_other_coordinates(model, &mut fit, options, watch);
    if options.stop.obeyed() && fit.status != Ending::Stopped {
        fit.findings.push(Finding::Stopped { gap: None });
    }
    doubt(model, declared, &mut fit, &options.stop);
    fit.seconds = clock.elapsed().as_secs_f64();
    Ok(fit)
}

/// Fits in coordinates that the model does not leave open, where a fit in these does not serve, and keeps that
/// if it is better.
fn in_other_coordinates(model: &Model, fit: &mut Fit, options: &Options, watch: Watch) {
    if fit.khat < KHAT_LIMIT || fit.path == Path::Nuts || options.stop.requested() {
        return;
    }
    let Some(program) = model.program.in_any_coordinates() else { return };
    let clock = std::time::Instant::now();
    let model = Model { program: &program, ..*model };
    let Ok(open) = model.compile(Coordinates::Declared) else { return };
    let Ok(mut other) = in_suitable_coordinates(&model, &open, options, watch) else { return };
    other.as_declared = false;
    other.findings.push(Finding::OtherCoordinates {});
    let outcome = outcome(&other, Some(fit));
    let preferred = outcome.preferred;
    fit.trace.push(Tried {
        attempt: Attempt::FreeCoordinates,
        why: "in the coordinates that the model asks for, weights cannot be relied on",
        seconds: clock.elapsed().as_secs_f64(),
        outcome: Some(outcome),
    });
    other.gradients += fit.gradients;
    if preferred {
        let trace = std::mem::take(&mut fit.trace);
        *fit = Fit { trace, ..other };
    }
}

/// What is said of innovations whose coordinates are the states that they lead to.
pub(super) fn states_told(declared: &ModelTarget, in_states: &ModelTarget) -> Finding {
    let pairs = declared.lowered().parameters.iter().zip(&in_states.lowered().parameters);
    let moved = pairs.filter(|(own, p)| p.form.is_noncentered() && !own.form.is_noncentered());
    Finding::StatesTaken { names: moved.map(|(_, p)| p.named.name.clone()).collect() }
}

/// Fits all coordinates together by sampling.
pub(super) fn as_a_whole(
    model: &Model,
    declared: &ModelTarget,
    options: &Options,
    watch: Watch,
) -> Result<Fit, Error> {
    match model.standardised() {
        Some(standardised) => in_best_coordinates(model, declared, standardised, options, watch),
        None => Ok(complete(declared, by_sampling(declared, options, watch)?, options)),
    }
}

fn in_best_coordinates(
    model: &Model,
    declared: &ModelTarget,
    standardised: ModelTarget,
    options: &Options,
    watch: Watch,
) -> Result<Fit, Error> {
    let rough = Options { tolerance: options.tolerance.max(ROUGH), ..options.clone() };
    let Ok(first) = approach(&standardised, &rough, watch) else {
        return Ok(complete(declared, by_sampling(declared, options, watch)?, options));
    };
    let mut rivals = first.rivals.clone();
    let mut gradients = first.gradients;
    let other = blend(model, &standardised, &first.fitted.q);
    let mut candidates = vec![(&standardised, first.fitted, "in standardised coordinates (non-centred)")];
    if let Some((blended, start)) = &other
        && let Ok(second) =
            refine(blended, start.clone(), crate::infer::approximate::gaussian::FIRST, &rough, watch)
    {
        gradients += second.gradients;
        candidates.push((blended, second, "in coordinates between centred and non-centred"));
    }
    // Where the data say much about every effect, the effects themselves are the better coordinates.
    let brief = Options { gradients: Some(BRIEF), ..rough.clone() };
    if let Ok(third) = by_sampling(declared, &brief, watch) {
        gradients += third.gradients;
        candidates.push((declared, third.fitted, "as declared"));
    }
    let top = candidates.iter().fold(f64::NEG_INFINITY, |m, c| m.max(c.1.elbo));
    candidates.retain(|c| c.1.elbo > top - NEAR);
    // Which is better shows only after bending: what a Gaussian can do says little about tails.
    let bent = candidates.into_iter().map(|(target, fitted, how)| {
        let bent = grow(Bent::straight(target, &fitted.q, options), 1, options);
        (target, fitted, how, bent)
    });
    let best = bent.reduce(|a, b| if b.3.judged.elbo[0] > a.3.judged.elbo[0] { b } else { a });
    let Some((target, rough, how, bent)) = best else { return Err(Error::NoStart) };
    let bent = grow(bent, LAYERS, options);
    let fitted = polished(target, refine(target, rough.q, rough.batch, options, watch)?, options);
    gradients += fitted.gradients;
    if !std::ptr::eq(target, &standardised) {
        rivals = rivals.into_iter().map(Rival::elsewhere).collect();
    }
    let mut fit =
        conclude(target, Approach { fitted, path: Path::Variational, gradients, rivals }, &bent, options);
    fit.as_declared = std::ptr::eq(target, declared);
    fit.findings.push(Finding::FittedIn { names: effect_names(&standardised), coordinates: how });
    Ok(fit)
}

/// `theta, alpha`.
fn effect_names(target: &ModelTarget) -> Vec<String> {
    let lowered = target.lowered();
    lowered.effects.iter().map(|e| lowered.parameters[e.parameter].named.name.clone()).collect()
}

/// The model with each element of its effects blended as the Gaussian fitted in standardised coordinates
/// advises, and a Gaussian to start from; None if there is nothing to gain.
fn blend(model: &Model, standardised: &ModelTarget, q: &Gaussian) -> Option<(ModelTarget, Gaussian)> {
    if matches!(q.factor, Scale::Diagonal(_)) {
        return None;
    }
    let precision = diagonal_of_precision(q);
    let lowered = standardised.lowered();
    let mut start = q.mean.clone();
    let mut blends = Vec::new();
    for effect in &lowered.effects {
        let Some(nodes) = effect.location_scale else { continue };
        let parameter = &lowered.parameters[effect.parameter];
        let range = parameter.offset..parameter.offset + parameter.size;
        let weights: Vec<f64> = range.clone().map(|i| (1.0 - 1.0 / precision[i]).clamp(0.0, 1.0)).collect();
        let values = standardised.values(&nodes, &q.mean);
        let dims = &lowered.graph.node(parameter.named.node).dims;
        let at = |k: usize, i: usize| {
            let index = crate::ops::operand::Broadcast::between(&lowered.graph.node(nodes[k]).dims, dims);
            values[k].get(index.at(i)).copied()
        };
        for (i, (place, b)) in range.zip(&weights).enumerate() {
            let (location, scale) = (at(0, i)?, at(1, i)?);
            start[place] = b * location + scale.powf(*b) * q.mean[place];
        }
        blends.push((parameter.named.name.clone(), weights));
    }
    let most = blends.iter().flat_map(|(_, w)| w).fold(0.0_f64, |m, w| m.max(*w));
    if most < WORTH_BLENDING || start.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let target = model.compile(Coordinates::Blended(blends)).ok()?;
    let curvature = whiten::shared_curvature(&target, &mut *target.evaluator(), &start);
    Some((target, whiten::dense(start, curvature)))
}

fn diagonal_of_precision(q: &Gaussian) -> Vec<f64> {
    let d = q.mean.len();
    match &q.factor {
        Scale::Diagonal(s) => s.iter().map(|s| 1.0 / (s * s)).collect(),
        Scale::Dense(c) => {
            let mut out = vec![0.0; d];
            for row in invert_lower(c, d).chunks_exact(d) {
                out.iter_mut().zip(row).for_each(|(o, x)| *o += x * x);
            }
            out
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "data { y : real[J] }\nparam theta[J]\nparam mu ~ normal(0, 5)\nparam tau ~ half_cauchy(5)\n\
                        theta ~ normal(mu, tau)\ny ~ normal(theta, 2)";

    fn density(target: &ModelTarget, z: &[f64]) -> f64 {
        let mut value = [0.0];
        target.evaluator().log_density(z, 1, &mut value);
        value[0]
    }

    /// log p of the coordinates w is that of the effects x with log |dx / dw| added, and the values reported
    /// are the same.
    #[test]
    fn other_coordinates_describe_the_same_posterior() {
        let data = Dataset::from_texts(&[("data.csv", "y\n3\n-1\n0.5\n")]).unwrap();
        let program = crate::syntax::parse(TEXT).unwrap();
        let model = Model { program: &program, source: TEXT, data: &data };
        let declared = model.compile(Coordinates::Declared).unwrap();
        let (mu, log_tau) = (0.7, -0.4_f64);
        for blend in [[0.0; 3], [1.0; 3], [0.2, 0.5, 0.9]] {
            let choice = if blend == [0.0; 3] {
                Coordinates::Standardised
            } else {
                Coordinates::Blended(vec![("theta".into(), blend.to_vec())])
            };
            let other = model.compile(choice).unwrap();
            assert_eq!(other.lowered().effects.len(), 1);
            assert_eq!(other.output_names(), declared.output_names());
            let theta = [1.0, -2.0, 0.3];
            let w: Vec<f64> = theta
                .iter()
                .zip(blend)
                .map(|(x, b)| b * mu + (b * log_tau).exp() * (x - mu) / log_tau.exp())
                .collect();
            let x = [theta[0], theta[1], theta[2], mu, log_tau];
            let z = [w[0], w[1], w[2], mu, log_tau];
            let jacobian: f64 = blend.iter().map(|b| (1.0 - b) * log_tau).sum();
            let (a, b) = (density(&declared, &x) + jacobian, density(&other, &z));
            assert!((a - b).abs() < 1e-10, "{blend:?}: {a} {b}");
            for (p, q) in declared.constrain(&x).iter().zip(other.constrain(&z)) {
                assert!((p - q).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn what_a_model_says_of_its_coordinates_is_kept() {
        let data = Dataset::from_texts(&[("data.csv", "y\n3\n-1\n")]).unwrap();
        for text in [
            "data { y : real[J] }\nparam mu ~ normal(0, 5)\nparam tau ~ half_cauchy(5)\n\
             param theta[J] ~ normal(mu, tau) centered\ny ~ normal(theta, 2)",
            "data { y : real[J] }\nparam mu ~ normal(0, 5)\nparam theta[J] ~ normal(0, 3)\ny ~ normal(theta + mu, 2)",
        ] {
            let program = crate::syntax::parse(text).unwrap();
            let model = Model { program: &program, source: text, data: &data };
            assert!(model.compile(Coordinates::Standardised).unwrap().lowered().effects.is_empty(), "{text}");
        }
    }

    /// The scale of a random walk written in innovations, against a sum over it with the covariance `s²
    /// min(i, j)` of the walk.
    #[test]
    fn innovations_are_taken_by_the_states_that_they_lead_to() {
        let y = [0.3, 0.9, -0.2, 0.8, 1.9, 2.6, 1.8, 3.1, 2.2, 3.9, 4.4, 3.6_f64];
        let n = y.len();
        let text = "data { y : real[T] }\nparam s ~ half_normal(1)\nparam z[T] ~ normal(0, 1)\nlet h[1] = s * z[1]\n\
                    for t in 2..T { let h[t] = h[t-1] + s * z[t] }\ny ~ normal(h, 0.7)";
        let rows: String = y.iter().map(|y| format!("{y}\n")).collect();
        let data = Dataset::from_texts(&[("data.csv", &format!("y\n{rows}"))]).unwrap();
        let program = crate::syntax::parse(text).unwrap();
        let model = Model { program: &program, source: text, data: &data };
        let declared = model.compile(Coordinates::Declared).unwrap();
        let fit =
            fit_model(&model, &declared, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(fit.has("states-taken"), "{:?}", fit.findings);
        let (mut sums, y) = ([0.0; 3], nalgebra::DVector::from_row_slice(&y));
        for k in 0..3000 {
            let s = 0.002 * (f64::from(k) + 0.5);
            let walk = |i: usize, j: usize| s * s * (i.min(j) + 1) as f64 + if i == j { 0.49 } else { 0.0 };
            let root = nalgebra::DMatrix::from_fn(n, n, walk).cholesky().unwrap();
            let log = -0.5 * (s * s + y.dot(&root.solve(&y))) - root.l().diagonal().map(f64::ln).sum();
            (0..3).for_each(|p| sums[p] += log.exp() * s.powi(p as i32));
        }
        let mean = sums[1] / sums[0];
        let sd = (sums[2] / sums[0] - mean * mean).sqrt();
        let s = &fit.outputs[0];
        assert!((s.mean - mean).abs() < 0.03 * sd && (s.sd / sd).ln().abs() < 0.03, "{s:?}: {mean} {sd}");
    }
}
