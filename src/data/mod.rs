//! Data for a model: tables and named arrays, looked up by name, taken as numbers or categories, with the
//! place of each cell kept for errors.
//!
//! [`Dataset::read`] reads files; [`Dataset::find`], [`Dataset::columns`] and [`Dataset::find_category`] look
//! names up; what they find is a [`Found`], which [`Found::as_real`], [`Found::as_int`],
//! [`Found::as_binary`], [`Found::as_count`] and [`Found::as_category`] take as what the model declares;
//! [`Found::matched`] puts a group-level table in the order of a category's [`Levels`].

mod array;
mod arrow;
mod binary;
mod bind;
mod compression;
mod csv;
mod dataset;
mod file;
mod found;
mod glob;
mod group;
mod input;
mod json;
mod levels;
mod number;
mod parquet;
mod say;
mod select;
#[cfg(test)]
mod tests;

pub use bind::{Limit, Missing, Side};
pub use dataset::Dataset;
pub use found::Found;
pub use glob::{is_glob, matches};
pub use levels::Levels;
pub use number::MISSING_MARKERS;
pub use say::listed;
