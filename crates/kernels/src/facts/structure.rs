//! What the entries of an array have in common, beyond the range of each.

/// A property of the vectors along the last axis, or of the matrices along the last two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// Zero or positive entries that sum to 1.
    Simplex,
    /// Increasing entries.
    Ordered,
    /// Symmetric and positive definite.
    Covariance,
    /// Symmetric, positive definite, with ones on the diagonal.
    Correlation,
    /// Lower triangular with a positive diagonal.
    CholeskyFactor,
    /// The same with rows of length 1.
    CholeskyCorrelation,
}

impl Structure {
    /// Axes of one vector or matrix.
    pub fn axes(self) -> usize {
        match self {
            Structure::Simplex | Structure::Ordered => 1,
            Structure::Covariance
            | Structure::Correlation
            | Structure::CholeskyFactor
            | Structure::CholeskyCorrelation => 2,
        }
    }

    /// Whether all that has this structure has the other.
    pub fn implies(self, other: Structure) -> bool {
        self == other
            || matches!(
                (self, other),
                (Structure::Correlation, Structure::Covariance)
                    | (Structure::CholeskyCorrelation, Structure::CholeskyFactor)
            )
    }
}
