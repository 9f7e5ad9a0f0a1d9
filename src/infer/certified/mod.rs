//! What a certificate is good for: the plan that the theorems license, the run of that plan, and promises
//! about a fit.

mod coordinates;

pub use coordinates::Coordinates;

use crate::certify::{Certificate, Tier};
use crate::infer::gaussian::Gaussian;
use crate::num::linalg::symmetric_eigen;
use crate::num::stream::Stream;
use crate::target::Target;
use crate::vi::bound::Measure;
use crate::vi::license::{License, cheapest, licenses};
use crate::vi::{self, Scale, Start};
use coordinates::Moved;
use nalgebra::{DMatrix, DVector};

/// Who draws: the promises.
const PURPOSE: u64 = 0x7072_6f6d;
/// Most and fewest draws behind the promises.
const DRAWS: [usize; 2] = [4096, 256];
/// Numbers touched by the gradients of all those draws together, about.
const WORK: usize = 400_000_000;
/// Draws evaluated at once.
const BATCH: usize = 16;
/// Standard errors added for an upper confidence limit of 97.5 %.
const CONFIDENCE: f64 = 1.96;

/// A plan: where, by what, and for how long.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The coordinates, and what is certain there.
    pub coordinates: Coordinates,
    /// Everything licensed there.
    pub licenses: Vec<License>,
    /// The cheapest license for the error asked for, with its number of steps.
    pub chosen: Option<(License, usize)>,
}

/// The plans in raw and in whitened coordinates; None where the constants that they need are not certified.
pub fn plans(target: &dyn Target, certificate: &Certificate, epsilon: f64) -> [Option<Plan>; 2] {
    let gaussian = certificate.tier == Tier::Exact;
    Coordinates::both(target, certificate).map(|coordinates| {
        let coordinates = coordinates?;
        let licenses = licenses(target.dimension(), coordinates.constants, gaussian, coordinates.start);
        let chosen = cheapest(&licenses, epsilon);
        Some(Plan { coordinates, licenses, chosen })
    })
}

/// The result of a plan that was run: a Gaussian in the model's own coordinates.
#[derive(Clone, Debug)]
pub struct Certified {
    /// Its mean.
    pub mean: DVector<f64>,
    /// Its covariance.
    pub covariance: DMatrix<f64>,
    /// Gradients evaluated.
    pub gradients: usize,
    /// Steps taken: fewer than asked for if the watcher stopped the run.
    pub steps: usize,
    /// The bound that holds for this run, in the plan's coordinates. The theorems about distances hold after
    /// any number of steps; those about gaps for runs of a length that was chosen beforehand.
    pub bound: Option<f64>,
}

/// Runs exactly the plan, for `steps` steps.
pub fn run(
    target: &dyn Target,
    plan: &Plan,
    license: &License,
    steps: usize,
    seed: u64,
    watch: &mut vi::Watch<'_>,
) -> Result<Certified, vi::Error> {
    let d = target.dimension();
    let mut config = vi::Config::named(license.method.name)?;
    config.step = Some(vi::Choice::named(license.rule.name)?);
    config.constants = Some(plan.coordinates.constants);
    config.steps = steps;
    config.batch = 1;
    config.seed = seed;
    config.start =
        Start::Scaled { mean: vec![0.0; d], scale: plan.coordinates.constants.smoothness.sqrt().recip() };
    let moved = Moved { target, coordinates: &plan.coordinates };
    let mut fit = vi::fit(&moved, &config, watch)?;
    if let Some(whitening) = &plan.coordinates.whitening {
        whitening.points(&mut fit.mean, [d, 1]);
        let mut factor = fit.factor();
        whitening.points(&mut factor, [d, d]);
        fit.scale = vi::Scale::Dense(factor);
    }
    fit.mean.iter_mut().zip(&plan.coordinates.centre).for_each(|(m, c)| *m += c);
    let covered = fit.rejected == 0 && (!fit.stopped || license.measure == Measure::Distance);
    Ok(Certified {
        covariance: fit.covariance(),
        mean: fit.mean.into(),
        gradients: fit.gradients,
        steps: fit.steps,
        bound: license.after(fit.steps).filter(|_| covered),
    })
}

/// What is certain about a Gaussian `q`, given a lower bound on the curvature of the log density everywhere.
/// The bounds hold at a confidence of 97.5 %, because F and ∇f are averages over draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Promise {
    /// `μ̃`: the least certified curvature in the coordinates in which q is standard normal.
    pub curvature: f64,
    /// `F`, the relative Fisher information, and its standard error.
    pub fisher: f64,
    /// See `fisher`.
    pub fisher_se: f64,
    /// `KL(q ‖ p) ≤ F / 2μ̃`, at the upper limit.
    pub kl: f64,
    /// Every posterior mean lies within so many of q's standard deviations: `√F / μ̃`, at the upper limit.
    pub mean_error: f64,
    /// `f(w) - inf f ≤ ‖∇f(w)‖² / 2μ̃`, at the upper limit.
    pub gap_nats: f64,
    /// The ELBO of q at the lower limit: log p(x) is at least that.
    pub evidence_least: f64,
    /// log p(x) is at most the ELBO plus `F / 2μ̃`, at the upper limits.
    pub evidence_most: f64,
}

