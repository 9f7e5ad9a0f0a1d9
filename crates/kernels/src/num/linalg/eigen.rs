//! Eigenvalues and eigenvectors of symmetric matrices.
//!
//! Householder reduction to a tridiagonal matrix, implicit QR steps on that, and the product of the
//! reflections and rotations: 9 d³ operations or so, most of them in the cache.

use super::rotations::{Rotations, diagonalise};
use super::tridiagonal::Tridiagonal;
use crate::num::real::{F8, LANES};
use rayon::prelude::*;

/// A = Σ_k values\[k\] v_k v_kᵀ, values in ascending order.
#[derive(Clone, Debug, PartialEq)]
pub struct Eigen {
    /// Eigenvalues, smallest first.
    pub values: Vec<f64>,
    /// Unit eigenvectors as rows: v_k stands at `k * d..(k + 1) * d`.
    pub vectors: Vec<f64>,
}

/// Columns of the eigenvectors that are computed together.
const STRIP: usize = 4 * LANES;

/// From this size on the strips are shared out over threads (the result does not depend on it).
const PARALLEL: usize = 200;

/// A row of a strip.
type StripRow = [F8; STRIP / LANES];

/// The eigendecomposition of the symmetric matrix A [d × d], of which the lower triangle is read. Values are
/// accurate to a few ulp of the largest. None if A holds a number that is not finite.
pub fn symmetric_eigen(a: &[f64], d: usize) -> Option<Eigen> {
    let mut room = EigenRoom::new(d);
    room.decompose(a)?;
    Some(room.eigen)
}

/// Room for decompositions of matrices of one size: the first one aside, they allocate nothing.
pub struct EigenRoom {
    d: usize,
    tridiagonal: Tridiagonal,
    rotations: Rotations,
    q: Vec<f64>,
    order: Vec<usize>,
    strips: Vec<Vec<StripRow>>,
    eigen: Eigen,
}

impl EigenRoom {
    /// Room for matrices of d rows.
    pub fn new(d: usize) -> EigenRoom {
        EigenRoom {
            d,
            tridiagonal: Tridiagonal::room(d),
            rotations: Rotations::room(d),
            q: vec![0.0; d * d],
            order: (0..d).collect(),
            strips: (0..d.div_ceil(STRIP)).map(|_| vec![[F8([0.0; LANES]); STRIP / LANES]; d]).collect(),
            eigen: Eigen { values: vec![0.0; d], vectors: vec![0.0; d * d] },
        }
    }

    /// As [`symmetric_eigen`].
    pub fn decompose(&mut self, a: &[f64]) -> Option<&Eigen> {
        let d = self.d;
        assert!(a.len() >= d * d);
        let lower = || (0..d).flat_map(|i| &a[i * d..=i * d + i]);
        if lower().any(|x| !x.is_finite()) {
            return None;
        }
        let top = lower().fold(0.0_f64, |t, x| t.max(x.abs()));
        if top == 0.0 {
            self.eigen.values.fill(0.0);
            self.eigen.vectors.fill(0.0);
            (0..d).for_each(|i| self.eigen.vectors[i * d + i] = 1.0);
            return Some(&self.eigen);
        }
        // A power of two, so that scaling is exact.
        let scale = (-top.log2().floor()).clamp(-1000.0, 1000.0).exp2();
        let tridiagonal = &mut self.tridiagonal;
        tridiagonal.reduce(a, scale);
        tridiagonal.orthogonal(&mut self.q);
        if !diagonalise(&mut tridiagonal.diagonal, &mut tridiagonal.beside, &mut self.rotations) {
            return None;
        }
        let values = &tridiagonal.diagonal;
        // Ties in the order of their places: a stable sort would allocate.
        self.order.sort_unstable_by(|&i, &j| values[i].total_cmp(&values[j]).then(i.cmp(&j)));
        for (to, &k) in self.eigen.values.iter_mut().zip(&self.order) {
            *to = values[k] / scale;
        }
        self.place();
        Some(&self.eigen)
    }

