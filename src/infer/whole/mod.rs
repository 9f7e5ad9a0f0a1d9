//! All coordinates fitted together: the best Gaussian, coordinates in which it serves, weighted draws.

pub(in crate::infer) mod additive;
pub(in crate::infer) mod approach;
pub(in crate::infer) mod complete;
pub(in crate::infer) mod coordinates;
pub(in crate::infer) mod ending;
mod polish;
