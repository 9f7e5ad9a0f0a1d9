//! Numbers: special functions, scalars that carry lanes or tangents, dense linear algebra, seeded random
//! streams.

pub mod dispatch;
mod dual;
pub mod elementary;
mod gamma;
mod gaussian;
pub mod hermite;
mod lanes;
pub mod linalg;
pub mod pages;
pub mod program;
mod quantile;
pub mod real;
pub mod rising;
pub mod slices;
pub mod sobol;
pub mod special;
pub mod stack;
pub mod stream;
mod vector;
mod wide;
