//! A graph scheduled for running: fixed buffers, forward and reverse sweeps, batches of draws.

mod ode;
mod profile;
mod program;
mod run;
mod schedule;

pub use profile::{StepCost, profile};
pub use run::Workspace;
pub use schedule::{Plan, dump};
