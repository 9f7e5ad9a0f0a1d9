//! Numbers that sum to zero, by an isometry from one coordinate fewer.

use super::row::{Constrained, Transform, batch};

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
        let transposed: Vec<f64> = (0..free * k).map(|f| basis(f % k, f / k)).collect();
        let matrix = b.constant(transposed, vec![free, k]);
        let u = b.reshape(u, vec![n, free]);
        let value = b.matmul(u, matrix)?;
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
