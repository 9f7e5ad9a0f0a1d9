//! Numbers: special functions, scalars that carry lanes or tangents, dense linear algebra, seeded random streams.

pub mod dispatch;
pub mod elementary;
pub mod linalg;
pub mod real;
pub mod special;
pub mod stream;
