//! Square-root natural gradients (Kumar, Möllenhoff, Khan, Lucchi, 2025): Newton's flow on a root of the
//! precision.
//!
//! The precision is `S = R Rᵀ` with R lower triangular, so that a step cannot leave the positive definite
//! matrices as long as the diagonal of R stays positive; it changes by a factor that is an exponential. The
//! natural gradient of the ELBO is `S' = H - S` with `H = E_q[-∇²log p]` (Price's theorem), which for the
//! root is `R' = R Φ(R⁻¹ H R⁻ᵀ - I)`, Φ taking the lower triangle and half the diagonal; the mean follows
//! with `m' = S⁻¹ E_q[∇log p]`. H is an average of exact Hessians, by products with the columns of the
//! identity.

use crate::infer::approximate::quadrature::precision;
use crate::infer::gaussian::Gaussian;
use crate::infer::importance::elbo::Elbo;
use crate::infer::importance::errors::Layout;
use crate::infer::methods::batch::{add_to_rows, normals, row_means};
use crate::infer::methods::job::{Approximation, Error, Found, Job, Method};
use crate::infer::methods::stepping::{Steps, Time, drive};
use crate::infer::progress::Watch;
use crate::infer::search::whiten;
use crate::num::linalg::{
    add_product_lower, cholesky, dot, lower_product, mirror, solve_lower, solve_lower_many,
    solve_lower_transposed, solve_lower_transposed_many,
};
use crate::num::real::LN_2PI;
use crate::num::stream::Stream;
use crate::vi::Scale;
use rayon::prelude::*;

/// The row.
pub static ROW: Method = Method {
    name: "sqrt-natural-gradient",
    doc: "natural gradients on a root of the precision, with exact Hessians at the draws (Kumar et al. 2025)",
    tunable: true,
    run,
};

/// Who draws: the batches.
const PURPOSE: u64 = 0x7371_7274;
/// Draws a step.
const BATCH: usize = 8;
/// Steps times coordinates, and the most and fewest steps.
const WORK: usize = 2500;
const STEPS: [usize; 2] = [250, 80];
/// Steps at full length once the ELBO no longer rises; then the length falls like one over their number,
/// which averages the noise away.
const FULL: f64 = 10.0;
/// Length of the mean's step in standard deviations, and relative change of the root, that are trusted, for
/// one coordinate and more for each root of their number.
const TRUST: [f64; 2] = [0.7, 0.1];

struct Placement<'a> {
    job: &'a Job<'a>,
    batch: usize,
}

/// Mean and root of the precision.
struct State {
    mean: Vec<f64>,
    root: Vec<f64>,
}

/// What a batch says.
struct Look {
    /// E ∇log p.
    slope: Vec<f64>,
    /// E[-∇²log p], by rows.
    curvature: Vec<f64>,
    elbo: Elbo,
}

fn run(job: &Job, watch: Watch) -> Result<Found, Error> {
    job.holds_a_matrix()?;
    let (start, begun) = job.start(true)?;
    let state = State { root: precision_root(&start).ok_or(Error::Flat)?, mean: start.mean };
    let flow = Placement { job, batch: job.settings.batch.unwrap_or(BATCH) };
    let steps = job.settings.steps.unwrap_or((WORK / job.d).clamp(STEPS[1], STEPS[0]));
    let (q, gradients, ending) = drive(&flow, state, steps, watch)?;
    Ok(Found::new(Approximation::Gaussian(q), begun + gradients, ending))
}

/// The Cholesky factor of the precision of a Gaussian.
fn precision_root(q: &Gaussian) -> Option<Vec<f64>> {
    let d = q.mean.len();
    let mut root = precision(&q.factor.dense(d), d)?;
    cholesky(&mut root, d).ok()?;
    (0..d).for_each(|i| root[i * d + i + 1..(i + 1) * d].fill(0.0));
    Some(root)
}

/// What is trusted in d dimensions.
fn radius(d: usize) -> f64 {
    TRUST[0] + TRUST[1] * (d as f64).sqrt()
}

