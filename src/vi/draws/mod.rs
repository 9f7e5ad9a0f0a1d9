//! Where the base draws `u` of a step come from: independent, in antithetic pairs, or from a scrambled Sobol
//! sequence.
//!
//! Draw `b` of step `t` depends on the seed, `t` and `b` alone, never on which thread asks for it.

mod antithetic;
mod iid;
mod sobol;

use super::Error;
use super::family::Family;
use super::table::{Choice, Row};
use crate::num::stream::Stream;

/// What a stream of random numbers is for; each purpose has streams of its own, apart from those of other
/// rooms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Draws of the gradient steps.
    Gradient = 0x7669_0001,
    /// Draws of the final ELBO.
    Elbo = 0x7669_0002,
    /// Draws at which curvature is estimated.
    Curvature = 0x7669_0003,
    /// The draw that tells whether the path term is within reach.
    Reach = 0x7669_0005,
    /// Orders of the observations.
    Shuffle = 0x7669_0004,
}

/// Which batch is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub seed: u64,
    pub purpose: Purpose,
    pub step: u64,
    /// Counts the times that a batch of this step had to be drawn again.
    pub attempt: u64,
}

impl Key {
    /// In the place of a first draw: numbers that all draws of the batch share. No batch is as large.
    pub(crate) const SHIFT: usize = (1 << 17) - 1;

    /// Random numbers for the draws of the batch from `first` on. Steps stay below 2³², attempts below 2⁸ and
    /// batches below 2¹⁷, so no two keys share a stream.
    pub(crate) fn stream(self, first: usize) -> Stream {
        Stream::new(self.seed, self.purpose as u64, self.step << 25 | self.attempt << 17 | first as u64)
    }
}

/// A source of base draws at work.
pub(crate) trait Source: Send + Sync {
    /// Writes draws `first .. first + out.len() / d` of the batch, one after the other.
    fn fill(&self, base: &Choice<Family>, key: Key, first: usize, d: usize, out: &mut [f64]);
}

/// A row of the table of draws.
pub struct Draws {
    /// Name.
    pub name: &'static str,
    /// One line of explanation.
    pub doc: &'static str,
    /// A source for a dimension and a batch size, unless these do not suit it.
    pub(crate) make: fn(usize, usize) -> Result<Box<dyn Source>, Error>,
}

impl Draws {
    /// The base draws of one step of a fit with this seed, one after the other.
    pub fn batch(
        &self,
        family: &Choice<Family>,
        dimension: usize,
        draws: usize,
        seed: u64,
        step: u64,
    ) -> Result<Vec<f64>, Error> {
        let mut out = vec![0.0; dimension * draws];
        let key = Key { seed, purpose: Purpose::Gradient, step, attempt: 0 };
        (self.make)(dimension, draws)?.fill(family, key, 0, dimension, &mut out);
        Ok(out)
    }
}

impl std::fmt::Debug for Draws {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Row for Draws {
    const KIND: &'static str = "kind of draws";

    fn table() -> &'static [Draws] {
        static TABLE: [Draws; 3] = [iid::ROW, antithetic::ROW, sobol::ROW];
        &TABLE
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }
}

/// Independent draws, whatever the fit itself uses: their standard error can be told.
pub(crate) fn independent() -> &'static dyn Source {
    &iid::Independent
}
