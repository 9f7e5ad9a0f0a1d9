//! What importance draws come from.

pub(in crate::infer) mod flow;
pub(in crate::infer) mod grid;
pub(in crate::infer) mod mass;
pub(in crate::infer) mod mixture;
pub(in crate::infer) mod student;
pub(in crate::infer) mod trials;
