//! Adapts a proposal to its own weights: draws, fits a mixture of Student-t's to the weighted draws, and
//! draws again, while the weights become more even. For posteriors that are bent, or have shoulders, in few
//! coordinates.

use crate::infer::gaussian::Gaussian;
use crate::infer::importance::mass::Mass;
use crate::infer::importance::psis::{effective, smooth};
use crate::infer::importance::sample::Sample;
use crate::infer::options::Options;
use crate::infer::proposal::Proposal;
use crate::infer::proposal::placement::Placement;
use crate::infer::proposal::student::{MOST as MOST_MODES, Students};
use crate::infer::search::rivals::Rival;
use crate::num::stream::child;
use crate::vi::Scale;
use std::sync::Arc;

/// Who draws, for seeds of its own.
const PURPOSE: u64 = 0x6164_6170;

/// Most coordinates: in more, a mixture has too much to learn from its draws.
const MOST: usize = 24;
/// Draws of a round, and how many more for each coordinate; where they are not cheap, a part of that, and
/// where each takes a search.
const DRAWS: usize = 1024;
const DRAWS_EACH: usize = 128;
const NOT_CHEAP: usize = 2;
const SEARCHED: usize = 4;
/// How many times as many draws there are in each round where that did not do, at most, and additions and
/// multiplications that all of them may take.
const MORE: usize = 16;
const OPERATIONS: usize = 2_000_000_000;
/// Most rounds.
const ROUNDS: usize = 10;
/// Rounds without a gain that end it.
const PATIENCE: usize = 2;
/// Weights are flattened until so many draws for each coordinate, or this share of all, are effective.
const EFFECTIVE_EACH: f64 = 8.0;
const EFFECTIVE: f64 = 0.03;

/// How many times as many draws for each round are worth trying, one after the other: a few draws see little
/// of a shoulder, and where they cost little many see it all.
pub(in crate::infer) fn efforts(flow: &dyn Placement, q: &Gaussian) -> Vec<usize> {
    let once = ROUNDS * draws(flow, q.mean.len()) * flow.model().operations().max(1);
    let more = if flow.places_cheaply() { (OPERATIONS / once).min(MORE) } else { 1 };
    [1, more].into_iter().take(if more > 1 { 2 } else { 1 }).collect()
}

/// Draws of a round.
fn draws(flow: &dyn Placement, d: usize) -> usize {
    let part = match (flow.places_cheaply(), flow.searches_each_draw()) {
        (true, _) => 1,
        (false, false) => NOT_CHEAP,
        (false, true) => SEARCHED,
    };
    (DRAWS + DRAWS_EACH * d) / part
}

/// The proposal with the most even weights, begun at a Gaussian and at those of other modes, by so many times
/// as many draws as usual.
pub(in crate::infer) fn adapt(
    flow: &dyn Placement,
    q: &Gaussian,
    rivals: &[Rival],
    effort: usize,
    options: &Options,
) -> Option<Arc<dyn Proposal>> {
    let (d, policy) = (q.mean.len(), &options.policy);
    if d == 0 || d > MOST {
        return None;
    }
    let count = effort * draws(flow, d);
    let mut current = Arc::new(Students::around(&modes(q, rivals)?)?);
    let mut best: Option<(f64, Mass, Arc<Students>)> = None;
    let mut idle = 0;
    for round in 0..ROUNDS as u64 {
        let proposal: Arc<dyn Proposal> = current.clone();
        let sample = Sample::new(flow, q, proposal, child(options.seed, PURPOSE, round));
        let (points, log_weights) = sample.probes(count);
        let smoothed = smooth(&log_weights);
        let even = effective(&smoothed.weights) / log_weights.len() as f64
            - (smoothed.khat - policy.khat_adapted).max(0.0);
        idle += 1;
        // Weights are even, too, where draws no longer come to a part of the posterior: its mass is missing
        // then.
        let mass = Mass::new(&log_weights);
        let preferred = |best: &(f64, Mass, Arc<Students>)| {
            let overlooks = |a: &Mass, b: &Mass| b.exceeds(a, policy.mass_errors, policy.mass_same);
            !overlooks(&mass, &best.1) && (even > best.0 || overlooks(&best.1, &mass))
        };
        if best.as_ref().is_none_or(preferred) {
            best = Some((even, mass, Arc::clone(&current)));
            idle = 0;
        }
        if even > policy.share_adapted || idle >= PATIENCE || options.stop.requested() {
            break;
        }
        let Some(next) = current.fitted(&points, &flattened(&log_weights, d)) else { break };
        current = Arc::new(next);
    }
    best.map(|(_, _, mixture)| mixture as Arc<dyn Proposal>)
}

/// The masses, means and factors of all modes; None where one is not known.
fn modes<'a>(q: &'a Gaussian, rivals: &'a [Rival]) -> Option<Vec<(f64, &'a [f64], &'a [f64])>> {
    let of = |mass: f64, q: &'a Gaussian| match &q.factor {
        Scale::Dense(factor) => Some((mass, &q.mean[..], &factor[..])),
        Scale::Diagonal(_) => None,
    };
    let others = rivals.iter().take(MOST_MODES - 1).map(|rival| of(rival.mass(), rival.q.as_ref()?));
    std::iter::once(of(1.0, q)).chain(others).collect()
}

/// Weights that sum to one, raised to a power below one where few draws would count.
fn flattened(log_weights: &[f64], d: usize) -> Vec<f64> {
    let wanted = (EFFECTIVE_EACH * d as f64).max(EFFECTIVE * log_weights.len() as f64);
    let mut power = 1.0;
    loop {
        let logs: Vec<f64> = log_weights.iter().map(|l| power * l).collect();
        let weights = smooth(&logs).weights;
        if effective(&weights) >= wanted || power < 1e-3 {
            return weights;
        }
        power *= 0.7;
    }
}
