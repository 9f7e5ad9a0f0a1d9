//! Targets with everything known in closed form or by quadrature: the paper's models, their constants and
//! their optima.
#![allow(dead_code)] // Each test file uses its own part of this.

pub mod experiment;

use std::ops::ControlFlow;
use stickler::num::linalg::{cholesky, solve_cholesky, symmetric_eigen};
use stickler::num::stream::Stream;
use stickler::target::{Evaluator, Target};
use stickler::vi::factor::Space;
use stickler::vi::subsample::{Subsample, SubsetEvaluator};
use stickler::vi::{Constants, Progress};

/// How an observation depends on its linear predictor.
#[derive(Clone, Copy, Debug)]
pub enum Likelihood {
    Normal { sigma: f64 },
    Logistic,
}

impl Likelihood {
    /// -log p(y | η) and its first two derivatives in η.
    pub fn loss(self, eta: f64, y: f64) -> [f64; 3] {
        match self {
            Likelihood::Normal { sigma } => {
                let r = (eta - y) / sigma;
                [0.5 * r * r + sigma.ln() + HALF_LN_2PI, r / sigma, 1.0 / (sigma * sigma)]
            }
            Likelihood::Logistic => {
                // y is 0 or 1: log(1 + e^η) - y η.
                let e = (-eta.abs()).exp();
                let p = if eta >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
                [eta.max(0.0) + e.ln_1p() - y * eta, p - y, p * (1.0 - p)]
            }
        }
    }

    fn curvature_range(self) -> (f64, f64) {
        match self {
            Likelihood::Normal { sigma } => (1.0 / (sigma * sigma), 1.0 / (sigma * sigma)),
            Likelihood::Logistic => (0.0, 0.25),
        }
    }
}

const HALF_LN_2PI: f64 = 0.918_938_533_204_672_8;

/// A Gaussian prior with precision P and observations that see z through rows a_n: all the models of the
/// paper.
pub struct LinearModel {
    pub name: &'static str,
    pub d: usize,
    /// Prior precision by rows.
    pub prior: Vec<f64>,
    /// log of the prior's normalising constant.
    pub prior_constant: f64,
    /// a_n by rows.
    pub rows: Vec<f64>,
    pub y: Vec<f64>,
    pub likelihood: Likelihood,
}

pub fn identity(d: usize, scale: f64) -> Vec<f64> {
    (0..d * d).map(|k| if k / d == k % d { scale } else { 0.0 }).collect()
}

impl LinearModel {
    fn simulate(
        name: &'static str,
        prior: Vec<f64>,
        rows: Vec<f64>,
        likelihood: Likelihood,
        truth: &[f64],
        seed: u64,
    ) -> Self {
        let d = truth.len();
        let mut stream = Stream::new(seed, 99, 1);
        let y = rows
            .chunks_exact(d)
            .map(|a| {
                let eta: f64 = a.iter().zip(truth).map(|(a, z)| a * z).sum();
                match likelihood {
                    Likelihood::Normal { sigma } => eta + sigma * stream.normal(),
                    Likelihood::Logistic => {
                        f64::from(u8::from(stream.uniform() < 1.0 / (1.0 + (-eta).exp())))
                    }
                }
            })
            .collect();
        let mut chol = prior.clone();
        cholesky(&mut chol, d).unwrap();
        let prior_constant = (0..d).map(|i| chol[i * d + i].ln() - HALF_LN_2PI).sum();
        LinearModel { name, d, prior, prior_constant, rows, y, likelihood }
    }

    fn design(n: usize, d: usize, spread: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
        let mut stream = Stream::new(seed, 99, 0);
        let rows = (0..n * d).map(|k| if k % d == 0 { 1.0 } else { spread * stream.normal() }).collect();
        let truth = (0..d).map(|_| stream.normal()).collect();
        (rows, truth)
    }

    /// Bayesian linear regression, standard normal prior, an intercept and d - 1 covariates.
    pub fn linear(n: usize, d: usize, sigma: f64) -> Self {
        let (rows, truth) = Self::design(n, d, 1.0, 11);
        Self::simulate("linear", identity(d, 1.0), rows, Likelihood::Normal { sigma }, &truth, 12)
    }

