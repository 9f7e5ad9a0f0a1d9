//! Extreme eigenvalues of sums of weighted outer products, rounded outwards so that the bounds hold.

use super::ridge::Ridges;
use super::{Sparse, sparse};
use crate::facts::Interval;
use crate::num::linalg::{
    Eigen, add_transposed_product, cholesky, mirror, solve_lower_many, symmetric_eigen,
};
use std::cell::OnceCell;
use std::collections::HashMap;

/// Up to this dimension matrices are dense.
const DENSE: usize = 600;
/// Up to this dimension a matrix that is not sparse is still held.
const MOST_DENSE: usize = 1500;
/// Most entries of a sparse matrix.
const MOST_PLACES: usize = 3_000_000;
/// Rows of a design matrix that are multiplied at once.
const ROWS: usize = 2048;

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
    /// For each coordinate what, on the diagonal, outweighs rounding in the sums.
    margin: Vec<f64>,
    /// Whether no entry is a sum of several numbers, as far as that is known: there are no more rows than
    /// coordinates.
    single: bool,
    /// Eigenvalues and eigenvectors of a dense matrix, once they are known.
    eigen: OnceCell<Option<Eigen>>,
}

enum Entries {
    /// [d, d].
    Dense(Vec<f64>),
    Sparse(Sparse),
}

/// The matrix of one end of the bounds; None if it is too large to hold. Ends that are not finite count as
/// zero.
pub(super) fn matrix(d: usize, ridges: &[&Ridges], end: End, grams: &mut Grams) -> Option<Matrix> {
    let weight = |theta: Interval| Some(end.of(theta)).filter(|t| t.is_finite() && *t != 0.0);
    // A design matrix with most of the columns fills the whole.
    let columns = ridges.iter().filter_map(|r| Some(r.affine.shared()?.0.len())).max().unwrap_or(0);
    if d > MOST_DENSE && columns > DENSE {
        return None;
    }
    let dense = d <= DENSE || (d <= MOST_DENSE && 8 * columns > d);
    let mut few = Few::new(d, if dense { &[] } else { ridges }, end);
    let mut full = vec![0.0; if dense { d * d } else { 0 }];
    for ridge in ridges {
        if let (true, Some((columns, values))) = (dense, ridge.affine.shared()) {
            grams.add(&mut full, d, (columns, values), ridge, end);
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
                        few.add(a, b, product);
                    }
                }
            }
            if few.rest.len() > MOST_PLACES {
                return None;
            }
        }
    }
    if dense {
        mirror(&mut full, d);
    }
    let entries = if dense { Entries::Dense(full) } else { sparse_entries(d, few.places()) };
    let (rounding, margin) = (rounding(d, ridges, end), margin(d, ridges, end));
    let single = single(d, ridges, end);
    rounding.is_finite().then(|| Matrix { d, entries, rounding, margin, single, eigen: OnceCell::new() })
}

/// Sums of products by place: an array for the coordinates that most terms have in them, a table for all
/// others.
struct Few {
    /// Where a coordinate stands in the array.
    slots: Vec<Option<u32>>,
    width: usize,
    common: Vec<f64>,
    rest: HashMap<(u32, u32), f64>,
}

impl Few {
    fn new(d: usize, ridges: &[&Ridges], end: End) -> Few {
        let counts: Vec<f64> = row_sums(d, ridges, end).map(|(count, _)| count).collect();
        let often = counts.iter().copied().fold(0.0, f64::max) / 4.0;
        let mut width = 0;
        let mut slot = |count: f64| {
            (count > often).then(|| {
                width += 1;
                width as u32 - 1
            })
        };
        let mut slots: Vec<Option<u32>> = counts.into_iter().map(&mut slot).collect();
        if width > DENSE {
            (slots, width) = (vec![None; d], 0);
        }
        Few { slots, width, common: vec![0.0; width * width], rest: HashMap::new() }
    }

    /// Adds to the place (a, b), a ≥ b.
    fn add(&mut self, a: u32, b: u32, product: f64) {
        match (self.slots[a as usize], self.slots[b as usize]) {
            (Some(p), Some(q)) => self.common[p as usize * self.width + q as usize] += product,
            (Some(_) | None, _) => *self.rest.entry((a, b)).or_default() += product,
        }
    }

