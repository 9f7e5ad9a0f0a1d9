//! The mode of the inner coordinates at an outer point, from which searches at others begin.

use crate::infer::gaussian::Gaussian;
use crate::infer::nested::lanes::{LANES, Lanes, PURPOSE};
use crate::num::sobol::Sobol;

/// An outer point, the inner mode there in steps from the reference, and the factor of its curvature.
pub(super) struct Anchor {
    pub(super) at: Vec<f64>,
    /// The log density of the outer point, inner coordinates integrated out.
    pub(super) value: f64,
    pub(super) mode: Vec<f64>,
    pub(super) factor: Vec<f64>,
}

/// So many points around a Gaussian, so much further apart than its draws; with a seed, and how many came
/// before.
pub(super) fn points(q: &Gaussian, count: usize, wider: f64, [seed, before]: [u64; 2]) -> Vec<f64> {
    let d = q.mean.len();
    let mut u = vec![0.0; d * count];
    Sobol::new(d, seed, PURPOSE).fill_normal(before, count, &mut u);
    u.iter_mut().for_each(|u| *u *= wider);
    let mut out = vec![0.0; d * count];
    q.factor.apply(&u, [d, count], &mut out);
    out.chunks_exact_mut(count).zip(&q.mean).for_each(|(row, m)| row.iter_mut().for_each(|x| *x += m));
    out
}

/// For each lane the anchor nearest to its outer point, with distances in units of these scales.
pub(super) fn nearest<'a>(
    anchors: &'a [Anchor],
    outer: &[Lanes],
    scales: &[f64],
) -> Option<[&'a Anchor; LANES]> {
    let first = anchors.first()?;
    let mut found = [first; LANES];
    for (b, found) in found.iter_mut().enumerate() {
        let far = |anchor: &Anchor| -> f64 {
            let off = anchor.at.iter().zip(outer).zip(scales);
            off.map(|((a, o), s)| ((a - o[b]) / s).powi(2)).sum()
        };
        let mut least = f64::INFINITY;
        for anchor in anchors {
            let distance = far(anchor);
            if distance < least {
                (least, *found) = (distance, anchor);
            }
        }
    }
    Some(found)
}

impl Anchor {
    /// Where the mode at an outer point should be, if it moves from here as `drift` says (`inner × outer`),
    /// for one lane.
    pub(super) fn lead(
        &self,
        outer: &[Lanes],
        b: usize,
        drift: &[f64],
        y: &mut [Lanes],
        factor: &mut Vec<Lanes>,
    ) {
        let moved = |row: &[f64]| -> f64 {
            row.iter().zip(outer).zip(&self.at).map(|((d, o), a)| d * (o[b] - a)).sum()
        };
        for ((y, mode), row) in y.iter_mut().zip(&self.mode).zip(drift.chunks_exact(outer.len())) {
            y[b] = mode + moved(row);
        }
        factor.resize(self.factor.len(), [0.0; LANES]);
        factor.iter_mut().zip(&self.factor).for_each(|(to, from)| to[b] = *from);
    }
}
