//! Operations on whole arrays: one family a file.

mod cholesky;
mod concat;
mod dense;
#[cfg(test)]
mod examples;
mod extremum;
mod matmul;
mod op;
mod reduce;
mod scan;
mod take;
mod triangular;

pub use cholesky::Cholesky;
pub use concat::Concat;
pub use extremum::{Max, Min};
pub use matmul::MatMul;
pub use op::{ArrayKernel, ArrayOp, Forward, Kernel, OpRef, Reverse, ShapeError};
pub use reduce::{LogSumExp, Product, Sum};
pub use scan::CumSum;
pub use take::Take;
pub use triangular::TriangularSolve;
