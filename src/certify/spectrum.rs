//! Extreme eigenvalues of sums of weighted outer products, rounded outwards so that the bounds hold.

use super::ridge::Ridges;
use crate::facts::Interval;
use crate::num::linalg::{Pattern, add_transposed_product, cholesky, solve_lower_many, symmetric_eigen};
use std::collections::HashMap;

/// Up to this dimension matrices are dense.
const DENSE: usize = 600;
/// Up to this dimension a matrix that is not sparse is still held.
const MOST_DENSE: usize = 2500;
/// Rows of a design matrix that are multiplied at once.
const ROWS: usize = 2048;
/// Rounds of halving an interval of eigenvalues: to about 1e-12 of the largest.
const HALVINGS: usize = 44;

/// Which end of the bounds on second derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Least,
    Most,
}

impl End {
    fn of(self, theta: Interval) -> f64 {
        match self {
            End::Least => theta.lo,
            End::Most => theta.hi,
        }
    }
}

/// Σ θ a aᵀ, symmetric.
pub(super) struct Matrix {
    d: usize,
    entries: Entries,
    /// Bound on the error of any eigenvalue from rounding in the sums.
    rounding: f64,
}

enum Entries {
    /// [d, d].
    Dense(Vec<f64>),
    /// Pairs (row ≥ column) with values; every diagonal entry is among them.
    Sparse(Vec<(u32, u32)>, Vec<f64>),
}

/// The matrix of one end of the bounds; None if it is too large to hold. Ends that are not finite count as zero.
pub(super) fn matrix(d: usize, ridges: &[&Ridges], end: End) -> Option<Matrix> {
    let weight = |theta: Interval| Some(end.of(theta)).filter(|t| t.is_finite() && *t != 0.0);
    let dense = d <= DENSE;
    let mut sparse: HashMap<(u32, u32), f64> = HashMap::new();
    let mut full = vec![0.0; if dense { d * d } else { 0 }];
    let (mut count, mut size) = (0usize, 0.0_f64);
    for ridge in ridges {
        count += ridge.rows.len();
        if let (true, Some((columns, values))) = (dense, ridge.affine.shared()) {
            add_design(&mut full, d, columns, values, ridge, end);
            continue;
        }
        for &(r, theta) in &ridge.rows {
            let Some(t) = weight(theta) else { continue };
            let (columns, values) = ridge.affine.row(r);
            for (i, (&a, &x)) in columns.iter().zip(values).enumerate().filter(|(_, (_, x))| **x != 0.0) {
                for (&b, &y) in columns[..=i].iter().zip(values) {
                    let product = t * x * y;
                    if dense {
                        full[a as usize * d + b as usize] += product;
                    } else {
                        *sparse.entry((a, b)).or_default() += product;
                    }
                }
            }
            if sparse.len() > MOST_DENSE * MOST_DENSE / 2 {
                return None;
            }
        }
    }
    for i in 0..if dense { d } else { 0 } {
        (0..i).for_each(|j| full[j * d + i] = full[i * d + j]);
        size = size.max((0..d).map(|j| full[i * d + j].abs()).sum());
    }
    let entries = if dense { Entries::Dense(full) } else { sparse_entries(d, sparse, &mut size) };
    let rounding = (count.min(1 << 20) as f64 + 8.0 * d as f64) * f64::EPSILON * size;
    Some(Matrix { d, entries, rounding })
}

fn sparse_entries(d: usize, mut sparse: HashMap<(u32, u32), f64>, size: &mut f64) -> Entries {
    (0..d as u32).for_each(|i| {
        sparse.entry((i, i)).or_default();
    });
    let mut all: Vec<((u32, u32), f64)> = sparse.into_iter().collect();
    all.sort_unstable_by_key(|(place, _)| *place);
    let mut sums = vec![0.0; d];
    for &((i, j), v) in &all {
        sums[i as usize] += v.abs();
        if i != j {
            sums[j as usize] += v.abs();
        }
    }
    *size = sums.into_iter().fold(0.0, f64::max);
    let (pairs, values): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    if values.len() > d * d / 8 && d <= MOST_DENSE {
        let mut full = vec![0.0; d * d];
        for (&(i, j), &v) in pairs.iter().zip(&values) {
            full[i as usize * d + j as usize] = v;
            full[j as usize * d + i as usize] = v;
        }
        return Entries::Dense(full);
    }
    Entries::Sparse(pairs, values)
}

