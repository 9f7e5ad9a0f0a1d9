//! Lower triangular factors: packed by rows, or a full matrix whose upper triangle is clamped to zero.

use super::kernel::{axpy, combine, prox_of_minus_log, tiles, wide};
use super::{Factor, ProxWith, Sizes, Space};
use crate::num::linalg::dot;

/// The packed row.
pub(super) const PACKED: Space = Space {
    name: "triangular",
    doc: "lower triangular C, packed; O(d²) a step",
    prox: ProxWith::AnySteps,
    projects: false,
    full_rank: true,
    make: |d| Box::new(Triangular { d, full: false }),
};

/// The clamped row.
pub(super) const FULL: Space = Space {
    name: "triangular_full",
    doc: "lower triangular C in a full matrix with the upper triangle clamped; same iterates, twice the memory",
    prox: ProxWith::AnySteps,
    projects: false,
    full_rank: true,
    make: |d| Box::new(Triangular { d, full: true }),
};

/// Rows of a back substitution that are worked on together.
const BLOCK: usize = 32;

struct Triangular {
    d: usize,
    full: bool,
}

impl Triangular {
    /// Where row `i` begins; its entries up to the diagonal follow.
    #[inline(always)]
    fn start(&self, i: usize) -> usize {
        if self.full { i * self.d } else { i * (i + 1) / 2 }
    }

    /// Row `i` up to the diagonal.
    #[inline(always)]
    fn row<'a>(&self, c: &'a [f64], i: usize) -> &'a [f64] {
        &c[self.start(i)..self.start(i) + i + 1]
    }

    #[inline(always)]
    fn diagonal(&self, i: usize) -> usize {
        self.start(i) + i
    }
}

impl Factor for Triangular {
    fn count(&self) -> usize {
        if self.full { self.d * self.d } else { self.d * (self.d + 1) / 2 }
    }

    fn pack(&self, dense: &[f64], c: &mut [f64]) {
        c.fill(0.0);
        for i in 0..self.d {
            let start = self.start(i);
            c[start..=start + i].copy_from_slice(&dense[i * self.d..=i * self.d + i]);
        }
    }

    fn unpack(&self, c: &[f64], dense: &mut [f64]) {
        dense.fill(0.0);
        for i in 0..self.d {
            dense[i * self.d..=i * self.d + i].copy_from_slice(self.row(c, i));
        }
    }

    fn load(&mut self, c: &[f64]) -> bool {
        (0..self.d).all(|i| c[self.diagonal(i)] > 0.0)
    }

    fn multiply(&self, c: &[f64], u: &[f64], draws: usize, out: &mut [f64]) {
        let d = self.d;
        wide(|| {
            for tile in tiles(d) {
                for i in tile.start..d {
                    let end = tile.end.min(i + 1);
                    let row = &self.row(c, i)[tile.start..end];
                    for b in 0..draws {
                        out[b * d + i] += dot(row, &u[b * d + tile.start..b * d + end]);
                    }
                }
            }
        });
    }

    /// Back substitution with the rows of C as the columns of Cᵀ, a block of rows at a time: first among themselves, then
    /// what they take from all coordinates before them.
    fn solve_transposed(&self, c: &[f64], x: &mut [f64], draws: usize) {
        let d = self.d;
        wide(|| {
            for first in (0..d).step_by(BLOCK).rev() {
                let last = (first + BLOCK).min(d);
                for x in x.chunks_exact_mut(d).take(draws) {
                    for i in (first..last).rev() {
                        let row = self.row(c, i);
                        x[i] /= row[i];
                        let value = x[i];
                        axpy(-value, &row[first..i], &mut x[first..i]);
                    }
                }
                for tile in tiles(first) {
                    for x in x.chunks_exact_mut(d).take(draws) {
                        let (before, solved) = x.split_at_mut(first);
                        let row = |k: usize| &self.row(c, first + k)[tile.clone()];
                        combine(|k| -solved[k], row, last - first, &mut before[tile.clone()]);
                    }
                }
            }
        });
    }

    fn add_outer(&self, scale: f64, s: &[f64], u: &[f64], draws: usize, g: &mut [f64]) {
        let d = self.d;
        wide(|| {
            for tile in tiles(d) {
                for i in tile.start..d {
                    let (start, end) = (self.start(i), tile.end.min(i + 1));
                    let row = |b: usize| &u[b * d + tile.start..b * d + end];
                    combine(|b| scale * s[b * d + i], row, draws, &mut g[start + tile.start..start + end]);
                }
            }
        });
    }

    /// C⁻ᵀ is upper triangular, so its lower triangle is the diagonal 1/C_ii.
    fn add_inverse_transposed(&mut self, scale: f64, c: &[f64], g: &mut [f64]) {
        for k in (0..self.d).map(|i| self.diagonal(i)) {
            g[k] += scale / c[k];
        }
    }

    fn log_det(&self, c: &[f64]) -> f64 {
        (0..self.d).map(|i| c[self.diagonal(i)].ln()).sum()
    }

    fn prox(&mut self, c: &mut [f64], steps: Sizes<'_>, floor: f64) -> bool {
        for k in (0..self.d).map(|i| self.diagonal(i)) {
            c[k] = prox_of_minus_log(c[k], steps.at(k)).max(floor);
        }
        true
    }

    /// The diagonal of a triangular matrix does not tell its singular values.
    fn project(&mut self, _: &mut [f64], _: f64) -> bool {
        false
    }
}
