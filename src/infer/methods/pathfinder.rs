//! Pathfinder (Zhang, Carpenter, Gelman, Vehtari, 2022): of the Gaussians along a quasi-Newton path to the
//! mode, the best.
//!
//! At each place θ of the path the inverse Hessian of -log p is estimated from the last steps s and changes
//! of slope y as `Σ = diag(α) + β γ βᵀ`, with α by the update of Gilbert and Lemaréchal, `β = [diag(α) Y,
//! S]`, and with R the upper triangle of SᵀY, `γ = [[0, -R⁻¹], [-R⁻ᵀ, R⁻ᵀ (diag(SᵀY) + Yᵀ diag(α) Y) R⁻¹]]`.
//! The Gaussian there has the covariance Σ and the mean `θ + Σ ∇log p(θ)`; the one with the largest ELBO, by
//! a few draws, is the answer.

use crate::infer::methods::batch::normals;
use crate::infer::methods::job::{Approximation, Error, Found, Job, Method};
use crate::infer::methods::thin::Thin;
use crate::infer::progress::Ending;
use crate::infer::progress::Watch;
use crate::infer::progress::{Error as NoFit, Progress};
use crate::infer::search::ascent;
use crate::num::linalg::{dot, solve_lower_transposed_many};
use crate::num::real::LN_2PI;
use crate::num::stream::Stream;
use crate::target::Evaluator;
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// The row.
pub static ROW: Method = Method {
    name: "pathfinder",
    doc: "the best Gaussian along a quasi-Newton path to the mode (Zhang et al. 2022)",
    tunable: false,
    run,
};

/// Who draws: starting points, and draws along a path.
const STARTS: u64 = 0x7061_7468;
const DRAWN: u64 = 0x7061_7469;
/// Starting points that are tried.
const TRIES: u64 = 100;
/// Most steps of a path.
const STEPS: usize = 1000;
/// Steps that the inverse Hessian is estimated from.
const MEMORY: usize = 6;
/// Draws behind the ELBO of a place.
const DRAWS: usize = 25;

fn run(job: &Job, watch: Watch) -> Result<Found, Error> {
    let path = path(job, 0, watch)?;
    Ok(Found::new(Approximation::Thin(path.q), path.gradients, path.ending))
}

/// The best Gaussian along a path.
pub(super) struct Path {
    pub(super) q: Thin,
    pub(super) gradients: usize,
    pub(super) ending: Ending,
}

/// Follows the path with this number, and looks back along it.
pub(super) fn path(job: &Job, index: u64, watch: Watch) -> Result<Path, Error> {
    let mut evaluator = job.target.evaluator();
    let mut places: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    let followed = (0..TRIES).find_map(|k| {
        let mut stream = Stream::new(job.options.seed, STARTS, index * TRIES + k);
        let start = (0..job.d).map(|_| 4.0 * stream.uniform() - 2.0).collect();
        ascent::follow(&mut *evaluator, start, STEPS, &mut |at| {
            places.push((at.z.clone(), at.slope.clone()));
            ControlFlow::Continue(())
        })
    });
    let mut gradients = followed.ok_or(NoFit::NoStart)?;
    let mut memory = Memory::new(job.d);
    let mut best: Option<(Thin, f64)> = None;
    let mut ending = Ending::Converged;
    for (l, pair) in places.windows(2).enumerate() {
        let [(from, old), (to, new)] = pair else { continue };
        memory.add(from, old, to, new);
        let Some(q) = memory.gaussian(to, new) else { continue };
        let stream = Stream::new(job.options.seed, DRAWN, index << 32 | l as u64);
        let elbo = elbo(&mut *evaluator, &q, stream);
        gradients += DRAWS;
        if elbo.is_finite() && best.as_ref().is_none_or(|b| elbo > b.1) {
            best = Some((q, elbo));
        }
        let top = best.as_ref().map_or(f64::NEG_INFINITY, |b| b.1);
        let progress =
            Progress { iteration: l as u64, gradients, elbo: top, elbo_se: f64::NAN, gap_nats: f64::NAN };
        if watch(&progress).is_break() {
            ending = Ending::Stopped;
            break;
        }
    }
    let (q, _) = best.ok_or(Error::NoPath)?;
    Ok(Path { q, gradients, ending })
}

/// The ELBO by a few draws; minus infinity if one of them is outside the support.
fn elbo(evaluator: &mut dyn Evaluator, q: &Thin, stream: Stream) -> f64 {
    let d = q.mean.len();
    let u = normals(stream, d, DRAWS);
    let mut value = vec![0.0; DRAWS];
    evaluator.log_density(&q.place(&u, DRAWS), DRAWS, &mut value);
    let each = (value.iter().sum::<f64>() + 0.5 * dot(&u, &u)) / DRAWS as f64;
    let elbo = each + q.log_det() + 0.5 * d as f64 * LN_2PI;
    if elbo.is_finite() { elbo } else { f64::NEG_INFINITY }
}

/// The last steps s with the changes y of the slope of -log p, and the diagonal α.
struct Memory {
    alpha: Vec<f64>,
    pairs: VecDeque<(Vec<f64>, Vec<f64>)>,
}

