//! How a model is fitted: what is known of it before, which attempts that calls for, what came of each, and
//! which answer was kept.

mod choose;
mod plan;
mod run;
mod trace;

pub use plan::{Attempt, Enough, Facts, Planned, plan};
pub use run::{Strategy, strategy};
pub use trace::{Outcome, Preference, Tried};

pub(super) use choose::{NO_MEAN, better};
pub(super) use run::{in_suitable_coordinates, outcome};
