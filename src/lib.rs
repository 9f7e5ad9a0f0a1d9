//! A small modelling language and a variational-inference engine that can vouch for its answer.

pub mod num;
pub mod source;
pub mod syntax;
pub mod target;
pub mod vi;
