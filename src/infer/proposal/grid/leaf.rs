//! One cell of a grid, and how much a log density differs within it.

use crate::infer::proposal::grid::axis::Corner;
use crate::infer::proposal::grid::axis::MOST;
use crate::num::special::log_sum_exp;

/// Differences of log densities beyond this say no more.
const STEEPEST: f64 = 12.0;

/// A cell that is not cut any further.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::infer) struct Leaf {
    pub(in crate::infer) corner: Corner,
    pub(in crate::infer) sides: Corner,
    /// The log density at its middle.
    pub(in crate::infer) middle: f64,
    /// The logarithm of about its mean density.
    pub(in crate::infer) log: f64,
    /// About how much the log density differs from one of its sides to the other, along each coordinate.
    pub(in crate::infer) slopes: [f64; MOST],
}

impl Leaf {
    /// Takes note of the log density at the middle, and half-way from there to each side.
    pub(in crate::infer) fn note(&mut self, logs: &[f64]) {
        self.middle = logs[0];
        self.log = log_sum_exp(logs) - (logs.len() as f64).ln();
        for (slope, pair) in self.slopes.iter_mut().zip(logs[1..].chunks_exact(2)) {
            *slope = across(logs[0], pair[0], pair[1]);
        }
    }

    /// The variance of the density over it, in squares of its mean.
    pub(in crate::infer) fn unevenness(&self) -> f64 {
        self.slopes.iter().map(|s| s * s / 12.0).sum::<f64>().min(1.0)
    }

    /// The coordinate along which it is cut, if it can be.
    pub(in crate::infer) fn steepest(&self) -> Option<usize> {
        let able = (0..MOST).filter(|&i| self.sides[i] > 1 && self.slopes[i] > 0.0);
        able.reduce(|a, b| if self.slopes[b] > self.slopes[a] { b } else { a })
    }
}

/// How much a log density differs within a cell, from its middle and two places half-way to its sides: as a
/// line or as a parabola.
fn across(middle: f64, low: f64, high: f64) -> f64 {
    let (top, straight) = (middle.max(low).max(high), 2.0 * difference(low, high));
    if top == f64::NEG_INFINITY {
        return 0.0;
    }
    let bent = 4.0 * difference(middle, 0.5 * (low.max(top - STEEPEST) + high.max(top - STEEPEST)));
    straight.max(bent).min(STEEPEST)
}

/// How much two log densities differ; no more than is worth following.
pub(in crate::infer) fn difference(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { (a - b).abs().min(STEEPEST) }
}

/// By how much the logarithm of the mean density may exceed that at the middle of a cell with these slopes.
pub(in crate::infer) fn bulge(slopes: &[f64; MOST]) -> f64 {
    let half = 0.25 * slopes.iter().copied().fold(0.0, f64::max);
    if half > 1e-3 { (half.sinh() / half).ln() } else { 0.0 }
}