/// Adds Aᵀ Θ A for rows of a design matrix [_, k], to the lower triangle.
fn add_design(full: &mut [f64], d: usize, columns: &[u32], values: &[f64], ridge: &Ridges, end: End) {
    let k = columns.len();
    let mut gram = vec![0.0; k * k];
    let (mut plain, mut scaled) = (Vec::new(), Vec::new());
    for rows in ridge.rows.chunks(ROWS) {
        plain.clear();
        scaled.clear();
        for &(r, theta) in rows {
            let t = end.of(theta);
            if !t.is_finite() || t == 0.0 {
                continue;
            }
            let row = &values[r * k..(r + 1) * k];
            plain.extend_from_slice(row);
            scaled.extend(row.iter().map(|x| t * x));
        }
        let depth = plain.len() / k.max(1);
        add_transposed_product(1.0, &plain, &scaled, [k, depth, k], &mut gram);
    }
    for (i, &a) in columns.iter().enumerate() {
        for (j, &b) in columns[..=i].iter().enumerate() {
            full[a as usize * d + b as usize] += gram[i * k + j];
        }
    }
}

impl Matrix {
    /// Whether every entry is zero off the diagonal, and the diagonal.
    fn diagonal(&self) -> Option<Vec<f64>> {
        let d = self.d;
        match &self.entries {
            Entries::Dense(a) => {
                let off = (0..d * d).any(|p| p / d != p % d && a[p] != 0.0);
                (!off).then(|| (0..d).map(|i| a[i * d + i]).collect())
            }
            Entries::Sparse(pairs, values) => (pairs.len() == d).then(|| values.clone()),
        }
    }

    /// A number that no eigenvalue is below, as large as rounding allows.
    pub(super) fn least(&self) -> f64 {
        if let Some(diagonal) = self.diagonal() {
            return diagonal.into_iter().fold(f64::INFINITY, f64::min);
        }
        match &self.entries {
            Entries::Dense(a) => {
                symmetric_eigen(a, self.d).map_or(f64::NEG_INFINITY, |e| e.values[0] - self.rounding)
            }
            Entries::Sparse(pairs, values) => -sparse_most(self.d, pairs, values, -1.0) - self.rounding,
        }
    }

    /// A number that no eigenvalue is above, as small as rounding allows.
    pub(super) fn most(&self) -> f64 {
        if let Some(diagonal) = self.diagonal() {
            return diagonal.into_iter().fold(f64::NEG_INFINITY, f64::max);
        }
        match &self.entries {
            Entries::Dense(a) => {
                symmetric_eigen(a, self.d).map_or(f64::INFINITY, |e| e.values[self.d - 1] + self.rounding)
            }
            Entries::Sparse(pairs, values) => sparse_most(self.d, pairs, values, 1.0) + self.rounding,
        }
    }

    /// The unit vector of the largest eigenvalue (of the smallest, for `End::Least`); None where the matrix is sparse.
    pub(super) fn direction(&self, end: End) -> Option<Vec<f64>> {
        let Entries::Dense(a) = &self.entries else { return None };
        let eigen = symmetric_eigen(a, self.d)?;
        let k = match end {
            End::Least => 0,
            End::Most => self.d - 1,
        };
        Some(eigen.vectors[k * self.d..(k + 1) * self.d].to_vec())
    }

    /// The matrix in full, where it is small enough.
    pub(super) fn dense(&self) -> Option<&[f64]> {
        match &self.entries {
            Entries::Dense(a) => Some(a),
            Entries::Sparse(..) => None,
        }
    }

