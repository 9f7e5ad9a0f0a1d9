//! Symmetric factors: packed with off-diagonals times √2, or a full matrix.
//!
//! Products with the inverse go through a Cholesky factor of C, which costs a fraction of an
//! eigendecomposition. The projection needs the latter only when `C - floor I` has no Cholesky factor: when
//! something is below the floor. Where the inverse itself is wanted (the entropy estimator adds it to C) it
//! comes from the eigendecomposition, if there is one, or else from the triangular factor.

use super::{Factor, ProxWith, Scale, Sizes, Space, prox_of_minus_log};
use crate::num::linalg::{
    EigenRoom, add_product, add_product_packed, add_transposed_product, cholesky_in, log_det_cholesky,
    solve_lower_many, solve_lower_transposed_many, solve_packed_transposed_many,
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
    /// Room for a Cholesky factorisation.
    panel: Vec<f64>,
    /// Two matrices of room.
    room: [Vec<f64>; 2],
    /// Room for some columns of a matrix.
    columns: Vec<f64>,
    eigen: EigenRoom,
    /// The eigenvalues of C, where `vectors` has its eigenvectors; none where the operator needed no
    /// eigendecomposition.
    values: Vec<f64>,
    /// One after the other.
    vectors: Vec<f64>,
}

/// Columns of L⁻ᵀ that are found together.
const COLUMNS: usize = 128;

impl Symmetric {
    fn new(d: usize, full: bool) -> Self {
        Symmetric {
            d,
            full,
            dense: vec![0.0; d * d],
            lower: vec![0.0; d * d],
            panel: Vec::new(),
            room: [(); 2].map(|()| Vec::with_capacity(d * d)),
            columns: Vec::with_capacity(d * COLUMNS.min(d)),
            eigen: EigenRoom::new(d),
            values: Vec::with_capacity(d),
            vectors: vec![0.0; d * d],
        }
    }

    /// Replaces each eigenvalue of C by what `becomes` says of it, and keeps the eigendecomposition; false if
    /// C is not finite. Only those that change cost anything: C += Σ (new - old) v vᵀ.
    fn map_eigenvalues(&mut self, becomes: impl Fn(f64) -> f64) -> bool {
        let d = self.d;
        let Some(eigen) = self.eigen.decompose(&self.dense) else { return false };
        let [vectors, changed] = &mut self.room;
        vectors.clear();
        changed.clear();
        self.values.clear();
        self.vectors.copy_from_slice(&eigen.vectors);
        for (value, v) in eigen.values.iter().zip(eigen.vectors.chunks_exact(d)) {
            self.values.push(becomes(*value));
            let change = becomes(*value) - value;
            if change != 0.0 {
                vectors.extend_from_slice(v);
                changed.extend(v.iter().map(|x| change * x));
            }
        }
        let count = vectors.len() / d;
        add_transposed_product(1.0, changed, vectors, [d, count, d], &mut self.dense);
        true
    }

    /// Adds `scale` times C⁻¹ = Σ v vᵀ/λ to `room[1]`.
    fn add_inverse_by_eigenvectors(&mut self, scale: f64) {
        let d = self.d;
        let [roots, inverse] = &mut self.room;
        zero(roots, d * d);
        for (k, (value, v)) in self.values.iter().zip(self.vectors.chunks_exact(d)).enumerate() {
            let root = value.sqrt().recip();
            v.iter().enumerate().for_each(|(i, x)| roots[i * d + k] = root * x);
        }
        add_product_packed(scale, roots, roots, [d, d], inverse);
    }

    /// Adds `scale` times C⁻¹ = L⁻ᵀL⁻¹ to `room[1]`, by blocks of columns of the upper triangular L⁻ᵀ: d³/3
    /// multiplications.
    fn add_inverse_by_solving(&mut self, scale: f64) {
        let d = self.d;
        let [lower, inverse] = &mut self.room;
        lower.clear();
        (0..d).for_each(|i| lower.extend_from_slice(&self.lower[i * d..=i * d + i]));
        for first in (0..d).step_by(COLUMNS) {
            let count = COLUMNS.min(d - first);
            let rows = first + count;
            zero(&mut self.columns, rows * count);
            (0..count).for_each(|j| self.columns[(first + j) * count + j] = 1.0);
            solve_packed_transposed_many(lower, &mut self.columns, [rows, count]);
            add_product_packed(scale, &self.columns, &self.columns, [rows, count], inverse);
        }
    }