    /// All places that something was added to.
    fn places(self) -> HashMap<(u32, u32), f64> {
        let names: Vec<u32> =
            (0..self.slots.len() as u32).filter(|&c| self.slots[c as usize].is_some()).collect();
        let mut all = self.rest;
        for (p, &a) in names.iter().enumerate() {
            for (q, &b) in names[..=p].iter().enumerate() {
                let sum = self.common[p * self.width + q];
                if sum != 0.0 {
                    all.insert((a, b), sum);
                }
            }
        }
        all
    }
}

/// The largest row sum of Σ |θ| |a| |a|ᵀ, which no eigenvalue of Σ θ a aᵀ exceeds in size.
pub(super) fn size(d: usize, ridges: &[&Ridges], end: End) -> f64 {
    row_sums(d, ridges, end).fold(0.0, |most, (_, sum)| larger(most, sum))
}

/// What rounding in the sums can do to an eigenvalue: an entry is a sum of rounded products of three numbers,
/// no more of them than there are terms with its coordinate, and no eigenvalue is further off than the
/// largest sum of a row.
fn rounding(d: usize, ridges: &[&Ridges], end: End) -> f64 {
    let most = row_sums(d, ridges, end).fold(0.0, |most, (count, sum)| larger(most, (count + 4.0) * sum));
    f64::EPSILON * most
}

/// The same for each coordinate by itself, whatever the units of the others. An entry is off by no more than
/// ε √(cᵢ Gᵢ cⱼ Gⱼ) for the diagonal G of Σ |θ| a aᵀ and c terms with a coordinate, four more counted for the
/// products; by Cauchy and Schwarz the matrix of all errors is then no larger than the diagonal one of d ε c
/// G.
fn margin(d: usize, ridges: &[&Ridges], end: End) -> Vec<f64> {
    let mut sums = vec![(4.0, 0.0); d];
    for ridge in ridges {
        for &(r, theta) in ridge.rows.iter().filter(|(_, theta)| end.of(*theta).is_finite()) {
            let (columns, values) = ridge.affine.row(r);
            for (&c, v) in columns.iter().zip(values).filter(|(_, v)| **v != 0.0) {
                let (count, sum) = &mut sums[c as usize];
                *count += 1.0;
                *sum += end.of(theta).abs() * v * v;
            }
        }
    }
    sums.into_iter().map(|(count, sum)| d as f64 * f64::EPSILON * count * sum).collect()
}

fn larger(most: f64, x: f64) -> f64 {
    if x > most || x.is_nan() { x } else { most }
}

/// For each coordinate the number of terms that it occurs in, and the row sum of Σ |θ| |a| |a|ᵀ.
fn row_sums(d: usize, ridges: &[&Ridges], end: End) -> impl Iterator<Item = (f64, f64)> {
    let mut sums = vec![(0.0, 0.0); d];
    for ridge in ridges {
        for &(r, theta) in &ridge.rows {
            let t = end.of(theta).abs();
            if !t.is_finite() || t == 0.0 {
                continue;
            }
            let (columns, values) = ridge.affine.row(r);
            let length: f64 = values.iter().map(|v| v.abs()).sum();
            for (&c, v) in columns.iter().zip(values).filter(|(_, v)| **v != 0.0) {
                let (count, sum) = &mut sums[c as usize];
                *count += 1.0;
                *sum += t * v.abs() * length;
            }
        }
    }
    sums.into_iter()
}

/// Whether every coordinate occurs in one row at most.
fn single(d: usize, ridges: &[&Ridges], end: End) -> bool {
    let mut seen = vec![false; d];
    let rows = ridges.iter().flat_map(|ridge| ridge.rows.iter().map(move |row| (ridge, row)));
    for (ridge, &(r, _)) in rows.filter(|(_, (_, theta))| end.of(*theta) != 0.0) {
        let (columns, values) = ridge.affine.row(r);
        for (&c, _) in columns.iter().zip(values).filter(|(_, v)| **v != 0.0) {
            if std::mem::replace(&mut seen[c as usize], true) {
                return false;
            }
        }
    }
    true
}

