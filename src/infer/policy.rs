//! Every threshold of quality that decides what is tried, kept or doubted: once, with what it limits and the
//! evidence for its value.
//!
//! Steps, tolerances and sizes that only a numerical method needs stay beside that method. How the values
//! were chosen, and what changes with each of them, is what `docs/ablation.py` tables.

use thiserror::Error;

/// From this k̂ on importance weights cannot be relied on (Vehtari, Simpson, Gelman, Yao and Gabry, 2024).
pub const KHAT_LIMIT: f64 = 0.7;
/// Weights with a k̂ from this on have no mean, and say nothing of the evidence: the mean of a generalised
/// Pareto distribution.
pub(in crate::infer) const KHAT_NO_MEAN: f64 = 1.0;

/// A name that no threshold has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no threshold `{0}`; docs/internals/inference.md lists all")]
pub struct UnknownThreshold(pub String);

/// A row of the table of thresholds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Its name.
    pub name: &'static str,
    /// Its default value.
    pub value: f64,
    /// What it limits.
    pub limits: &'static str,
    /// Why it has this value.
    pub evidence: &'static str,
}

macro_rules! policy {
    ($($name:ident = $value:literal $limits:literal $evidence:literal)*) => {
        /// The thresholds of a fit; the defaults are meant for everything.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Policy {
            $(#[doc = $limits] pub $name: f64,)*
        }

        impl Default for Policy {
            fn default() -> Policy {
                Policy { $($name: $value),* }
            }
        }

        impl Policy {
            /// All thresholds with their defaults.
            pub const TABLE: &'static [Threshold] = &[$(Threshold {
                name: stringify!($name),
                value: $value,
                limits: $limits,
                evidence: $evidence,
            }),*];

            /// Changes one of them.
            pub fn set(&mut self, name: &str, value: f64) -> Result<(), UnknownThreshold> {
                match name {
                    $(stringify!($name) => self.$name = value,)*
                    _ => return Err(UnknownThreshold(name.into())),
                }
                Ok(())
            }
        }
    };
}

