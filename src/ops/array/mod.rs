//! Operations on whole arrays: one family a file.

mod concat;
mod matmul;
mod op;
mod reduce;
mod scan;
mod take;

pub use concat::Concat;
pub use matmul::MatMul;
pub use op::{ArrayKernel, ArrayOp, Forward, Kernel, OpRef, Reverse, ShapeError};
pub use reduce::{LogSumExp, Product, Sum};
pub use scan::CumSum;
pub use take::Take;
