//! Modes that a model writes down and an answer says nothing of: a check of fits that take coordinates apart,
//! which search their modes in few of these alone.

use crate::infer::finding::Finding;
use crate::infer::fit::Fit;
use crate::infer::options::Options;
use crate::infer::search::modes;
use crate::num::real::LN_2PI;
use crate::target::{ModelTarget, Target};

/// A part of a mixture with its mode so many standard deviations of the answer away is not in it.
const AWAY: f64 = 6.0;

/// The finding about parts of a mixture with mass, far from where the answer has any.
pub(in crate::infer) fn overlooked(target: &ModelTarget, fit: &Fit, options: &Options) -> Option<Finding> {
    let constant = 0.5 * target.dimension() as f64 * LN_2PI;
    let parameters = fit.outputs.len().saturating_sub(target.beside());
    let is_away = |z: &[f64]| {
        let values = target.constrain(z);
        let pairs = values.iter().zip(&fit.outputs).take(parameters);
        pairs.into_iter().any(|(x, o)| (x - o.mean).abs() > AWAY * o.sd)
    };
    let masses: Vec<f64> = modes::parts(target, &options.stop)
        .into_iter()
        .filter(|part| is_away(&part.mode.point))
        .map(|part| part.log_mass + constant - fit.log_evidence)
        .filter(|mass| *mass > -options.policy.mode_behind)
        .collect();
    let largest = masses.iter().copied().reduce(f64::max)?;
    Some(Finding::OtherModes { count: masses.len(), mass: largest.exp() })
}
