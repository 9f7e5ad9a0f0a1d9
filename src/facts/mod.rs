//! What can be known about values before they are computed: lattices only.

mod range;
mod size;
mod structure;

pub use range::{Edge, Range};
pub use size::{Shape, Size, broadcast, show};
pub use structure::Structure;
