//! Symmetric factors: packed with off-diagonals times √2, or a full matrix.
//!
//! Products with the inverse go through a Cholesky factor of C, which costs a fraction of an eigendecomposition. The
//! projection needs the latter only when `C - floor I` has no Cholesky factor: when something is below the floor.

use super::kernel::{axpy, combine, prox_of_minus_log, tiles, wide};
use super::{Factor, ProxWith, Sizes, Space};
use crate::num::linalg::{
    add_product_lower, cholesky, dot, log_det_cholesky, solve_cholesky, solve_lower_transposed_many,
    symmetric_eigen,
};
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// The packed row.
pub(super) const PACKED: Space = Space {
    name: "symmetric",
    doc: "symmetric positive definite C, packed isometrically; O(d³) a step",
    prox: ProxWith::OneStep,
    projects: true,
    full_rank: true,
    make: |d| Box::new(Symmetric::new(d, false)),
};

/// The full row.
pub(super) const FULL: Space = Space {
    name: "symmetric_full",
    doc: "symmetric positive definite C in a full matrix; same iterates, twice the memory",
    prox: ProxWith::OneStep,
    projects: true,
    full_rank: true,
    make: |d| Box::new(Symmetric::new(d, true)),
};

struct Symmetric {
    d: usize,
    full: bool,
    /// C by rows.
    dense: Vec<f64>,
    /// L with C = L Lᵀ, in the lower triangle.
    lower: Vec<f64>,
    /// Two matrices of room for the explicit inverse; empty until it is asked for.
    room: [Vec<f64>; 2],
}

impl Symmetric {
    fn new(d: usize, full: bool) -> Self {
        Symmetric {
            d,
            full,
            dense: vec![0.0; d * d],
            lower: vec![0.0; d * d],
            room: [Vec::new(), Vec::new()],
        }
    }

    /// Whether `C - floor I` is positive definite; leaves its Cholesky factor in `lower` if so.
    fn exceeds(&mut self, floor: f64) -> bool {
        self.lower.copy_from_slice(&self.dense);
        (0..self.d).for_each(|i| self.lower[i * self.d + i] -= floor);
        cholesky(&mut self.lower, self.d).is_ok()
    }

    /// Writes C to `c`, and reads it back so that products use the bits that were written.
    fn store(&mut self, c: &mut [f64]) -> bool {
        pack(self.d, self.full, &self.dense, c);
        self.load(c)
    }
}

/// The position of entry (i, j), j ≤ i, in the packed form.
#[inline(always)]
fn packed(i: usize, j: usize) -> usize {
    i * (i + 1) / 2 + j
}

fn pack(d: usize, full: bool, dense: &[f64], c: &mut [f64]) {
    for i in 0..d {
        for j in 0..=i {
            let mean = 0.5 * (dense[i * d + j] + dense[j * d + i]);
            match (full, i == j) {
                (true, _) => (c[i * d + j], c[j * d + i]) = (mean, mean),
                (false, true) => c[packed(i, j)] = mean,
                (false, false) => c[packed(i, j)] = SQRT_2 * mean,
            }
        }
    }
}

/// A full matrix is symmetrised on the way, because sums in another order leave its two halves equal only to rounding.
fn unpack(d: usize, full: bool, c: &[f64], dense: &mut [f64]) {
    for i in 0..d {
        for j in 0..i {
            let x = if full { 0.5 * (c[i * d + j] + c[j * d + i]) } else { FRAC_1_SQRT_2 * c[packed(i, j)] };
            (dense[i * d + j], dense[j * d + i]) = (x, x);
        }
        dense[i * d + i] = c[if full { i * d + i } else { packed(i, i) }];
    }
}

impl Factor for Symmetric {
    fn count(&self) -> usize {
        if self.full { self.d * self.d } else { self.d * (self.d + 1) / 2 }
    }

    fn pack(&self, dense: &[f64], c: &mut [f64]) {
        pack(self.d, self.full, dense, c);
    }

    fn unpack(&self, c: &[f64], dense: &mut [f64]) {
        unpack(self.d, self.full, c, dense);
    }

    fn load(&mut self, c: &[f64]) -> bool {
        unpack(self.d, self.full, c, &mut self.dense);
        self.exceeds(0.0)
    }

