//! Linear algebra, dense on row-major slices: element (i, j) of a matrix with `n` columns stands at `i * n +
//! j`.
//!
//! Many right-hand sides (or draws) are the fastest axis, as everywhere in this crate. Nothing here uses a
//! fused multiply-add or splits a sum by the number of threads, so the same input gives the same bits on
//! every machine. One-off factorisations that are not found here are nalgebra's; these stay because they run
//! in place over and over, carry lanes, or are faster where it counts (at 1000 rows eigenvectors three times,
//! inverses eight times). nalgebra's matrix product is no substitute: its bits depend on the processor.
//!
//! Sizes that do not fit the slices are a fault of the caller: the functions assert them.

mod cholesky;
pub mod design;
mod eigen;
mod lu;
mod product;
mod products;
mod rotations;
mod sparse;
#[cfg(test)]
mod tests;
mod triangular;
mod tridiagonal;
mod vector;

pub use cholesky::{NotPositiveDefinite, cholesky, cholesky_in, log_det_cholesky, solve_cholesky};
pub use eigen::{Eigen, EigenRoom, symmetric_eigen};
pub use lu::{lu_factor, lu_solve};
pub use product::dot;
pub use products::{
    add_lower_product, add_packed_product, add_product, add_product_lower, add_product_packed,
    add_symmetric_product, add_transposed_product, lower_product, lower_transposed_product, mirror,
    scale_rows,
};
pub use sparse::Pattern;
pub use triangular::{
    invert_lower, solve_lower, solve_lower_many, solve_lower_transposed, solve_lower_transposed_many,
    solve_packed_transposed_many,
};
