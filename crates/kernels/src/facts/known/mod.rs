//! Bounds on the functions that rows are made of, each with its proof: value, slope and second derivative
//! over an interval.
//!
//! Every function here takes the interval of the argument and returns None where that reaches outside the
//! domain. An end of the domain itself, where the function or a derivative is unbounded, is allowed: the
//! bound is then infinite.

mod elementary;
mod special;

pub use elementary::*;
pub use special::*;

use super::{Interval, Jet};

/// The numbers that all arguments but `k` are (NaN in place `k`); None unless each of them is one finite
/// number.
pub fn fixed<const N: usize>(args: &[Interval], k: usize) -> Option<[f64; N]> {
    let mut out = [f64::NAN; N];
    for (i, (o, a)) in out.iter_mut().zip(args).enumerate() {
        if i != k {
            *o = a.is_point().then_some(a.lo)?;
        }
    }
    (args.len() == N && k < N).then_some(out)
}

/// f at a finite x, and the limits given at -∞ and +∞.
fn at(x: f64, below: f64, above: f64, f: impl Fn(f64) -> f64) -> f64 {
    if x == f64::INFINITY {
        above
    } else if x == f64::NEG_INFINITY {
        below
    } else {
        f(x)
    }
}

/// Bounds on an odd function that is nowhere above 0 for x ≥ 0 and nowhere beyond ±`most`.
fn odd(x: Interval, most: f64) -> Interval {
    Interval::new(if x.hi > 0.0 { -most } else { 0.0 }, if x.lo < 0.0 { most } else { 0.0 })
}

/// The function mirrored: x ↦ f(-x), from the jet of f on -x.
fn mirrored(jet: Jet) -> Jet {
    Jet::new(jet.value, -jet.slope, jet.curvature)
}

/// Whether all numbers of `x` are at least `low`.
fn above(x: Interval, low: f64) -> bool {
    x.lo >= low
}

/// Whether all numbers of `x` lie from `low` to `high`.
fn within(x: Interval, low: f64, high: f64) -> bool {
    x.lo >= low && x.hi <= high
}
