//! What can be wrong with a request to fit, or go wrong while fitting.

use thiserror::Error;

/// Why a fit was refused or given up.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// A name that no row of a table has.
    #[error("no {kind} is called '{name}'{}; there are: {}", hint(.nearest), .known.join(", "))]
    UnknownName {
        /// Which table was searched.
        kind: &'static str,
        /// What was written.
        name: String,
        /// The names of the table.
        known: Vec<&'static str>,
        /// The name that was probably meant.
        nearest: Option<&'static str>,
    },
    /// A parameter of a row that is out of its range, or given where none is taken.
    #[error("the {kind} '{name}' {problem}; write {instead}")]
    Parameter {
        /// Which table the row is in.
        kind: &'static str,
        /// The row.
        name: &'static str,
        /// What is wrong.
        problem: String,
        /// What to write.
        instead: String,
    },
    /// Parts that do not make a method together.
    #[error("{problem}; {instead}")]
    Combination {
        /// What does not fit with what, and why.
        problem: String,
        /// The choices that do.
        instead: String,
    },
    /// A step rule that follows a theorem whose constants are not known.
    #[error(
        "the step rule '{rule}' is computed from {needs}, which {} not known for this target (`stickler certify` says why; \
         a program may give {} in the configuration); use one of: {}", are(.needs), them(.needs), .instead.join(", ")
    )]
    MissingConstants {
        /// The rule.
        rule: &'static str,
        /// The constants it needs.
        needs: &'static str,
        /// Rules that need none.
        instead: Vec<&'static str>,
    },
    /// A number of the configuration out of its range.
    #[error("{field} must be {expected}; found {found}")]
    Configuration {
        /// Which number.
        field: &'static str,
        /// What is allowed.
        expected: String,
        /// What was given.
        found: String,
    },
    /// The target kept giving values that are not finite.
    #[error(
        "the log density or its gradient is not finite at draws from the approximation: {tries} attempts in a row failed \
         at step {step}, each narrower than the one before ({place}); check the model for values outside its support \
         or for overflow near the starting point, or give another starting point"
    )]
    NonFinite {
        /// The step at which the last attempt failed.
        step: usize,
        /// How many attempts failed in a row.
        tries: usize,
        /// What was not finite.
        place: String,
    },
}

fn hint(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |n| format!(" (did you mean '{n}'?)"))
}

fn are(needs: &str) -> &'static str {
    if needs.contains(" and ") { "are" } else { "is" }
}

fn them(needs: &str) -> &'static str {
    if needs.contains(" and ") { "them" } else { "it" }
}