/// A lower bound on the eigenvalues where no θ is negative and the matrix is too large to hold: that of the
/// part made of single coordinates.
pub(super) fn separate_least(d: usize, ridges: &[&Ridges]) -> f64 {
    let mut diagonal = vec![0.0; d];
    for ridge in ridges {
        for &(r, theta) in &ridge.rows {
            if let ([c], [v]) = ridge.affine.row(r) {
                diagonal[*c as usize] += theta.lo * v * v;
            }
        }
    }
    diagonal.into_iter().fold(f64::INFINITY, f64::min) * (1.0 - 1e-12)
}

fn sparse_entries(d: usize, mut sparse: HashMap<(u32, u32), f64>) -> Entries {
    (0..d as u32).for_each(|i| {
        sparse.entry((i, i)).or_default();
    });
    let mut all: Vec<((u32, u32), f64)> = sparse.into_iter().collect();
    all.sort_unstable_by_key(|(place, _)| *place);
    let (pairs, values): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    if values.len() > d * d / 8 && d <= MOST_DENSE {
        let mut full = vec![0.0; d * d];
        for (&(i, j), &v) in pairs.iter().zip(&values) {
            full[i as usize * d + j as usize] = v;
            full[j as usize * d + i as usize] = v;
        }
        return Entries::Dense(full);
    }
    Entries::Sparse(Sparse { pairs, values })
}

/// Products Aᵀ Θ A of design matrices, kept because both ends of the bounds are often multiples of one
/// another.
#[derive(Default)]
pub(super) struct Grams(HashMap<*const Ridges, Vec<f64>>);

impl Grams {
    /// Adds Aᵀ Θ A for rows of a design matrix [_, k], to the lower triangle.
    fn add(&mut self, full: &mut [f64], d: usize, design: (&[u32], &[f64]), ridge: &Ridges, end: End) {
        let (columns, k) = (design.0, design.0.len());
        let own;
        let (by, gram) = match ratio(ridge) {
            Some(_) if end == End::Least && ridge.rows.iter().all(|(_, theta)| theta.lo == 0.0) => return,
            Some(ratio) => {
                let kept = self.0.entry(std::ptr::from_ref(ridge));
                let gram = kept.or_insert_with(|| gram(design, ridge, End::Most));
                (if end == End::Most { 1.0 } else { ratio }, &*gram)
            }
            None => {
                own = gram(design, ridge, end);
                (1.0, &own)
            }
        };
        for (i, &a) in columns.iter().enumerate() {
            for (j, &b) in columns[..=i].iter().enumerate() {
                full[a as usize * d + b as usize] += by * gram[i * k + j];
            }
        }
    }
}

/// The number by which every upper bound must be multiplied to give the lower one, if there is one.
fn ratio(ridge: &Ridges) -> Option<f64> {
    let (_, first) = ridge.rows.iter().find(|(_, theta)| theta.hi != 0.0)?;
    let ratio = first.lo / first.hi;
    let holds = |theta: Interval| theta.hi.is_finite() && theta.lo == ratio * theta.hi;
    (ratio.is_finite() && ridge.rows.iter().all(|(_, theta)| holds(*theta))).then_some(ratio)
}

