//! Independent draws.

use super::{Choice, Draws, Family, Key, Source};

/// The row.
pub(super) const ROW: Draws =
    Draws { name: "iid", doc: "independent draws", make: |_, _| Ok(Box::new(Independent)) };

pub(super) struct Independent;

impl Source for Independent {
    fn fill(&self, base: &Choice<Family>, key: Key, first: usize, _: usize, out: &mut [f64]) {
        fill(base, key, first, out);
    }
}

/// Independent draws, from the stream that belongs to the draw `first` of the batch.
pub(super) fn fill(base: &Choice<Family>, key: Key, first: usize, out: &mut [f64]) {
    (base.row.fill)(base.value, &mut key.stream(first), out);
}
