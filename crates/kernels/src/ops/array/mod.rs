//! Operations on whole arrays: one family a file.

mod cholesky;
mod concat;
mod dense;
mod design;
mod eigen;
#[cfg(test)]
mod examples;
mod extremum;
mod hmm;
mod lookup;
mod lower_product;
mod matmul;
mod op;
mod reduce;
mod scan;
mod solve;
mod sparse;
mod take;
mod triangular;
mod wide;

pub use cholesky::{Cholesky, ListedCholesky};
pub use concat::Concat;
pub use design::{Design, Operator, ROWS, Rows};
pub use eigen::EigenSym;
pub use extremum::{Max, Min};
pub use hmm::HmmForward;
pub use lookup::Lookup;
pub use lower_product::LowerProduct;
pub use matmul::MatMul;
pub use op::{ArrayKernel, ArrayOp, Forward, Kernel, OpRef, Reverse, ShapeError};
pub use reduce::{LogSumExp, Product, Sum};
pub use scan::{CumProd, CumSum};
pub use solve::{Inverse, LogDet, Solve};
pub use sparse::Sparse;
pub use take::{Take, all_in_order};
pub use triangular::TriangularSolve;

/// The operations, in the form that a graph holds. Their code for each scalar and instruction set is compiled
/// with these functions, here, and not again where a graph is built.
macro_rules! operations {
    ($($op:ident),*) => {$(
        impl From<$op> for OpRef {
            #[inline(never)]
            fn from(op: $op) -> OpRef {
                OpRef::new(op)
            }
        }
    )*};
}
operations!(
    Cholesky,
    Concat,
    CumProd,
    CumSum,
    Design,
    EigenSym,
    HmmForward,
    Inverse,
    ListedCholesky,
    LogDet,
    LogSumExp,
    Lookup,
    LowerProduct,
    MatMul,
    Max,
    Min,
    Product,
    Solve,
    Sum,
    Take,
    TriangularSolve
);
