//! Numbers that sum to zero, by an isometry from one coordinate fewer.

use super::row::{Constrained, Transform, batch};
use crate::graph::{BuildError, Builder, NodeId};
use crate::ops::array::CumSum;

type Built = Result<NodeId, BuildError>;

/// Up to so many entries they are a matrix times the coordinates, which is one step.
const FEW: usize = 30;

/// Entry (j, n) of the orthonormal basis: column n is (1, ..., 1, -n, 0, ...) / √(n (n + 1)).
fn basis(j: usize, n: usize) -> f64 {
    let count = (n + 1) as f64;
    let scale = 1.0 / (count * (count + 1.0)).sqrt();
    match j.cmp(&(n + 1)) {
        std::cmp::Ordering::Less => scale,
        std::cmp::Ordering::Equal => -count * scale,
        std::cmp::Ordering::Greater => 0.0,
    }
}

/// The basis as a matrix, where there are few entries.
fn by_matrix(b: &mut Builder, u: NodeId, [free, k]: [usize; 2]) -> Built {
    let transposed: Vec<f64> = (0..free * k).map(|f| basis(f % k, f / k)).collect();
    let matrix = b.constant(transposed, vec![free, k]);
    b.matmul(u, matrix)
}

/// The same by running sums from the last entry on: entry j is Σ_{n > j} w_n - j w_j, where w_n = u_n / √(n
/// (n + 1)) for n = 1, ..., and w_0 is nothing.
fn by_sums(b: &mut Builder, u: NodeId, [n, free]: [usize; 2]) -> Built {
    let scales: Vec<f64> = (0..free).map(|m| basis(0, m)).collect();
    let scales = b.constant(scales, vec![free]);
    let w = b.mul(u, scales)?;
    let backwards = (0..n * free).map(|p| (p / free * free + free - 1 - p % free) as u32).collect();
    let turned = b.take(w, backwards, vec![n, free]);
    let sums = b.array(CumSum, &[turned])?;
    // Entries by row: of an array with a zero after its last element, which stands where there is none.
    let (k, zero) = (free + 1, b.number(0.0));
    let listed = |b: &mut Builder, of: NodeId, at: &dyn Fn(usize) -> Option<usize>| {
        let padded = b.concat(&[of, zero], vec![n * free + 1]);
        let place = |p: usize| at(p % k).map_or(n * free, |j| p / k * free + j) as u32;
        b.take(padded, (0..n * k).map(place).collect(), vec![n, k])
    };
    let later = listed(b, sums, &|j| (j < free).then(|| free - 1 - j));
    let own = listed(b, w, &|j| j.checked_sub(1));
    let counts: Vec<f64> = (0..k).map(|j| j as f64).collect();
    let counts = b.constant(counts, vec![k]);
    let own = b.mul(own, counts)?;
    b.sub(later, own)
}

/// The row.
pub static ROW: Transform = Transform {
    name: "sum_to_zero",
    written: "sum_to_zero[K]",
    doc: "entries that sum to 0",
    formula: "x = B u with orthonormal columns B_n ∝ (1, ..., 1, -n, 0, ..., 0); log-Jacobian 0",
    event: 1,
    bounds: 0,
    free: |event| event[0].saturating_sub(1),
    build: |b, u, dims, _| {
        let (n, k) = (batch(dims, 1), dims[dims.len() - 1]);
        let free = k.saturating_sub(1);
        let u = b.reshape(u, vec![n, free]);
        let value = if k <= FEW { by_matrix(b, u, [free, k])? } else { by_sums(b, u, [n, free])? };
        Ok(Constrained { value: b.reshape(value, dims.to_vec()), log_jacobian: b.number(0.0) })
    },
    inverse: |x, _| {
        let size: f64 = x.iter().map(|x| x.abs()).sum();
        if x.iter().sum::<f64>().abs() > 1e-8 * (1.0 + size) {
            return None;
        }
        Some(
            (0..x.len().saturating_sub(1))
                .map(|n| x.iter().enumerate().map(|(j, x)| basis(j, n) * x).sum())
                .collect(),
        )
    },
};
