//! What a fit found out about its own answer: each finding with its numbers, a stable code, and how much it
//! matters.
//!
//! A finding holds data and no prose; `report` turns it into a sentence. How much a finding matters is its
//! severity, told in the one table below, which the manual prints. No decision of a fit may rest on anything
//! but that severity.

use crate::target::Trouble;

/// How much a finding matters for whoever uses the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// What was done, or what is good to know; the answer is as good as without it.
    Note,
    /// The answer stands, but something about model, data or accuracy deserves a look.
    Caution,
    /// The answer may be wrong; a command line that ends with one exits with code 3.
    Doubtful,
}

impl Severity {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Caution => "caution",
            Severity::Doubtful => "doubtful",
        }
    }
}

/// A row of the table of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The name that programs may rely on.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// What it means, in a sentence.
    pub meaning: &'static str,
}

/// The table: each row is a variant with its data, its code, its severity and its meaning.
macro_rules! findings {
    ($(
        $variant:ident { $($(#[$about:meta])* $field:ident: $type:ty),* $(,)? }
        $severity:ident $code:literal $meaning:literal
    )*) => {
        /// Something that a fit has to say of its answer.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Finding {
            $(#[doc = $meaning] $variant { $($(#[$about])* $field: $type),* },)*
        }

        impl Finding {
            /// Its row in the table.
            pub fn kind(&self) -> Kind {
                match self {
                    $(Finding::$variant { .. } => {
                        Kind { code: $code, severity: Severity::$severity, meaning: $meaning }
                    })*
                }
            }

            /// All rows of the table.
            pub const KINDS: &'static [Kind] =
                &[$(Kind { code: $code, severity: Severity::$severity, meaning: $meaning }),*];
        }
    };
}

findings! {
    // What makes an answer doubtful.
    HeavyWeights {
        /// Tail shape of the importance weights.
        khat: f64,
        /// The quantities whose means the weights move most.
        moved: Vec<String>,
    } Doubtful "heavy-weights" "k-hat is not below 0.7: the approximation may be poor, and its summaries are not corrected"
    Runaway {
        /// The parameters.
        names: Vec<String>,
    } Doubtful "runaway" "parameters reach beyond 1e100, and may have no finite mass"
    DrawsUsedUp {
        /// The largest standard error, in standard deviations.
        worst: f64,
        /// The quantity that has it.
        of: Option<String>,
        /// Whether tails are so long that there may be no standard deviation.
        endless: bool,
    } Doubtful "draws-used-up" "as many importance draws as can be held leave standard errors that matter"
    GapLeft {
        /// Gradients evaluated.
        gradients: usize,
        /// The gap, in nats.
        gap: f64,
        /// The gap that was asked for.
        asked: f64,
    } Doubtful "gap-left" "the optimisation used up its gradients, and weights do not make up for what is left"
    Stopped {
        /// The estimated gap, where there is one.
        gap: Option<f64>,
    } Doubtful "stopped" "the fit was stopped before it was done"
    MethodStopped {
        /// The method.
        method: String,
    } Doubtful "method-stopped" "a named method was stopped before it was done"
    StepsStopped {
        /// Steps taken.
        taken: usize,
        /// Steps planned.
        planned: usize,
    } Doubtful "steps-stopped" "a run of steps was stopped before it was done"
    StepsTooFew {
        /// Steps that the theorem asks for.
        needed: usize,
        /// Steps taken.
        taken: usize,
        /// The error that was asked for.
        epsilon: f64,
    } Doubtful "steps-too-few" "a certified run took fewer steps than the error asked for needs; the bound printed is that of the steps taken"
    MoreSteps {
        /// What the ELBO could gain, in nats.
        gap: f64,
        /// Its standard error.
        error: f64,
    } Doubtful "more-steps" "by fresh draws a run of steps could gain more than its noise explains"
    NotANumber {
        /// Where, and what of.
        trouble: Box<Trouble>,
    } Doubtful "not-a-number" "the log density or its gradient is no number within a few standard deviations of the answer"
    NotFiniteAtDraws {} Doubtful "not-finite-at-draws" "the log density is not finite at draws of the approximation"
    FixedDraws {
        /// Draws that were held fixed.
        draws: usize,
        /// How far the ELBO on them may be above the truth, in nats.
        gap: f64,
    } Doubtful "fixed-draws" "an ELBO maximised on fixed draws may be above the truth"
    OtherModes {
        /// Other modes.
        count: usize,
        /// The mass of the largest beside that of the mode that was fitted.
        mass: f64,
    } Doubtful "other-modes" "other modes matter, and the answer describes one alone"
    OtherModeOf {
        /// The coordinate.
        name: String,
        /// Its share of the mass.
        mass: f64,
    } Doubtful "other-mode-of" "given the others a coordinate has another mode, which the answer may leave out"
    NotMixed {
        /// The largest R-hat.
        rhat: f64,
        /// The smallest effective number of draws.
        effective: f64,
    } Doubtful "not-mixed" "the chains of NUTS have not mixed"
    Divergent {
        /// Divergent transitions.
        count: usize,
        /// All transitions.
        of: usize,
    } Doubtful "divergent" "transitions of NUTS diverged: a narrow part of the posterior may be missing"
    Edges {
        /// The parameters.
        names: Vec<String>,
    } Doubtful "edges" "the log density ends within four standard deviations of parameters that were declared without bounds"
    Endless {
        /// The parameters that the direction moves.
        names: Vec<String>,
    } Doubtful "endless" "the posterior has no end along a direction"
    EndlessMargin {
        /// The parameters.
        names: Vec<String>,
    } Doubtful "endless-margin" "the margin of a parameter without a proper prior falls no faster than one over the distance"
    NoVariance {
        /// The parameters.
        names: Vec<String>,
        /// The power of the distance that the lowest falls like.
        power: f64,
    } Doubtful "no-variance" "the posterior of a parameter falls so slowly that it has no variance"
    LongTails {
        /// The parameters.
        names: Vec<String>,
    } Doubtful "long-tails" "a few draws make the mean and standard deviation of a parameter, and there may be none"
    Images {
        /// Parameters whose first two places may change places.
        exchanged: Vec<String>,
        /// Parameters whose coordinates may change sign.
        mirrored: Vec<String>,
        /// A vector that may be declared as ordered: its name, its size, and whether it is positive.
        ordered: Option<(String, usize, bool)>,
    } Doubtful "images" "the posterior has images of what is reported, by labels or signs, which the answer leaves out"
    LabelsAveraged {
        /// Parameters whose first two places may change places.
        exchanged: Vec<String>,
        /// A vector that may be declared as ordered: its name, its size, and whether it is positive.
        ordered: Option<(String, usize, bool)>,
    } Doubtful "labels-averaged" "labels are free, and what is reported of each component is an average over all of them"
    LostInRounding {
        /// The log density where the posterior is.
        log_density: f64,
    } Doubtful "lost-in-rounding" "the log density is so large that its differences are rounding errors"
    Vanished {
        /// The parameters.
        names: Vec<String>,
    } Doubtful "vanished" "next to nothing is left of a positive parameter: data are matched exactly"
    NotFinite {
        /// The quantities.
        names: Vec<String>,
    } Doubtful "not-finite" "quantities are not a number, or infinite, at some draws"

    // What deserves a look.
    FlatPriors {
        /// The parameters.
        names: Vec<String>,
    } Caution "flat-priors" "an approximation is poor where parameters have priors that are no distributions"
    SlowTails {
        /// The parameters.
        names: Vec<String>,
        /// The power of the distance that the lowest falls like.
        power: f64,
    } Caution "slow-tails" "a few draws far away decide the standard deviation of a parameter; its quantiles are not affected"
    FewDraws {
        /// The largest standard error, in standard deviations.
        worst: f64,
        /// The quantity that has it.
        of: Option<String>,
    } Caution "few-draws" "as many importance draws as can be held leave standard errors larger than is aimed at"
    LostPaths {
        /// Paths without a Gaussian.
        lost: usize,
        /// All paths.
        of: usize,
    } Caution "lost-paths" "some of the paths of a named method found no Gaussian with a finite ELBO"
    PriorConflict {
        /// The parameters; the numbers are those of the first.
        names: Vec<String>,
        /// Mean and standard deviation of the answer.
        posterior: [f64; 2],
        /// Median of the prior, and half the width of the middle 68 % of it.
        prior: [f64; 2],
    } Caution "prior-conflict" "the answer lies where the stated prior of a parameter hardly reaches: prior and data disagree"

    // What was done.
    GapCorrected {
        /// The gap, in nats.
        gap: f64,
    } Note "gap-corrected" "the Gaussian was left with a gap that the weights of draws make up for"
    SeveralModes {
        /// Modes.
        count: usize,
    } Note "several-modes" "the posterior has several modes, and the answer is of all of them"
    PriorKept {
        /// The parameters.
        names: Vec<String>,
    } Note "prior-kept" "the posterior of a parameter is its stated prior: the data say nothing of it"
    LongTailsDerived {
        /// The quantities.
        names: Vec<String>,
    } Note "long-tails-derived" "a few draws make the mean and standard deviation of a derived quantity"
    Coding {
        /// What numbered places stand for.
        text: String,
    } Note "coding" "which columns or empty cells of the data numbered places stand for"
    OtherCoordinates {} Note "other-coordinates" "the coordinates that the model asks for did not serve, and others were taken"
    StatesTaken {
        /// The parameters.
        names: Vec<String>,
    } Note "states-taken" "innovations were taken by the states that they lead to"
    BoundsLeftOut {
        /// The parameters.
        names: Vec<String>,
    } Note "bounds-left-out" "parameters were fitted without their bounds, and draws beyond these have no weight"
    FittedIn {
        /// The effects.
        names: Vec<String>,
        /// Their coordinates.
        coordinates: &'static str,
    } Note "fitted-in" "in which coordinates effects of groups were fitted"
    TakenApart {
        /// Parameters that were fitted.
        outer: Vec<String>,
        /// Parameters that were taken given these.
        inner: Vec<String>,
        /// How they were taken.
        how: Inner,
    } Note "taken-apart" "which parameters were fitted, and which were taken given these"
    Sampled {
        /// Chains.
        count: usize,
        /// Draws of each.
        length: usize,
        /// The largest R-hat.
        rhat: f64,
        /// The smallest effective number of draws.
        effective: f64,
        /// Divergent transitions.
        divergent: usize,
    } Note "sampled" "the answer comes from chains of NUTS"
    OwnKhat {
        /// k-hat of the draws that correct the answer.
        khat: f64,
        /// k-hat of the Gaussian by itself.
        own: f64,
        /// The method.
        method: String,
    } Note "own-khat" "the Gaussian of a method is much better or worse than the draws that correct it"
    Steps {
        /// Steps taken.
        steps: usize,
        /// Draws of each.
        batch: usize,
        /// In which coordinates.
        coordinates: &'static str,
        /// Factor, estimator, operator, step rule and average.
        parts: Vec<String>,
    } Note "steps" "what a run of steps was made of"
    Constants {
        /// The smoothness constant.
        smoothness: f64,
        /// The constant of strong concavity.
        strong_concavity: f64,
    } Note "constants" "the constants that were certified in the coordinates of a run"
    Subsample {
        /// Observations of a step.
        size: usize,
        /// All observations.
        of: usize,
        /// Whether the bound of the step rule is lost by it.
        bound_lost: bool,
    } Note "subsample" "steps saw some of the observations each"
    OtherFamily {
        /// The family.
        family: String,
    } Note "other-family" "the ELBO is that of a family that is not normal"
}

/// How parameters were taken given others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inner {
    /// The log density is quadratic in them.
    Exactly,
    /// By Laplace's approximation, corrected by weights.
    Laplace,
}

impl Finding {
    /// How much it matters.
    pub fn severity(&self) -> Severity {
        self.kind().severity
    }

    /// The name that programs may rely on.
    pub fn code(&self) -> &'static str {
        self.kind().code
    }
}

/// Most names in a sentence.
const NAMED: usize = 4;

/// The first of these names, and how many more there are.
pub fn first_few(names: &[String]) -> String {
    let more = if names.len() > NAMED { format!(" and {} more", names.len() - NAMED) } else { String::new() };
    format!("{}{more}", names[..names.len().min(NAMED)].join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_plain() {
        let mut codes: Vec<&str> = Finding::KINDS.iter().map(|kind| kind.code).collect();
        assert!(codes.iter().all(|code| code.chars().all(|c| c.is_ascii_lowercase() || c == '-')));
        codes.sort_unstable();
        assert!(codes.windows(2).all(|pair| pair[0] != pair[1]), "{codes:?}");
    }
}
