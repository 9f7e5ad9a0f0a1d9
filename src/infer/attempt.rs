//! The ways to fit a model.

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
    /// All of them.
    pub const ALL: [Attempt; 6] = [
        Attempt::Groups,
        Attempt::Quadrature,
        Attempt::Nested,
        Attempt::Variational,
        Attempt::OtherNested,
        Attempt::FreeCoordinates,
    ];

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
