//! What stickler computes with: numbers, operations, distributions, graphs, and the plans that run them.
//!
//! A crate of its own, because it is long to compile and seldom changed: `stickler` shows its rooms as its
//! own, and its map says what each is for.

pub mod dist;
pub mod facts;
pub mod func;
pub mod graph;
pub mod num;
pub mod ops;
pub mod plan;
pub mod source;
pub mod transform;
