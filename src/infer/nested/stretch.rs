//! How draws are stretched in directions where inner coordinates reach further than a Gaussian.

use crate::infer::nested::lanes::{LANES, Lanes};

/// How much each standard normal number of a draw is stretched on either side; none at all where no direction
/// calls for it.
#[derive(Default)]
pub(super) struct Tails(pub(super) Vec<[f64; 2]>);

impl Tails {
    /// Stretches numbers, and says what the logarithms of the slopes add up to.
    pub(super) fn stretch(&self, u: &mut [Lanes]) -> Lanes {
        let mut added = [0.0; LANES];
        for (u, by) in u.iter_mut().zip(&self.0).filter(|(_, by)| **by != [0.0; 2]) {
            for (x, added) in u.iter_mut().zip(&mut added) {
                let h = by[usize::from(*x < 0.0)];
                *added += 0.5 * h * *x * *x + (h * *x * *x).ln_1p();
                *x *= (0.5 * h * *x * *x).exp();
            }
        }
        added
    }
}
