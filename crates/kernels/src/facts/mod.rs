//! What can be known about values before they are computed: lattices only.

mod interval;
mod jet;
pub mod known;
mod range;
mod size;
mod structure;

pub use interval::Interval;
pub use jet::Jet;
pub use range::{Edge, Range};
pub use size::{Shape, Size, broadcast, common_dims, show};
pub use structure::Structure;