/// Aᵀ Θ A [k, k].
fn gram((columns, values): (&[u32], &[f64]), ridge: &Ridges, end: End) -> Vec<f64> {
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
    gram
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
            Entries::Sparse(Sparse { pairs, values }) => (pairs.len() == d).then(|| values.clone()),
        }
    }

    /// A number that no eigenvalue is below, as large as can be vouched for.
    pub(super) fn least(&self) -> Option<f64> {
        if let Some(diagonal) = self.diagonal() {
            let least = diagonal.into_iter().fold(f64::INFINITY, f64::min);
            return Some(least - self.diagonal_rounding()).filter(|x| x.is_finite());
        }
        let below = match &self.entries {
            Entries::Dense(a) => self.dense_least(a, 1.0)?,
            Entries::Sparse(a) => -sparse::most(self.d, a, -1.0)?,
        };
        Some(below - self.rounding).filter(|x| x.is_finite())
    }

    /// A number that no eigenvalue is above, as small as can be vouched for.
    pub(super) fn most(&self) -> Option<f64> {
        if let Some(diagonal) = self.diagonal() {
            let most = diagonal.into_iter().fold(f64::NEG_INFINITY, f64::max);
            return Some(most + self.diagonal_rounding()).filter(|x| x.is_finite());
        }
        let above = match &self.entries {
            Entries::Dense(a) => -self.dense_least(a, -1.0)?,
            Entries::Sparse(a) => sparse::most(self.d, a, 1.0).unwrap_or_else(|| sparse::perron(self.d, a)),
        };
        Some(above + self.rounding).filter(|x| x.is_finite())
    }

    /// A sum of one number is not rounded.
    fn diagonal_rounding(&self) -> f64 {
        if self.single { 0.0 } else { self.rounding }
    }

    /// The unit vector of the largest eigenvalue (of the smallest, for `End::Least`), which is `value`.
    pub(super) fn direction(&self, end: End, value: f64) -> Option<Vec<f64>> {
        let a = match &self.entries {
            Entries::Dense(a) => a,
            Entries::Sparse(a) => return sparse::direction(self.d, a, end, value),
        };
        let eigen = self.eigen(a)?;
        let k = match end {
            End::Least => 0,
            End::Most => self.d - 1,
        };
        Some(eigen.vectors[k * self.d..(k + 1) * self.d].to_vec())
    }

    fn eigen(&self, a: &[f64]) -> Option<&Eigen> {
        self.eigen.get_or_init(|| symmetric_eigen(a, self.d)).as_ref()
    }

    /// A number that no eigenvalue of `sign` times the matrix is below: close to the one that the eigenvalue
    /// routine gives, and vouched for by a Cholesky factorisation.
    fn dense_least(&self, a: &[f64], sign: f64) -> Option<f64> {
        let (d, found) = (self.d, &self.eigen(a)?.values);
        let (first, last) = (sign * found[0], sign * found[d - 1]);
        back_off(first.min(last), first.abs().max(last.abs()), |shift| {
            let mut shifted: Vec<f64> = a.iter().map(|x| sign * x).collect();
            (0..d).for_each(|i| shifted[i * d + i] -= shift);
            is_positive_semidefinite(shifted, d)
        })
    }

    /// What is added to a diagonal entry so that the matrix is a bound whatever rounding did.
    fn outwards(&self, i: usize, end: End) -> f64 {
        match (self.single, end) {
            (true, _) => 0.0,
            (false, End::Least) => -self.margin[i],
            (false, End::Most) => self.margin[i],
        }
    }

    /// The matrix in full, rounded outwards, where it is small enough.
    pub(super) fn dense(&self, end: End) -> Option<Vec<f64>> {
        match &self.entries {
            Entries::Dense(a) => {
                let mut a = a.clone();
                (0..self.d).for_each(|i| a[i * self.d + i] += self.outwards(i, end));
                Some(a)
            }
            Entries::Sparse(_) => None,
        }
    }

    /// The matrix, rounded outwards, where it has few entries.
    pub(super) fn sparse(&self, end: End) -> Option<Sparse> {
        match &self.entries {
            Entries::Dense(_) => None,
            Entries::Sparse(sparse) => {
                let mut sparse = sparse.clone();
                for (&(i, j), value) in sparse.pairs.iter().zip(&mut sparse.values) {
                    *value += if i == j { self.outwards(i as usize, end) } else { 0.0 };
                }
                Some(sparse)
            }
        }
    }

    /// The largest μ that can be vouched for with `self - μ other` positive semi-definite, where `other` is
    /// positive definite: strong concavity in the coordinates that turn `other` into the identity. Both are
    /// rounded outwards before.
    pub(super) fn relative_to(&self, other: &Matrix) -> Option<f64> {
        match (&self.entries, &other.entries) {
            (Entries::Dense(a), Entries::Dense(b)) if a == b => {
                is_positive_semidefinite(on_one_scale(self.dense(End::Least)?, self.d), self.d).then_some(1.0)
            }
            (Entries::Dense(_), Entries::Dense(_)) => {
                dense_relative(self.dense(End::Least)?, other.dense(End::Most)?, self.d)
            }
            (Entries::Sparse(_), Entries::Sparse(_)) => {
                let (a, b) = (self.sparse(End::Least)?, other.sparse(End::Most)?);
                sparse::relative(self.d, (&a, self.rounding), (&b, other.rounding))
            }
            (Entries::Sparse(_), Entries::Dense(_)) | (Entries::Dense(_), Entries::Sparse(_)) => None,
        }
    }
}

