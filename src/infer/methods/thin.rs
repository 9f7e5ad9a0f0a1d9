//! A Gaussian whose covariance is diagonal but for a few directions: a draw, its density and its factor cost
//! O(d) each.
//!
//! `C = D (I + Σ_k c_k q_k q_kᵀ)` with D diagonal, q_k orthonormal and c_k > -1. So `C Cᵀ = D (I + Σ_k ((1 +
//! c_k)² - 1) q_k q_kᵀ) D`, `log det C = Σ log D_i + Σ log (1 + c_k)`, and the inverse has `-c_k / (1 + c_k)`
//! in the place of c_k.

use crate::infer::assess::assess_gaussian;
use crate::infer::fit::{Fit, Origin};
use crate::infer::gaussian::Gaussian;
use crate::infer::methods::batch::add_to_rows;
use crate::infer::options::Options;
use crate::num::linalg::{add_product, add_transposed_product, cholesky, symmetric_eigen};
use crate::target::{Evaluator, Target};
use crate::vi::Scale;
use nalgebra::DMatrix;

/// `N(mean, C Cᵀ)` with C as above.
#[derive(Clone, Debug, PartialEq)]
pub struct Thin {
    /// Mean on the unconstrained scale.
    pub mean: Vec<f64>,
    /// The diagonal of D.
    pub scales: Vec<f64>,
    /// The directions q_k, one after the other.
    pub directions: Vec<f64>,
    /// The numbers c_k.
    pub stretch: Vec<f64>,
}

impl Thin {
    /// With the covariance `D (I + V M Vᵀ) D`, for V [d × r] and M symmetric [r × r]; None unless it is
    /// positive definite.
    pub(super) fn new(mean: Vec<f64>, scales: Vec<f64>, v: &[f64], m: &[f64]) -> Option<Thin> {
        let d = mean.len();
        let r = v.len() / d;
        // V = Q R with orthonormal Q: the identity where there are as many directions as coordinates.
        let (q, upper, k) = if r < d {
            let by_rows = |matrix: DMatrix<f64>| matrix.transpose().as_slice().to_vec();
            let both = DMatrix::from_row_slice(d, r, v).qr();
            (by_rows(both.q()), by_rows(both.unpack_r()), r)
        } else {
            ((0..d * d).map(|p| f64::from(p / d == p % d)).collect(), v.to_vec(), d)
        };
        let mut half = vec![0.0; k * r];
        add_product(1.0, &upper, m, [k, r, r], &mut half);
        let mut inner: Vec<f64> = (0..k * k).map(|p| f64::from(p / k == p % k)).collect();
        for i in 0..k {
            for j in 0..k {
                inner[i * k + j] += (0..r).map(|l| half[i * r + l] * upper[j * r + l]).sum::<f64>();
            }
        }
        let eigen = symmetric_eigen(&inner, k)?;
        let top = eigen.values.last()?.max(1.0);
        let sane = scales.iter().all(|s| *s > 0.0 && s.is_finite()) && mean.iter().all(|m| m.is_finite());
        if !sane || !(*eigen.values.first()? > 1e-14 * top) {
            return None;
        }
        // Row k of the vectors holds eigenvector k; the direction is Q times it.
        let mut directions = vec![0.0; k * d];
        for (out, vector) in directions.chunks_exact_mut(d).zip(eigen.vectors.chunks_exact(k)) {
            for (o, row) in out.iter_mut().zip(q.chunks_exact(k)) {
                *o = row.iter().zip(vector).map(|(a, b)| a * b).sum();
            }
        }
        let stretch = eigen.values.iter().map(|x| x.sqrt() - 1.0).collect();
        Some(Thin { mean, scales, directions, stretch })
    }

