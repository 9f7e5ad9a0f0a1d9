//! Where the base draws `u` of a step come from: independent, in antithetic pairs, or from a scrambled Sobol sequence.
//!
//! Draw `b` of step `t` depends on the seed, `t` and `b` alone, never on which thread asks for it.

mod antithetic;
mod iid;

use super::Error;
use super::family::Family;
use super::table::{Choice, Row};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What a stream of random numbers is for; each purpose has streams of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Draws of the gradient steps.
    Gradient = 1,
    /// Draws of the final ELBO.
    Elbo = 2,
    /// Draws at which curvature is estimated.
    Curvature = 3,
    /// Orders of the observations.
    Shuffle = 4,
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

/// Random numbers for one part of one batch.
pub(crate) fn stream(seed: u64, purpose: u64, step: u64, part: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(purpose << 56 | step << 16 | part);
    rng
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

impl std::fmt::Debug for Draws {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Row for Draws {
    const KIND: &'static str = "kind of draws";

    fn table() -> &'static [Draws] {
        static TABLE: [Draws; 2] = [iid::ROW, antithetic::ROW];
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
