//! How a model is fitted: what is known of it before, which attempts that calls for, what came of each, and
//! which answer was kept.

mod plan;
mod run;
#[cfg(test)]
mod tests;
mod unbounded;

pub use plan::{Enough, Facts, Planned, plan};
pub use run::{Strategy, fit_model, strategy};