    fn multiply(&self, _: &[f64], u: &[f64], draws: usize, out: &mut [f64]) {
        let d = self.d;
        wide(|| {
            for tile in tiles(d) {
                for i in 0..d {
                    let row = &self.dense[i * d + tile.start..i * d + tile.end];
                    for b in 0..draws {
                        out[b * d + i] += dot(row, &u[b * d + tile.start..b * d + tile.end]);
                    }
                }
            }
        });
    }

    fn solve_transposed(&self, _: &[f64], x: &mut [f64], draws: usize) {
        for x in x.chunks_exact_mut(self.d).take(draws) {
            solve_cholesky(&self.lower, self.d, x);
        }
    }

    /// Row i of ½(s uᵀ + u sᵀ); the packed form holds it up to the diagonal, times √2 before it.
    fn add_outer(&self, scale: f64, s: &[f64], u: &[f64], draws: usize, g: &mut [f64]) {
        let d = self.d;
        let half = if self.full { 0.5 * scale } else { 0.5 * SQRT_2 * scale };
        wide(|| {
            for tile in tiles(d) {
                for i in 0..d {
                    let end = if self.full { tile.end } else { tile.end.min(i) };
                    if end <= tile.start {
                        continue;
                    }
                    let start = if self.full { i * d } else { packed(i, 0) };
                    let row = &mut g[start + tile.start..start + end];
                    let part = |b: usize| b * d + tile.start..b * d + end;
                    combine(|b| half * s[b * d + i], |b| &u[part(b)], draws, row);
                    combine(|b| half * u[b * d + i], |b| &s[part(b)], draws, row);
                }
            }
        });
        if !self.full {
            for i in 0..d {
                g[packed(i, i)] += scale * (0..draws).map(|b| s[b * d + i] * u[b * d + i]).sum::<f64>();
            }
        }
    }

    /// C⁻¹ = L⁻ᵀ L⁻¹.
    fn add_inverse_transposed(&mut self, scale: f64, _: &[f64], g: &mut [f64]) {
        let d = self.d;
        let [root, inverse] = &mut self.room;
        for matrix in [&mut *root, inverse] {
            matrix.clear();
            matrix.resize(d * d, 0.0);
        }
        (0..d).for_each(|i| root[i * d + i] = 1.0);
        solve_lower_transposed_many(&self.lower, root, [d, d]);
        add_product_lower(scale, root, root, [d, d], inverse);
        for i in 0..d {
            for j in 0..i {
                let x = inverse[i * d + j];
                if self.full {
                    g[i * d + j] += x;
                    g[j * d + i] += x;
                } else {
                    g[packed(i, j)] += SQRT_2 * x;
                }
            }
            g[if self.full { i * d + i } else { packed(i, i) }] += inverse[i * d + i];
        }
    }

    fn log_det(&self, _: &[f64]) -> f64 {
        log_det_cholesky(&self.lower, self.d)
    }

    /// The entropy is a function of the eigenvalues, so its prox is that of -log on each of them.
    fn prox(&mut self, c: &mut [f64], steps: Sizes<'_>, floor: f64) -> bool {
        let Sizes::One(gamma) = steps else { return false };
        let d = self.d;
        unpack(d, self.full, c, &mut self.dense);
        let Some(eigen) = symmetric_eigen(&self.dense, d) else { return false };
        for i in 0..d {
            let row = &mut self.dense[i * d..(i + 1) * d];
            row.fill(0.0);
            let value = |k: usize| prox_of_minus_log(eigen.values[k], gamma).max(floor);
            let weight = |k: usize| value(k) * eigen.vectors[k * d + i];
            combine(weight, |k| &eigen.vectors[k * d..(k + 1) * d], d, row);
        }
        self.store(c)
    }

    /// Raises each eigenvalue below the floor by a rank-one term; when none is, `c` is left as it is.
    fn project(&mut self, c: &mut [f64], floor: f64) -> bool {
        let d = self.d;
        unpack(d, self.full, c, &mut self.dense);
        if self.exceeds(floor) {
            if self.full {
                c.copy_from_slice(&self.dense);
            }
            return self.exceeds(0.0);
        }
        let Some(eigen) = symmetric_eigen(&self.dense, d) else { return false };
        for (k, value) in eigen.values.iter().enumerate().filter(|(_, x)| **x < floor) {
            let v = &eigen.vectors[k * d..(k + 1) * d];
            for i in 0..d {
                axpy((floor - value) * v[i], v, &mut self.dense[i * d..(i + 1) * d]);
            }
        }
        self.store(c)
    }
}
