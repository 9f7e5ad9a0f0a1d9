//! Symmetric factors: packed with off-diagonals times √2, or a full matrix; with the eigendecomposition of the moment.

use super::kernel::{axpy, combine, dot, prox_of_minus_log};
use super::{Factor, ProxWith, Sizes, Space};
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// The packed row.
pub(super) const PACKED: Space = Space {
    name: "symmetric",
    doc: "symmetric positive definite C, packed isometrically; one eigendecomposition a step",
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
    /// Eigenvalues of C.
    values: Vec<f64>,
    /// Unit eigenvectors, one a row.
    vectors: Vec<f64>,
}

impl Symmetric {
    fn new(d: usize, full: bool) -> Self {
        Symmetric { d, full, dense: vec![0.0; d * d], values: vec![0.0; d], vectors: vec![0.0; d * d] }
    }

    fn decompose(&mut self, c: &[f64]) {
        unpack(self.d, self.full, c, &mut self.dense);
        super::super::interim::symmetric_eigen(self.d, &self.dense, &mut self.values, &mut self.vectors);
    }

    /// out = Σ_k weight(λ_k) v_k v_kᵀ, by rows.
    fn spectral(&self, weight: impl Fn(f64) -> f64, out: &mut [f64]) {
        let d = self.d;
        out.fill(0.0);
        for i in 0..d {
            let row = &mut out[i * d..=i * d + i];
            combine(|k| weight(self.values[k]) * self.vectors[k * d + i], &self.vectors, d, d, row);
        }
        for i in 0..d {
            (0..i).for_each(|j| out[j * d + i] = out[i * d + j]);
        }
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

fn unpack(d: usize, full: bool, c: &[f64], dense: &mut [f64]) {
    if full {
        return dense.copy_from_slice(c);
    }
    for i in 0..d {
        for j in 0..i {
            let x = FRAC_1_SQRT_2 * c[packed(i, j)];
            (dense[i * d + j], dense[j * d + i]) = (x, x);
        }
        dense[i * d + i] = c[packed(i, i)];
    }
}

impl Factor for Symmetric {
    fn len(&self) -> usize {
        if self.full { self.d * self.d } else { self.d * (self.d + 1) / 2 }
    }

    fn pack(&self, dense: &[f64], c: &mut [f64]) {
        pack(self.d, self.full, dense, c);
    }

    fn unpack(&self, c: &[f64], dense: &mut [f64]) {
        unpack(self.d, self.full, c, dense);
    }

    fn load(&mut self, c: &[f64]) -> bool {
        self.decompose(c);
        self.values.iter().all(|x| *x > 0.0)
    }

    fn multiply(&self, _: &[f64], u: &[f64], draws: usize, out: &mut [f64]) {
        let d = self.d;
        for i in 0..d {
            let row = &self.dense[i * d..(i + 1) * d];
            for b in 0..draws {
                out[b * d + i] += dot(row, &u[b * d..(b + 1) * d]);
            }
        }
    }

    /// C⁻¹x = Σ_k v_k (v_k·x) / λ_k.
    fn solve_transposed(&self, _: &[f64], x: &mut [f64], draws: usize, scratch: &mut [f64]) {
        let d = self.d;
        for x in x.chunks_exact_mut(d).take(draws) {
            for k in 0..d {
                scratch[k] = dot(&self.vectors[k * d..(k + 1) * d], x) / self.values[k];
            }
            x.fill(0.0);
            combine(|k| scratch[k], &self.vectors, d, d, x);
        }
    }

    fn add_outer(&self, scale: f64, s: &[f64], u: &[f64], draws: usize, g: &mut [f64]) {
        let (d, half) = (self.d, 0.5 * scale);
        for i in 0..d {
            // Row i of ½(s uᵀ + u sᵀ); the packed form holds it up to the diagonal, times √2 before it.
            if self.full {
                let row = &mut g[i * d..(i + 1) * d];
                combine(|b| half * s[b * d + i], u, draws, d, row);
                combine(|b| half * u[b * d + i], s, draws, d, row);
            } else {
                let row = &mut g[packed(i, 0)..packed(i, i)];
                combine(|b| SQRT_2 * half * s[b * d + i], u, draws, d, row);
                combine(|b| SQRT_2 * half * u[b * d + i], s, draws, d, row);
                g[packed(i, i)] += scale * (0..draws).map(|b| s[b * d + i] * u[b * d + i]).sum::<f64>();
            }
        }
    }

    fn add_inverse_transposed(&self, scale: f64, _: &[f64], g: &mut [f64]) {
        let d = self.d;
        let weight = |k: usize| scale / self.values[k];
        for i in 0..d {
            if self.full {
                let row = &mut g[i * d..(i + 1) * d];
                combine(|k| weight(k) * self.vectors[k * d + i], &self.vectors, d, d, row);
            } else {
                let row = &mut g[packed(i, 0)..packed(i, i)];
                combine(|k| SQRT_2 * weight(k) * self.vectors[k * d + i], &self.vectors, d, d, row);
                g[packed(i, i)] += (0..d).map(|k| weight(k) * self.vectors[k * d + i].powi(2)).sum::<f64>();
            }
        }
    }

    fn log_det(&self, _: &[f64]) -> f64 {
        self.values.iter().map(|x| x.ln()).sum()
    }

    /// The entropy is a function of the eigenvalues, so its prox is that of -log on each of them.
    fn prox(&mut self, c: &mut [f64], steps: Sizes<'_>) -> bool {
        let Sizes::One(gamma) = steps else { return false };
        self.decompose(c);
        self.values.iter_mut().for_each(|x| *x = prox_of_minus_log(*x, gamma));
        let mut dense = std::mem::take(&mut self.dense);
        self.spectral(|x| x, &mut dense);
        pack(self.d, self.full, &dense, c);
        self.dense = dense;
        true
    }

    /// Raises each eigenvalue below the floor by a rank-one term; when none is, `c` keeps its bits.
    fn project(&mut self, c: &mut [f64], floor: f64) -> bool {
        self.decompose(c);
        let d = self.d;
        if self.values.iter().all(|x| *x >= floor) {
            return true;
        }
        for (k, value) in self.values.iter_mut().enumerate().filter(|(_, x)| **x < floor) {
            let v = &self.vectors[k * d..(k + 1) * d];
            for i in 0..d {
                axpy((floor - *value) * v[i], v, &mut self.dense[i * d..(i + 1) * d]);
            }
            *value = floor;
        }
        pack(d, self.full, &self.dense, c);
        // What is packed has been symmetrised; the products below must use the same bits.
        unpack(d, self.full, c, &mut self.dense);
        true
    }
}
