//! Antithetic pairs: draw 2k + 1 is minus draw 2k, which cancels every odd part of the integrand.

use super::{Choice, Draws, Error, Family, Key, Source, iid};

/// The row.
pub(super) const ROW: Draws = Draws {
    name: "antithetic",
    doc: "pairs u, -u: removes the noise that is odd in u; needs an even batch",
    make: |_, batch| {
        if batch % 2 == 0 {
            return Ok(Box::new(Pairs));
        }
        let (expected, found) = ("even for antithetic draws, which come in pairs".into(), batch.to_string());
        Err(Error::Configuration { field: "batch", expected, found })
    },
};

struct Pairs;

impl Source for Pairs {
    fn fill(&self, base: &Choice<Family>, key: Key, first: usize, d: usize, out: &mut [f64]) {
        for (k, pair) in out.chunks_mut(2 * d).enumerate() {
            let (plus, minus) = pair.split_at_mut(d);
            iid::fill(base, key, first + 2 * k, plus);
            minus.iter_mut().zip(plus).for_each(|(m, p)| *m = -*p);
        }
    }
}
