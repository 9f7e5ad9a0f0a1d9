//! Events that are arrays: which axes come before an event's own, and the pieces that their densities share.

use crate::facts::{Shape, Size, broadcast, show};
use crate::graph::{BuildError, Builder, NodeId};
use crate::num::real::HALF_LN_2PI;
use crate::ops::array::{Cholesky, TriangularSolve};
use crate::ops::operand::Broadcast;
use crate::ops::scalar::{LOG, SQUARE};
use rand_chacha::ChaCha8Rng;

/// An array and the number of axes that belong to one event.
pub(super) type Piece = (NodeId, usize);

/// The axes before an event's own.
pub(super) fn batch_of(b: &Builder, (id, rank): Piece) -> Vec<usize> {
    let dims = b.dims(id);
    dims[..dims.len().saturating_sub(rank)].to_vec()
}

/// The axes of one event.
fn event_of(b: &Builder, (id, rank): Piece) -> Vec<usize> {
    let dims = b.dims(id);
    dims[dims.len().saturating_sub(rank)..].to_vec()
}

/// The batch that all pieces broadcast to.
pub(super) fn common_batch(b: &Builder, pieces: &[Piece]) -> Result<Vec<usize>, BuildError> {
    let sizes = |dims: Vec<usize>| -> Shape { dims.into_iter().map(Size::known).collect() };
    let mut all: Shape = Vec::new();
    for &piece in pieces {
        let own = sizes(batch_of(b, piece));
        all = broadcast(&all, &own)
            .ok_or_else(|| BuildError(format!("{} events cannot meet {} events", show(&all), show(&own))))?;
    }
    Ok(all.iter().filter_map(|s| s.as_integer().and_then(|n| usize::try_from(n).ok())).collect())
}

/// Whether every event has the same one.
pub(super) fn is_shared(b: &Builder, piece: Piece) -> bool {
    batch_of(b, piece).iter().all(|&n| n == 1)
}

/// The one event of a piece that is shared.
pub(super) fn only(b: &mut Builder, piece: Piece) -> NodeId {
    let dims = event_of(b, piece);
    b.reshape(piece.0, dims)
}

/// A function of single events, applied to each event of the batch; the results stand along the batch's axes.
pub(super) fn each(
    b: &mut Builder,
    pieces: &[Piece],
    mut f: impl FnMut(&mut Builder, &[NodeId]) -> Result<NodeId, BuildError>,
) -> Result<NodeId, BuildError> {
    let batch = common_batch(b, pieces)?;
    let mut results = Vec::new();
    for i in 0..batch.iter().product() {
        let events: Vec<NodeId> = pieces.iter().map(|&piece| event(b, piece, &batch, i)).collect();
        results.push(f(b, &events)?);
    }
    let mut dims = batch;
    dims.extend(results.first().map(|&r| b.dims(r).to_vec()).unwrap_or_default());
    Ok(b.concat(&results, dims))
}

/// The event of a piece that meets number `i` of the batch.
fn event(b: &mut Builder, piece: Piece, batch: &[usize], i: usize) -> NodeId {
    let dims = event_of(b, piece);
    let size = dims.iter().product::<usize>();
    let at = Broadcast::between(&batch_of(b, piece), batch).at(i) * size;
    b.take(piece.0, (at as u32..(at + size) as u32).collect(), dims)
}

/// The array with unit axes put after its own, so that it meets events with that many axes.
pub(super) fn widen(b: &mut Builder, id: NodeId, axes: usize) -> NodeId {
    let mut dims = b.dims(id).to_vec();
    if dims.is_empty() {
        return id;
    }
    dims.extend(std::iter::repeat_n(1, axes));
    b.reshape(id, dims)
}

/// The sum along the last axis.
pub(super) fn sum_last(b: &mut Builder, id: NodeId) -> Result<NodeId, BuildError> {
    match b.dims(id).len() {
        0 | 1 => b.sum(id, None),
        rank => b.sum(id, Some(rank - 1)),
    }
}

/// c · a for a number c.
pub(super) fn scaled(b: &mut Builder, c: f64, a: NodeId) -> Result<NodeId, BuildError> {
    let c = b.number(c);
    b.mul(c, a)
}

/// The sum of several.
pub(super) fn total(b: &mut Builder, terms: &[NodeId]) -> Result<NodeId, BuildError> {
    let mut sum = b.number(0.0);
    for &term in terms {
        sum = b.add2(sum, term)?;
    }
    Ok(sum)
}

