//! A covariance that is diagonal plus a few directions, for many coordinates: the ELBO on fixed draws,
//! climbed by L-BFGS.

use crate::infer::methods::batch::add_to_rows;
use crate::infer::methods::fixed::{Form, climb};
use crate::infer::methods::job::{Approximation, Error, Found, Job, Method};
use crate::infer::methods::thin::Thin;
use crate::infer::progress::Watch;
use crate::num::linalg::{add_product, add_transposed_product, cholesky, log_det_cholesky, solve_cholesky};
use crate::num::stream::Stream;
use crate::vi::Scale;

/// The row.
pub static ROW: Method = Method {
    name: "low-rank",
    doc: "a covariance that is diagonal plus up to eight directions, on fixed draws; O(d) a draw, for many coordinates",
    tunable: true,
    run,
};

/// Who draws: the first directions.
const PURPOSE: u64 = 0x6c6f_7772;
/// Directions.
const RANK: usize = 8;
/// Their size at the start, in standard deviations: with none the gradient vanishes by symmetry.
const SIZE: f64 = 0.1;
/// The least standard deviation of a coordinate's own, in those at the start.
const LEAST: f64 = 1e-3;
/// Draws at the start: enough for what each coordinate has of parameters of its own.
const FIRST: usize = 64;

fn run(job: &Job, watch: Watch) -> Result<Found, Error> {
    let (start, begun) = job.start(false)?;
    let (d, rank) = (job.d, RANK.min(job.d.div_ceil(2)));
    let scales = match start.factor {
        Scale::Diagonal(s) => s,
        Scale::Dense(c) => {
            (0..d).map(|i| c[i * d..=i * d + i].iter().map(|x| x * x).sum::<f64>().sqrt()).collect()
        }
    };
    let form = Low { mean: start.mean, scales, rank };
    let mut w = vec![0.0; d * (2 + rank)];
    Stream::new(job.options.seed, PURPOSE, 0).fill_normal(&mut w[2 * d..]);
    w[2 * d..].iter_mut().for_each(|b| *b *= SIZE);
    let mut found = climb(job, &form, w, job.settings.batch.unwrap_or(FIRST).max(4 * rank), watch)?;
    found.gradients += begun + 2 * d;
    Ok(found)
}

/// `z = mean + scales ∘ (μ + E ∘ ε + B η)`, `E = LEAST + e^δ`, with the draws η first, then ε; the parameters
/// are μ, δ, B by rows. Without a least E a coordinate whose spread is all in B would have δ run off to minus
/// infinity.
struct Low {
    mean: Vec<f64>,
    scales: Vec<f64>,
    rank: usize,
}

impl Low {
    /// E.
    fn own(&self, w: &[f64]) -> Vec<f64> {
        let d = self.mean.len();
        w[d..2 * d].iter().map(|s| LEAST + s.exp()).collect()
    }

    /// `V = E⁻¹ B` and the Cholesky factor of `K = I + VᵀV`: the determinant of `E² + B Bᵀ` is that of E²
    /// times that of K.
    fn woodbury(&self, w: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let (d, r) = (self.mean.len(), self.rank);
        let mut v = w[2 * d..].to_vec();
        v.chunks_exact_mut(r).zip(self.own(w)).for_each(|(row, e)| row.iter_mut().for_each(|x| *x /= e));
        let mut k: Vec<f64> = (0..r * r).map(|p| f64::from(p / r == p % r)).collect();
        add_transposed_product(1.0, &v, &v, [r, d, r], &mut k);
        cholesky(&mut k, r).ok()?;
        Some((v, k))
    }
}

impl Form for Low {
    fn noise(&self) -> usize {
        self.mean.len() + self.rank
    }

    fn lead(&self) -> usize {
        self.rank
    }

    fn place(&self, w: &[f64], u: &[f64], n: usize) -> Vec<f64> {
        let (d, r) = (self.mean.len(), self.rank);
        let (eta, eps) = u.split_at(r * n);
        let mut z = eps.to_vec();
        z.chunks_exact_mut(n).zip(self.own(w)).for_each(|(row, e)| row.iter_mut().for_each(|x| *x *= e));
        add_product(1.0, &w[2 * d..], eta, [d, r, n], &mut z);
        add_to_rows(&mut z, &w[..d], n);
        z.chunks_exact_mut(n).zip(&self.scales).for_each(|(row, s)| row.iter_mut().for_each(|x| *x *= s));
        add_to_rows(&mut z, &self.mean, n);
        z
    }

    fn pull(&self, w: &[f64], u: &[f64], slope: &[f64], n: usize, gradient: &mut [f64]) {
        let (d, r) = (self.mean.len(), self.rank);
        let (eta, eps) = u.split_at(r * n);
        for i in 0..d {
            let row = &slope[i * n..(i + 1) * n];
            let along = |x: &[f64]| self.scales[i] * row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
            gradient[i] += self.scales[i] * row.iter().sum::<f64>();
            gradient[d + i] += w[d + i].exp() * along(&eps[i * n..(i + 1) * n]);
            for k in 0..r {
                gradient[2 * d + i * r + k] += along(&eta[k * n..(k + 1) * n]);
            }
        }
    }

    fn log_det(&self, w: &[f64], gradient: &mut [f64]) -> f64 {
        let (d, r) = (self.mean.len(), self.rank);
        let Some((v, k)) = self.woodbury(w) else { return f64::NAN };
        let own = self.own(w);
        for i in 0..d {
            // Row i of V K⁻¹.
            let mut solved = v[i * r..(i + 1) * r].to_vec();
            solve_cholesky(&k, r, &mut solved);
            let shared: f64 = solved.iter().zip(&v[i * r..]).map(|(a, b)| a * b).sum();
            gradient[d + i] += (1.0 - shared) * w[d + i].exp() / own[i];
            solved.iter().enumerate().for_each(|(j, s)| gradient[2 * d + i * r + j] += s / own[i]);
        }
        let scales: f64 = self.scales.iter().map(|s| s.ln()).sum();
        scales + own.iter().map(|e| e.ln()).sum::<f64>() + 0.5 * log_det_cholesky(&k, r)
    }

    fn narrow(&self, w: &mut [f64]) {
        let d = self.mean.len();
        w[d..2 * d].iter_mut().for_each(|s| *s -= std::f64::consts::LN_2);
        w[2 * d..].iter_mut().for_each(|b| *b *= 0.5);
    }

    fn approximation(&self, w: &[f64]) -> Option<Approximation> {
        let (d, r) = (self.mean.len(), self.rank);
        let (v, _) = self.woodbury(w)?;
        let mean = (0..d).map(|i| self.mean[i] + self.scales[i] * w[i]).collect();
        let scales = self.scales.iter().zip(self.own(w)).map(|(s, e)| s * e).collect();
        let unit: Vec<f64> = (0..r * r).map(|p| f64::from(p / r == p % r)).collect();
        Thin::new(mean, scales, &v, &unit).map(Approximation::Thin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_of_the_elbo_on_fixed_draws_is_that_of_differences() {
        let form = Low { mean: vec![0.2, -0.1, 0.3], scales: vec![0.9, 1.2, 0.7], rank: 2 };
        let w = [0.1, 0.2, -0.3, 0.15, 0.4, -0.2, 0.3, -0.5, 0.05, 0.6, -0.1, 0.2];
        crate::infer::methods::fixed::tests::check_gradient(&form, &w);
    }
}
