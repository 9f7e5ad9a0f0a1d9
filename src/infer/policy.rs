//! Every threshold of quality that decides what is tried, kept or doubted, once.

/// From this k̂ on importance weights cannot be relied on.
pub const KHAT_LIMIT: f64 = 0.7;
/// Weights with a k̂ from this on have no mean, and say nothing of the evidence.
pub(in crate::infer) const KHAT_NO_MEAN: f64 = 1.0;
/// Weights with a k̂ below this are light.
pub(in crate::infer) const LIGHT: f64 = 0.55;
