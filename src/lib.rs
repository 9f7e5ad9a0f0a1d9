//! A small modelling language and a variational-inference engine that can vouch for its answer.

pub mod dist;
pub mod facts;
pub mod func;
pub mod graph;
pub mod num;
pub mod ops;
pub mod plan;
pub mod source;
pub mod syntax;
pub mod target;
pub mod transform;
pub mod vi;
