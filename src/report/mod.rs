//! What a fit found, for people and for programs.

pub mod certificate;
mod csv;
mod json;
mod text;

pub use csv::csv;
pub use json::json;
pub use text::text;
