//! Fits the few coordinates that others depend on, and takes the others given them: a hierarchy's scales, then its effects.
//!
//! Where the log density is quadratic in the inner coordinates x once the outer coordinates θ are given (effects of groups,
//! coefficients of a regression with a normal likelihood), the posterior of x given θ is a Gaussian that one sparse
//! factorisation finds, and the log density of θ alone is known to rounding. Where it is concave, the same with Newton's
//! steps gives Laplace's approximation. Either way importance weights are those of θ and x together, from the log density
//! itself, so what is only nearly Gaussian is corrected, and shows in k̂.

mod colours;
mod conditional;
mod marginal;
mod partition;
#[cfg(test)]
mod tests;

use super::bend::{bend, judge};
use super::flow::{Flow, Reached};
use super::mode::Mode;
use super::warp::Warped;
use super::{Approach, Fit, Options, Path, Progress, finish, from_modes, modes};
use crate::target::ModelTarget;
use conditional::Conditional;
use marginal::{Marginal, Nested};
use std::ops::ControlFlow;

/// Who draws: inner coordinates given outer ones, and points at which patterns are found.
const PURPOSE: u64 = 0x6e65_7374;
/// Weights with a k̂ below this, judged by a pilot, need no bending.
const LIGHT: f64 = 0.4;
const LOG_TWO_PI: f64 = 1.837_877_066_409_345_5;

/// A fit by this way, if the model allows it.
pub(super) fn fit(
    target: &ModelTarget,
    options: &Options,
    watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Option<Fit> {
    let parts = partition::partition(target, options.seed)?;
    let note = describe(target, &parts);
    let mut conditional = Conditional::new(target, parts, options.seed)?;
    let scales = conditional.outer_scales();
    let modes = modes(&Marginal::new(&conditional, &scales), options).ok()?;
    let scales = modes.modes.first().and_then(|m| scales_at(m, &scales))?;
    conditional.recentre(&modes.modes.first()?.point, &marginal::widths(&scales));
    let marginal = Marginal::new(&conditional, &scales);
    let found: Approach = from_modes(&marginal, modes, options, watch).ok()?;
    let q = found.fitted.q.clone();
    let straight = Nested::new(&conditional, Warped::flat(&marginal));
    let (first, khat) = judge(&straight, &q, options);
    let mut fit = if khat < LIGHT {
        let as_fitted = (&straight as &dyn Flow, &q);
        finish(found, &Reached { plain: as_fitted, bent: as_fitted, first, khat, gradients: 0 }, options)
    } else {
        let bent = bend(&marginal, &q, options);
        let curved = Nested::new(&conditional, bent.target);
        let (_, khat) = judge(&curved, &bent.q, options);
        finish(
            found,
            &Reached { plain: (&straight, &q), bent: (&curved, &bent.q), first, khat, gradients: 0 },
            options,
        )
    };
    fit.gradients = conditional.gradients();
    fit.path = Path::Nested;
    fit.as_declared = false;
    fit.notes.push(note);
    Some(fit)
}

/// The scales of coordinates by the curvature at a mode, or as they were where that says nothing; None if there is no
/// curvature.
fn scales_at(mode: &Mode, before: &[f64]) -> Option<Vec<f64>> {
    let diagonal = mode.curvature.as_ref()?.iter().step_by(before.len() + 1);
    Some(diagonal.zip(before).map(|(h, s)| if *h > 0.0 { h.sqrt().recip() } else { *s }).collect())
}

/// What was fitted, and what follows from it.
fn describe(target: &ModelTarget, parts: &partition::Partition) -> String {
    let names = |of: &[usize]| {
        let has = |p: &&crate::lower::Parameter| of.binary_search(&p.offset).is_ok();
        let names = target.lowered().parameters.iter().filter(has).map(|p| p.named.name.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    let how = if parts.quadratic { "exactly" } else { "by Laplace's approximation, corrected by weights" };
    format!("fitted {}, and took {} given these, {how}", names(&parts.outer), names(&parts.inner))
}
