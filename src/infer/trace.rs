//! What was tried, and what came of it.

/// A way to fit a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// The best Gaussian by quadrature, with effects of groups integrated out by a rule.
    Groups,
    /// The best Gaussian by quadrature.
    Quadrature,
    /// Some coordinates integrated out given the others, where that is promising.
    Nested,
    /// All coordinates together, by modes and variational inference, in the coordinates that suit effects.
    Variational,
    /// The ways to integrate coordinates out that seemed less promising.
    OtherNested,
    /// All of these again, in coordinates that the model did not leave open.
    FreeCoordinates,
}

impl Attempt {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Attempt::Groups => "groups",
            Attempt::Quadrature => "quadrature",
            Attempt::Nested => "nested",
            Attempt::Variational => "variational",
            Attempt::OtherNested => "other-nested",
            Attempt::FreeCoordinates => "free-coordinates",
        }
    }
}

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
