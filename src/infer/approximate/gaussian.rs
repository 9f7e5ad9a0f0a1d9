//! Fits a Gaussian by natural-gradient steps on sticking-the-landing estimates, with batches that grow as
//! noise dominates.
//!
//! With `z = m + C u` and the residual `r = u + Cᵀ∇log p(z)`, which vanishes where q and p agree, the
//! gradient of the ELBO in q's own coordinates is `E r` for the mean and `A = sym E[r uᵀ]` for the
//! covariance. To second order the ELBO that is left to gain is `½‖E r‖² + ¼‖A‖²`, and the natural-gradient
//! step `m + C E r`, `C (I + Φ(A))` (Φ: lower triangle, half the diagonal) takes it all. Draws come in
//! independent groups, so that the gap is estimated without bias from products of different groups, and its
//! noise from their spread. The gap that is reported comes from draws that had no part in choosing the
//! Gaussian: the larger of two bounds by batches of their own, because a fit ends where a bound is small,
//! which it may be by chance.

use crate::infer::approximate::measure::{GROUPS, Measure, measure};
use crate::infer::gaussian::{Fitted, Gaussian};
use crate::infer::options::Stop;
use crate::infer::progress::{Ending, Progress};
use crate::num::linalg::{dot, lower_product};
use crate::target::Target;
use crate::vi::Scale;
use std::ops::ControlFlow;

/// Draws of a group at the start.
pub(in crate::infer) const FIRST: usize = 8;
/// A gap below this is the rounding of a target that is Gaussian.
const EXACT: f64 = 1e-13;
/// Standard deviation of the log weights of a Gaussian posterior, which is rounding: in nats, and as a share
/// of what rounds.
const LEVEL: [f64; 2] = [1e-5, 1e-9];
/// Smallest share of a natural-gradient step worth trying.
const LEAST_STEP: f64 = 1e-5;

impl Gaussian {
    fn shrink(&mut self, by: f64) {
        match &mut self.factor {
            Scale::Dense(c) | Scale::Diagonal(c) => c.iter_mut().for_each(|x| *x *= by),
        }
    }

    /// A share `rho` of the natural-gradient step, no longer than a trust radius.
    fn step(&self, measure: &Measure, rho: f64) -> Gaussian {
        let d = self.mean.len();
        let root = (d as f64).sqrt();
        let total = &measure.average;
        let (r, a) = total.split_at(d);
        let length = dot(r, r).sqrt() * std::f64::consts::SQRT_2;
        let scale = rho.min((0.7 + 0.1 * root) / length.max(f64::MIN_POSITIVE)) * std::f64::consts::SQRT_2;
        let local: Vec<f64> = r.iter().map(|x| scale * x).collect();
        let mut mean = vec![0.0; d];
        self.factor.apply(&local, [d, 1], &mut mean);
        mean.iter_mut().zip(&self.mean).for_each(|(x, m)| *x += m);
        let spread = 2.0 * dot(a, a).sqrt();
        let rho = rho.min((0.7 + 0.1 * root) / spread.max(f64::MIN_POSITIVE));
        let factor = match &self.factor {
            // Packed diagonal entries are A/2 = Φ, the others A/√2.
            Scale::Diagonal(s) => {
                Scale::Diagonal(s.iter().zip(a).map(|(s, a)| s * (rho * a).clamp(-1.0, 1.0).exp()).collect())
            }
            Scale::Dense(c) => {
                let mut change = vec![0.0; d * d];
                let mut packed = a.iter();
                for i in 0..d {
                    for (j, x) in change[i * d..=i * d + i].iter_mut().enumerate() {
                        let a = rho * packed.next().copied().unwrap_or(0.0);
                        *x = if j == i { a.clamp(-1.0, 1.0).exp() } else { a * std::f64::consts::SQRT_2 };
                    }
                }
                let mut out = vec![0.0; d * d];
                lower_product(c, &change, [d, d], &mut out);
                Scale::Dense(out)
            }
        };
        Gaussian { mean, factor }
    }
}

/// What limits a fit.
pub(in crate::infer) struct Limits {
    pub(in crate::infer) seed: u64,
    pub(in crate::infer) tolerance: f64,
    pub(in crate::infer) gradients: usize,
    /// Draws of a group at the start.
    pub(in crate::infer) batch: usize,
    /// Ends the fit with what it has.
    pub(in crate::infer) stop: Stop,
}

/// A measured Gaussian and the share of its step that was last tried.
struct Tried {
    q: Gaussian,
    measure: Measure,
    share: f64,
}

/// What a batch says of the gap, with standard errors on top for a coverage above 95 % (the error itself is
/// estimated from few groups).
fn bound(m: &Measure) -> f64 {
    m.gap.max(0.0) + 2.5 * m.gap_se
}

