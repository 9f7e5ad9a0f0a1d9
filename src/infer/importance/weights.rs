//! The weights of importance draws: one for each draw, or, where a model falls into groups, one for each draw
//! and group.

use crate::infer::importance::group_weights::{Apart, Local};
use crate::infer::importance::psis::{effective, khat_error, smooth};
use crate::infer::policy::Policy;
use rayon::prelude::*;
use std::borrow::Cow;

/// Of many groups some have a k̂ that looks large by chance: so many standard errors are allowed for.
const CHANCE: f64 = 3.0;
/// A weight is large that is so many times the mean of all.
const LARGE: f64 = 10.0;

/// Pareto-smoothed weights of draws.
pub(in crate::infer) struct Weighed {
    /// Their logarithms, before Pareto smoothing.
    logs: Vec<f64>,
    /// What groups add to these, for what is reported of them.
    own: Vec<Vec<f64>>,
    /// Weights that sum to one, for what belongs to no group alone.
    pub(in crate::infer) weights: Vec<f64>,
    /// Tail shape of these.
    pub(in crate::infer) khat: f64,
    /// The standard error that the noise of groups leaves in what belongs to no group alone, in standard
    /// deviations.
    noise: f64,
    /// For each group its weights, and their tail shape: the lower end of what it may be.
    of_groups: Vec<(Vec<f64>, f64)>,
}

impl Weighed {
    /// Weights from logarithms, and from the parts of groups in these where there are any.
    pub(in crate::infer) fn new(log_weights: &[f64], local: &Local) -> Weighed {
        let apart = local.smoothed(log_weights);
        let none = || Apart { log_weights: log_weights.to_vec(), own: Vec::new(), noise: 0.0 };
        let Apart { log_weights: logs, own, noise } = apart.unwrap_or_else(none);
        let all = smooth(&logs);
        let group = |own: &Vec<f64>| {
            let smoothed = smooth(&sum(&logs, own));
            let khat = smoothed.khat - CHANCE * khat_error(smoothed.khat, logs.len());
            (smoothed.weights, khat)
        };
        let of_groups = own.par_iter().map(group).collect();
        Weighed { logs, own, weights: all.weights, khat: all.khat, noise, of_groups }
    }

    /// Takes weights of draws that were made everywhere for what they are where they are even, and none is
    /// large: of the few that differ from the others a generalised Pareto distribution makes a long tail
    /// where there is none.
    pub(in crate::infer) fn trust_even(&mut self, policy: &Policy) {
        let n = self.weights.len() as f64;
        let largest = self.weights.iter().copied().fold(0.0, f64::max);
        if effective(&self.weights) > policy.share_even * n && largest * n < LARGE {
            self.khat = self.khat.min(policy.khat_even);
        }
    }

    /// The standard error that smoothing leaves in what is reported of a group, or of none, in standard
    /// deviations.
    pub(in crate::infer) fn noise_of(&self, group: Option<usize>) -> f64 {
        if group.is_some() { 0.0 } else { self.noise }
    }

    /// The tail shape of the weights for what is reported of a group.
    pub(in crate::infer) fn khat_of(&self, group: Option<usize>) -> f64 {
        group.and_then(|g| self.of_groups.get(g)).map_or(self.khat, |(_, khat)| khat.max(self.khat))
    }

    /// The largest tail shape of all.
    pub(in crate::infer) fn worst_khat(&self) -> f64 {
        self.of_groups.iter().fold(self.khat, |worst, (_, khat)| worst.max(*khat))
    }

    /// The weights of draws for what is reported of a group, where it has its own.
    pub(in crate::infer) fn of_group(&self, group: usize) -> Option<&[f64]> {
        self.of_groups.get(group).map(|(weights, _)| &weights[..])
    }

    /// Their logarithms, before Pareto smoothing.
    pub(in crate::infer) fn logs(&self, group: Option<usize>) -> Cow<'_, [f64]> {
        match group.and_then(|g| self.own.get(g)) {
            Some(own) => Cow::Owned(sum(&self.logs, own)),
            None => Cow::Borrowed(&self.logs),
        }
    }
}

fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}
