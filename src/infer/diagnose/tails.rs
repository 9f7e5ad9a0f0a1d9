//! Directions along which a posterior does not fall, so that it has no finite mass, or falls slowly, and
//! coordinates along which it ends suddenly: why an approximation is poor, or its standard deviations are.

use crate::infer::finding::Finding;
use crate::infer::fit::Fit;
use crate::infer::policy::KHAT_LIMIT;
use crate::infer::proposal::Kind;
use crate::num::linalg::{dot, symmetric_eigen};
use crate::target::{Evaluator, Target};

/// Most coordinates for which directions are looked for.
const MOST: usize = 300;
/// Curvature, in that of the approximation, below which a direction is looked at.
const FLAT: f64 = 0.1;
/// How far along it, in standard deviations of the approximation, and how much the log density of a posterior
/// falls at least. A Gaussian falls by 50 there, a Cauchy distribution by 4.6.
const FAR: f64 = 10.0;
const FARTHER: f64 = 1000.0;
const FALL: f64 = 2.0;
/// How far along a coordinate, in its standard deviations, a log density that is not finite is an edge.
const NEAR: f64 = 4.0;
/// How far, in standard deviations of the approximation, a density that falls like a power of its distance
/// shows which, the same from each to the next but for this share: with a lower one than this it has no
/// fourth moment, or hardly, and a few far draws decide its standard deviation; with one below that it has
/// none.
const SLOWLY: [f64; 3] = [30.0, 100.0, 300.0];
const SAME: f64 = 0.2;
const POWER: f64 = 5.5;
const POWER_OF_VARIANCE: f64 = 3.0;
/// Powers below this are no end at all.
const LEVEL: f64 = 0.5;

/// The warning about what makes an approximation poor, in the coordinates of the model as it was declared:
/// where it ends, or else that it does not.
pub(in crate::infer) fn reasons(target: &dyn Target, fit: &Fit) -> Option<Finding> {
    let d = target.dimension();
    if !fit.as_declared || d == 0 || d > MOST || fit.mean.len() != d {
        return None;
    }
    let poor = fit.khat >= KHAT_LIMIT;
    let edges = poor.then(|| edges(target, fit).or_else(|| endless(target, fit))).flatten();
    edges.or_else(|| slow(target, fit))
}

/// The warning about coordinates along which the log density is not finite a few standard deviations away:
/// the parameter ends there, and its declaration does not say so.
fn edges(target: &dyn Target, fit: &Fit) -> Option<Finding> {
    let d = target.dimension();
    let (factor, names) = (fit.factor.dense(d), target.coordinate_names());
    let mut evaluator = target.evaluator();
    let mut is_finite = |point: &[f64]| {
        let mut value = [f64::NAN];
        evaluator.log_density(point, 1, &mut value);
        value[0].is_finite()
    };
    if !is_finite(&fit.mean) {
        return None;
    }
    let ended: Vec<String> = (0..d)
        .filter(|&i| {
            let sd = factor[i * d..(i + 1) * d].iter().map(|c| c * c).sum::<f64>().sqrt();
            [-NEAR, NEAR].iter().any(|far| {
                let mut point = fit.mean.clone();
                point[i] += far * sd;
                !is_finite(&point)
            })
        })
        .filter_map(|i| names.get(i).cloned())
        .collect();
    (!ended.is_empty()).then_some(Finding::Edges { names: ended })
}

