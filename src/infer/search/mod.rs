//! Where the log density has its modes, and the curvature there.

pub(in crate::infer) mod ascent;
pub(in crate::infer) mod modes;
pub(in crate::infer) mod other_modes;
pub(in crate::infer) mod rivals;
pub(in crate::infer) mod starts;
pub(in crate::infer) mod whiten;
