//! Refits a Gaussian in bent coordinates, layer after layer, while that brings it closer to the posterior.

use crate::infer::approximate::gaussian;
use crate::infer::attempt::Rule;
use crate::infer::gaussian::Gaussian;
use crate::infer::importance::budget;
use crate::infer::importance::elbo::Elbo;
use crate::infer::importance::pilot::{Judged, judge};
use crate::infer::importance::reached::Reached;
use crate::infer::options::Options;
use crate::infer::proposal::placement::Placement;
use crate::infer::search::rivals::Rival;
use crate::infer::transport::map::Warp;
use crate::infer::transport::residuals::shape;
use crate::infer::transport::warped::Warped;
use crate::num::stream::child;
use crate::target::Target;
use crate::vi::Scale;
use std::ops::ControlFlow;

/// Who draws, for seeds of its own.
const PURPOSE: u64 = 0x6265_6e64;

/// Most layers.
pub(in crate::infer) const LAYERS: usize = 4;
/// Shares of a layer that are tried.
const SHARES: [f64; 3] = [1.0, 0.5, 0.25];

/// Bent coordinates and the Gaussian in them.
pub(in crate::infer) struct Bent<'t> {
    pub(in crate::infer) target: Warped<'t>,
    pub(in crate::infer) q: Gaussian,
    pub(in crate::infer) gradients: usize,
    /// The ELBO before any bending.
    pub(in crate::infer) first: Elbo,
    /// What a few draws tell of it.
    pub(in crate::infer) judged: Judged,
    /// How many they are.
    pub(in crate::infer) draws: usize,
}

impl<'t> Bent<'t> {
    /// No bending.
    pub(in crate::infer) fn straight(target: &'t dyn Target, q: &Gaussian, options: &Options) -> Bent<'t> {
        Bent::judged_by(budget::pilot(target), target, q, options)
    }

    /// The same, it and what comes of it judged by so many draws.
    pub(in crate::infer) fn judged_by(
        draws: usize,
        target: &'t dyn Target,
        q: &Gaussian,
        options: &Options,
    ) -> Bent<'t> {
        let target = Warped::flat(target);
        let judged = judge(&target, q, draws, options);
        Bent { target, q: q.clone(), gradients: 0, first: judged.elbo, judged, draws }
    }
}

impl Bent<'_> {
    /// For importance draws, with the Gaussian as fitted in the coordinates of `flat`.
    pub(in crate::infer) fn reached<'a>(
        &'a self,
        flat: &'a dyn Placement,
        q: &'a Gaussian,
        rivals: &'a [Rival],
    ) -> Reached<'a> {
        Reached {
            rivals,
            plain: (flat, q),
            plain_draws: None,
            bent: (&self.target, &self.q),
            first: self.first,
            judged: &self.judged,
        }
    }
}

/// Adds layers, up to so many in all, while they raise the ELBO.
pub(in crate::infer) fn grow<'t>(mut bent: Bent<'t>, most: usize, options: &Options) -> Bent<'t> {
    let d = bent.q.mean.len();
    if matches!(bent.q.factor, Scale::Diagonal(_)) || !options.follows(Rule::Bending) {
        return bent;
    }
    let count = (32 * d).clamp(2048, 8192);
    while bent.target.layers.len() < most
        && bent.judged.elbo.half_variance > options.policy.spread_unbent
        && !options.stop.requested()
    {
        let seed = child(options.seed, PURPOSE, 1 + bent.target.layers.len() as u64);
        let leaders = bent.target.layers.last().map(Warp::leaders);
        let Some(found) = shape(&bent.target, &bent.q, leaders, count, seed) else { break };
        bent.gradients += count;
        if found.gain < options.policy.gain_of_layer {
            break;
        }
        let Some(next) = add(&bent, &found.warp, options) else { break };
        let gained = next.judged.elbo.mean - bent.judged.elbo.mean;
        if !(gained > 0.0) {
            bent.gradients = next.gradients;
            break;
        }
        bent = next;
        if gained < options.policy.gain_of_layer {
            break;
        }
    }
    bent
}

/// The Gaussian refitted with one more layer, the largest share of it that does no harm.
fn add<'t>(bent: &Bent<'t>, warp: &Warp, options: &Options) -> Option<Bent<'t>> {
    let d = bent.q.mean.len();
    let standard = Gaussian { mean: vec![0.0; d], factor: Scale::identity(d) };
    let Elbo { mean: before, error, half_variance } = bent.judged.elbo;
    let target = SHARES.iter().find_map(|&share| {
        let mut layers = bent.target.layers.clone();
        layers.push(warp.damped(share));
        let target = Warped { inner: bent.target.inner, layers };
        let after = judge(&target, &standard, bent.draws, options).elbo;
        (after.mean > before - error).then_some(target)
    })?;
    let limits = gaussian::Limits {
        seed: child(options.seed, PURPOSE, 0),
        tolerance: (0.1 * half_variance).max(0.02),
        gradients: (20 * d).clamp(4096, 8192),
        batch: 32,
        stop: options.stop.clone(),
    };
    let fitted = gaussian::fit(&target, standard, &limits, &mut |_| ControlFlow::Continue(()))?;
    let judged = judge(&target, &fitted.q, bent.draws, options);
    let gradients = bent.gradients + fitted.gradients;
    Some(Bent { target, q: fitted.q, gradients, first: bent.first, judged, draws: bent.draws })
}
