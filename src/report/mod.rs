//! What a fit found, for people and for programs.

pub mod certificate;
mod json;
mod text;

pub use json::json;
pub use text::text;
