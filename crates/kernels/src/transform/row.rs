//! A row of the table of transforms.

use crate::graph::{BuildError, Builder, NodeId};

/// A bijection from free coordinates to constrained values.
pub struct Transform {
    /// The constraint's name.
    pub name: &'static str,
    /// How it is written as the type of a parameter.
    pub written: &'static str,
    /// What the constraint says.
    pub doc: &'static str,
    /// x as a function of the free coordinates u, and the log-Jacobian, for the manual.
    pub formula: &'static str,
    /// Axes of one constrained value: 0 for a number, 1 for a vector, 2 for a matrix.
    pub event: usize,
    /// Number of bounds it takes: (lower), (upper), (lower, upper), (offset, multiplier).
    pub bounds: usize,
    /// Free coordinates of one value whose event axes have these sizes.
    pub free: fn(event: &[usize]) -> usize,
    /// Constrained values and log-Jacobian from free coordinates. `u` has the batch axes of `dims` and then,
    /// unless the event is a number, one axis of free coordinates; `dims` is the shape of the result.
    pub build: Build,
    /// Free coordinates of one value (one event), or None if it violates the constraint.
    pub inverse: fn(x: &[f64], bounds: &[f64]) -> Option<Vec<f64>>,
}

/// Builds constrained values from free coordinates.
pub type Build =
    fn(b: &mut Builder, u: NodeId, dims: &[usize], bounds: &[NodeId]) -> Result<Constrained, BuildError>;

/// What a transform gives.
pub struct Constrained {
    /// The values.
    pub value: NodeId,
    /// The log of the absolute Jacobian determinant, summed over all values.
    pub log_jacobian: NodeId,
}

impl std::fmt::Debug for Transform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Number of events in an array of shape `dims` whose last `event` axes make one.
pub(super) fn batch(dims: &[usize], event: usize) -> usize {
    dims[..dims.len() - event].iter().product()
}

/// Column `k` of the free coordinates [.., n], as a vector over the batch.
pub(super) fn column(b: &mut Builder, u: NodeId, batch: usize, k: usize) -> NodeId {
    let n = b.dims(u).last().copied().unwrap_or(1);
    b.take(u, (0..batch).map(|i| (i * n + k) as u32).collect(), vec![batch])
}

/// Columns, each a vector over the batch, put together as an array of shape `dims` (the columns run over the
/// event).
pub(super) fn assemble(b: &mut Builder, columns: &[NodeId], batch: usize, dims: &[usize]) -> NodeId {
    let n = columns.len();
    let all = b.concat(columns, vec![n, batch]);
    let table = (0..batch * n).map(|f| ((f % n) * batch + f / n) as u32).collect();
    b.take(all, table, dims.to_vec())
}
