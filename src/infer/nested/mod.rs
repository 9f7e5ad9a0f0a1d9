//! Fits the few coordinates that others depend on, and takes the others given them: a hierarchy's scales,
//! then its effects.
//!
//! Where the log density is quadratic in the inner coordinates x once the outer coordinates θ are given
//! (effects of groups, coefficients of a regression with a normal likelihood), the posterior of x given θ is
//! a Gaussian that one sparse factorisation finds, and the log density of θ alone is known to rounding. Where
//! it is concave, the same with Newton's steps gives Laplace's approximation. Either way importance weights
//! are those of θ and x together, from the log density itself, so what is only nearly Gaussian is corrected,
//! and shows in k̂.

mod anchor;
mod anchors;
mod attempt;
mod blocks;
mod conditional;
mod explore;
mod groups;
mod hessian;
mod lanes;
mod lattice;
mod marginal;
mod measure;
mod partition;
mod placement;
mod rule;
mod shoulders;
mod solver;
mod start;
mod stretch;
mod surface;
mod tails;
#[cfg(test)]
mod tests;
mod tune;
mod weigh;

pub(super) use attempt::{Ways, fit};
