//! Importance sampling, summaries and findings for a fitted Gaussian, in bent coordinates where these help.

use crate::infer::fit::Fit;
use crate::infer::gaussian::Fitted;
use crate::infer::importance::budget;
use crate::infer::importance::elbo::Elbo;
use crate::infer::importance::estimate::estimate;
use crate::infer::importance::pilot::Judged;
use crate::infer::options::{Nuts, Options};
use crate::infer::progress::Ending;
use crate::infer::sampling::chains;
use crate::infer::transport::layers;
use crate::infer::transport::layers::Bent;
use crate::infer::transport::warped::Warped;
use crate::infer::whole::approach::Approach;
use crate::infer::whole::ending::ended;
use crate::target::Target;

/// Importance sampling as fitted where coordinates are so few that a mixture may do, in bent coordinates
/// where it does not.
pub(in crate::infer) fn complete(target: &dyn Target, found: &Approach, options: &Options) -> Fit {
    let (flat, q) = (Warped::flat(target), &found.fitted.q);
    let straight = Bent::straight(target, q, options);
    let straight = Bent { first: best_known(&found.fitted, &straight.judged), ..straight };
    if found.fitted.ending == Ending::Exact {
        return conclude(target, found, &straight, options);
    }
    let few = q.mean.len() <= budget::FEW_TO_LEARN && options.nuts != Nuts::Always;
    let early = few.then(|| estimate(&straight.reached(&flat, q, &found.rivals), options));
    if let Some(early) = early.as_ref().filter(|early| !early.is_doubtful()) {
        return ended(found, early.clone(), None, 0, options);
    }
    let bent = layers::grow(straight, layers::LAYERS, options);
    let late = estimate(&bent.reached(&flat, q, &found.rivals), options);
    let sampled = chains::if_asked(&bent, q, &found.rivals, late.khat, options);
    match early.filter(|early| sampled.is_none() && late.is_doubtful() && early.khat < late.khat) {
        Some(early) => ended(found, early, None, bent.gradients, options),
        None => ended(found, late, sampled, bent.gradients, options),
    }
}

/// The same in coordinates that were bent before.
pub(in crate::infer) fn conclude(
    target: &dyn Target,
    found: &Approach,
    bent: &Bent,
    options: &Options,
) -> Fit {
    let (flat, q) = (Warped::flat(target), &found.fitted.q);
    let estimates = estimate(&bent.reached(&flat, q, &found.rivals), options);
    let sampled = chains::if_asked(bent, q, &found.rivals, estimates.khat, options);
    ended(found, estimates, sampled, bent.gradients, options)
}

/// The ELBO by the draws that judge the Gaussian, or as it was fitted where more tell it.
pub(in crate::infer) fn best_known(fitted: &Fitted, judged: &Judged) -> Elbo {
    match fitted.draws > judged.pilot.ratios.len() || !judged.elbo.mean.is_finite() {
        true => Elbo { mean: fitted.elbo, error: fitted.elbo_se, ..judged.elbo },
        false => judged.elbo,
    }
}
