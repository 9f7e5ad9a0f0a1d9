//! Which of two fits of the same model is to be preferred.

use crate::infer::fit::{Fit, Path};
use crate::infer::policy::{KHAT_LIMIT, KHAT_NO_MEAN};
use crate::infer::trace::Preference;

/// A fit whose evidence is so much smaller than that of another, in nats, overlooks a part of the posterior.
const OVERLOOKED: f64 = 0.03;
/// The same where the weights of one of them cannot be relied on: these make an estimate too small more often
/// than too large, and by Markov's inequality it is too large by so many nats once in seven times at most.
const MOSTLY_OVERLOOKED: f64 = 2.0;

/// Whether one fit is to be preferred to another.
pub(in crate::infer) fn better(one: &Fit, other: &Fit) -> bool {
    preferred(one, other).0
}

/// Whether one fit is to be preferred to another, and what decides: whether it was sampled as was asked for,
/// what it saw of the posterior, its doubts, k̂.
pub(in crate::infer) fn preferred(one: &Fit, other: &Fit) -> (bool, Preference) {
    let [one_sampled, other_sampled] = [one, other].map(|fit| fit.path == Path::Nuts);
    if one_sampled != other_sampled {
        return (one_sampled, Preference::Sampled);
    }
    let [one_relied, other_relied] = [one, other].map(|fit| fit.khat < KHAT_LIMIT);
    let both = one_relied && other_relied;
    let more = one.log_evidence - other.log_evidence;
    let known = (one_relied || other_relied) && one.khat < KHAT_NO_MEAN && other.khat < KHAT_NO_MEAN;
    if known && more.abs() > if both { OVERLOOKED } else { MOSTLY_OVERLOOKED } {
        return (more > 0.0, Preference::Evidence);
    }
    if both && one.is_doubtful() != other.is_doubtful() {
        return (other.is_doubtful(), Preference::Doubts);
    }
    (one.khat < other.khat, Preference::Weights)
}
