//! Fits a model in the coordinates that suit it: hierarchical effects as declared, standardised, or in between.
//!
//! In the coordinates `w = b m + s^b (x - m) / s` of an effect `x ~ normal(m, s)`, the spread of w given s does not depend on
//! s to first order if `b = 1 - v / s²`, where v is the conditional variance of x. In standardised coordinates `v / s²` is
//! one over the diagonal of the precision matrix, so the Gaussian fitted there says which blend suits each element.

use super::gaussian::{Factor, Gaussian};
use super::{Approach, Error, Fit, Options, Path, Progress, approach, complete, refine, whiten};
use crate::data::Dataset;
use crate::lower::Coordinates;
use crate::num::linalg::solve_lower_many;
use crate::source::Checked;
use crate::syntax::ast::Program;
use crate::target::{ModelTarget, Target};
use std::ops::ControlFlow;

/// Blends below this are as good as none.
const WORTH_BLENDING: f64 = 0.15;
/// The gap, in nats, to which coordinates are compared.
const ROUGH: f64 = 0.25;

type Watch<'a> = &'a mut dyn FnMut(&Progress) -> ControlFlow<()>;

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
    fn compile(&self, coordinates: Coordinates) -> Checked<ModelTarget> {
        ModelTarget::with_coordinates(self.program, self.source, self.data, coordinates)
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
    let other = model.compile(Coordinates::Standardised).ok().filter(|t| !t.lowered().effects.is_empty());
    let mut fit = match other {
        Some(standardised) => in_best_coordinates(model, declared, standardised, options, watch)?,
        None => complete(declared, approach(declared, options, watch)?, options),
    };
    fit.seconds = clock.elapsed().as_secs_f64();
    Ok(fit)
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
        return Ok(complete(declared, approach(declared, options, watch)?, options));
    };
    let mut gradients = first.gradients;
    let rivals = first.rivals.clone();
    let (mut target, mut best) = (standardised, first.fitted);
    let mut note = format!("{} in standardised coordinates (non-centred)", effect_names(&target));
    if let Some((blended, start)) = blend(model, &target, &best.q)
        && let Ok(second) = refine(&blended, start, super::gaussian::FIRST, &rough, watch)
    {
        gradients += second.gradients;
        if second.elbo > best.elbo {
            note = format!("{} in coordinates between centred and non-centred", effect_names(&blended));
            (target, best) = (blended, second);
        }
    }
    let (start, batch) = (best.q, best.batch);
    let fitted = refine(&target, start, batch, options, watch)?;
    gradients += fitted.gradients;
    let mut fit = complete(&target, Approach { fitted, path: Path::Variational, gradients, rivals }, options);
    fit.notes.push(format!("fitted {note}; the quantities reported are those of the model as written"));
    Ok(fit)
}

/// `theta, alpha`.
fn effect_names(target: &ModelTarget) -> String {
    let lowered = target.lowered();
    let names = lowered.effects.iter().map(|e| lowered.parameters[e.parameter].named.name.as_str());
    names.collect::<Vec<_>>().join(", ")
}

/// The model with each element of its effects blended as the Gaussian fitted in standardised coordinates advises, and a
/// Gaussian to start from; None if there is nothing to gain.
fn blend(model: &Model, standardised: &ModelTarget, q: &Gaussian) -> Option<(ModelTarget, Gaussian)> {
    let d = q.mean.len();
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
    let mut evaluator = target.evaluator();
    let identity: Vec<f64> = (0..d * d).map(|p| f64::from(p / d == p % d)).collect();
    let mut h = vec![0.0; d * d];
    evaluator.hessian_vectors(&start, &identity, d, &mut h);
    let curvature: Vec<f64> = (0..d * d).map(|p| -0.5 * (h[p] + h[p % d * d + p / d])).collect();
    let finite = curvature.iter().all(|x| x.is_finite());
    drop(evaluator);
    Some((target, whiten::dense(start, finite.then_some(curvature))))
}

fn diagonal_of_precision(q: &Gaussian) -> Vec<f64> {
    let d = q.mean.len();
    match &q.factor {
        Factor::Diagonal(s) => s.iter().map(|s| 1.0 / (s * s)).collect(),
        Factor::Dense(c) => {
            let mut inverse: Vec<f64> = (0..d * d).map(|p| f64::from(p / d == p % d)).collect();
            solve_lower_many(c, &mut inverse, [d, d]);
            let mut out = vec![0.0; d];
            for row in inverse.chunks_exact(d) {
                out.iter_mut().zip(row).for_each(|(o, x)| *o += x * x);
            }
            out
        }
    }
}
