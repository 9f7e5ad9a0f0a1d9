//! The variational engine, and certificates: theorems and their constants against what can be computed.

mod alone;
mod bases;
mod certificates;
mod certified_bounds;
mod certify;
mod certify_forms;
mod certify_manual;
mod certify_rules;
mod estimators;
mod falsifier;
mod fit;
mod operators;
mod rates;
mod subsample;
mod vi_support;