    /// Adds a symmetric matrix, of which `room[1]` holds the lower triangle packed, to the gradient.
    fn add_room(&self, g: &mut [f64]) {
        let (d, matrix) = (self.d, &self.room[1]);
        for i in 0..d {
            let row = &matrix[packed(i, 0)..=packed(i, i)];
            if self.full {
                for (j, x) in row.iter().enumerate().take(i) {
                    g[i * d + j] += x;
                    g[j * d + i] += x;
                }
                g[i * d + i] += row[i];
            } else {
                let to = &mut g[packed(i, 0)..=packed(i, i)];
                to.iter_mut().zip(row).take(i).for_each(|(g, x)| *g += SQRT_2 * x);
                to[i] += row[i];
            }
        }
    }

    /// Whether `C - floor I` is positive definite; leaves its Cholesky factor in `lower` if so.
    fn exceeds(&mut self, floor: f64) -> bool {
        self.lower.copy_from_slice(&self.dense);
        (0..self.d).for_each(|i| self.lower[i * self.d + i] -= floor);
        cholesky_in(&mut self.lower, self.d, &mut self.panel).is_ok()
    }

    /// Writes C to `c`, and reads it back so that products use the bits that were written; the
    /// eigendecomposition stays.
    fn store(&mut self, c: &mut [f64]) -> bool {
        pack(self.d, self.full, &self.dense, c);
        self.read(c)
    }

    /// Makes C and its Cholesky factor from `c`.
    fn read(&mut self, c: &[f64]) -> bool {
        unpack(self.d, self.full, c, &mut self.dense);
        self.exceeds(0.0)
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

/// A full matrix is symmetrised on the way, because sums in another order leave its two halves equal only to
/// rounding.
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

    fn diagonal(&self, i: usize) -> usize {
        if self.full { i * self.d + i } else { packed(i, i) }
    }

    fn scale(&self, c: &[f64]) -> Scale {
        let mut all = vec![0.0; self.d * self.d];
        self.unpack(c, &mut all);
        Scale::Dense(all)
    }

    fn load(&mut self, c: &[f64]) -> bool {
        self.values.clear();
        self.read(c)
    }

    fn multiply(&self, _: &[f64], u: &[f64], draws: usize, out: &mut [f64]) {
        add_product(1.0, &self.dense, u, [self.d, self.d, draws], out);
    }

    fn solve_transposed(&self, _: &[f64], x: &mut [f64], draws: usize) {
        solve_lower_many(&self.lower, x, [self.d, draws]);
        solve_lower_transposed_many(&self.lower, x, [self.d, draws]);
    }

    /// ½(s uᵀ + u sᵀ).
    fn add_outer(&mut self, scale: f64, s: &[f64], u: &[f64], draws: usize, g: &mut [f64]) {
        zero(&mut self.room[1], packed(self.d, 0));
        for (s, u) in [(s, u), (u, s)] {
            add_product_packed(0.5 * scale, s, u, [self.d, draws], &mut self.room[1]);
        }
        self.add_room(g);
    }

    fn add_inverse_transposed(&mut self, scale: f64, _: &[f64], g: &mut [f64]) {
        zero(&mut self.room[1], packed(self.d, 0));
        if self.values.is_empty() {
            self.add_inverse_by_solving(scale);
        } else {
            self.add_inverse_by_eigenvectors(scale);
        }
        self.add_room(g);
    }

    fn log_det(&self, _: &[f64]) -> f64 {
        log_det_cholesky(&self.lower, self.d)
    }

    /// The entropy is a function of the eigenvalues, so its prox is that of -log on each of them.
    fn prox(&mut self, c: &mut [f64], steps: Sizes<'_>, floor: f64) -> bool {
        let Sizes::One(gamma) = steps else { return false };
        unpack(self.d, self.full, c, &mut self.dense);
        self.map_eigenvalues(|value| prox_of_minus_log(value, gamma).max(floor)) && self.store(c)
    }

    /// Raises each eigenvalue below the floor; when none is, `c` is left as it is.
    fn project(&mut self, c: &mut [f64], floor: f64) -> bool {
        self.values.clear();
        unpack(self.d, self.full, c, &mut self.dense);
        if self.exceeds(floor) {
            if self.full {
                c.copy_from_slice(&self.dense);
            }
            return self.exceeds(0.0);
        }
        self.map_eigenvalues(|value| value.max(floor)) && self.store(c)
    }
}

/// Makes a vector that many zeros.
fn zero(matrix: &mut Vec<f64>, count: usize) {
    matrix.clear();
    matrix.resize(count, 0.0);
}
