//! A graph scheduled for running: fixed buffers, forward and reverse sweeps, batches of draws.

mod batch;
mod code;
mod dump;
mod idle;
mod ode;
mod peak;
mod profile;
mod program;
mod recursion;
mod run;
mod schedule;
mod sweep;
mod tiled;

pub use batch::Draws;
pub use code::Plan;
pub use dump::{dump, kernels};
pub use peak::Peak;
pub use profile::{StepCost, profile};
pub use run::Workspace;
pub use sweep::Sweep;
