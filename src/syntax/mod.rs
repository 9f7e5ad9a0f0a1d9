//! Model text to syntax tree and back: grammar, parser, formatter.

pub mod ast;
