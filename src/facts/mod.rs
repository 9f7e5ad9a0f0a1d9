//! What can be known about values before they are computed: lattices only.

mod size;

pub use size::{Shape, Size, broadcast, show};