impl Placement<'_> {
    /// log p, its gradient and minus its Hessian at each draw; None if anything is not finite.
    fn derivatives(&self, z: &[f64]) -> Option<Vec<(f64, Vec<f64>, Vec<f64>)>> {
        let (d, n) = (self.job.d, self.batch);
        (0..n)
            .into_par_iter()
            .map_init(
                || self.job.target.evaluator(),
                |evaluator, b| {
                    let point: Vec<f64> = (0..d).map(|i| z[i * n + b]).collect();
                    let (mut value, mut slope) = ([0.0], vec![0.0; d]);
                    evaluator.evaluate(&point, 1, &mut value, &mut slope);
                    let finite = value[0].is_finite() && slope.iter().all(|g| g.is_finite());
                    let curvature = whiten::curvature(&mut **evaluator, &point)?;
                    finite.then_some((value[0], slope, curvature))
                },
            )
            .collect()
    }
}

impl Steps for Placement<'_> {
    type State = State;
    type Look = Look;

    fn look(&self, state: &State, index: u64) -> Option<Look> {
        let (d, n) = (self.job.d, self.batch);
        let u = normals(Stream::new(self.job.options.seed, PURPOSE, index), d, n);
        let mut z = u.clone();
        solve_lower_transposed_many(&state.root, &mut z, [d, n]);
        add_to_rows(&mut z, &state.mean, n);
        let all = self.derivatives(&z)?;
        let mut logs: Vec<f64> = all.iter().map(|a| a.0).collect();
        for row in u.chunks_exact(n) {
            logs.iter_mut().zip(row).for_each(|(l, u)| *l += 0.5 * u * u);
        }
        let slopes: Vec<f64> = (0..d).flat_map(|i| all.iter().map(move |a| a.1[i])).collect();
        let mut curvature = vec![0.0; d * d];
        for (_, _, h) in &all {
            curvature.iter_mut().zip(h).for_each(|(c, h)| *c += h / n as f64);
        }
        let elbo = Elbo::of(&logs, Layout::INDEPENDENT);
        let log_det: f64 = (0..d).map(|i| state.root[i * d + i].ln()).sum();
        let elbo = elbo.plus(0.5 * d as f64 * LN_2PI - log_det);
        Some(Look { slope: row_means(&slopes, n), curvature, elbo })
    }

    fn elbo(&self, look: &Look) -> Elbo {
        look.elbo
    }

    fn step(&self, state: &State, look: &Look, time: Time, share: f64) -> Option<State> {
        let d = self.job.d;
        let rho = share * (FULL / (time.settled + 1) as f64).min(1.0);
        // R⁻¹ H R⁻ᵀ, H being symmetric.
        let mut local = look.curvature.clone();
        solve_lower_many(&state.root, &mut local, [d, d]);
        let mut local: Vec<f64> = (0..d * d).map(|p| local[p % d * d + p / d]).collect();
        solve_lower_many(&state.root, &mut local, [d, d]);
        let mut change = vec![0.0; d * d];
        for i in 0..d {
            (0..i).for_each(|j| change[i * d + j] = local[i * d + j]);
            change[i * d + i] = 0.5 * (local[i * d + i] - 1.0);
        }
        let length = dot(&change, &change).sqrt();
        let scale = rho.min(radius(d) / length.max(f64::MIN_POSITIVE));
        change.iter_mut().for_each(|x| *x *= scale);
        // The exponential is one plus the change to first order, and positive where negative curvature makes
        // it large.
        (0..d).for_each(|i| change[i * d + i] = change[i * d + i].exp());
        let mut root = vec![0.0; d * d];
        lower_product(&state.root, &change, [d, d], &mut root);
        let mut step = look.slope.clone();
        solve_lower(&root, d, &mut step);
        let length = dot(&step, &step).sqrt();
        let scale = rho.min(radius(d) / length.max(f64::MIN_POSITIVE));
        solve_lower_transposed(&root, d, &mut step);
        let mean: Vec<f64> = state.mean.iter().zip(&step).map(|(m, s)| m + scale * s).collect();
        mean.iter().chain(&root).all(|x| x.is_finite()).then_some(State { mean, root })
    }

    fn narrower(&self, state: &State) -> State {
        State { mean: state.mean.clone(), root: state.root.iter().map(|r| 2.0 * r).collect() }
    }

    fn gaussian(&self, state: &State) -> Option<Gaussian> {
        let d = self.job.d;
        let mut precision = vec![0.0; d * d];
        add_product_lower(1.0, &state.root, &state.root, [d, d], &mut precision);
        mirror(&mut precision, d);
        let factor = whiten::inverse_root(&precision, d, f64::MIN_POSITIVE)?;
        Some(Gaussian { mean: state.mean.clone(), factor: Scale::Dense(factor) })
    }

    fn cost(&self) -> usize {
        self.batch * (1 + 2 * self.job.d)
    }
}
