//! Formulas as data: a straight-line list of primitives, recorded once from the Rust code of the formula, and
//! run over tiles of numbers on any processor.
//!
//! A formula is written once, generic in [`Real`](super::real::Real). Called with [`Traced`] numbers it
//! leaves a [`Formula`]: every primitive with the numbers that it takes. From that come its tangents
//! ([`Formula::tangents`]), and for each choice of results a [`Program`], in which nothing says what
//! processor will run it.

mod alone;
mod compile;
mod dump;
mod formula;
mod primitive;
mod record;
mod run;

pub use alone::{run_alone, run_alone_draws};
pub use compile::Program;
pub use formula::Formula;
pub use primitive::{Binary, Node, Several, Unary};
pub use record::Traced;
pub use run::{MOST_ENDS, Sink, Source, run};

#[cfg(test)]
mod tests;
