//! Batch and match (Cai, Modi, Pillaud-Vivien, Margossian, Gower, Blei, Saul, 2024): scores matched in closed
//! form.
//!
//! A batch of draws z of q with scores g = ∇log p(z) has means z̄, ḡ and covariances C, Γ. The next q
//! minimises a distance of scores on the batch plus a Kullback-Leibler term to the last one, weighted by 1/λ:
//!
//! ```text
//!     U = λΓ + λ/(1+λ) ḡ ḡᵀ,   V = Σ + λC + λ/(1+λ) (μ - z̄)(μ - z̄)ᵀ,   Σ' U Σ' + Σ' = V,
//!     μ' = μ/(1+λ) + λ/(1+λ) (Σ' ḡ + z̄)
//! ```
//!
//! With `V = L Lᵀ` and `Lᵀ U L = P diag(e) Pᵀ`, `Σ' = L P diag(2 / (1 + √(1 + 4e))) Pᵀ Lᵀ`. The schedule is
//! the paper's for targets that need not be Gaussian, `λ_t = B d / (t + 1)`. That a step after which the ELBO
//! is lower beyond noise is taken back and tried with a quarter of λ is ours: funnels need it.

use crate::infer::gaussian::Gaussian;
use crate::infer::importance::elbo::Elbo;
use crate::infer::methods::batch::{Batch, at_draws, narrower, row_means};
use crate::infer::methods::job::{Approximation, Error, Found, Job, Method};
use crate::infer::methods::stepping::{Steps, Time, drive};
use crate::infer::progress::Watch;
use crate::num::linalg::{
    add_product, add_product_lower, add_transposed_product, cholesky, lower_product, mirror, symmetric_eigen,
};
use crate::num::stream::Stream;
use crate::vi::Scale;

/// The row.
pub static ROW: Method = Method {
    name: "batch-and-match",
    doc: "scores matched batch by batch, mean and covariance in closed form (Cai et al. 2024)",
    tunable: true,
    run,
};

/// Who draws: the batches.
const PURPOSE: u64 = 0x6261_6d00;
/// Draws a step.
const BATCH: usize = 8;
/// Steps times coordinates, and the most and fewest steps.
const WORK: usize = 40_000;
const STEPS: [usize; 2] = [3000, 300];

struct Matching<'a> {
    job: &'a Job<'a>,
    batch: usize,
}

fn run(job: &Job, watch: Watch) -> Result<Found, Error> {
    job.holds_a_matrix()?;
    let (start, begun) = job.start(true)?;
    let steps = job.settings.steps.unwrap_or((WORK / job.d).clamp(STEPS[1], STEPS[0]));
    let matching = Matching { job, batch: job.settings.batch.unwrap_or(BATCH).max(2) };
    let (q, gradients, ending) = drive(&matching, start, steps, watch)?;
    Ok(Found::new(Approximation::Gaussian(q), begun + gradients, ending))
}

/// The moments of a batch.
struct Moments {
    point: Vec<f64>,
    score: Vec<f64>,
    /// Lower triangles.
    points: Vec<f64>,
    scores: Vec<f64>,
    elbo: Elbo,
}

/// Means of the rows, and the lower triangle of their covariance.
fn moments(x: &[f64], [d, n]: [usize; 2]) -> (Vec<f64>, Vec<f64>) {
    let mean = row_means(x, n);
    let mut centred = x.to_vec();
    centred.chunks_exact_mut(n).zip(&mean).for_each(|(row, m)| row.iter_mut().for_each(|x| *x -= m));
    let mut covariance = vec![0.0; d * d];
    add_product_lower(1.0 / n as f64, &centred, &centred, [d, n], &mut covariance);
    (mean, covariance)
}

/// Adds `scale · v vᵀ` to a lower triangle.
fn add_square(scale: f64, v: &[f64], out: &mut [f64]) {
    let d = v.len();
    for i in 0..d {
        for j in 0..=i {
            out[i * d + j] += scale * v[i] * v[j];
        }
    }
}

