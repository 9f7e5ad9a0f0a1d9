//! Fits all coordinates together in the coordinates that suit it: hierarchical effects as declared,
//! standardised, or in between.
//!
//! In the coordinates `w = b m + s^b (x - m) / s` of an effect `x ~ normal(m, s)`, the spread of w given s
//! does not depend on s to first order if `b = 1 - v / s²`, where v is the conditional variance of x. In
//! standardised coordinates `v / s²` is one over the diagonal of the precision matrix, so the Gaussian fitted
//! there says which blend suits each element.

use crate::infer::approximate::gaussian::FIRST;
use crate::infer::attempt::Rule;
use crate::infer::finding::Finding;
use crate::infer::fit::{Fit, Path};
use crate::infer::gaussian::Gaussian;
use crate::infer::model::Model;
use crate::infer::options::Options;
use crate::infer::progress::{Error, Watch};
use crate::infer::search::rivals::Rival;
use crate::infer::search::whiten;
use crate::infer::transport::layers::{Bent, LAYERS, grow};
use crate::infer::whole::additive::approach;
use crate::infer::whole::approach::{Approach, by_sampling, refine};
use crate::infer::whole::complete::{complete, conclude};
use crate::infer::whole::polish::polished;
use crate::lower::Coordinates;
use crate::num::linalg::invert_lower;
use crate::ops::operand::Broadcast;
use crate::target::{ModelTarget, Target};
use crate::vi::Scale;
use std::time::Instant;

/// Blends below this are as good as none.
const WORTH_BLENDING: f64 = 0.15;
/// Gradients for the coordinates declared, which often lead into a funnel.
const BRIEF: usize = 6000;

/// Fits all coordinates together by sampling.
pub(in crate::infer) fn as_a_whole(
    model: &Model,
    declared: &ModelTarget,
    options: &Options,
    watch: Watch,
) -> Result<Fit, Error> {
    match model.standardised() {
        Some(standardised) => in_best_coordinates(model, declared, standardised, options, watch),
        None => Ok(complete(declared, &by_sampling(declared, options, watch)?, options)),
    }
}

fn in_best_coordinates(
    model: &Model,
    declared: &ModelTarget,
    standardised: ModelTarget,
    options: &Options,
    watch: Watch,
) -> Result<Fit, Error> {
    let clock = Instant::now();
    let rough =
        Options { tolerance: options.tolerance.max(options.policy.gap_of_coordinates), ..options.clone() };
    let Ok(first) = approach(&standardised, &rough, watch) else {
        return Ok(complete(declared, &by_sampling(declared, options, watch)?, options));
    };
    let mut rivals = first.rivals.clone();
    let mut gradients = first.gradients;
    let blended = options.follows(Rule::Blending).then(|| blend(model, &standardised, &first.fitted.q));
    let other = blended.flatten();
    let mut candidates = vec![(&standardised, first.fitted, "in standardised coordinates (non-centred)")];
    if let Some((blended, start)) = &other
        && let Ok(second) = refine(blended, start.clone(), FIRST, &rough, watch)
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
    candidates.retain(|c| c.1.elbo > top - options.policy.elbo_of_coordinates);
    // Which is better shows only after bending: what a Gaussian can do says little about tails.
    let bent = candidates.into_iter().map(|(target, fitted, how)| {
        let bent = grow(Bent::straight(target, &fitted.q, options), 1, options);
        (target, fitted, how, bent)
    });
    let best = bent.reduce(|a, b| if b.3.judged.elbo.mean > a.3.judged.elbo.mean { b } else { a });
    let Some((target, rough, how, bent)) = best else { return Err(Error::NoStart) };
    let bent = grow(bent, LAYERS, options);
    let fitted = polished(target, refine(target, rough.q, rough.batch, options, watch)?, options);
    gradients += fitted.gradients;
    if !std::ptr::eq(target, &standardised) {
        rivals = rivals.into_iter().map(Rival::elsewhere).collect();
    }
    let found = Approach { fitted, path: Path::Variational, gradients, rivals, clock };
    let fit = conclude(target, &found, &bent, options);
    let told = Finding::FittedIn { names: effect_names(&standardised), coordinates: how };
    Ok(Fit { as_declared: std::ptr::eq(target, declared), ..fit }.noting([told]))
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
            let index = Broadcast::between(&lowered.graph.node(nodes[k]).dims, dims);
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