/// The warning about parameters that are known far out by a heavy-tailed prior alone. A grid sees as far as
/// it matters, if there is a variance.
fn slow(target: &dyn Target, fit: &Fit) -> Option<Finding> {
    let d = target.dimension();
    let (factor, names) = (fit.factor.dense(d), target.coordinate_names());
    let row = |i: usize| &factor[i * d..(i + 1) * d];
    let sd = |i: usize| dot(row(i), row(i)).sqrt();
    let alone = |i: usize| (0..d).map(|j| if i == j { sd(i) } else { 0.0 }).collect::<Vec<f64>>();
    let with_others = |i: usize| (0..d).map(|j| dot(row(i), row(j)) / sd(i)).collect::<Vec<f64>>();
    // What a prior does not let go far is not asked of the data, which may be many.
    let prior = target.prior();
    let mut before = prior.as_ref().map(|prior| prior.evaluator());
    let mut may = |i: usize| before.as_mut().is_none_or(|e| power(&mut **e, &fit.mean, &alone(i)) < POWER);
    let candidates: Vec<usize> = (0..d).filter(|&i| may(i)).collect();
    let limit = if fit.proposal == Kind::Grid { POWER_OF_VARIANCE } else { POWER };
    let mut evaluator = target.evaluator();
    let mut of = |step: Vec<f64>| power(&mut *evaluator, &fit.mean, &step);
    let found: Vec<(usize, f64)> = candidates
        .into_iter()
        .map(|i| (i, of(alone(i)).min(of(with_others(i)))))
        .filter(|(_, power)| *power < limit)
        .collect();
    let heaviest = found.iter().map(|(_, power)| *power).reduce(f64::min)?;
    let names: Vec<String> = found.iter().filter_map(|(i, _)| names.get(*i).cloned()).collect();
    Some(match heaviest < POWER_OF_VARIANCE {
        true => Finding::NoVariance { names, power: heaviest },
        false => Finding::SlowTails { names, power: heaviest },
    })
}

/// The power of the distance that a density falls like, far away along a step, on the side where that is
/// lower; infinite where it is none.
fn power(evaluator: &mut dyn Evaluator, mean: &[f64], step: &[f64]) -> f64 {
    let mut on_side = |side: f64| {
        let values = SLOWLY.map(|times| along(evaluator, mean, step, side * times));
        let [first, second] = [0, 1].map(|k| (values[k] - values[k + 1]) / (SLOWLY[k + 1] / SLOWLY[k]).ln());
        let steady = (first - second).abs() < SAME * second && second > LEVEL;
        if steady { second } else { f64::INFINITY }
    };
    on_side(1.0).min(on_side(-1.0))
}

/// The warning about a direction along which the log density does not fall, where an approximation is poor.
///
/// Where the log density does not fall at all, the scale of a Gaussian fitted to it is an accident of how the
/// search ended; in its coordinates the curvature is 0 instead of 1.
fn endless(target: &dyn Target, fit: &Fit) -> Option<Finding> {
    let d = target.dimension();
    let factor = fit.factor.dense(d);
    let mut evaluator = target.evaluator();
    let mut products = vec![0.0; d * d];
    evaluator.hessian_vectors(&fit.mean, &factor, d, &mut products);
    let curvature: Vec<f64> = (0..d * d)
        .map(|p| -(0..d).map(|i| factor[i * d + p / d] * products[i * d + p % d]).sum::<f64>())
        .collect();
    let eigen = symmetric_eigen(&curvature, d)?;
    let least = (0..d).min_by(|&a, &b| eigen.values[a].abs().total_cmp(&eigen.values[b].abs()))?;
    if eigen.values[least].abs() > FLAT {
        return None;
    }
    let direction = &eigen.vectors[least * d..(least + 1) * d];
    let step: Vec<f64> =
        (0..d).map(|i| (0..d).map(|j| factor[i * d + j] * direction[j]).sum::<f64>()).collect();
    let mut at = |far: f64| along(&mut *evaluator, &fit.mean, &step, far);
    let here = at(0.0);
    let mut flat = |far: f64| here - at(far) < FALL;
    // On both sides, as for a sum of which only one part is known; or on one, however far, as where data can
    // be separated.
    let both = flat(FAR) && flat(-FAR);
    if !both && ![1.0, -1.0].iter().any(|side| flat(side * FAR) && flat(side * FARTHER)) {
        return None;
    }
    let longest = step.iter().fold(0.0_f64, |m, s| m.max(s.abs()));
    let names = target.coordinate_names();
    let moved: Vec<String> =
        (0..d).filter(|&i| step[i].abs() > 0.1 * longest).filter_map(|i| names.get(i).cloned()).collect();
    (!moved.is_empty()).then_some(Finding::Endless { names: moved })
}

/// The log density so many steps from a point.
pub(in crate::infer) fn along(evaluator: &mut dyn Evaluator, from: &[f64], step: &[f64], far: f64) -> f64 {
    let point: Vec<f64> = from.iter().zip(step).map(|(z, s)| z + far * s).collect();
    let mut value = [f64::NAN];
    evaluator.log_density(&point, 1, &mut value);
    value[0]
}