/// Promises about a Gaussian in the coordinates of the certificate; None where `μ̃` is not positive, or where
/// bounds are not finite. `work` is about how many numbers one gradient touches.
pub fn promise(
    target: &dyn Target,
    certificate: &Certificate,
    q: &Gaussian,
    work: usize,
    seed: u64,
) -> Option<Promise> {
    let (mean, d) = (&q.mean, q.mean.len());
    let Scale::Dense(factor) = &q.factor else { return None };
    let curvature = relative_curvature(certificate.least_matrix.as_ref()?, factor, d)?;
    let draws = (WORK / work.max(1)).clamp(DRAWS[1], DRAWS[0]);
    let tally = Tally::over_draws(target, mean, factor, draws, seed)?;
    let (fisher, fisher_se) = tally.fisher();
    let upper = fisher + CONFIDENCE * fisher_se;
    let (elbo, elbo_se) = tally.elbo(&q.factor);
    let promise = Promise {
        curvature,
        fisher,
        fisher_se,
        kl: upper / (2.0 * curvature),
        mean_error: upper.sqrt() / curvature,
        gap_nats: tally.gradient_norm_limit().powi(2) / (2.0 * curvature),
        evidence_least: elbo - CONFIDENCE * elbo_se,
        evidence_most: elbo + CONFIDENCE * elbo_se + upper / (2.0 * curvature),
    };
    Some(promise).filter(|p| p.kl.is_finite() && p.evidence_least.is_finite())
}

/// λ_min(Cᵀ H C), rounded down; None unless positive.
fn relative_curvature(least: &[f64], factor: &[f64], d: usize) -> Option<f64> {
    let mut half = vec![0.0; d * d];
    crate::num::linalg::add_product(1.0, least, factor, [d, d, d], &mut half);
    let mut all = vec![0.0; d * d];
    crate::num::linalg::add_transposed_product(1.0, factor, &half, [d, d, d], &mut all);
    let eigen = symmetric_eigen(&all, d)?;
    let error = 16.0 * (d as f64 + 8.0) * f64::EPSILON * eigen.values[d - 1].abs();
    Some(eigen.values[0] - error).filter(|x| *x > 0.0)
}

/// Sums over draws `u` of `r = u + Cᵀ∇log p(m + Cu)` and of what follows from it.
struct Tally {
    d: usize,
    norms: Vec<f64>,
    /// Σ r and Σ r uᵀ, and the sums of their squares.
    first: Vec<f64>,
    squares: Vec<f64>,
    log_ratios: Vec<f64>,
}

impl Tally {
    fn over_draws(
        target: &dyn Target,
        mean: &[f64],
        factor: &[f64],
        draws: usize,
        seed: u64,
    ) -> Option<Tally> {
        let d = mean.len();
        let mut tally = Tally {
            d,
            norms: Vec::new(),
            first: vec![0.0; d + d * d],
            squares: vec![0.0; d + d * d],
            log_ratios: Vec::new(),
        };
        let mut evaluator = target.evaluator();
        let (mut u, mut r) = (vec![0.0; d * BATCH], vec![0.0; d * BATCH]);
        let (mut values, mut gradient) = (vec![0.0; BATCH], vec![0.0; d * BATCH]);
        for k in 0..draws / BATCH {
            Stream::new(seed, PURPOSE, k as u64).fill_normal(&mut u);
            let mut z: Vec<f64> = mean.iter().flat_map(|m| [*m; BATCH]).collect();
            crate::num::linalg::add_product(1.0, factor, &u, [d, d, BATCH], &mut z);
            evaluator.evaluate(&z, BATCH, &mut values, &mut gradient);
            r.copy_from_slice(&u);
            crate::num::linalg::add_transposed_product(1.0, factor, &gradient, [d, d, BATCH], &mut r);
            if values.iter().chain(&r).any(|x| !x.is_finite()) {
                return None;
            }
            (0..BATCH).for_each(|b| tally.add(b, &u, &r, values[b]));
        }
        Some(tally)
    }

    fn add(&mut self, b: usize, u: &[f64], r: &[f64], value: f64) {
        let d = self.d;
        let at = |x: &[f64], i: usize| x[i * BATCH + b];
        let (mut norm, mut length) = (0.0, 0.0);
        for i in 0..d {
            let ri = at(r, i);
            norm += ri * ri;
            length += at(u, i).powi(2);
            self.first[i] += ri;
            self.squares[i] += ri * ri;
            for j in 0..d {
                // Symmetric, as the space of symmetric factors needs it.
                let x = 0.5 * (ri * at(u, j) + at(r, j) * at(u, i));
                self.first[d + i * d + j] += x;
                self.squares[d + i * d + j] += x * x;
            }
        }
        self.norms.push(norm);
        self.log_ratios.push(value + 0.5 * length);
    }

    fn fisher(&self) -> (f64, f64) {
        mean_and_error(&self.norms)
    }

    /// E log p - E log q with all constants.
    fn elbo(&self, factor: &Scale) -> (f64, f64) {
        let (mean, error) = mean_and_error(&self.log_ratios);
        let constant = 0.5 * self.d as f64 * (2.0 * std::f64::consts::PI).ln();
        (mean + constant + factor.log_det(self.d), error)
    }

    /// An upper limit of the norm of the mean of (r, r uᵀ).
    fn gradient_norm_limit(&self) -> f64 {
        let n = self.norms.len() as f64;
        let mean: f64 = self.first.iter().map(|s| (s / n).powi(2)).sum();
        let spread: f64 =
            self.first.iter().zip(&self.squares).map(|(s, q)| (q / n - (s / n).powi(2)).max(0.0) / n).sum();
        mean.sqrt() + CONFIDENCE * spread.sqrt()
    }
}

fn mean_and_error(x: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let variance = x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}
