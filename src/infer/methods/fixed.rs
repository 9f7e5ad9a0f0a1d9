//! Sample-average approximation: the ELBO on fixed draws is a function, climbed by L-BFGS; more draws until
//! it is no illusion.
//!
//! A form says how parameters and standard draws make points, so that the gradient of the average of log p
//! over the draws is that of the log density, pulled back. The draws have the exact second moments of the
//! standard normal where there are enough of them: on a Gaussian target the function is then the ELBO itself.
//! What the climb gains on its own draws and fresh draws do not confirm is the gap; draws are doubled until
//! it is small.

use crate::infer::finding::Finding;
use crate::infer::methods::batch::{evaluate, matched};
use crate::infer::methods::job::{Approximation, Error, Found, Job};
use crate::infer::methods::judge::judge;
use crate::infer::progress::Ending;
use crate::infer::progress::Progress;
use crate::infer::progress::Watch;
use crate::infer::search::ascent;
use crate::num::real::LN_2PI;
use crate::num::stream::{Stream, child};
use crate::target::{Evaluator, Target};
use std::ops::ControlFlow;

/// Who draws: the fixed draws.
const PURPOSE: u64 = 0x6669_7865;
/// Most steps of a climb.
const STEPS: usize = 300;
/// A climb that may have to be repeated with more draws stops where so many steps gain less than so much.
const STRETCH: usize = 10;
const ENOUGH: f64 = 1e-3;
/// Times that a start is made narrower.
const NARROWER: usize = 40;
/// Fresh draws.
const FRESH: usize = 4096;
/// A gap below this, in nats, is small.
const SMALL: f64 = 0.01;
/// Gradients for each coordinate, and the fewest and most in all.
const BUDGET: usize = 2000;
const LIMITS: [usize; 2] = [50_000, 500_000];

/// How parameters w and standard draws u make points.
pub(super) trait Form: Sync {
    /// Standard draws that make one point.
    fn noise(&self) -> usize;

    /// Of these, how many come first and must have exact second moments with all others.
    fn lead(&self) -> usize;

    /// The points, `d × n`.
    fn place(&self, w: &[f64], u: &[f64], n: usize) -> Vec<f64>;

    /// Adds the gradient in w of Σ slope · point.
    fn pull(&self, w: &[f64], u: &[f64], slope: &[f64], n: usize, gradient: &mut [f64]);

    /// The log determinant of the factor; adds its gradient.
    fn log_det(&self, w: &[f64], gradient: &mut [f64]) -> f64;

    /// Halves the standard deviations.
    fn narrow(&self, w: &mut [f64]);

    /// The Gaussian; None if it is not one.
    fn approximation(&self, w: &[f64]) -> Option<Approximation>;
}

/// The ELBO on fixed draws as a log density of the parameters.
pub(super) struct Fixed<'a, F: Form> {
    pub(super) target: &'a dyn Target,
    pub(super) form: &'a F,
    pub(super) u: Vec<f64>,
    pub(super) n: usize,
}

impl<F: Form> Evaluator for Fixed<'_, F> {
    fn evaluate(&mut self, w: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]) {
        for b in 0..draws {
            let point: Vec<f64> = w.iter().skip(b).step_by(draws).copied().collect();
            let (value, slope) = self.at(&point).unwrap_or_else(|| (f64::NAN, vec![f64::NAN; point.len()]));
            log_density[b] = value;
            slope.iter().enumerate().for_each(|(i, s)| gradient[i * draws + b] = *s);
        }
    }
}

impl<F: Form> Fixed<'_, F> {
    /// The ELBO and its gradient.
    pub(super) fn at(&self, w: &[f64]) -> Option<(f64, Vec<f64>)> {
        let z = self.form.place(w, &self.u, self.n);
        if z.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let d = z.len() / self.n;
        let (value, mut slope) = evaluate(self.target, &z, self.n)?;
        let each = 1.0 / self.n as f64;
        slope.iter_mut().for_each(|s| *s *= each);
        let mut gradient = vec![0.0; w.len()];
        self.form.pull(w, &self.u, &slope, self.n, &mut gradient);
        let log_det = self.form.log_det(w, &mut gradient);
        Some((each * value.iter().sum::<f64>() + log_det + 0.5 * d as f64 * (1.0 + LN_2PI), gradient))
    }
}

/// A climb as it goes on.
struct Climb<'a, 'w> {
    job: &'a Job<'a>,
    steps: usize,
    gradients: usize,
    stopped: bool,
    watch: Watch<'w>,
}

