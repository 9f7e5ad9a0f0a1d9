//! Randomised quasi-Monte Carlo: the first points of a scrambled Sobol sequence, with a fresh random shift at
//! each step.

use super::{Choice, Draws, Family, Key, Source};
use crate::num::sobol::Sobol;

/// The row.
pub(super) const ROW: Draws = Draws {
    name: "sobol",
    doc: "scrambled Sobol points, shifted afresh at each step: evenly spread draws; best with a batch of a power of two",
    make: |d, _| Ok(Box::new(Shifted(Sobol::new(d, 0, Key::SHIFT as u64)))),
};

/// A digital shift makes each point uniform and keeps the net property of the points together; being fresh at
/// each step, it leaves the gradient unbiased given all that came before.
struct Shifted(Sobol);

/// Points have 52 bits and lie in the middle of their cells.
const CELLS: f64 = (1_u64 << 52) as f64;

impl Source for Shifted {
    fn fill(&self, base: &Choice<Family>, key: Key, first: usize, d: usize, out: &mut [f64]) {
        let mut stream = key.stream(Key::SHIFT);
        let (mut of, mut shift) = (None, 0);
        self.0.each(first as u64, out.len() / d.max(1), |i, b, u| {
            if of != Some(i) {
                (of, shift) = (Some(i), stream.bits_at(i as u64) >> 12);
            }
            let cell = (u * CELLS) as u64;
            out[b * d + i] = (base.row.quantile)(base.value, ((cell ^ shift) as f64 + 0.5) / CELLS);
        });
    }
}
