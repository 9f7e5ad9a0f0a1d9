//! Draws of a mixture of Gaussians with equal weights, as many from each, with importance weights; checks and
//! summaries.

use crate::infer::fit::{Fit, Origin};
use crate::infer::gaussian::Gaussian;
use crate::infer::importance::elbo::Elbo;
use crate::infer::importance::errors::Layout;
use crate::infer::importance::estimate::{Estimates, PLAIN, poor, summaries};
use crate::infer::importance::mass::Mass;
use crate::infer::importance::psis::smooth;
use crate::infer::importance::{budget, errors, known, resample, summary};
use crate::infer::methods::thin::Thin;
use crate::infer::options::{Nuts, Options};
use crate::infer::policy::KHAT_LIMIT;
use crate::infer::proposal::Kind;
use crate::infer::sampling::chains::sampled;
use crate::infer::transport::warped::Warped;
use crate::num::real::LN_2PI;
use crate::num::special::log_sum_exp;
use crate::num::stream::Stream;
use crate::target::Target;
use crate::vi::Scale;
use rayon::prelude::*;

/// Who draws: mixtures.
const PURPOSE: u64 = 0x6d69_7874;
/// Draws evaluated together, all from one part.
const BLOCK: usize = 64;
/// Draws for summaries, and most.
const FEWEST: usize = 8192;
const MOST: usize = 131_072;

/// `log p - log q` of draws of the mixture.
pub(super) fn log_weights(target: &dyn Target, parts: &[Thin], count: usize, seed: u64) -> Vec<f64> {
    blocks(target, parts, count, seed, false).into_iter().flat_map(|b| b.log_weights).collect()
}

struct Block {
    log_weights: Vec<f64>,
    /// Output `j` of draw `b` at `j * BLOCK + b`; none if they were not asked for.
    outputs: Vec<f64>,
}

fn blocks(target: &dyn Target, parts: &[Thin], count: usize, seed: u64, with_outputs: bool) -> Vec<Block> {
    // As many from each part.
    let rounds = count.div_ceil(BLOCK * parts.len());
    (0..rounds * parts.len())
        .into_par_iter()
        .map_init(
            || target.evaluator(),
            |evaluator, block| {
                let from = &parts[block % parts.len()];
                let mut u = vec![0.0; from.mean.len() * BLOCK];
                Stream::new(seed, PURPOSE, block as u64).fill_normal(&mut u);
                let z = from.place(&u, BLOCK);
                let mut value = vec![0.0; BLOCK];
                evaluator.log_density(&z, BLOCK, &mut value);
                value.iter_mut().zip(log_density(parts, &z)).for_each(|(p, q)| *p -= q);
                let outputs = if with_outputs { target.constrain_batch(&z, BLOCK) } else { Vec::new() };
                Block { log_weights: value, outputs }
            },
        )
        .collect()
}

/// The log density of the mixture at a block of points.
fn log_density(parts: &[Thin], z: &[f64]) -> Vec<f64> {
    let each: Vec<Vec<f64>> = parts
        .iter()
        .map(|q| {
            let constant = -q.log_det() - 0.5 * q.mean.len() as f64 * LN_2PI;
            let mut out = vec![constant; BLOCK];
            for row in q.standardise(z, BLOCK).chunks_exact(BLOCK) {
                out.iter_mut().zip(row).for_each(|(o, u)| *o -= 0.5 * u * u);
            }
            out
        })
        .collect();
    let share = (parts.len() as f64).ln();
    (0..BLOCK).map(|b| log_sum_exp(&each.iter().map(|e| e[b]).collect::<Vec<_>>()) - share).collect()
}

/// Checks and summaries of a mixture. The mean and the factor reported are those of the part with the largest
/// ELBO.
pub(super) fn assess(target: &dyn Target, parts: &[Thin], origin: Origin, options: &Options) -> Fit {
    let names = target.output_names();
    let most = (budget::HELD / names.len().max(1)).clamp(PLAIN, MOST);
    let mut count = options.draws.unwrap_or(FEWEST).min(most);
    let (drawn, logs, smoothed) = loop {
        let drawn = blocks(target, parts, count, options.seed, true);
        let logs: Vec<f64> = drawn.iter().flat_map(|b| b.log_weights.iter().copied()).collect();
        let smoothed = smooth(&logs);
        let errors = (0..names.len().saturating_sub(target.beside()))
            .map(|j| errors::errors(&column(&drawn, j), &smoothed.weights, Layout::INDEPENDENT, false))
            .map(|e| known::worst(e.weighted));
        if known::margin(errors, false, &options.policy) >= 1.0
            || smoothed.khat >= KHAT_LIMIT
            || count >= most
            || options.draws.is_some()
        {
            break (drawn, logs, smoothed);
        }
        count = (4 * count).min(most);
    };
    let n = logs.len();
    let even = vec![1.0 / n as f64; n];
    let under = |weights: &[f64]| {
        summaries(&names, |name, j| summary::of_draws(name, &column(&drawn, j), weights, Layout::INDEPENDENT))
    };
    let (plain, weighted) = (under(&even), under(&smoothed.weights));
    let trusted = smoothed.khat < KHAT_LIMIT;
    let findings = (!trusted).then(|| poor(smoothed.khat, &weighted, &plain)).into_iter().collect();
    let weights = if trusted { &smoothed.weights } else { &even };
    let keep = options.keep.min(budget::HELD / names.len().max(1));
    let chosen = resample::systematic(weights, keep);
    let pick = |j: usize| {
        let values = column(&drawn, j);
        chosen.iter().map(|&i| values[i]).collect()
    };
    let kept = if keep == 0 { Vec::new() } else { (0..names.len()).map(pick).collect() };
    let q = leader(target, parts, options);
    let estimates = Estimates {
        elbo: Elbo::of(&logs, Layout::INDEPENDENT),
        mass: Mass::new(&logs),
        khat: smoothed.khat,
        proposal: Kind::Gaussian,
        modes: 1,
        draws: n,
        outputs: if trusted { weighted } else { plain.clone() },
        gaussian: plain,
        kept,
        findings,
    };
    let asked = options.nuts != Nuts::Never && !trusted;
    let sampled = asked.then(|| sampled(&Warped::flat(target), &q, &[], options));
    // The Gaussian reported is only a part of the answer: nothing is to be certified about it.
    Fit::assemble(&q, estimates, sampled, Origin { as_declared: false, ..origin })
}

fn column(drawn: &[Block], j: usize) -> Vec<f64> {
    drawn.iter().flat_map(|b| b.outputs[j * BLOCK..(j + 1) * BLOCK].iter().copied()).collect()
}

/// The part with the largest ELBO; a diagonal factor where a full one is too large.
fn leader(target: &dyn Target, parts: &[Thin], options: &Options) -> Gaussian {
    let score = |q: &Thin| {
        let log_weights = log_weights(target, std::slice::from_ref(q), BLOCK, options.seed);
        Elbo::of(&log_weights, Layout::INDEPENDENT).mean
    };
    let best = parts.iter().map(|q| (q, score(q))).reduce(|a, b| if b.1 > a.1 { b } else { a });
    let Some((q, _)) = best else {
        return Gaussian { mean: Vec::new(), factor: Scale::Diagonal(Vec::new()) };
    };
    let dense = (q.mean.len() <= options.dense).then(|| q.dense()).flatten();
    let factor = dense.map_or_else(|| Scale::Diagonal(q.deviations()), |g| g.factor);
    Gaussian { mean: q.mean.clone(), factor }
}
