//! What can be known about values before they are computed: lattices only.

mod interval;
mod jet;
pub mod known;
mod size;

pub use interval::Interval;
pub use jet::Jet;
pub use size::{Shape, Size, broadcast, common_dims, show};
