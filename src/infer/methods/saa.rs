//! Sample-average approximation with a full covariance (Burroni, Domke, Sheldon 2024; Giordano, Ingram,
//! Broderick 2024).

use crate::infer::gaussian::Gaussian;
use crate::infer::methods::batch::add_to_rows;
use crate::infer::methods::fixed::{Form, climb};
use crate::infer::methods::job::{Approximation, Error, Found, Job, Method};
use crate::infer::progress::Watch;
use crate::num::linalg::{add_product_lower, lower_product, lower_transposed_product};
use crate::vi::Scale;

/// The row.
pub static ROW: Method = Method {
    name: "saa",
    doc: "the ELBO on fixed draws, climbed by L-BFGS, with more draws until fresh ones agree (full covariance)",
    tunable: true,
    run,
};

/// Draws at the start: at least so many, and so many for each coordinate. With fewer than two for each the
/// ELBO on fixed draws has no maximum: a direction that no draw has can be made as wide as one likes.
const FIRST: [usize; 2] = [64, 4];

fn run(job: &Job, watch: Watch) -> Result<Found, Error> {
    job.holds_a_matrix()?;
    let (start, begun) = job.start(true)?;
    let form = Full { factor: start.factor.dense(start.mean.len()), mean: start.mean };
    let first = job.settings.batch.unwrap_or(FIRST[0]).max(FIRST[1] * (job.d + 1)).next_power_of_two();
    let mut found = climb(job, &form, vec![0.0; form.size()], first, watch)?;
    found.gradients += begun;
    Ok(found)
}

/// `z = mean + factor (μ + L u)`; the parameters are μ, then L by rows with the logarithms of its diagonal.
pub(super) struct Full {
    pub(super) mean: Vec<f64>,
    pub(super) factor: Vec<f64>,
}

impl Full {
    /// Number of parameters.
    pub(super) fn size(&self) -> usize {
        let d = self.mean.len();
        d + d * (d + 1) / 2
    }

    /// L, `d × d`.
    fn triangle(&self, w: &[f64]) -> Vec<f64> {
        let d = self.mean.len();
        let mut l = vec![0.0; d * d];
        let mut packed = w[d..].iter();
        for i in 0..d {
            for (j, x) in l[i * d..=i * d + i].iter_mut().enumerate() {
                let p = packed.next().copied().unwrap_or(0.0);
                *x = if i == j { p.exp() } else { p };
            }
        }
        l
    }
}

impl Form for Full {
    fn noise(&self) -> usize {
        self.mean.len()
    }

    fn lead(&self) -> usize {
        self.mean.len()
    }

    fn place(&self, w: &[f64], u: &[f64], n: usize) -> Vec<f64> {
        let d = self.mean.len();
        let (mut local, mut z) = (vec![0.0; d * n], vec![0.0; d * n]);
        lower_product(&self.triangle(w), u, [d, n], &mut local);
        add_to_rows(&mut local, &w[..d], n);
        lower_product(&self.factor, &local, [d, n], &mut z);
        add_to_rows(&mut z, &self.mean, n);
        z
    }

    fn pull(&self, w: &[f64], u: &[f64], slope: &[f64], n: usize, gradient: &mut [f64]) {
        let d = self.mean.len();
        let (mut local, mut outer) = (vec![0.0; d * n], vec![0.0; d * d]);
        lower_transposed_product(&self.factor, slope, [d, n], &mut local);
        add_product_lower(1.0, &local, u, [d, n], &mut outer);
        let (mean, packed) = gradient.split_at_mut(d);
        mean.iter_mut().zip(local.chunks_exact(n)).for_each(|(m, row)| *m += row.iter().sum::<f64>());
        let mut packed = packed.iter_mut().zip(&w[d..]);
        for i in 0..d {
            for (j, x) in outer[i * d..=i * d + i].iter().enumerate() {
                if let Some((g, w)) = packed.next() {
                    *g += if i == j { x * w.exp() } else { *x };
                }
            }
        }
    }

    fn log_det(&self, w: &[f64], gradient: &mut [f64]) -> f64 {
        let d = self.mean.len();
        let mut total: f64 = (0..d).map(|i| self.factor[i * d + i].ln()).sum();
        for i in 0..d {
            let place = d + i * (i + 1) / 2 + i;
            total += w[place];
            gradient[place] += 1.0;
        }
        total
    }

    fn narrow(&self, w: &mut [f64]) {
        let d = self.mean.len();
        for i in 0..d {
            let row = d + i * (i + 1) / 2;
            w[row..row + i].iter_mut().for_each(|x| *x *= 0.5);
            w[row + i] -= std::f64::consts::LN_2;
        }
    }

    fn approximation(&self, w: &[f64]) -> Option<Approximation> {
        let d = self.mean.len();
        let (mut mean, mut factor) = (vec![0.0; d], vec![0.0; d * d]);
        lower_product(&self.factor, &w[..d], [d, 1], &mut mean);
        mean.iter_mut().zip(&self.mean).for_each(|(x, m)| *x += m);
        lower_product(&self.factor, &self.triangle(w), [d, d], &mut factor);
        let finite = mean.iter().chain(&factor).all(|x| x.is_finite());
        finite.then_some(Approximation::Gaussian(Gaussian { mean, factor: Scale::Dense(factor) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_of_the_elbo_on_fixed_draws_is_that_of_differences() {
        let form =
            Full { mean: vec![0.2, -0.1, 0.3], factor: vec![1.1, 0.0, 0.0, 0.3, 0.7, 0.0, -0.2, 0.1, 0.9] };
        let w = [0.1, 0.2, -0.3, 0.15, 0.4, -0.2, 0.3, -0.5, 0.05];
        crate::infer::methods::fixed::tests::check_gradient(&form, &w);
    }
}
