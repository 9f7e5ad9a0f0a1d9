//! A graph scheduled for running: fixed buffers, forward and reverse sweeps, batches of draws.

mod ode;
mod run;
mod schedule;

pub use run::Workspace;
pub use schedule::{Plan, dump};