    /// Logistic regression, standard normal prior.
    pub fn logistic(n: usize, d: usize) -> Self {
        let (rows, truth) = Self::design(n, d, 1.0, 21);
        Self::simulate("logistic", identity(d, 1.0), rows, Likelihood::Logistic, &truth, 22)
    }

    /// Hierarchical logistic regression: θ ~ N(0, I), z_j ~ N(θ, I), each group with its own observations.
    pub fn hierarchical(groups: usize, per_group: usize, k: usize) -> Self {
        let d = k * (groups + 1);
        let mut prior = vec![0.0; d * d];
        for c in 0..k {
            prior[c * d + c] = 1.0 + groups as f64;
            for j in 1..=groups {
                let at = j * k + c;
                prior[at * d + at] = 1.0;
                prior[at * d + c] = -1.0;
                prior[c * d + at] = -1.0;
            }
        }
        let (small, _) = Self::design(groups * per_group, k, 1.0, 31);
        let mut rows = vec![0.0; groups * per_group * d];
        for (n, a) in small.chunks_exact(k).enumerate() {
            let start = n * d + (1 + n / per_group) * k;
            rows[start..start + k].copy_from_slice(a);
        }
        let mut stream = Stream::new(32, 99, 0);
        let theta: Vec<f64> = (0..k).map(|_| stream.normal()).collect();
        let truth: Vec<f64> =
            (0..d).map(|i| theta[i % k] + if i < k { 0.0 } else { stream.normal() }).collect();
        Self::simulate("hierarchical", prior, rows, Likelihood::Logistic, &truth, 33)
    }

    /// The same model with coefficient i in units of its own, z = units z': another scale for each
    /// coordinate, and nothing else. The hierarchical model takes the first units that it has coefficients
    /// for.
    pub fn in_units(mut self, units: &[f64]) -> Self {
        let (d, unit) = (self.d, |i: usize| units[i % units.len()]);
        (0..d * d).for_each(|k| self.prior[k] *= unit(k / d) * unit(k % d));
        self.rows.iter_mut().enumerate().for_each(|(k, a)| *a *= unit(k % d));
        self.prior_constant += (0..d).map(|i| unit(i).ln()).sum::<f64>();
        self
    }

    /// P + weight Σ a aᵀ.
    fn curvature(&self, weight: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut h = self.prior.clone();
        for (n, a) in self.rows.chunks_exact(self.d).enumerate() {
            let w = weight(n);
            for i in 0..self.d {
                for j in 0..self.d {
                    h[i * self.d + j] += w * a[i] * a[j];
                }
            }
        }
        h
    }

    /// M and μ: the largest eigenvalue of P + θ_max Σ a aᵀ and the smallest of P + θ_min Σ a aᵀ.
    pub fn constants(&self) -> Constants {
        let (low, high) = self.likelihood.curvature_range();
        let smallest = symmetric_eigen(&self.curvature(|_| low), self.d).unwrap().values[0];
        let largest = *symmetric_eigen(&self.curvature(|_| high), self.d).unwrap().values.last().unwrap();
        Constants { smoothness: largest, strong_concavity: smallest }
    }

    /// The mode of log p.
    pub fn mode(&self) -> Vec<f64> {
        let mut z = vec![0.0; self.d];
        for _ in 0..100 {
            let eta = self.predictors(&z);
            let mut gradient = self.prior_gradient(&z);
            for (n, a) in self.rows.chunks_exact(self.d).enumerate() {
                let slope = self.likelihood.loss(eta[n], self.y[n])[1];
                gradient.iter_mut().zip(a).for_each(|(g, a)| *g -= slope * a);
            }
            let mut h = self.curvature(|n| self.likelihood.loss(eta[n], self.y[n])[2]);
            cholesky(&mut h, self.d).unwrap();
            solve_cholesky(&h, self.d, &mut gradient);
            z.iter_mut().zip(&gradient).for_each(|(z, s)| *z += s);
        }
        z
    }

    fn predictors(&self, z: &[f64]) -> Vec<f64> {
        self.rows.chunks_exact(self.d).map(|a| dot(a, z)).collect()
    }