    /// x + Σ_k f(c_k) q_k q_kᵀ x for the `n` columns of x.
    fn stretched(&self, mut x: Vec<f64>, n: usize, f: impl Fn(f64) -> f64) -> Vec<f64> {
        let (d, r) = (self.mean.len(), self.stretch.len());
        let mut along = vec![0.0; r * n];
        add_product(1.0, &self.directions, &x, [r, d, n], &mut along);
        along
            .chunks_exact_mut(n)
            .zip(&self.stretch)
            .for_each(|(row, c)| row.iter_mut().for_each(|a| *a *= f(*c)));
        add_transposed_product(1.0, &self.directions, &along, [d, r, n], &mut x);
        x
    }

    fn scaled(&self, mut x: Vec<f64>, n: usize, f: impl Fn(f64) -> f64) -> Vec<f64> {
        x.chunks_exact_mut(n).zip(&self.scales).for_each(|(row, s)| row.iter_mut().for_each(|x| *x *= f(*s)));
        x
    }

    /// m + C u for `n` draws.
    pub(super) fn place(&self, u: &[f64], n: usize) -> Vec<f64> {
        let mut z = self.scaled(self.stretched(u.to_vec(), n, |c| c), n, |s| s);
        add_to_rows(&mut z, &self.mean, n);
        z
    }

    /// Cᵀ g for `n` gradients.
    pub(super) fn pull(&self, g: &[f64], n: usize) -> Vec<f64> {
        self.stretched(self.scaled(g.to_vec(), n, |s| s), n, |c| c)
    }

    /// C⁻¹ (z - m) for `n` points.
    pub(super) fn standardise(&self, z: &[f64], n: usize) -> Vec<f64> {
        let mut x = z.to_vec();
        let minus: Vec<f64> = self.mean.iter().map(|m| -m).collect();
        add_to_rows(&mut x, &minus, n);
        self.stretched(self.scaled(x, n, f64::recip), n, |c| -c / (1.0 + c))
    }

    /// log det C.
    pub(super) fn log_det(&self) -> f64 {
        let scales: f64 = self.scales.iter().map(|s| s.ln()).sum();
        scales + self.stretch.iter().map(|c| c.ln_1p()).sum::<f64>()
    }

    /// The covariance, `d × d` by rows.
    pub fn covariance(&self) -> Vec<f64> {
        let d = self.mean.len();
        let unit: Vec<f64> = (0..d * d).map(|p| f64::from(p / d == p % d)).collect();
        let inner = self.stretched(unit, d, |c| (1.0 + c) * (1.0 + c) - 1.0);
        (0..d * d).map(|p| self.scales[p / d] * inner[p] * self.scales[p % d]).collect()
    }

    /// The standard deviation of each coordinate.
    pub fn deviations(&self) -> Vec<f64> {
        let d = self.mean.len();
        let mut variance = vec![1.0; d];
        for (c, q) in self.stretch.iter().zip(self.directions.chunks_exact(d)) {
            let more = (1.0 + c) * (1.0 + c) - 1.0;
            variance.iter_mut().zip(q).for_each(|(v, q)| *v += more * q * q);
        }
        variance.iter().zip(&self.scales).map(|(v, s)| s * v.max(0.0).sqrt()).collect()
    }

    /// The same Gaussian with a triangular factor; None if rounding makes the covariance indefinite.
    pub(super) fn dense(&self) -> Option<Gaussian> {
        let d = self.mean.len();
        let mut factor = self.covariance();
        cholesky(&mut factor, d).ok()?;
        (0..d).for_each(|i| factor[i * d + i + 1..(i + 1) * d].fill(0.0));
        Some(Gaussian { mean: self.mean.clone(), factor: Scale::Dense(factor) })
    }
}

/// A target in the coordinates in which a Gaussian is standard.
pub(super) struct Standardised<'t> {
    pub(super) inner: &'t dyn Target,
    pub(super) q: &'t Thin,
}

impl Standardised<'_> {
    /// The Gaussian in these coordinates.
    pub(super) fn standard(&self) -> Gaussian {
        let d = self.q.mean.len();
        Gaussian { mean: vec![0.0; d], factor: Scale::Diagonal(vec![1.0; d]) }
    }
}

