//! How a fit ended: its status, what it says of the gap that is left, and where that is no fault.

use crate::infer::finding::Finding;
use crate::infer::fit::Path;
use crate::infer::fit::{Fit, Origin};
use crate::infer::gaussian::Fitted;
use crate::infer::importance::estimate::Estimates;
use crate::infer::options::Options;
use crate::infer::policy::KHAT_LIMIT;
use crate::infer::progress::Ending;
use crate::infer::sampling::chains::Sampled;
use crate::infer::search::rivals;
use crate::infer::whole::approach::Approach;

/// The fit of what was found, with what weighted draws or chains say, and the gradients that bending took.
pub(in crate::infer) fn ended(
    found: &Approach,
    mut estimates: Estimates,
    sampled: Option<Sampled>,
    bending: usize,
    options: &Options,
) -> Fit {
    let fitted = &found.fitted;
    let mixed = sampled.as_ref().map(|sampled| sampled.chains.mixed());
    let ending = match mixed.filter(|_| fitted.ending != Ending::Stopped) {
        Some(true) => Ending::Converged,
        Some(false) => Ending::Budget,
        None => fitted.ending,
    };
    if found.path == Path::Gaussian {
        estimates = estimates.known_of_gaussian();
    }
    let gap = sampled.is_none().then(|| left(fitted, options)).flatten();
    let modes = if estimates.khat < KHAT_LIMIT && sampled.is_none() { estimates.modes } else { 0 };
    let origin = Origin {
        path: if ending == Ending::Exact { Path::Gaussian } else { found.path },
        ending,
        gap: fitted.gap,
        gradients: found.gradients + bending,
        as_declared: true,
        findings: gap.into_iter().chain(rivals::told(&found.rivals, modes)).collect(),
        clock: found.clock,
    };
    excused(Fit::assemble(&fitted.q, estimates, sampled, origin), fitted, options)
}

/// Where weights can be relied on, the gap of the Gaussian is no fault: what is reported comes from the
/// weights.
fn excused(fit: Fit, fitted: &Fitted, options: &Options) -> Fit {
    let is_gap = |finding: &Finding| matches!(finding, Finding::GapLeft { .. });
    let alone = fit.is_doubtful() && fit.doubts().into_iter().all(is_gap);
    if !(alone
        && fitted.ending == Ending::Budget
        && fitted.gap < options.policy.gap_nowhere
        && fit.khat < KHAT_LIMIT)
    {
        return fit;
    }
    let findings = fit.findings.iter().filter(|finding| !is_gap(finding)).cloned().collect();
    Fit { findings, status: Ending::Converged, ..fit }.noting([Finding::GapCorrected { gap: fitted.gap }])
}

/// What is left to gain where the optimisation ended before it was done.
fn left(fitted: &Fitted, options: &Options) -> Option<Finding> {
    let Fitted { gap, gradients, .. } = *fitted;
    match fitted.ending {
        Ending::Exact | Ending::Converged => None,
        Ending::Budget => Some(Finding::GapLeft { gradients, gap, asked: options.tolerance }),
        Ending::Stopped => Some(Finding::Stopped { gap: Some(gap) }),
    }
}