/// Most that the ELBO of a draw may vary where a step can be read from it, in roots of the dimension.
const WILD: f64 = 1000.0;

/// Whether a step can be read from a measure: everything is a number (squares of what is finite may not be),
/// and it is not all the work of a few draws far out.
fn usable(m: &Measure, draws: usize, d: usize) -> bool {
    let numbers = [m.gap, m.gap_se, m.noise, m.elbo, m.elbo_se].iter().all(|x| x.is_finite());
    numbers && m.elbo_se * (draws as f64).sqrt() <= WILD * (d as f64).sqrt()
}

/// Whether `log p - log q` is the same at all draws, but for rounding: a log density that jumps has slopes of
/// a Gaussian, and is none.
fn is_level(m: &Measure, draws: usize) -> bool {
    m.elbo_se * (draws as f64).sqrt() <= LEVEL[0] + LEVEL[1] * m.elbo.abs()
}

/// Whether an ELBO is lower than another beyond noise.
fn worse(new: &Measure, old: &Measure) -> bool {
    new.elbo < old.elbo - 4.0 * new.elbo_se.hypot(old.elbo_se) - 1e-9 * (1.0 + old.elbo.abs())
}

/// Fits from a start. None if draws are not finite however narrow the start is made.
pub(in crate::infer) fn fit(
    target: &dyn Target,
    start: Gaussian,
    limits: &Limits,
    watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Option<Fitted> {
    let (mut q, mut n, mut largest, mut gradients) = (start, limits.batch, 0.5_f64, 0);
    let mut last: Option<Tried> = None;
    let mut narrowed = 0;
    // A batch that ends the fit is followed by a fresh one, which decides.
    let mut candidate: Option<f64> = None;
    for iteration in 0_u64.. {
        let found = measure(target, &q, n, limits.seed, iteration * GROUPS as u64);
        gradients += n * GROUPS;
        let spent = gradients + n * GROUPS > limits.gradients;
        let good = found
            .filter(|m| usable(m, n * GROUPS, q.mean.len()))
            .filter(|new| last.as_ref().is_none_or(|old| !worse(new, &old.measure)));
        let Some(new) = good else {
            // Trouble: take the step back, and try a quarter of it; at the start, a narrower start.
            candidate = None;
            match &mut last {
                Some(old) if old.share > LEAST_STEP && !spent => {
                    old.share *= 0.25;
                    largest = 2.0 * old.share;
                    q = old.q.step(&old.measure, old.share);
                }
                Some(_) => break,
                None if narrowed < 40 && !limits.stop.requested() => {
                    narrowed += 1;
                    q.shrink(0.5);
                }
                None => return None,
            }
            continue;
        };
        let gap = bound(&new);
        let progress = Progress { iteration, gradients, elbo: new.elbo, elbo_se: new.elbo_se, gap_nats: gap };
        let stop = watch(&progress).is_break() || limits.stop.requested();
        let d = q.mean.len() as f64;
        let exact = new.gap.max(0.0) + new.noise < EXACT * d && is_level(&new, n * GROUPS);
        let ending = if exact {
            Some(Ending::Exact)
        } else if gap <= limits.tolerance {
            Some(Ending::Converged)
        } else if spent && candidate.is_some() {
            Some(Ending::Budget)
        } else {
            None
        };
        let stated = candidate.map_or(gap, |before| gap.max(before));
        let ended = |ending: Ending| Fitted { gap: stated, ..fitted(q.clone(), &new, gradients, n, ending) };
        if let Some(ending) = ending
            && (exact || candidate.is_some())
        {
            return Some(ended(ending));
        }
        if stop {
            return Some(ended(Ending::Stopped));
        }
        candidate = (ending.is_some() || spent).then_some(gap);
        if candidate.is_some() {
            last = None;
            continue;
        }
        // The share of the step that pays best when its squared length is part gain, part noise.
        let gain = new.gap.max(0.0);
        let share = largest.min((gain / (gain + new.noise)).max(0.02));
        if gain < new.noise {
            n *= 2;
        }
        largest = (1.5 * largest).min(1.0);
        let next = q.step(&new, share);
        last = Some(Tried { q, measure: new, share });
        q = next;
    }
    let old = last?;
    let Tried { q, measure, .. } = old;
    Some(fitted(q, &measure, gradients, n, Ending::Budget))
}

fn fitted(q: Gaussian, m: &Measure, gradients: usize, batch: usize, ending: Ending) -> Fitted {
    let draws = GROUPS * batch;
    let noise = m.noise * draws as f64;
    Fitted { q, gap: bound(m), elbo: m.elbo, elbo_se: m.elbo_se, draws, gradients, noise, batch, ending }
}
