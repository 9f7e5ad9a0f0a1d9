//! Fits of models against sums, closed forms and reference posteriors.

mod accuracy;
mod aside;
mod fits;
mod methods;
mod noncentered;
mod one_parameter;
mod policy;
mod strategy;
mod truncated;
mod truth;
mod two_parameters;