/// The Cholesky factor.
pub(super) fn cholesky(b: &mut Builder, a: NodeId) -> Result<NodeId, BuildError> {
    b.array(Cholesky, &[a])
}

/// The logs of the diagonal of a matrix.
pub(super) fn log_diagonal(b: &mut Builder, l: NodeId) -> NodeId {
    let n = b.dims(l).first().copied().unwrap_or(0);
    let diagonal = b.take(l, (0..n).map(|i| (i * n + i) as u32).collect(), vec![n]);
    b.unary(&LOG, diagonal)
}

/// log det L = ½ log det LLᵀ for a lower triangular matrix.
pub(super) fn log_det(b: &mut Builder, l: NodeId) -> Result<NodeId, BuildError> {
    let logs = log_diagonal(b, l);
    b.sum(logs, None)
}

/// Sums of squares along the last axis.
pub(super) fn squares(b: &mut Builder, id: NodeId) -> Result<NodeId, BuildError> {
    if b.dims(id).len() <= 1 {
        return b.map_sum(&SQUARE, &[id], None);
    }
    let each = b.unary(&SQUARE, id);
    sum_last(b, each)
}

/// An array [.., K] as rows [N, K]; a vector stays one.
pub(super) fn as_rows(b: &mut Builder, id: NodeId) -> NodeId {
    match b.dims(id).to_vec().as_slice() {
        [] | [_] | [_, _] => id,
        [rest @ .., k] => {
            let n = rest.iter().product();
            b.reshape(id, vec![n, *k])
        }
    }
}

/// Solutions of L z = v for the vectors along the last axis: one solve for all of them.
pub(super) fn solve(b: &mut Builder, l: NodeId, v: NodeId, transposed: bool) -> Result<NodeId, BuildError> {
    let dims = b.dims(v).to_vec();
    let rows = as_rows(b, v);
    let solved = b.array(TriangularSolve { transposed, rows: true }, &[l, rows])?;
    Ok(b.reshape(solved, dims))
}

/// A v for the vectors along the last axis: one product for all of them.
pub(super) fn product(b: &mut Builder, a: NodeId, v: NodeId) -> Result<NodeId, BuildError> {
    let dims = b.dims(v).to_vec();
    if dims.len() <= 1 {
        return b.matmul(a, v);
    }
    let rows = as_rows(b, v);
    let transposed = b.transpose(a);
    let moved = b.matmul(rows, transposed)?;
    Ok(b.reshape(moved, dims))
}

/// -½ |z|² - log det L - K/2 log 2π for whitened vectors z along the last axis.
pub(super) fn normal_of_whitened(b: &mut Builder, z: NodeId, log_det: NodeId) -> Result<NodeId, BuildError> {
    let k = b.dims(z).last().copied().unwrap_or(1) as f64;
    let distance = squares(b, z)?;
    let half = scaled(b, -0.5, distance)?;
    let constant = b.number(-k * HALF_LN_2PI);
    let spread = b.sub(constant, log_det)?;
    b.add2(half, spread)
}

/// The log density of a normal with mean zero and covariance LLᵀ, of the vectors along the last axis.
pub(super) fn centred_normal(b: &mut Builder, v: NodeId, l: NodeId) -> Result<NodeId, BuildError> {
    let z = solve(b, l, v, false)?;
    let log_det = log_det(b, l)?;
    normal_of_whitened(b, z, log_det)
}

/// Draws standard normals and sends them through a transformation built from constants. NaN where it cannot
/// be built.
pub(super) fn from_normals(
    rng: &mut ChaCha8Rng,
    out: &mut [f64],
    build: impl FnOnce(&mut Builder, NodeId) -> Result<NodeId, BuildError>,
) {
    let z: Vec<f64> = (0..out.len()).map(|_| super::draw::normal(rng)).collect();
    let mut b = Builder::new();
    let dims = vec![z.len()];
    let z = b.constant(z, dims);
    let made = build(&mut b, z).ok().and_then(|id| b.constant_of(id).cloned());
    match made {
        Some(values) if values.len() == out.len() => out.copy_from_slice(&values),
        _ => out.fill(f64::NAN),
    }
}

/// A vector of constants.
pub(super) fn vector(b: &mut Builder, values: &[f64]) -> NodeId {
    b.constant(values.to_vec(), vec![values.len()])
}

/// A square matrix of constants.
pub(super) fn matrix(b: &mut Builder, values: &[f64]) -> NodeId {
    let n = values.len().isqrt();
    b.constant(values[..n * n].to_vec(), vec![n, n])
}
