//! Which of two fits of the same model is to be preferred.

use crate::infer::fit::{Fit, Path};
use crate::infer::policy::{KHAT_LIMIT, KHAT_NO_MEAN, Policy};
use crate::infer::trace::Preference;

/// Whether one fit is to be preferred to another.
pub(in crate::infer) fn better(one: &Fit, other: &Fit, policy: &Policy) -> bool {
    preferred(one, other, policy).0
}

/// Whether one fit is to be preferred to another, and what decides: whether it was sampled as was asked for,
/// what it saw of the posterior, its doubts, k̂.
pub(in crate::infer) fn preferred(one: &Fit, other: &Fit, policy: &Policy) -> (bool, Preference) {
    let [one_sampled, other_sampled] = [one, other].map(|fit| fit.path == Path::Nuts);
    if one_sampled != other_sampled {
        return (one_sampled, Preference::Sampled);
    }
    let [one_relied, other_relied] = [one, other].map(|fit| fit.khat < KHAT_LIMIT);
    let both = one_relied && other_relied;
    let more = one.log_evidence - other.log_evidence;
    let known = one.khat < KHAT_NO_MEAN && other.khat < KHAT_NO_MEAN;
    let Policy { evidence_overlooked, evidence_mostly_overlooked, .. } = *policy;
    if known && more.abs() > if both { evidence_overlooked } else { evidence_mostly_overlooked } {
        return (more > 0.0, Preference::Evidence);
    }
    if both && one.is_doubtful() != other.is_doubtful() {
        return (other.is_doubtful(), Preference::Doubts);
    }
    (one.khat < other.khat, Preference::Weights)
}