    /// The largest μ ≥ 0 that can be vouched for with `self - μ other` positive semi-definite, where `other` is positive
    /// definite: strong concavity in the coordinates that turn `other` into the identity.
    pub(super) fn relative_to(&self, other: &Matrix) -> Option<f64> {
        match (&self.entries, &other.entries) {
            (Entries::Dense(a), Entries::Dense(b)) => {
                dense_relative(a, b, self.d, self.rounding, other.rounding)
            }
            (Entries::Sparse(..) | Entries::Dense(_), _) => self.sparse_relative(other),
        }
    }

    fn sparse_relative(&self, other: &Matrix) -> Option<f64> {
        let (Entries::Sparse(p, x), Entries::Sparse(q, y)) = (&self.entries, &other.entries) else {
            return None;
        };
        let mut all: HashMap<(u32, u32), (f64, f64)> = HashMap::new();
        p.iter().zip(x).for_each(|(place, v)| all.entry(*place).or_default().0 = *v);
        q.iter().zip(y).for_each(|(place, v)| all.entry(*place).or_default().1 = *v);
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_unstable_by_key(|(place, _)| *place);
        let pairs: Vec<(u32, u32)> = all.iter().map(|(place, _)| *place).collect();
        let pattern = Pattern::new(self.d, &pairs);
        let slack = self.rounding + other.rounding;
        let holds = |mu: f64| {
            let values: Vec<f64> =
                all.iter().map(|((i, j), (a, b))| a - mu * b - if i == j { slack } else { 0.0 }).collect();
            pattern.is_positive_definite(&values)
        };
        let (mut low, mut high) = (0.0, 1.0);
        if holds(1.0) {
            return Some(1.0);
        }
        for _ in 0..HALVINGS {
            let mid = 0.5 * (low + high);
            if holds(mid) { low = mid } else { high = mid }
        }
        Some(low)
    }
}

/// The smallest eigenvalue of B^(-1/2) A B^(-1/2).
fn dense_relative(a: &[f64], b: &[f64], d: usize, error_a: f64, error_b: f64) -> Option<f64> {
    let mut l = b.to_vec();
    cholesky(&mut l, d).ok()?;
    let least = (0..d).map(|i| l[i * d + i]).fold(f64::INFINITY, f64::min);
    let mut x = a.to_vec();
    solve_lower_many(&l, &mut x, [d, d]);
    let mut t: Vec<f64> = (0..d * d).map(|p| x[(p % d) * d + p / d]).collect();
    solve_lower_many(&l, &mut t, [d, d]);
    let eigen = symmetric_eigen(&t, d)?;
    let error = (error_a + error_b) / (least * least);
    let same = a == b;
    Some(if same { 1.0 } else { (eigen.values[0] - error).min(1.0) })
}

/// An upper bound on the largest eigenvalue of `sign · H`, by halving: σ is one if σ I - sign · H is positive definite.
fn sparse_most(d: usize, pairs: &[(u32, u32)], values: &[f64], sign: f64) -> f64 {
    let mut centre = vec![0.0; d];
    let mut radius = vec![0.0; d];
    for (&(i, j), &v) in pairs.iter().zip(values) {
        if i == j {
            centre[i as usize] += sign * v;
        } else {
            radius[i as usize] += v.abs();
            radius[j as usize] += v.abs();
        }
    }
    let top = |f: &dyn Fn(usize) -> f64| (0..d).map(f).fold(f64::NEG_INFINITY, f64::max);
    let (mut low, mut high) = (top(&|i| centre[i]), top(&|i| centre[i] + radius[i]));
    let pattern = Pattern::new(d, pairs);
    let mut shifted = vec![0.0; values.len()];
    let holds = |sigma: f64, shifted: &mut [f64]| {
        for (s, (&(i, j), &v)) in shifted.iter_mut().zip(pairs.iter().zip(values)) {
            *s = if i == j { sigma } else { 0.0 } - sign * v;
        }
        pattern.is_positive_definite(shifted)
    };
    for _ in 0..HALVINGS {
        let mid = 0.5 * (low + high);
        if holds(mid, &mut shifted) { high = mid } else { low = mid }
    }
    high
}
