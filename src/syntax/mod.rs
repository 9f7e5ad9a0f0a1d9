//! Model text to syntax tree and back: grammar, parser, formatter.

pub mod ast;
mod dump;
mod explain;
mod format;
mod layout;
mod names;
mod parse;
mod print;
#[cfg(test)]
mod properties;
pub(crate) mod scan;
#[cfg(test)]
mod trees;

pub use dump::dump;
pub use format::format;
pub use names::{as_name, is_name};
pub use parse::parse;
pub use print::{print, print_dist, print_expr};