    fn prior_gradient(&self, z: &[f64]) -> Vec<f64> {
        self.prior.chunks_exact(self.d).map(|row| -dot(row, z)).collect()
    }

    /// Means and standard deviations of the predictors under N(m, CCᵀ), C by rows.
    fn predictor_laws(&self, m: &[f64], c: &[f64]) -> Vec<(f64, f64)> {
        let d = self.d;
        self.rows
            .chunks_exact(d)
            .map(|a| {
                let variance: f64 =
                    (0..d).map(|j| (0..d).map(|i| a[i] * c[i * d + j]).sum::<f64>().powi(2)).sum();
                (dot(a, m), variance.sqrt())
            })
            .collect()
    }

    /// The negative ELBO of N(m, CCᵀ), exactly: one-dimensional Gaussian integrals by quadrature. C by rows.
    pub fn objective(&self, m: &[f64], c: &[f64]) -> f64 {
        let d = self.d;
        let rule = gauss_hermite(48);
        let mut quadratic = 0.0;
        for i in 0..d {
            for j in 0..d {
                quadratic += self.prior[i * d + j]
                    * (m[i] * m[j] + dot(&c[i * d..(i + 1) * d], &c[j * d..(j + 1) * d]));
            }
        }
        let expected_loss: f64 = self
            .predictor_laws(m, c)
            .iter()
            .zip(&self.y)
            .map(|((mean, sd), y)| {
                rule.iter().map(|(x, w)| w * self.likelihood.loss(mean + sd * x, *y)[0]).sum::<f64>()
            })
            .sum();
        let entropy = 0.5 * log_det_gram(c, d) + d as f64 * (0.5 + HALF_LN_2PI);
        0.5 * quadratic - self.prior_constant + expected_loss - entropy
    }

    /// The best Gaussian: mean, and E[-∇²log p] there. The optimal covariance is the inverse of the latter;
    /// with a diagonal factor its entries are the inverses of the diagonal.
    pub fn optimum(&self, diagonal: bool) -> (Vec<f64>, Vec<f64>) {
        let d = self.d;
        let rule = gauss_hermite(48);
        let mut m = self.mode();
        let mut c = factor_of(&self.curvature(|_| self.likelihood.curvature_range().1), d, diagonal);
        let mut h = Vec::new();
        for _ in 0..200 {
            let laws = self.predictor_laws(&m, &c);
            let expect = |n: usize, k: usize| -> f64 {
                let (mean, sd) = laws[n];
                rule.iter().map(|(x, w)| w * self.likelihood.loss(mean + sd * x, self.y[n])[k]).sum()
            };
            let mut step = self.prior_gradient(&m);
            for (n, a) in self.rows.chunks_exact(d).enumerate() {
                let slope = expect(n, 1);
                step.iter_mut().zip(a).for_each(|(g, a)| *g -= slope * a);
            }
            h = self.curvature(|n| expect(n, 2));
            let mut chol = h.clone();
            cholesky(&mut chol, d).unwrap();
            solve_cholesky(&chol, d, &mut step);
            m.iter_mut().zip(&step).for_each(|(m, s)| *m += s);
            c = factor_of(&h, d, diagonal);
        }
        (m, h)
    }

    /// w* packed for a factor, and the C behind it by rows.
    pub fn best(&self, space: &Space) -> (Vec<f64>, Vec<f64>) {
        let (mut w, h) = self.optimum(!space.full_rank);
        let d = self.d;
        let dense = match space.name {
            "triangular" | "triangular_full" => lower_root_of_inverse(&h, d),
            "symmetric" | "symmetric_full" => symmetric_power(&h, d, -0.5),
            _ => factor_of(&h, d, true),
        };
        let factor = (space.make)(d);
        w.resize(d + factor.count(), 0.0);
        factor.pack(&dense, &mut w[d..]);
        (w, dense)
    }

    pub fn log_evidence(&self) -> Option<f64> {
        match self.likelihood {
            Likelihood::Logistic => None,
            // A Gaussian posterior: the bound is attained.
            Likelihood::Normal { .. } => {
                let (m, h) = self.optimum(false);
                Some(-self.objective(&m, &lower_root_of_inverse(&h, self.d)))
            }
        }
    }
}