impl Memory {
    fn new(d: usize) -> Memory {
        Memory { alpha: vec![1.0; d], pairs: VecDeque::new() }
    }

    /// Adds a step, unless the curvature along it is not positive.
    fn add(&mut self, from: &[f64], old: &[f64], to: &[f64], new: &[f64]) {
        let s: Vec<f64> = to.iter().zip(from).map(|(a, b)| a - b).collect();
        let y: Vec<f64> = old.iter().zip(new).map(|(a, b)| a - b).collect();
        let b = dot(&s, &y);
        if !(b > 1e-12 * dot(&y, &y)) {
            return;
        }
        let a: f64 = y.iter().zip(&self.alpha).map(|(y, alpha)| y * y * alpha).sum();
        let c: f64 = s.iter().zip(&self.alpha).map(|(s, alpha)| s * s / alpha).sum();
        let updated: Vec<f64> = (0..s.len())
            .map(|i| {
                let alpha = self.alpha[i];
                (a / (b * alpha) + y[i] * y[i] / b - a * s[i] * s[i] / (b * c * alpha * alpha)).recip()
            })
            .collect();
        if updated.iter().all(|x| *x > 0.0 && x.is_finite()) {
            self.alpha = updated;
            self.pairs.push_back((s, y));
            if self.pairs.len() > MEMORY {
                self.pairs.pop_front();
            }
        }
    }

    /// The Gaussian at a place; None if rounding leaves no covariance.
    fn gaussian(&self, at: &[f64], slope: &[f64]) -> Option<Thin> {
        let (d, m) = (at.len(), self.pairs.len());
        if m == 0 {
            return None;
        }
        let roots: Vec<f64> = self.alpha.iter().map(|a| a.sqrt()).collect();
        let mut v = vec![0.0; d * 2 * m];
        for (k, (s, y)) in self.pairs.iter().enumerate() {
            for i in 0..d {
                v[i * 2 * m + k] = roots[i] * y[i];
                v[i * 2 * m + m + k] = s[i] / roots[i];
            }
        }
        let mut q = Thin::new(at.to_vec(), roots, &v, &self.middle())?;
        // θ + C (Cᵀ ∇log p(θ)).
        q.mean = q.place(&q.pull(slope, 1), 1);
        q.mean.iter().all(|x| x.is_finite()).then_some(q)
    }

    /// γ.
    fn middle(&self) -> Vec<f64> {
        let m = self.pairs.len();
        // The transpose of R, lower triangular.
        let mut lower = vec![0.0; m * m];
        let mut inner = vec![0.0; m * m];
        for (i, (s, _)) in self.pairs.iter().enumerate() {
            for (j, (_, y)) in self.pairs.iter().enumerate().skip(i) {
                lower[j * m + i] = dot(s, y);
            }
        }
        for (i, (s, y)) in self.pairs.iter().enumerate() {
            for (j, (_, other)) in self.pairs.iter().enumerate() {
                inner[i * m + j] =
                    y.iter().zip(other).zip(&self.alpha).map(|((a, b), alpha)| a * b * alpha).sum();
            }
            inner[i * m + i] += dot(s, y);
        }
        let mut inverse: Vec<f64> = (0..m * m).map(|p| f64::from(p / m == p % m)).collect();
        solve_lower_transposed_many(&lower, &mut inverse, [m, m]);
        let mut gamma = vec![0.0; 4 * m * m];
        for i in 0..m {
            for j in 0..m {
                gamma[i * 2 * m + m + j] = -inverse[i * m + j];
                gamma[(m + j) * 2 * m + i] = -inverse[i * m + j];
                let product: f64 =
                    (0..m * m).map(|p| inverse[p / m * m + i] * inner[p] * inverse[p % m * m + j]).sum();
                gamma[(m + i) * 2 * m + m + j] = product;
            }
        }
        gamma
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The estimate of the inverse Hessian takes the last change of slope back to the last step, as every
    /// BFGS estimate does.
    #[test]
    fn the_inverse_hessian_satisfies_the_secant_equation() {
        let d = 5;
        let mut stream = Stream::new(4, 4, 4);
        let h: Vec<f64> = (0..d).map(|i| 1.0 + 3.0 * i as f64).collect();
        let slope =
            |z: &[f64]| -> Vec<f64> { (0..d).map(|i| -h[i] * z[i] - 0.3 * z.iter().sum::<f64>()).collect() };
        let mut memory = Memory::new(d);
        let mut at = vec![1.0; d];
        for _ in 0..9 {
            let next: Vec<f64> = at.iter().map(|x| x + stream.normal()).collect();
            memory.add(&at, &slope(&at), &next, &slope(&next));
            at = next;
        }
        assert_eq!(memory.pairs.len(), MEMORY);
        let covariance = memory.gaussian(&at, &slope(&at)).unwrap().covariance();
        let (s, y) = memory.pairs.back().unwrap();
        for (row, s) in covariance.chunks_exact(d).zip(s) {
            assert!((dot(row, y) - s).abs() < 1e-9 * (1.0 + s.abs()));
        }
    }
}
