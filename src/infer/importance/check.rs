//! Importance draws from the best proposal, their summaries, and what they say against the answer.

use crate::infer::approximate::transport::map::Warped;
use crate::infer::importance::budget;
use crate::infer::importance::budget::Drawn;
use crate::infer::importance::{affine, resample, sample, summary};
use crate::infer::proposal::flow::Reached;
use crate::infer::proposal::trials;
use crate::infer::sampling::chains;
use crate::infer::{Ending, Finding, Fit, KHAT_LIMIT, Nuts, Options, Output, Path};
use rayon::prelude::*;

/// Quantities named where weights are heavy.
const NAMED: usize = 3;
/// A parameter with a larger mean or standard deviation is taken to run off to infinity.
const ENDLESS: f64 = 1e100;
/// Weights with a smaller k̂ are not what makes a standard error larger than this, in standard deviations,
/// after so many draws: the quantity has tails of its own.
const EVEN: f64 = 0.5;
const LARGE: f64 = 0.1;
/// A standard error of so many standard deviations leaves one mean in a hundred further off than a tenth of
/// one, which is what makes an answer wrong.
const MATTERS: f64 = 0.04;
/// Draws that summarise the Gaussian itself.
pub(in crate::infer) const PLAIN: usize = 2048;

/// Importance sampling from the best proposal, and the summaries.
pub(in crate::infer) fn check(reached: &Reached, options: &Options) -> Fit {
    let (flat, q) = reached.plain;
    let names = flat.model().output_names();
    let judged = names.len().saturating_sub(flat.model().beside());
    let plain = match reached.plain_draws {
        Some(pilot) => pilot.outputs(flat, names.len()),
        None => sample::plain(flat, q, PLAIN, &(0..names.len()).collect::<Vec<_>>(), options.seed),
    };
    let copies = if reached.plain_draws.is_some() { flat.copies() } else { 1 };
    let layout = summary::Layout { copies, replicates: sample::REPLICATES };
    let count = plain.first().map_or(0, Vec::len);
    let even = vec![1.0 / count as f64; count];
    let known = match flat.warped().is_some_and(Warped::is_flat) {
        true => affine::summaries(flat.model(), q, &names, options.seed),
        false => vec![None; names.len()],
    };
    let gaussian = summaries(&names, |name, j| match &known[j] {
        Some(known) => known.clone(),
        None => summary::of_draws(name, &plain[j], &even, layout),
    });
    let gradients = reached.gradients;
    let (flow, base) = reached.bent;
    let (proposal, drawn) = trials::draw(reached, names.len(), options);
    let corrected = summaries(&names, |name, j| drawn.summary(name, j));
    let Drawn { ref mass, khat, tail, worst, least_known, margin, .. } = drawn;
    let (log_evidence, draws) = (mass.log, drawn.sample.log_weights().len());
    let astray = drawn.sample.astray().and_then(|z| flow.model().trouble(z));
    let runaways = runaways(&corrected[..judged]);
    let khat = if runaways.is_some() { f64::INFINITY } else { khat };
    let trusted = khat < KHAT_LIMIT;
    let keep = options.keep.min(budget::HELD / names.len().max(1));
    let kept: Vec<Vec<f64>> = match (keep, trusted) {
        (0, _) => Vec::new(),
        (_, true) => by_weight(drawn, keep, names.len()),
        (_, false) if keep <= count => plain.iter().map(|column| column[..keep].to_vec()).collect(),
        (_, false) => {
            let mut more = sample::plain(flat, q, keep, &(0..names.len()).collect::<Vec<_>>(), options.seed);
            more.iter_mut().for_each(|column| column.truncate(keep));
            more
        }
    };
    let mut findings: Vec<Finding> = match runaways {
        Some(runaways) => vec![runaways],
        None if trusted => Vec::new(),
        None => vec![poor(khat, &corrected[..judged], &gaussian)],
    };
    // A standard error that comes from a long tail is itself too small.
    let least = if tail < KHAT_LIMIT { 0.5 } else { 1.0 };
    if trusted && margin < least {
        let endless = khat < EVEN && (tail >= KHAT_LIMIT || worst > LARGE);
        let of = names.get(least_known).cloned();
        findings.push(match endless || tail >= KHAT_LIMIT || worst > MATTERS {
            true => Finding::DrawsUsedUp { worst, of, endless },
            false => Finding::FewDraws { worst, of },
        });
    }
    findings.extend(astray.map(|trouble| Finding::NotANumber { trouble: Box::new(trouble) }));
    let outputs = if trusted { corrected } else { gaussian.clone() };
    let asked = match options.nuts {
        Nuts::Never => false,
        Nuts::WherePoor => !trusted,
        Nuts::Always => true,
    };
    let mut fit = Fit {
        status: Ending::Budget,
        path: Path::Variational,
        mean: q.mean.clone(),
        factor: q.factor.clone(),
        elbo: reached.first[0],
        elbo_se: reached.first[1],
        log_evidence,
        gap_nats: f64::INFINITY,
        half_variance: reached.first[2],
        khat,
        proposal,
        draws,
        gradients,
        seconds: 0.0,
        as_declared: true,
        outputs,
        gaussian,
        kept,
        chains: None,
        findings,
        trace: Vec::new(),
    };
    let modes: Vec<&[f64]> =
        reached.rivals.iter().filter_map(|rival| Some(&rival.q.as_ref()?.mean[..])).collect();
    // Where other modes are is known in the coordinates as fitted alone.
    let (flow, base) = if modes.is_empty() { (flow, base) } else { reached.plain };
    if asked && let Some(warped) = flow.warped() {
        chains::sampled(warped, base, &modes, &names, keep, options).replace(&mut fit);
    }
    fit
}

/// So many draws of each output, chosen by their weights.
fn by_weight(drawn: Drawn, keep: usize, outputs: usize) -> Vec<Vec<f64>> {
    let (sample, weights) = drawn.into_kept(keep);
    let chosen = resample::systematic(&weights, keep);
    let pick = |j: usize| {
        let column = sample.column(j);
        chosen.iter().map(|&i| column[i]).collect()
    };
    (0..outputs).map(pick).collect()
}

/// Says which parameters have no end that can be seen.
fn runaways(outputs: &[Output]) -> Option<Finding> {
    let runs = |o: &&Output| o.mean.abs() > ENDLESS || o.sd > ENDLESS;
    let names: Vec<String> = outputs.iter().filter(runs).map(|o| o.name.clone()).collect();
    (!names.is_empty()).then_some(Finding::Runaway { names })
}

/// Says that k̂ is too large, naming the quantities whose means the weights move most, in standard
/// deviations.
pub(in crate::infer) fn poor(khat: f64, corrected: &[Output], gaussian: &[Output]) -> Finding {
    let moved = |(c, g): (&Output, &Output)| ((c.mean - g.mean).abs() / g.sd, g.name.clone());
    let mut moves: Vec<(f64, String)> =
        corrected.iter().zip(gaussian).map(moved).filter(|(size, _)| size.is_finite()).collect();
    moves.sort_by(|a, b| b.0.total_cmp(&a.0));
    let moved = moves.into_iter().take(NAMED).map(|(_, name)| name).collect();
    Finding::HeavyWeights { khat, moved }
}

pub(in crate::infer) fn summaries(
    names: &[String],
    one: impl Fn(&str, usize) -> Output + Sync,
) -> Vec<Output> {
    names.par_iter().enumerate().map(|(j, name)| one(name, j)).collect()
}