impl Target for Standardised<'_> {
    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        Box::new(Moved { inner: self.inner.evaluator(), q: self.q, log_det: self.q.log_det() })
    }

    fn output_names(&self) -> Vec<String> {
        self.inner.output_names()
    }

    fn constrain(&self, u: &[f64]) -> Vec<f64> {
        self.inner.constrain(&self.q.place(u, 1))
    }

    fn constrain_batch(&self, u: &[f64], draws: usize) -> Vec<f64> {
        self.inner.constrain_batch(&self.q.place(u, draws), draws)
    }
}

struct Moved<'t> {
    inner: Box<dyn Evaluator + 't>,
    q: &'t Thin,
    log_det: f64,
}

impl Evaluator for Moved<'_> {
    fn evaluate(&mut self, u: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]) {
        self.inner.evaluate(&self.q.place(u, draws), draws, log_density, gradient);
        log_density.iter_mut().for_each(|l| *l += self.log_det);
        gradient.copy_from_slice(&self.q.pull(gradient, draws));
    }

    fn log_density(&mut self, u: &[f64], draws: usize, log_density: &mut [f64]) {
        self.inner.log_density(&self.q.place(u, draws), draws, log_density);
        log_density.iter_mut().for_each(|l| *l += self.log_det);
    }
}

/// Checks and summaries: as for any Gaussian where a full factor can be held, in standard coordinates where
/// it cannot.
pub(super) fn assess(target: &dyn Target, q: &Thin, origin: Origin, options: &Options) -> Fit {
    if q.mean.len() <= options.dense
        && let Some(q) = q.dense()
    {
        return assess_gaussian(target, &q, origin, options);
    }
    let moved = Standardised { inner: target, q };
    assess_gaussian(&moved, &moved.standard(), Origin { as_declared: false, ..origin }, options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stream::Stream;

    fn example(d: usize, r: usize) -> (Thin, Vec<f64>) {
        let mut stream = Stream::new(11, d as u64, r as u64);
        let mut v = vec![0.0; d * r];
        stream.fill_normal(&mut v);
        let scales: Vec<f64> = (0..d).map(|_| 0.5 + stream.uniform()).collect();
        let mean: Vec<f64> = (0..d).map(|_| stream.normal()).collect();
        let middle: Vec<f64> = (0..r * r).map(|p| if p / r == p % r { 0.7 } else { 0.1 }).collect();
        let mut covariance = vec![0.0; d * d];
        for p in 0..d * d {
            let (i, j) = (p / d, p % d);
            let sum: f64 = (0..r * r).map(|q| v[i * r + q / r] * middle[q] * v[j * r + q % r]).sum();
            covariance[p] = scales[i] * scales[j] * (f64::from(i == j) + sum);
        }
        (Thin::new(mean, scales, &v, &middle).unwrap(), covariance)
    }

    #[test]
    fn it_has_the_covariance_it_was_made_from() {
        for (d, r) in [(6, 2), (3, 3), (2, 4)] {
            let (q, covariance) = example(d, r);
            for (a, b) in q.covariance().iter().zip(&covariance) {
                assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{d} {r}: {a} {b}");
            }
            let log_det = q.dense().unwrap().factor.log_det(d);
            assert!((q.log_det() - log_det).abs() < 1e-11);
        }
    }

    #[test]
    fn standardising_undoes_placing_and_pulling_is_the_transpose() {
        let (q, _) = example(6, 2);
        let (u, g) = ([0.3, -1.0, 2.0, 0.1, 0.0, -0.7], [1.0, 0.5, -2.0, 0.3, 0.9, 0.2]);
        let z = q.place(&u, 1);
        let back = q.standardise(&z, 1);
        assert!(back.iter().zip(&u).all(|(a, b)| (a - b).abs() < 1e-12));
        let forth: f64 = z.iter().zip(&q.mean).zip(&g).map(|((z, m), g)| (z - m) * g).sum();
        let pulled: f64 = q.pull(&g, 1).iter().zip(&u).map(|(p, u)| p * u).sum();
        assert!((forth - pulled).abs() < 1e-12);
    }
}
