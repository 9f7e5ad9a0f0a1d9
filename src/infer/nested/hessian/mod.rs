//! The Hessian of the inner coordinates: its pattern, and how few gradients tell it.

pub(in crate::infer) mod basis;
pub(in crate::infer) mod colouring;
pub(in crate::infer) mod forms;
pub(in crate::infer) mod pattern;
pub(in crate::infer) mod prior;
