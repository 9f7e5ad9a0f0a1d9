//! The expression graph: array-valued, interned nodes, operands before users.

mod arena;
mod build;
mod choice;
mod dump;
mod fold;
mod know;
mod ode;
mod recursion;
mod simplify;
mod unroll;

pub use arena::{Graph, Node, NodeId, Op};
pub use build::{BuildError, Builder};
pub use dump::{dot, text};
pub use know::{Known, range_of};
pub use ode::{Ode, OdeMethod, Tolerance};
pub use recursion::{Feed, Origin, Recursion, Sequence};
pub use unroll::unrolled;
