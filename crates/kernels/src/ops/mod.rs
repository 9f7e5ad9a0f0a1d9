//! Every operation of the graph: shape rule, value, derivative; one family a file.
//!
//! Two kinds: elementwise functions of a few numbers ([`scalar`]), and operations on whole arrays
//! ([`mod@array`]). Both are written once, generic in the scalar ([`crate::num::real::Real`]), and reached
//! through tables of rows.

pub mod array;
pub mod operand;
pub mod scalar;
