//! Importance sampling: draws, their weights, how many are needed, and what they say.

pub(in crate::infer) mod adapt;
pub(in crate::infer) mod affine;
pub(in crate::infer) mod budget;
pub(in crate::infer) mod elbo;
pub(in crate::infer) mod errors;
pub(in crate::infer) mod estimate;
pub(in crate::infer) mod group_weights;
pub(in crate::infer) mod known;
pub(in crate::infer) mod mass;
pub(in crate::infer) mod pilot;
pub(in crate::infer) mod psis;
pub(in crate::infer) mod reached;
pub(in crate::infer) mod resample;
pub(in crate::infer) mod sample;
pub(in crate::infer) mod screen;
pub(in crate::infer) mod summary;
pub(in crate::infer) mod trials;
pub(in crate::infer) mod weights;