/// A factor of the inverse of `h`, or of the inverse of its diagonal.
fn factor_of(h: &[f64], d: usize, diagonal: bool) -> Vec<f64> {
    if diagonal {
        return (0..d * d).map(|k| if k / d == k % d { 1.0 / h[k].sqrt() } else { 0.0 }).collect();
    }
    symmetric_power(h, d, -0.5)
}

/// Lower triangular C with C Cᵀ = h⁻¹.
pub fn lower_root_of_inverse(h: &[f64], d: usize) -> Vec<f64> {
    let mut inverse = symmetric_power(h, d, -1.0);
    cholesky(&mut inverse, d).unwrap();
    (0..d * d).map(|k| if k % d <= k / d { inverse[k] } else { 0.0 }).collect()
}

pub fn symmetric_power(h: &[f64], d: usize, power: f64) -> Vec<f64> {
    let eigen = symmetric_eigen(h, d).unwrap();
    let v = |k: usize, i: usize| eigen.vectors[k * d + i];
    let entry = |i: usize, j: usize| (0..d).map(|k| eigen.values[k].powf(power) * v(k, i) * v(k, j)).sum();
    (0..d * d).map(|k| entry(k / d, k % d)).collect()
}

/// log det (C Cᵀ).
pub fn log_det_gram(c: &[f64], d: usize) -> f64 {
    let mut gram: Vec<f64> =
        (0..d * d).map(|k| dot(&c[(k / d) * d..(k / d + 1) * d], &c[(k % d) * d..(k % d + 1) * d])).collect();
    cholesky(&mut gram, d).unwrap();
    (0..d).map(|i| 2.0 * gram[i * d + i].ln()).sum()
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

pub fn distance_squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// Nodes and weights for the standard normal (Golub and Welsch).
pub fn gauss_hermite(n: usize) -> Vec<(f64, f64)> {
    let mut jacobi = vec![0.0; n * n];
    for i in 1..n {
        let off = (i as f64).sqrt();
        (jacobi[i * n + i - 1], jacobi[(i - 1) * n + i]) = (off, off);
    }
    let eigen = symmetric_eigen(&jacobi, n).unwrap();
    (0..n).map(|k| (eigen.values[k], eigen.vectors[k * n].powi(2))).collect()
}

/// Solves a small general system by elimination with pivoting.
fn solve(mut a: Vec<f64>, mut b: Vec<f64>) -> Vec<f64> {
    let d = b.len();
    for k in 0..d {
        let pivot = (k..d).max_by(|i, j| a[i * d + k].abs().total_cmp(&a[j * d + k].abs())).unwrap();
        (0..d).for_each(|j| a.swap(k * d + j, pivot * d + j));
        b.swap(k, pivot);
        for i in (0..d).filter(|i| *i != k) {
            let factor = a[i * d + k] / a[k * d + k];
            (0..d).for_each(|j| a[i * d + j] -= factor * a[k * d + j]);
            b[i] -= factor * b[k];
        }
    }
    (0..d).map(|k| b[k] / a[k * d + k]).collect()
}

/// K and the stationary point of log p - log q_{w*}: the Hessian of the difference is Σ*⁻¹ - H(z), and H lies
/// between the prior precision and that plus a quarter of Σ a aᵀ.
pub fn residual_constants(model: &LinearModel) -> (f64, Vec<f64>) {
    let d = model.d;
    let (m, h) = model.optimum(false);
    let spread = |other: &[f64], sign: f64| -> f64 {
        let difference: Vec<f64> = h.iter().zip(other).map(|(a, b)| sign * (a - b)).collect();
        *symmetric_eigen(&difference, d).unwrap().values.last().unwrap()
    };
    let mut steepest = model.prior.clone();
    for a in model.rows.chunks_exact(d) {
        (0..d * d).for_each(|k| steepest[k] += 0.25 * a[k / d] * a[k % d]);
    }
    let k = spread(&model.prior, 1.0).max(spread(&steepest, -1.0));
    // Gradient of the difference: ∇log p(z) + Σ*⁻¹(z - m*), followed downhill in its norm by Newton steps
    // from m*.
    let mut z = m.clone();
    let mut evaluator = model.evaluator();
    let slope = |z: &[f64], evaluator: &mut dyn Evaluator| -> Vec<f64> {
        let (mut value, mut g) = ([0.0], vec![0.0; d]);
        evaluator.evaluate(z, 1, &mut value, &mut g);
        (0..d).map(|i| g[i] + (0..d).map(|j| h[i * d + j] * (z[j] - m[j])).sum::<f64>()).collect()
    };
    for _ in 0..200 {
        let g = slope(&z, &mut *evaluator);
        let mut hessian = vec![0.0; d * d];
        for j in 0..d {
            let mut moved = z.clone();
            moved[j] += 1e-6;
            let other = slope(&moved, &mut *evaluator);
            (0..d).for_each(|i| hessian[i * d + j] = (other[i] - g[i]) / 1e-6);
        }
        let step = solve(hessian, g);
        (0..d).for_each(|i| z[i] -= 0.5 * step[i]);
    }
    let left = slope(&z, &mut *evaluator);
    assert!(dot(&left, &left).sqrt() < 1e-8, "no stationary point of the residual found: {left:?}");
    (k, z)
}

/// C by rows of a packed w.
pub fn dense_factor(space: &Space, d: usize, w: &[f64]) -> Vec<f64> {
    let mut dense = vec![0.0; d * d];
    (space.make)(d).unpack(&w[d..], &mut dense);
    dense
}

pub fn keep_going(_: &Progress<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

struct LinearEvaluator<'a> {
    model: &'a LinearModel,
    eta: Vec<f64>,
    everything: Vec<usize>,
}

impl Target for LinearModel {
    fn dimension(&self) -> usize {
        self.d
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        Box::new(LinearEvaluator { model: self, eta: Vec::new(), everything: (0..self.y.len()).collect() })
    }
}

impl Subsample for LinearModel {
    fn observations(&self) -> usize {
        self.y.len()
    }

    fn subset_evaluator(&self) -> Box<dyn SubsetEvaluator + '_> {
        Box::new(LinearEvaluator { model: self, eta: Vec::new(), everything: Vec::new() })
    }
}

