//! The No-U-Turn sampler, and what its chains say.

mod adapt;
pub(in crate::infer) mod chains;
pub(in crate::infer) mod convergence;
pub(in crate::infer) mod nuts;
