//! A triangular map that takes a Gaussian closer to the posterior, one layer after another.

pub(in crate::infer) mod lanes;
pub(in crate::infer) mod layers;
pub(in crate::infer) mod map;
pub(in crate::infer) mod residuals;
pub(in crate::infer) mod warped;