impl Climb<'_, '_> {
    /// Climbs on fixed draws, from a narrower start where these are not finite, until a stretch gains less
    /// than `enough`. The parameters reached and the ELBO there.
    fn up<F: Form>(
        &mut self,
        fixed: &mut Fixed<F>,
        mut w: Vec<f64>,
        enough: f64,
    ) -> Result<(Vec<f64>, f64), Error> {
        for _ in 0..NARROWER {
            let mut trail: Vec<f64> = Vec::new();
            let mut reached = None;
            let (before, n) = (self.gradients, fixed.n);
            let (watch, stopped) = (&mut *self.watch, &mut self.stopped);
            let taken = ascent::follow(fixed, w.clone(), self.steps, &mut |at| {
                trail.push(at.value);
                reached = Some((at.z.clone(), at.value));
                let progress = Progress {
                    iteration: trail.len() as u64,
                    gradients: before + n * trail.len(),
                    elbo: at.value,
                    elbo_se: f64::NAN,
                    gap_nats: f64::NAN,
                };
                *stopped |= watch(&progress).is_break();
                let slow = trail.len().checked_sub(STRETCH + 1).is_some_and(|k| at.value - trail[k] < enough);
                if slow || *stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            self.gradients += n * taken.unwrap_or(1);
            if let Some(reached) = reached {
                return Ok(reached);
            }
            fixed.form.narrow(&mut w);
        }
        Err(Error::NotFinite)
    }

    /// The ELBO of the Gaussian with these parameters on fresh draws, beside the one on fixed draws: whether
    /// it is no illusion, and the gap with two standard errors on top.
    fn confirm(&mut self, approximation: &Approximation, value: f64, n: usize) -> (bool, f64) {
        let fresh =
            judge(self.job.target, approximation, FRESH, child(self.job.options.seed, PURPOSE, n as u64));
        self.gradients += FRESH;
        let (gap, margin) = (value - fresh.elbo, 2.0 * fresh.elbo_se);
        (gap <= SMALL.max(margin), gap.max(0.0) + margin)
    }
}

/// Climbs from w with `first` draws, then with twice as many, until fresh draws confirm the ELBO; then to the
/// top.
pub(super) fn climb<F: Form>(
    job: &Job,
    form: &F,
    mut w: Vec<f64>,
    first: usize,
    watch: Watch,
) -> Result<Found, Error> {
    let budget = (BUDGET * job.d).clamp(LIMITS[0], LIMITS[1]);
    let steps = job.settings.steps.unwrap_or(STEPS);
    let mut climb = Climb { job, steps, gradients: 0, stopped: false, watch };
    let mut n = first.next_multiple_of(2);
    loop {
        let mut fixed = Fixed { target: job.target, form, u: draws(job, form, n), n };
        let value;
        (w, value) = climb.up(&mut fixed, w, ENOUGH)?;
        let approximation = form.approximation(&w).ok_or(Error::NotFinite)?;
        let (mut small, mut gap) = climb.confirm(&approximation, value, n);
        if !small && !climb.stopped && climb.gradients + 2 * n * STRETCH < budget {
            n *= 2;
            continue;
        }
        let mut approximation = approximation;
        if small && !climb.stopped {
            let (w, value) = climb.up(&mut fixed, w, 0.0)?;
            approximation = form.approximation(&w).ok_or(Error::NotFinite)?;
            (small, gap) = climb.confirm(&approximation, value, n);
        }
        let ending = match (climb.stopped, small) {
            (true, _) => Ending::Stopped,
            (false, true) => Ending::Converged,
            (false, false) => Ending::Budget,
        };
        let mut found = Found::new(approximation, climb.gradients, ending);
        found.gap = if gap.is_finite() { gap } else { f64::NAN };
        if !small {
            found.findings.push(Finding::FixedDraws { draws: n, gap });
        }
        return Ok(found);
    }
}

/// Draws with as many exact moments as there are draws for.
fn draws<F: Form>(job: &Job, form: &F, n: usize) -> Vec<f64> {
    let rows = form.noise();
    let lead = if 2 * (rows + 1) <= n { rows } else { form.lead() };
    matched(Stream::new(job.options.seed, PURPOSE, n as u64), rows, lead, n)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::num::stream::Stream;
    use crate::target::from_fn;

    /// The gradient of the objective for a target in three dimensions, curved in each, is that of finite
    /// differences.
    pub(in super::super) fn check_gradient<F: Form>(form: &F, w: &[f64]) {
        let target = from_fn(3, |z: &[f64], g: &mut [f64]| {
            (g[0], g[1], g[2]) = (-z[0] - z[1].cos(), -z[1] + z[0] * z[1].sin(), -z[2].exp() + 0.5);
            -0.5 * (z[0] * z[0] + z[1] * z[1]) - z[0] * z[1].cos() - z[2].exp() + 0.5 * z[2]
        });
        let n = 12;
        let u = matched(Stream::new(1, 2, 3), form.noise(), form.lead().min(4), n);
        let mut fixed = Fixed { target: &target, form, u, n };
        let (mut value, mut gradient) = ([0.0], vec![0.0; w.len()]);
        fixed.evaluate(w, 1, &mut value, &mut gradient);
        for i in 0..w.len() {
            let h = 1e-5;
            let [up, down] = [h, -h].map(|h| {
                let mut at = w.to_vec();
                at[i] += h;
                fixed.at(&at).unwrap().0
            });
            let slope = (up - down) / (2.0 * h);
            assert!((slope - gradient[i]).abs() < 1e-6 * (1.0 + slope.abs()), "{i}: {slope} {}", gradient[i]);
        }
    }
}
