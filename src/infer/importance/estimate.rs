//! What importance draws from the best proposal say: summaries, and what speaks against them.

use crate::infer::finding::{Finding, Severity};
use crate::infer::gaussian::Gaussian;
use crate::infer::importance::budget::Drawn;
use crate::infer::importance::elbo::Elbo;
use crate::infer::importance::mass::Mass;
use crate::infer::importance::reached::Reached;
use crate::infer::importance::summary::Output;
use crate::infer::importance::{affine, budget, errors, resample, sample, summary, trials};
use crate::infer::options::Options;
use crate::infer::policy::{KHAT_LIMIT, Policy};
use crate::infer::proposal::Kind;
use crate::infer::proposal::placement::Placement;
use rayon::prelude::*;

/// Quantities named where weights are heavy.
const NAMED: usize = 3;
/// A parameter with a larger mean or standard deviation is taken to run off to infinity.
const ENDLESS: f64 = 1e100;
/// Draws that summarise the Gaussian itself.
pub(in crate::infer) const PLAIN: usize = 2048;

/// What weighted draws say.
#[derive(Clone)]
pub(in crate::infer) struct Estimates {
    /// The ELBO of the Gaussian as fitted.
    pub(in crate::infer) elbo: Elbo,
    /// The mass of the posterior.
    pub(in crate::infer) mass: Mass,
    pub(in crate::infer) khat: f64,
    pub(in crate::infer) proposal: Kind,
    /// Modes that the proposal began at.
    pub(in crate::infer) modes: usize,
    /// How many there are.
    pub(in crate::infer) draws: usize,
    /// Of the weighted draws where these can be relied on, of the Gaussian where not.
    pub(in crate::infer) outputs: Vec<Output>,
    /// Of the Gaussian.
    pub(in crate::infer) gaussian: Vec<Output>,
    /// Draws of each output, as many as were asked for.
    pub(in crate::infer) kept: Vec<Vec<f64>>,
    pub(in crate::infer) findings: Vec<Finding>,
}

impl Estimates {
    /// Whether they are a reason to doubt the answer.
    pub(in crate::infer) fn is_doubtful(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity() == Severity::Doubtful)
    }

    /// Of a posterior that by its structure is the Gaussian: what is known of that without draws is known of
    /// the posterior.
    pub(in crate::infer) fn known_of_gaussian(mut self) -> Estimates {
        let known = self.outputs.iter_mut().zip(&self.gaussian).filter(|(_, of)| of.mcse == 0.0);
        known.for_each(|(output, of)| output.clone_from(of));
        self
    }
}

/// Importance sampling from the best proposal, and the summaries.
pub(in crate::infer) fn estimate(reached: &Reached, options: &Options) -> Estimates {
    let (flow, q) = reached.plain;
    let names = flow.model().output_names();
    let judged = names.len().saturating_sub(flow.model().beside());
    let plain = Plain::new(reached, names.len(), options);
    let gaussian = plain.summaries(&names, options);
    let (proposal, drawn) = trials::draw(reached, names.len(), options);
    let corrected = summaries(&names, |name, j| drawn.summary(name, j));
    let astray = drawn.sample.astray().and_then(|z| reached.bent.0.model().trouble(z));
    let runaways = runaways(&corrected[..judged]);
    let khat = if runaways.is_some() { f64::INFINITY } else { drawn.khat };
    let trusted = khat < KHAT_LIMIT;
    let mut findings: Vec<Finding> = match runaways {
        Some(runaways) => vec![runaways],
        None if trusted => Vec::new(),
        None => vec![poor(khat, &corrected[..judged], &gaussian)],
    };
    findings.extend(uncertain(&drawn, &names, &options.policy).filter(|_| trusted));
    findings.extend(astray.map(|trouble| Finding::NotANumber { trouble: Box::new(trouble) }));
    let (mass, draws) = (drawn.mass, drawn.sample.log_weights().len());
    let keep = options.keep.min(budget::HELD / names.len().max(1));
    let kept = match (keep, trusted) {
        (0, _) => Vec::new(),
        (_, true) => by_weight(drawn, keep, names.len()),
        (_, false) => plain.kept(flow, q, keep, options.seed),
    };
    let outputs = if trusted { corrected } else { gaussian.clone() };
    let (modes, proposal) = (proposal.modes(), proposal.kind());
    Estimates { elbo: reached.first, mass, khat, proposal, modes, draws, outputs, gaussian, kept, findings }
}

/// Says that standard errors are larger than is aimed at. A standard error that comes from a long tail is
/// itself too small.
fn uncertain(drawn: &Drawn, names: &[String], policy: &Policy) -> Option<Finding> {
    let Drawn { khat, tail, worst, margin, .. } = *drawn;
    if margin >= if tail < KHAT_LIMIT { 0.5 } else { 1.0 } {
        return None;
    }
    let endless = khat < policy.khat_own_tail && (tail >= KHAT_LIMIT || worst > policy.error_of_own_tail);
    let of = names.get(drawn.least_known).cloned();
    Some(match endless || tail >= KHAT_LIMIT || worst > policy.error_matters {
        true => Finding::DrawsUsedUp { worst, of, endless },
        false => Finding::FewDraws { worst, of },
    })
}

/// Draws of the Gaussian as fitted, without weights.
struct Plain<'a> {
    reached: &'a Reached<'a>,
    /// One vector for each output.
    columns: Vec<Vec<f64>>,
    layout: errors::Layout,
}

impl<'a> Plain<'a> {
    fn new(reached: &'a Reached<'a>, outputs: usize, options: &Options) -> Plain<'a> {
        let (flow, q) = reached.plain;
        let (columns, copies) = match reached.plain_draws {
            Some(pilot) => (pilot.outputs(flow, outputs), flow.copies()),
            None => (sample::plain(flow, q, PLAIN, &(0..outputs).collect::<Vec<_>>(), options.seed), 1),
        };
        Plain { reached, columns, layout: sample::layout(copies) }
    }

    /// Without draws where a quantity is affine in the coordinates of the model.
    fn summaries(&self, names: &[String], options: &Options) -> Vec<Output> {
        let (flow, q) = self.reached.plain;
        let count = self.columns.first().map_or(0, Vec::len);
        let even = vec![1.0 / count as f64; count];
        let known = match flow.is_identity() {
            true => affine::summaries(flow.model(), q, names, options.seed),
            false => vec![None; names.len()],
        };
        summaries(names, |name, j| match &known[j] {
            Some(known) => known.clone(),
            None => summary::of_draws(name, &self.columns[j], &even, self.layout),
        })
    }

    /// So many of them, with more where these are too few.
    fn kept(&self, flow: &dyn Placement, q: &Gaussian, keep: usize, seed: u64) -> Vec<Vec<f64>> {
        if self.columns.first().is_none_or(|column| keep <= column.len()) {
            return self.columns.iter().map(|column| column[..keep].to_vec()).collect();
        }
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let mut more = sample::plain(flow, q, keep, &all, seed);
        more.iter_mut().for_each(|column| column.truncate(keep));
        more
    }
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
