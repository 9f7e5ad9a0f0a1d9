//! Which of two fits of the same model is to be preferred.

use super::{Fit, KHAT_LIMIT};

/// A fit whose evidence is so much smaller than that of another, in nats, overlooks a part of the posterior.
const OVERLOOKED: f64 = 0.03;
/// The same where the weights of one of them cannot be relied on: these make an estimate too small more often
/// than too large, and by Markov's inequality it is too large by so many nats once in seven times at most.
const MOSTLY_OVERLOOKED: f64 = 2.0;
/// Weights with a k̂ from this on have no mean, and say nothing of the evidence.
pub(super) const NO_MEAN: f64 = 1.0;

/// Whether one fit is to be preferred to another: by whether its weights can be relied on, by what it saw of
/// the posterior, by its doubts, by k̂.
pub(super) fn better(one: &Fit, other: &Fit) -> bool {
    let [one_relied, other_relied] = [one, other].map(|fit| fit.khat < KHAT_LIMIT);
    let both = one_relied && other_relied;
    let more = one.log_evidence - other.log_evidence;
    let known = (one_relied || other_relied) && one.khat < NO_MEAN && other.khat < NO_MEAN;
    if known && more.abs() > if both { OVERLOOKED } else { MOSTLY_OVERLOOKED } {
        return more > 0.0;
    }
    if both && one.is_doubtful() != other.is_doubtful() {
        return other.is_doubtful();
    }
    one.khat < other.khat
}