/// Whether a symmetric matrix is positive semi-definite, for certain: Cholesky's factorisation of A - c I
/// succeeds in floating point with c above γ_{d+1} tr A (Rump, 2006), so that A itself has no negative
/// eigenvalue.
fn is_positive_semidefinite(mut a: Vec<f64>, d: usize) -> bool {
    let trace: f64 = (0..d).map(|i| a[i * d + i].abs()).sum();
    let slack = (d as f64 + 4.0) * f64::EPSILON * trace;
    (0..d).for_each(|i| a[i * d + i] -= slack);
    trace.is_finite() && cholesky(&mut a, d).is_ok()
}

/// S A S with a diagonal near 1: with powers of two nothing is rounded, and A is definite where this is.
fn on_one_scale(mut a: Vec<f64>, d: usize) -> Vec<f64> {
    let of = |x: f64| if x > 0.0 { (-0.5 * x.log2()).round().exp2() } else { 1.0 };
    let scales: Vec<f64> = (0..d).map(|i| of(a[i * d + i])).collect();
    a.iter_mut().enumerate().for_each(|(p, x)| *x *= scales[p / d] * scales[p % d]);
    a
}

/// The first of numbers ever further below `start`, in units of `scale`, for which the claim holds.
fn back_off(start: f64, scale: f64, holds: impl Fn(f64) -> bool) -> Option<f64> {
    let mut step = f64::EPSILON * scale;
    while step <= scale {
        if holds(start - step) {
            return Some(start - step);
        }
        step *= 4.0;
    }
    None
}

/// The smallest eigenvalue of B^(-1/2) A B^(-1/2), as far as it can be vouched for: A - μ B is positive
/// semi-definite. In units in which the diagonal of B is near 1, so that no coordinate drowns in the rounding
/// of another; units that are powers of two change no digit.
fn dense_relative(mut a: Vec<f64>, mut b: Vec<f64>, d: usize) -> Option<f64> {
    let unit = |x: f64| if x > 0.0 { (-0.5 * x.log2()).round().exp2() } else { 1.0 };
    let units: Vec<f64> = (0..d).map(|i| unit(b[i * d + i])).collect();
    for matrix in [&mut a, &mut b] {
        (0..d * d).for_each(|p| matrix[p] *= units[p / d] * units[p % d]);
    }
    let mut l = b.clone();
    cholesky(&mut l, d).ok()?;
    let mut x = a.clone();
    solve_lower_many(&l, &mut x, [d, d]);
    let mut t: Vec<f64> = (0..d * d).map(|p| x[(p % d) * d + p / d]).collect();
    solve_lower_many(&l, &mut t, [d, d]);
    let found = symmetric_eigen(&t, d)?.values[0].min(1.0);
    let scale = found.abs().max(1e-3);
    back_off(found, scale, |mu| {
        // Each difference is rounded twice: what that may do is counted on the diagonal, row by row.
        let rounded = |i: usize| {
            let row = (0..d).map(|j| a[i * d + j].abs() + (mu * b[i * d + j]).abs());
            2.0 * f64::EPSILON * row.sum::<f64>()
        };
        let at = |p: usize| a[p] - mu * b[p] - if p / d == p % d { rounded(p / d) } else { 0.0 };
        is_positive_semidefinite((0..d * d).map(at).collect(), d)
    })
}
