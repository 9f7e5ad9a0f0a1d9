//! Refits a Gaussian in bent coordinates, layer after layer, while that brings it closer to the posterior.

use super::gaussian::{self, Factor, Gaussian};
use super::shape::{self, shape};
use super::warp::{Warp, Warped};
use super::{Options, Proposal, elbo, pilot};
use crate::target::Target;
use std::ops::ControlFlow;

/// A posterior this close to the Gaussian, in half-variances of the log weights, needs no bending.
const CLOSE: f64 = 0.02;
/// Most layers.
const LAYERS: usize = 3;
/// Shares of a layer that are tried.
const SHARES: [f64; 3] = [1.0, 0.5, 0.25];

/// Bent coordinates and the Gaussian in them.
pub(super) struct Bent<'t> {
    pub(super) target: Warped<'t>,
    pub(super) q: Gaussian,
    pub(super) gradients: usize,
}

/// Adds layers while they raise the ELBO; None if none does.
pub(super) fn bend<'t>(
    target: &'t dyn Target,
    q: &Gaussian,
    half_variance: f64,
    options: &Options,
) -> Option<Bent<'t>> {
    let d = q.mean.len();
    if half_variance < CLOSE || matches!(q.factor, Factor::Diagonal(_)) {
        return None;
    }
    let mut bent = Bent { target: Warped { inner: target, layers: Vec::new() }, q: q.clone(), gradients: 0 };
    let mut distance = half_variance;
    let mut best = elbo(&pilot(target, q, Proposal::Gaussian, options.seed).log_weights)[0];
    let count = (8 * d).clamp(2048, 8192);
    for layer in 0..LAYERS {
        let seed = options.seed + 101 * (layer as u64 + 1);
        let Some(found) = shape(&bent.target, &bent.q, count, seed) else { break };
        bent.gradients += count;
        if found.gain < shape::LEAST_GAIN {
            break;
        }
        let Some((next, gradients)) = add(&bent, &found.warp, options) else { break };
        bent.gradients += gradients;
        let [value, error, half] =
            elbo(&pilot(&next.target, &next.q, Proposal::Gaussian, options.seed).log_weights);
        if !(value > best - error) || !(half < distance) {
            break;
        }
        let gained = distance - half;
        (bent.target, bent.q, best, distance) = (next.target, next.q, value, half);
        if distance < CLOSE || gained < 0.1 * distance {
            break;
        }
    }
    (!bent.target.layers.is_empty()).then_some(bent)
}

/// The Gaussian refitted with one more layer, the largest share of it that does no harm.
fn add<'t>(bent: &Bent<'t>, warp: &Warp, options: &Options) -> Option<(Bent<'t>, usize)> {
    let d = bent.q.mean.len();
    let before = elbo(&pilot(&bent.target, &bent.q, Proposal::Gaussian, options.seed).log_weights);
    let standard = Gaussian {
        mean: vec![0.0; d],
        factor: Factor::Dense((0..d * d).map(|p| f64::from(p / d == p % d)).collect()),
    };
    let target = SHARES.iter().find_map(|&share| {
        let mut layers = bent.target.layers.clone();
        layers.push(warp.damped(share));
        let target = Warped { inner: bent.target.inner, layers };
        let after = elbo(&pilot(&target, &standard, Proposal::Gaussian, options.seed).log_weights);
        (after[0] > before[0] - before[1]).then_some(target)
    })?;
    let limits = gaussian::Limits {
        seed: options.seed + 7,
        tolerance: 0.02,
        gradients: (50 * d).clamp(8192, 40_000),
        batch: 32,
    };
    let fitted = gaussian::fit(&target, standard, &limits, &mut |_| ControlFlow::Continue(()))?;
    let gradients = fitted.gradients;
    Some((Bent { target, q: fitted.q, gradients }, gradients))
}
