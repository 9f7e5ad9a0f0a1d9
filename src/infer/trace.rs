//! What was tried, and what came of it.

use crate::infer::attempt::Attempt;

/// An attempt that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// What was tried.
    pub attempt: Attempt,
    /// Why.
    pub why: &'static str,
    /// Seconds that it took.
    pub seconds: f64,
    /// What came of it; None where the model has no such answer, or none was found.
    pub outcome: Option<Outcome>,
}

/// An answer among several.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Gradients evaluated.
    pub gradients: usize,
    /// Tail shape of its importance weights.
    pub khat: f64,
    /// Its estimate of the log evidence.
    pub log_evidence: f64,
    /// Codes of its doubtful findings.
    pub doubts: Vec<&'static str>,
    /// Whether it was preferred to the answer before it, and why; the last that was is the answer given.
    pub preferred: bool,
    /// The reason.
    pub because: Preference,
}

/// Why one answer is preferred to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preference {
    /// There is no other.
    Only,
    /// It was sampled with NUTS, as was asked for.
    Sampled,
    /// The other overlooks a part of the posterior: its evidence is smaller.
    Evidence,
    /// The other has a doubtful finding.
    Doubts,
    /// Its weights are lighter.
    Weights,
}

impl Preference {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Preference::Only => "the only answer so far",
            Preference::Sampled => "sampled with NUTS",
            Preference::Evidence => "larger evidence",
            Preference::Doubts => "no doubtful finding",
            Preference::Weights => "smaller k-hat",
        }
    }
}
