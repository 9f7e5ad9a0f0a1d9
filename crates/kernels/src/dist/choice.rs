//! Categories 1..K that pick an entry of each event's vector.

use super::event;
use crate::graph::{BuildError, Builder, NodeId};
use crate::ops::operand::Broadcast;

/// For each event of a batch, its category counted from 0 and the number of the vector that it picks from.
pub(super) struct Choices {
    /// The axes of the batch.
    pub(super) batch: Vec<usize>,
    /// (vector, category from 0).
    pub(super) picks: Vec<(usize, usize)>,
}

/// The categories `x`, which are data, against `vectors` [.., K] that tell `categories` of them apart.
pub(super) fn choices(
    b: &Builder,
    x: NodeId,
    vectors: NodeId,
    categories: usize,
) -> Result<Choices, BuildError> {
    let Some(values) = b.constant_of(x) else {
        return Err(BuildError("a category must be known before the fit: it cannot be a parameter".into()));
    };
    let batch = event::common_batch(b, &[(x, 0), (vectors, 1)])?;
    let of_x = Broadcast::between(b.dims(x), &batch);
    let of_vectors = Broadcast::between(&event::batch_of(b, (vectors, 1)), &batch);
    let pick = |i: usize| {
        let x = values[of_x.at(i)];
        if x.fract() == 0.0 && x >= 1.0 && x <= categories as f64 {
            Ok((of_vectors.at(i), x as usize - 1))
        } else {
            Err(BuildError(format!("a category must be one of 1, ..., {categories}, not {x}")))
        }
    };
    let picks = (0..batch.iter().product()).map(pick).collect::<Result<_, _>>()?;
    Ok(Choices { batch, picks })
}

/// The entry that each event picks.
pub(super) fn picked(b: &mut Builder, x: NodeId, vectors: NodeId) -> Result<NodeId, BuildError> {
    let k = b.dims(vectors).last().copied().unwrap_or(0);
    let Choices { batch, picks } = choices(b, x, vectors, k)?;
    let table = picks.iter().map(|(v, c)| (v * k + c) as u32).collect();
    Ok(b.take(vectors, table, batch))
}
