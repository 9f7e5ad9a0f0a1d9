//! The ways to fit a model, and the rules that make each better or cheaper.

/// A way to fit a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
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
    /// All of them.
    pub const ALL: [Attempt; 5] = [
        Attempt::Quadrature,
        Attempt::Nested,
        Attempt::Variational,
        Attempt::OtherNested,
        Attempt::FreeCoordinates,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Attempt::Quadrature => "quadrature",
            Attempt::Nested => "nested",
            Attempt::Variational => "variational",
            Attempt::OtherNested => "other-nested",
            Attempt::FreeCoordinates => "free-coordinates",
        }
    }
}

/// Something that a fit does where it helps, and can be told not to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Modes are searched from random points, too.
    OtherModes,
    /// A Gaussian is improved on fixed draws where natural gradients tell too little.
    Polishing,
    /// Effects are taken in coordinates between declared and standardised ones.
    Blending,
    /// Coordinates are bent until the posterior is closer to a Gaussian.
    Bending,
    /// A grid is a proposal.
    Grid,
    /// A mixture that adapts is a proposal.
    Mixture,
    /// Given the outer coordinates, other places of inner ones are looked for.
    OtherPlaces,
    /// Laplace's approximation of inner coordinates is corrected for its skewness.
    Tuning,
    /// Draws of inner coordinates are stretched where these reach further.
    Stretching,
    /// Modes of inner coordinates are searched from those at anchors.
    Anchors,
    /// Hessians of inner coordinates are combined from a few.
    CommonHessians,
}

impl Rule {
    /// All of them.
    pub const ALL: [Rule; 11] = [
        Rule::OtherModes,
        Rule::Polishing,
        Rule::Blending,
        Rule::Bending,
        Rule::Grid,
        Rule::Mixture,
        Rule::OtherPlaces,
        Rule::Tuning,
        Rule::Stretching,
        Rule::Anchors,
        Rule::CommonHessians,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Rule::OtherModes => "other-modes",
            Rule::Polishing => "polishing",
            Rule::Blending => "blending",
            Rule::Bending => "bending",
            Rule::Grid => "grid",
            Rule::Mixture => "mixture",
            Rule::OtherPlaces => "other-places",
            Rule::Tuning => "tuning",
            Rule::Stretching => "stretching",
            Rule::Anchors => "anchors",
            Rule::CommonHessians => "common-hessians",
        }
    }
}
