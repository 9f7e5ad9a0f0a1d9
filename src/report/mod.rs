//! What a fit found, for people and for programs.

pub mod certificate;
mod comparison;
mod csv;
mod finding;
mod json;
mod strategy;
mod text;

pub use comparison::{comparison_json, comparison_text};
pub use csv::csv;
pub use json::{json, number};
pub use strategy::{strategy_text, trace_text};
pub use text::text;

use crate::certify::Tier;
use crate::infer::certified::Promise;

/// What is certain about a fit, beside what is estimated.
#[derive(Clone, Debug)]
pub struct Vouched {
    /// What was certified about the model.
    pub tier: Tier,
    /// What follows for this fit, where the certificate allows it.
    pub promise: Option<Promise>,
    /// The plan that was run, for a certified fit.
    pub run: Option<CertifiedRun>,
}

/// A certified plan that was run.
#[derive(Clone, Debug)]
pub struct CertifiedRun {
    /// The method.
    pub method: &'static str,
    /// The step rule.
    pub step: &'static str,
    /// Raw or whitened.
    pub coordinates: &'static str,
    /// Steps taken.
    pub steps: usize,
    /// What is bounded.
    pub measure: &'static str,
    /// The bound.
    pub bound: Option<f64>,
}
