//! Ordered categories: an interval between cut-points for each, on a scale with additive noise.

use super::choice::{Choices, choices};
use crate::graph::{BuildError, Builder, NodeId};
use crate::ops::scalar::ScalarRow;

/// Stands for the missing cut-points below the first and above the last: so far out that no double notices,
/// and finite, so that no tangent becomes 0 · ∞.
pub const FAR: f64 = 1e100;

/// `row` of eta and the cut-points on both sides of each category.
pub(super) fn density(
    b: &mut Builder,
    row: &'static ScalarRow,
    x: NodeId,
    eta: NodeId,
    cuts: NodeId,
) -> Result<NodeId, BuildError> {
    let n = b.dims(cuts).last().copied().unwrap_or(0);
    let Choices { batch, picks } = choices(b, x, cuts, n + 1)?;
    let ends = b.constant(vec![-FAR, FAR], vec![2]);
    let size: usize = b.dims(cuts).iter().product();
    let all = b.concat(&[ends, cuts], vec![size + 2]);
    // Category c lies between cut-points c - 1 and c, counted from 0.
    let below = |&(v, c): &(usize, usize)| if c == 0 { 0 } else { (2 + v * n + c - 1) as u32 };
    let above = |&(v, c): &(usize, usize)| if c == n { 1 } else { (2 + v * n + c) as u32 };
    let lower = b.take(all, picks.iter().map(below).collect(), batch.clone());
    let upper = b.take(all, picks.iter().map(above).collect(), batch);
    b.map(row, &[eta, lower, upper])
}

/// The category of a point on the scale.
pub(super) fn category(point: f64, cuts: &[f64]) -> f64 {
    1.0 + cuts.iter().filter(|&&c| c < point).count() as f64
}