/// The Gaussian that matches a batch, with weight λ; None if it is not finite.
fn matched(q: &Gaussian, m: &Moments, lambda: f64) -> Option<Gaussian> {
    let d = q.mean.len();
    let Scale::Dense(c) = &q.factor else { return None };
    let share = lambda / (1.0 + lambda);
    let mut u: Vec<f64> = m.scores.iter().map(|x| lambda * x).collect();
    add_square(share, &m.score, &mut u);
    mirror(&mut u, d);
    let mut v: Vec<f64> = m.points.iter().map(|x| lambda * x).collect();
    let off: Vec<f64> = q.mean.iter().zip(&m.point).map(|(a, b)| a - b).collect();
    add_square(share, &off, &mut v);
    add_product_lower(1.0, c, c, [d, d], &mut v);
    cholesky(&mut v, d).ok()?;
    (0..d).for_each(|i| v[i * d + i + 1..(i + 1) * d].fill(0.0));
    let (mut half, mut inner) = (vec![0.0; d * d], vec![0.0; d * d]);
    add_product(1.0, &u, &v, [d, d, d], &mut half);
    add_transposed_product(1.0, &v, &half, [d, d, d], &mut inner);
    let eigen = symmetric_eigen(&inner, d)?;
    // Row k is eigenvector k, scaled by the root of its share of the variance.
    let mut roots = eigen.vectors;
    for (row, e) in roots.chunks_exact_mut(d).zip(&eigen.values) {
        let x = (2.0 / (1.0 + (1.0 + 4.0 * e.max(0.0)).sqrt())).sqrt();
        row.iter_mut().for_each(|r| *r *= x);
    }
    let mut middle = vec![0.0; d * d];
    add_transposed_product(1.0, &roots, &roots, [d, d, d], &mut middle);
    let (mut left, mut covariance) = (vec![0.0; d * d], vec![0.0; d * d]);
    lower_product(&v, &middle, [d, d], &mut left);
    add_product_lower(1.0, &left, &v, [d, d], &mut covariance);
    mirror(&mut covariance, d);
    let mut mean = vec![0.0; d];
    add_product(share, &covariance, &m.score, [d, d, 1], &mut mean);
    let kept = 1.0 - share;
    (0..d).for_each(|i| mean[i] += kept * q.mean[i] + share * m.point[i]);
    cholesky(&mut covariance, d).ok()?;
    (0..d).for_each(|i| covariance[i * d + i + 1..(i + 1) * d].fill(0.0));
    mean.iter().all(|x| x.is_finite()).then_some(Gaussian { mean, factor: Scale::Dense(covariance) })
}

impl Steps for Matching<'_> {
    type State = Gaussian;
    type Look = Moments;

    fn look(&self, q: &Gaussian, index: u64) -> Option<Moments> {
        let stream = Stream::new(self.job.options.seed, PURPOSE, index);
        let Batch { z, slope, elbo } = at_draws(self.job.target, q, stream, self.batch)?;
        let size = [self.job.d, self.batch];
        let ((point, points), (score, scores)) = (moments(&z, size), moments(&slope, size));
        Some(Moments { point, score, points, scores, elbo })
    }

    fn elbo(&self, look: &Moments) -> Elbo {
        look.elbo
    }

    fn step(&self, q: &Gaussian, look: &Moments, time: Time, share: f64) -> Option<Gaussian> {
        let lambda = (self.batch * self.job.d) as f64 / (time.taken + 1) as f64;
        matched(q, look, share * lambda)
    }

    fn narrower(&self, q: &Gaussian) -> Gaussian {
        narrower(q)
    }

    fn gaussian(&self, q: &Gaussian) -> Option<Gaussian> {
        Some(q.clone())
    }

    fn cost(&self) -> usize {
        self.batch
    }
}
