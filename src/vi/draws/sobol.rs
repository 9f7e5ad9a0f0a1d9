//! Randomised quasi-Monte Carlo: the first points of a scrambled Sobol sequence, with a fresh random shift at each step.

use super::{Choice, Draws, Error, Family, Key, Source};
use crate::num::sobol::Sobol;

/// The row.
pub(super) const ROW: Draws = Draws {
    name: "sobol",
    doc: "scrambled Sobol points, shifted afresh at each step: evenly spread draws; best with a batch of a power of two",
    make: |d, _| match Sobol::new(d, 0, Key::SHIFT as u64) {
        Some(points) => Ok(Box::new(Shifted(points))),
        None => {
            let problem =
                format!("there are Sobol points for at most {} dimensions, and here are {d}", Sobol::MOST);
            Err(Error::Combination { problem, instead: "use 'iid' or 'antithetic' draws".into() })
        }
    },
};

/// A digital shift makes each point uniform and keeps the net property of the points together; being fresh at each step, it
/// leaves the gradient unbiased given all that came before.
struct Shifted(Sobol);

/// Points have 52 bits and lie in the middle of their cells.
const CELLS: f64 = (1_u64 << 52) as f64;

impl Source for Shifted {
    fn fill(&self, base: &Choice<Family>, key: Key, first: usize, d: usize, out: &mut [f64]) {
        let mut stream = key.stream(Key::SHIFT);
        for i in 0..d {
            let shift = stream.bits() >> 12;
            for (b, u) in out.chunks_exact_mut(d).enumerate() {
                let cell = (self.0.uniform(i, (first + b) as u64) * CELLS) as u64;
                u[i] = (base.row.quantile)(base.value, ((cell ^ shift) as f64 + 0.5) / CELLS);
            }
        }
    }
}
