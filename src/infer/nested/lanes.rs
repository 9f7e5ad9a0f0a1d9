//! Sixteen outer points at once: a number for each, side by side.

use crate::target::DRAWS;
use std::ops::Range;

/// Who draws: inner coordinates given outer ones, and points at which patterns are found.
pub(super) const PURPOSE: u64 = 0x6e65_7374;
/// Outer points solved together.
pub(super) const LANES: usize = DRAWS;
/// A number for each of them.
pub(super) type Lanes = [f64; LANES];

/// Some draws of a batch, coordinate by coordinate.
pub(super) fn part(z: &[f64], n: usize, draws: Range<usize>) -> Vec<f64> {
    z.chunks_exact(n).flat_map(|row| row[draws.clone()].iter().copied()).collect()
}

/// Up to sixteen points (coordinate `i` of point `b` at `i * count + b`) in lanes; those beyond repeat the
/// last.
pub(super) fn lanes(points: &[f64], count: usize) -> Vec<Lanes> {
    let lane = |row: &[f64]| std::array::from_fn(|b| row[b.min(count - 1)]);
    points.chunks_exact(count).map(lane).collect()
}

/// Numbers for all lanes, of which those beyond repeat the last.
pub(super) fn spread(of: &[f64]) -> Lanes {
    match of.try_into() {
        Ok(all) => all,
        Err(_) => std::array::from_fn(|b| of[b.min(of.len() - 1)]),
    }
}

/// Adds multiples of a vector, one for each lane.
pub(super) fn add(to: &mut [Lanes], by: &Lanes, x: &[Lanes]) {
    to.iter_mut().zip(x).for_each(|(to, x)| (0..LANES).for_each(|b| to[b] += by[b] * x[b]));
}

pub(super) fn product(a: &[Lanes], b: &[Lanes]) -> Lanes {
    let mut out = [0.0; LANES];
    a.iter().zip(b).for_each(|(a, b)| (0..LANES).for_each(|k| out[k] += a[k] * b[k]));
    out
}