impl Evaluator for LinearEvaluator<'_> {
    fn evaluate(&mut self, z: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]) {
        let rows = std::mem::take(&mut self.everything);
        self.evaluate_subset(&rows, z, draws, log_density, gradient);
        self.everything = rows;
    }
}

impl SubsetEvaluator for LinearEvaluator<'_> {
    fn evaluate_subset(
        &mut self,
        rows: &[usize],
        z: &[f64],
        n: usize,
        log_density: &mut [f64],
        gradient: &mut [f64],
    ) {
        let model = self.model;
        let d = model.d;
        let scale = model.y.len() as f64 / rows.len() as f64;
        self.eta.resize(n, 0.0);
        log_density.fill(model.prior_constant);
        for i in 0..d {
            gradient[i * n..(i + 1) * n].fill(0.0);
            for j in 0..d {
                let p = model.prior[i * d + j];
                if p != 0.0 {
                    (0..n).for_each(|b| gradient[i * n + b] -= p * z[j * n + b]);
                }
            }
            (0..n).for_each(|b| log_density[b] += 0.5 * gradient[i * n + b] * z[i * n + b]);
        }
        for &row in rows {
            let a = &model.rows[row * d..(row + 1) * d];
            self.eta.fill(0.0);
            for (i, a) in a.iter().enumerate().filter(|(_, a)| **a != 0.0) {
                (0..n).for_each(|b| self.eta[b] += a * z[i * n + b]);
            }
            for (eta, log_density) in self.eta.iter_mut().zip(&mut *log_density) {
                let [loss, slope, _] = model.likelihood.loss(*eta, model.y[row]);
                *log_density -= scale * loss;
                *eta = scale * slope;
            }
            for (i, a) in a.iter().enumerate().filter(|(_, a)| **a != 0.0) {
                (0..n).for_each(|b| gradient[i * n + b] -= a * self.eta[b]);
            }
        }
    }
}
