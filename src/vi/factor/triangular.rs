//! Lower triangular factors: packed by rows, or a full matrix whose upper triangle is clamped to zero.

use super::{Factor, ProxWith, Scale, Sizes, Space, prox_of_minus_log};
use crate::num::linalg::{
    add_lower_product, add_packed_product, add_product_lower, add_product_packed,
    solve_lower_transposed_many, solve_packed_transposed_many,
};

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

    fn diagonal(&self, i: usize) -> usize {
        self.start(i) + i
    }

    fn scale(&self, c: &[f64]) -> Scale {
        let mut all = vec![0.0; self.d * self.d];
        self.unpack(c, &mut all);
        Scale::Dense(all)
    }

    fn load(&mut self, c: &[f64]) -> bool {
        (0..self.d).all(|i| c[self.diagonal(i)] > 0.0)
    }

    fn multiply(&self, c: &[f64], u: &[f64], draws: usize, out: &mut [f64]) {
        let product = if self.full { add_lower_product } else { add_packed_product };
        product(c, u, [self.d, draws], out);
    }

    fn solve_transposed(&self, c: &[f64], x: &mut [f64], draws: usize) {
        let solve = if self.full { solve_lower_transposed_many } else { solve_packed_transposed_many };
        solve(c, x, [self.d, draws]);
    }

    fn add_outer(&mut self, scale: f64, s: &[f64], u: &[f64], draws: usize, g: &mut [f64]) {
        let product = if self.full { add_product_lower } else { add_product_packed };
        product(scale, s, u, [self.d, draws], g);
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
