//! What may be wrong with an answer, or with the posterior itself.

pub(in crate::infer) mod doubt;
pub(in crate::infer) mod level;
pub(in crate::infer) mod margins;
mod moves;
pub(in crate::infer) mod overlooked;
pub(in crate::infer) mod priors;
pub(in crate::infer) mod symmetry;
pub(in crate::infer) mod tails;
