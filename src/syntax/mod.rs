//! Model text to syntax tree and back: grammar, parser, formatter.

pub mod ast;
mod layout;
mod parse;
mod scan;

pub use parse::parse;
