//! How a fit ended: its status, what it says of the gap that is left, and where that is no fault.

use crate::infer::approximate::gaussian;
use crate::infer::sampling::chains::Chains;
use crate::infer::search::rivals;
use crate::infer::{Approach, Ending, Finding, Fit, KHAT_LIMIT, Options, Path};

/// A Gaussian with a larger gap, in nats, is on its way to something that has no end.
const NOWHERE: f64 = 1000.0;

/// A fit with what is known of how it was found.
pub(in crate::infer) fn ended(mut fit: Fit, found: &Approach, options: &Options) -> Fit {
    fit.status = match fit.chains.as_ref().map(Chains::mixed) {
        Some(mixed) if found.fitted.ending != Ending::Stopped => {
            if mixed {
                Ending::Converged
            } else {
                Ending::Budget
            }
        }
        _ => found.fitted.ending,
    };
    if fit.path != Path::Nuts {
        fit.path = if fit.status == Ending::Exact { Path::Gaussian } else { found.path };
    }
    if found.path == Path::Gaussian && fit.path != Path::Nuts {
        // By its structure the posterior is that Gaussian. What is known of the Gaussian without draws is
        // known of the posterior.
        let known = fit.gaussian.iter().map(|of| (of.mcse == 0.0).then(|| of.clone()));
        fit.outputs.iter_mut().zip(known).for_each(|(of, known)| *of = known.unwrap_or(of.clone()));
    }
    fit.gap_nats = found.fitted.gap;
    fit.gradients += found.gradients;
    if fit.path != Path::Nuts {
        fit.findings.extend(left(&found.fitted, options));
    }
    rivals::tell(&mut fit, &found.rivals);
    excuse(&mut fit, &found.fitted);
    fit
}

/// Where weights can be relied on, the gap of the Gaussian is no fault: what is reported comes from the
/// weights.
pub(in crate::infer) fn excuse(fit: &mut Fit, fitted: &gaussian::Fitted) {
    let is_gap = |finding: &Finding| matches!(finding, Finding::GapLeft { .. });
    let alone = fit.doubts().into_iter().all(is_gap);
    let any = fit.findings.iter().any(is_gap);
    if any && fitted.ending == Ending::Budget && fitted.gap < NOWHERE && fit.khat < KHAT_LIMIT && alone {
        fit.findings.retain(|finding| !is_gap(finding));
        fit.status = Ending::Converged;
        fit.findings.push(Finding::GapCorrected { gap: fitted.gap });
    }
}

/// What is left to gain where the optimisation ended before it was done.
fn left(fitted: &gaussian::Fitted, options: &Options) -> Option<Finding> {
    let gaussian::Fitted { gap, gradients, .. } = *fitted;
    match fitted.ending {
        Ending::Exact | Ending::Converged => None,
        Ending::Budget => Some(Finding::GapLeft { gradients, gap, asked: options.tolerance }),
        Ending::Stopped => Some(Finding::Stopped { gap: Some(gap) }),
    }
}
