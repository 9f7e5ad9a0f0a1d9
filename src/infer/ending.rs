//! How a fit ended: its status, what it says of the gap that is left, and where that is no fault.

use super::sample::Proposal;
use super::{Approach, Ending, Fit, LIGHT, Options, Path, gaussian, rivals};

/// A Gaussian with a larger gap, in nats, is on its way to something that has no end.
const NOWHERE: f64 = 1000.0;

/// A fit with what is known of how it was found.
pub(super) fn ended(mut fit: Fit, found: &Approach, options: &Options) -> Fit {
    fit.status = found.fitted.ending;
    if fit.path != Path::Nuts {
        fit.path = if fit.status == Ending::Exact { Path::Gaussian } else { found.path };
    }
    if found.path == Path::Gaussian && fit.path != Path::Nuts {
        // By its structure the posterior is that Gaussian. What is known of the Gaussian without draws is known of the posterior.
        let known = fit.gaussian.iter().map(|of| (of.mcse == 0.0).then(|| of.clone()));
        fit.outputs.iter_mut().zip(known).for_each(|(of, known)| *of = known.unwrap_or(of.clone()));
    }
    fit.gap_nats = found.fitted.gap;
    fit.gradients += found.gradients;
    if fit.path != Path::Nuts {
        fit.flags.extend(ending_flag(&found.fitted, options));
    }
    rivals::tell(&mut fit, &found.rivals);
    if matches!(fit.proposal, Proposal::Adapted(_) | Proposal::Cells(_)) {
        excuse(&mut fit, &found.fitted, options);
    }
    fit
}

/// Where weights are light and draws do not depend on how good the Gaussian is, its gap is no fault: what is reported comes from the weights.
pub(super) fn excuse(fit: &mut Fit, fitted: &gaussian::Fitted, options: &Options) {
    let Some(flag) = ending_flag(fitted, options) else { return };
    if fitted.ending == Ending::Budget && fitted.gap < NOWHERE && fit.khat < LIGHT && fit.flags == [flag] {
        fit.flags.clear();
        fit.status = Ending::Converged;
        let gap = nats(fitted.gap);
        fit.notes.push(format!(
            "the Gaussian was left with an estimated gap of {gap}, which the weights of draws make up for"
        ));
    }
}

fn ending_flag(fitted: &gaussian::Fitted, options: &Options) -> Option<String> {
    let (gap, tolerance) = (nats(fitted.gap), options.tolerance);
    match fitted.ending {
        Ending::Exact | Ending::Converged => None,
        Ending::Budget => Some(format!(
            "the fit used up its {} gradients with an estimated gap of {gap}; {tolerance} was asked for",
            fitted.gradients
        )),
        Ending::Stopped => Some(format!("the fit was stopped at an estimated gap of {gap}")),
    }
}

/// A gap as it is written: where it is huge its digits mean nothing.
fn nats(gap: f64) -> String {
    if gap < 1e3 { format!("{gap:.3} nats") } else { format!("{gap:.0e} nats") }
}
