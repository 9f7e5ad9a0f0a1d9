//! The end of a fit whose posterior is far from Gaussian: two climbs on fixed draws, one answer, and what it
//! may be short of.
//!
//! Natural gradients measure the ELBO that is left by the Fisher information, which is the curvature of the
//! ELBO where the posterior is Gaussian and may be many times it where it is not. Two climbs A and B on
//! independent fixed draws end at w* + a and w* + b, where a and b are independent and alike. The answer is
//! their mean, whose gap is `½ cᵀH c` with `c = (a + b) / 2` and H the curvature itself; `½ eᵀH e` with `e =
//! (a - b) / 2` has the same law, and four times it is what each climb is better than the other on its own
//! draws, on average. That difference, four times the expected gap, is the bound that is stated; or twice
//! what the noise of as many draws would have the gap be by the Fisher information, if that is more: the
//! difference is a sum over directions, and where a few of them have most of the noise it may be small by
//! chance.

use crate::infer::gaussian::Fitted;
use crate::infer::gaussian::Gaussian;
use crate::infer::importance::elbo::Elbo;
use crate::infer::importance::sample::{layout, log_weights};
use crate::infer::methods::batch::matched;
use crate::infer::methods::fixed::{Fixed, Form};
use crate::infer::methods::job::Approximation;
use crate::infer::methods::saa::Full;
use crate::infer::options::{Options, Stop};
use crate::infer::search::ascent;
use crate::infer::transport::warped::Warped;
use crate::num::stream::{Stream, child};
use crate::target::Target;
use crate::vi::Scale;
use std::ops::ControlFlow;

/// Who draws: the two sets of fixed draws.
const PURPOSE: u64 = 0x706f_6c69;
/// Fixed draws at first, for few coordinates and for each, and at most.
const FIRST: [usize; 2] = [256, 8];
const MOST: usize = 8192;
/// Most steps of a climb, and the stretch of steps that must gain a share of the tolerance.
const STEPS: usize = 60;
const STRETCH: usize = 5;
const SHARE: f64 = 0.02;
/// Fresh draws that must confirm the answer.
const FRESH: usize = 4096;

/// A better answer.
pub(in super::super) struct Polished {
    pub(in super::super) q: Gaussian,
    /// Upper estimate of the ELBO still to gain.
    pub(in super::super) gap: f64,
    pub(in super::super) elbo: f64,
    pub(in super::super) elbo_se: f64,
    /// Draws behind the ELBO.
    pub(in super::super) draws: usize,
}

/// Polishes a Gaussian with a full factor until the gap is below the tolerance, or the draws are as many as
/// are taken. None if fresh draws do not confirm that it is better, or it is to stop. Adds the gradients it
/// took.
pub(in super::super) fn polish(
    target: &dyn Target,
    fitted: &Fitted,
    options: &Options,
    gradients: &mut usize,
) -> Option<Polished> {
    let Options { tolerance, seed, ref stop, .. } = *options;
    let q = &fitted.q;
    let Scale::Dense(factor) = &q.factor else { return None };
    let d = q.mean.len();
    let form = Full { mean: q.mean.clone(), factor: factor.clone() };
    let mut w = vec![0.0; form.size()];
    let mut n = FIRST[0].max(FIRST[1] * (d + 1)).next_power_of_two();
    loop {
        let mut sets = [0, 1].map(|k| Fixed {
            target,
            form: &form,
            u: matched(Stream::new(seed, PURPOSE, (2 * n + k) as u64), d, d, n),
            n,
        });
        let [set_a, set_b] = &mut sets;
        let climb = |set| climb(set, w.clone(), SHARE * tolerance, stop);
        let (a, b) = rayon::join(|| climb(set_a), || climb(set_b));
        let ((a, on_a, steps_a), (b, on_b, steps_b)) = (a?, b?);
        *gradients += n * (steps_a + steps_b);
        if stop.requested() {
            return None;
        }
        let [set_a, set_b] = &sets;
        let apart = 0.5 * ((on_a - set_a.at(&b)?.0) + (on_b - set_b.at(&a)?.0));
        let gap = apart.max(2.0 * fitted.noise / (2 * n) as f64);
        *gradients += 2 * n;
        w = a.iter().zip(&b).map(|(a, b)| 0.5 * (a + b)).collect();
        if gap > tolerance && 2 * n <= MOST {
            n *= 2;
            continue;
        }
        let Approximation::Gaussian(better) = form.approximation(&w)? else { return None };
        let [before, after] = [q, &better].map(|q| {
            Elbo::of(&log_weights(&Warped::flat(target), q, FRESH, child(seed, PURPOSE, 0)), layout(1))
        });
        *gradients += 2 * FRESH;
        let confirmed = apart.is_finite() && after.mean >= before.mean;
        return confirmed.then_some(Polished {
            q: better,
            gap,
            elbo: after.mean,
            elbo_se: after.error,
            draws: FRESH,
        });
    }
}

/// Climbs until a stretch of steps gains less than `enough`: where to, the ELBO there, and its evaluations.
fn climb(set: &mut Fixed<Full>, w: Vec<f64>, enough: f64, stop: &Stop) -> Option<(Vec<f64>, f64, usize)> {
    let mut trail: Vec<f64> = Vec::new();
    let mut end = w.clone();
    let taken = ascent::follow(set, w, STEPS, &mut |at| {
        trail.push(at.value);
        end.clone_from(&at.z);
        let slow = trail.len().checked_sub(STRETCH + 1).is_some_and(|k| at.value - trail[k] < enough);
        if slow || stop.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Some((end, *trail.last()?, taken))
}