    /// The eigenvectors Q W as rows in their order, strip by strip of STRIP of their coordinates.
    fn place(&mut self) {
        let (d, q, rotations) = (self.d, &self.q, &self.rotations);
        let turn = |(k, rows): (usize, &mut Vec<StripRow>)| {
            let first = k * STRIP;
            for c in 0..STRIP.min(d - first) {
                for (row, x) in rows.iter_mut().zip(&q[(first + c) * d..]) {
                    row[c / LANES].0[c % LANES] = *x;
                }
            }
            rotations.apply(rows);
        };
        if d < PARALLEL {
            self.strips.iter_mut().enumerate().for_each(turn);
        } else {
            self.strips.par_iter_mut().enumerate().for_each(turn);
        }
        for (strip, rows) in self.strips.iter().enumerate() {
            let first = strip * STRIP;
            for (k, &from) in self.order.iter().enumerate() {
                for c in 0..STRIP.min(d - first) {
                    self.eigen.vectors[k * d + first + c] = rows[from][c / LANES].0[c % LANES];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stream::Stream;

    /// A v = λ v, VᵀV = I, and the trace is the sum.
    fn check(a: &[f64], d: usize) {
        let at = |i: usize, j: usize| a[i.max(j) * d + i.min(j)];
        let Eigen { values, vectors } = symmetric_eigen(a, d).unwrap();
        let norm = values.iter().fold(1e-300_f64, |t, x| t.max(x.abs()));
        assert!(values.is_sorted());
        for k in 0..d {
            let v = &vectors[k * d..(k + 1) * d];
            for i in 0..d {
                let product: f64 = (0..d).map(|j| at(i, j) * v[j]).sum();
                assert!((product - values[k] * v[i]).abs() < 1e-14 * norm * (5.0 + d as f64), "d = {d}");
            }
            for other in 0..=k {
                let inner: f64 = v.iter().zip(&vectors[other * d..]).map(|(x, y)| x * y).sum();
                assert!((inner - f64::from(k == other)).abs() < 1e-14 * (5.0 + d as f64));
            }
        }
        let trace: f64 = (0..d).map(|i| at(i, i)).sum();
        assert!((trace - values.iter().sum::<f64>()).abs() < 1e-13 * norm * d as f64);
    }

    #[test]
    fn random_matrices() {
        for d in [1, 2, 3, 5, 8, 17, 33, 64, 100, 210] {
            let mut a = vec![0.0; d * d];
            Stream::new(5, d as u64, 0).fill_normal(&mut a);
            check(&a, d);
        }
    }

    #[test]
    fn special_matrices() {
        let d = 20;
        let build =
            |f: &dyn Fn(usize, usize) -> f64| (0..d * d).map(|p| f(p / d, p % d)).collect::<Vec<f64>>();
        check(&build(&|_, _| 0.0), d);
        check(&build(&|_, _| 1.0), d);
        check(&build(&|i, j| f64::from(i == j)), d);
        check(&build(&|i, j| f64::from(i == j) * (i as f64 - 7.0)), d);
        check(&build(&|i, j| 1.0 / (i + j + 1) as f64), d);
        check(&build(&|i, j| 1e200 * f64::from(i.abs_diff(j) == 1)), d);
        check(&build(&|i, j| 1e-200 * f64::from(i.abs_diff(j) <= 2)), d);
        // Graded over many orders of magnitude.
        check(&build(&|i, j| 10f64.powi(-((i + j) as i32))), d);
    }

    #[test]
    fn room_that_was_used_before_gives_the_same_bits() {
        let d = 40;
        let random = |seed: u64| {
            let mut a = vec![0.0; d * d];
            Stream::new(seed, d as u64, 0).fill_normal(&mut a);
            a
        };
        let mut room = EigenRoom::new(d);
        room.decompose(&random(1)).unwrap();
        assert_eq!(room.decompose(&random(2)), symmetric_eigen(&random(2), d).as_ref());
        assert_eq!(room.decompose(&vec![0.0; d * d]), symmetric_eigen(&vec![0.0; d * d], d).as_ref());
    }

    #[test]
    fn known_eigenvalues() {
        // The second difference matrix has 2 - 2 cos(kπ / (d + 1)).
        let d = 50;
        let a: Vec<f64> = (0..d * d)
            .map(|p: usize| match (p / d).abs_diff(p % d) {
                0 => 2.0,
                1 => -1.0,
                _ => 0.0,
            })
            .collect();
        let found = symmetric_eigen(&a, d).unwrap();
        for (k, value) in found.values.iter().enumerate() {
            let expected = 2.0 - 2.0 * ((k + 1) as f64 * std::f64::consts::PI / (d + 1) as f64).cos();
            assert!((value - expected).abs() < 1e-14);
        }
        assert!(symmetric_eigen(&[f64::NAN], 1).is_none());
    }
}