policy! {
    // k-hat, below 0.7.
    khat_light = 0.55
        "k-hat below which an answer without doubts ends the plan in few coordinates, and needs no bending"
        "a judgement; docs/internals/ablation.md has its neighbours"
    khat_light_together = 0.3
        "the same where inner coordinates hang together: what no draw came near has no weight to show"
        "a judgement; docs/internals/ablation.md has its neighbours"
    khat_light_at_mode = 0.4
        "k-hat at the mode below which coordinates whose Hessian is costly are not taken apart"
        "a judgement; docs/internals/ablation.md has its neighbours"
    khat_seldom_light = 0.5
        "first k-hat from which on a partition whose draws take a search each is put off"
        "a judgement; docs/internals/ablation.md has its neighbours"
    khat_unsure = 0.6
        "k-hat from which on, up to 1, more draws are made to decide it"
        "by 2048 draws a k-hat of 0.6 may be 0.7: its standard error is about 0.06"
    khat_tailed = 0.45
        "k-hat above which weights are compared with those of other proposals"
        "a judgement; docs/internals/ablation.md has its neighbours"
    khat_needs_no_tails = 0.4
        "first k-hat below which the Gaussian is drawn from without heavier tails"
        "a judgement; docs/internals/ablation.md has its neighbours"
    khat_nearly_gaussian = 0.2
        "first k-hat below which weights are those of a Gaussian, or nearly: no grid, no mixture"
        "a judgement; docs/internals/ablation.md has its neighbours"
    khat_adapted = 0.4
        "k-hat of an adapting mixture from which on its weights count as less even"
        "a judgement; docs/internals/ablation.md has its neighbours"
    khat_own_tail = 0.5
        "k-hat below which a large standard error is that of a quantity with tails of its own"
        "below it weights have a finite variance"
    khat_even = 0.4
        "most k-hat of draws from a grid whose weights are even, whatever a generalised Pareto fit says"
        "a judgement; docs/internals/ablation.md has its neighbours"

    // Half the variance of log weights: the distance of a proposal from the posterior, in nats.
    spread_gaussian = 0.005
        "half-variance of log weights up to which a posterior is Gaussian enough for no grid"
        "by the square root, means are off by a tenth of a standard deviation at most"
    spread_unbent = 0.02
        "half-variance up to which coordinates are not bent"
        "an effective share of 96 %, if log weights are normal: exp(-2 x 0.02)"
    spread_polish = 0.05
        "half-variance from which on the ELBO has a curvature of its own, and an answer is polished"
        "a judgement; docs/internals/ablation.md has its neighbours"
    spread_even = 0.15
        "half-variance of outer weights, groups integrated out, below which they are not bent"
        "an effective share of 74 %, if log weights are normal"
    spread_one_candidate = 0.25
        "half-variance below which each group needs one candidate, and a mode's Gaussian is not taken apart"
        "an effective share of 61 %, if log weights are normal"
    spread_seldom_light = 0.5
        "first half-variance from which on, with khat_seldom_light, a partition is put off"
        "a judgement; docs/internals/ablation.md has its neighbours"
    spread_hopeless = 1.0
        "half-variance, with a k-hat of 0.7, from which on a partition of many outer coordinates is given up"
        "a judgement; docs/internals/ablation.md has its neighbours"
    spread_of_a_pair = 3.0
        "half-variance for each pair of candidates where the noise of other groups is smoothed"
        "a judgement; docs/internals/ablation.md has its neighbours"

    // Evidence and mass, in logarithms.
    evidence_overlooked = 0.03
        "evidence that an answer may be behind another before it overlooks a part, both relied on"
        "a part with 3 % of the mass; a judgement; docs/internals/ablation.md has its neighbours"
    evidence_mostly_overlooked = 2.0
        "the same where one of them, or both, are not relied on"
        "by Markov's inequality an estimate is too large by so much once in seven times at most"
    mass_same = 0.01
        "masses found by two proposals that differ by less are the same"
        "a mean moves by a hundredth of the distance to what is missed"
    mass_same_tailed = 0.3
        "the same where weights have a long tail"
        "a judgement; docs/internals/ablation.md has its neighbours"
    mass_errors = 4.0
        "standard errors by which a proposal that found less mass overlooks a part"
        "one comparison in 30,000 by chance, for normal errors"
    mass_errors_of_grid = 1.5
        "the same where a grid found more: it goes where others do not"
        "a grid looks everywhere: what it found is there more often than not"

    // The ELBO still to gain, in nats.
    gap_nested = 0.02
        "gap at which the fit of outer coordinates is done"
        "its Gaussian only proposes"
    gap_hopeless = 3.0
        "gap of outer coordinates from which on no proposal around their Gaussian serves"
        "of 143 fits tried, none ended well with more than 0.4"
    gap_nowhere = 1000.0
        "gap of a Gaussian on its way to something that has no end"
        "a judgement; docs/internals/ablation.md has its neighbours"
    gap_of_coordinates = 0.25
        "gap to which coordinates of effects are compared"
        "a judgement; docs/internals/ablation.md has its neighbours"
    elbo_of_coordinates = 3.0
        "ELBO that coordinates may be behind others before they are given up unbent"
        "a judgement; docs/internals/ablation.md has its neighbours"
    gain_of_layer = 0.01
        "ELBO that a layer of bends must gain for another one"
        "a judgement; docs/internals/ablation.md has its neighbours"

    // Other modes.
    mode_behind = 4.0
        "ELBO that another mode may be behind the best and still move a mean"
        "a mode with 2 % of the mass"
    mode_share_of_variance = 0.05
        "share of a variance that the mass of a mode times its squared distance may add unseen"
        "a standard deviation off by 2.5 %"

    // Standard errors, in standard deviations.
    error_few = 0.02
        "error of a mean or log standard deviation aimed at where parameters are few"
        "a judgement; docs/internals/ablation.md has its neighbours"
    error_many = 0.035
        "the same where they are many, or draws are costly"
        "a third of what makes an answer wrong in docs/calibration.py"
    error_matters = 0.04
        "standard error that makes an answer doubtful when no more draws can be had"
        "leaves one mean in a hundred further off than a tenth of a standard deviation"
    error_of_own_tail = 0.1
        "standard error from which on, with light weights, a quantity may have no standard deviation"
        "a judgement; docs/internals/ablation.md has its neighbours"
    share_efficient = 0.3
        "effective share of draws from which on an adapting mixture would be no better"
        "a judgement; docs/internals/ablation.md has its neighbours"
    share_adapted = 0.75
        "effective share at which a mixture has adapted"
        "a judgement; docs/internals/ablation.md has its neighbours"
    share_even = 0.8
        "effective share from which on weights of a grid are even"
        "a judgement; docs/internals/ablation.md has its neighbours"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_set_by_its_name() {
        let mut policy = Policy::default();
        for threshold in Policy::TABLE {
            policy.set(threshold.name, threshold.value + 1.0).unwrap();
            assert_ne!(policy, Policy::default());
            policy.set(threshold.name, threshold.value).unwrap();
            assert_eq!(policy, Policy::default());
        }
        assert_eq!(policy.set("none", 0.0), Err(UnknownThreshold("none".into())));
    }
}
