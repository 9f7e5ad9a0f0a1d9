//! The No-U-Turn sampler, and what its chains say.

pub(in crate::infer) mod chains;
pub(in crate::infer) mod nuts;
