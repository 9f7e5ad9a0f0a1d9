//! How many importance draws, and from what: enough that their Monte Carlo error does not matter.

use super::flow::Reached;
use super::psis::{Smoothed, smooth, tail};
use super::sample::{Proposal, Sample, plain};
use super::summary::{self, Errors, Output};
use super::{KHAT_LIMIT, Options};
use rayon::prelude::*;

/// Most numbers held of outputs of draws.
pub(super) const HELD: usize = 60_000_000;
/// Most work for importance draws: numbers made on the way.
const WORK: usize = 2_000_000_000;
/// Most importance draws.
const MOST_DRAWS: usize = 131_072;
/// Importance draws to begin with: those of the pilot, where they serve.
const FEWEST: usize = PILOT;
/// Draws without weights that the difference made by weights is added to, and how much better that must be.
const MANY: usize = 16_384;
const BETTER: f64 = 0.6;
/// Most leading coordinates with heavy tails in a proposal.
const HEAVY: usize = 6;
/// So near to the limit k̂ is not known well enough with fewer draws than this.
const UNSURE: std::ops::Range<f64> = 0.6..1.0;
const DECIDED: usize = 32_768;
/// Weights with a k̂ below this, judged by a pilot, need no heavier tails.
const LIGHT: f64 = 0.4;
/// Weights with a k̂ above this, judged by all draws, are compared with those of heavier tails.
const TAILED: f64 = 0.5;
/// A standard error of so many times the one aimed at is large.
const LARGE: f64 = 3.0;
/// Draws that judge a proposal.
pub(super) const PILOT: usize = 2048;

/// Draws from the Gaussian where its weights are light, from a mixture with heavier tails where they are not: by the pilot, or
/// by the draws themselves, because a few draws do not see a far tail.
pub(super) fn draw<'t>(reached: &Reached<'t>, outputs: usize, options: &Options) -> (Proposal, Drawn<'t>) {
    let (flow, q) = reached.bent;
    let (leaders, d) = (flow.leaders(), q.mean.len());
    let mixture =
        if leaders == d && d <= HEAVY { Proposal::Heavy } else { Proposal::Mixture(leaders.min(HEAVY)) };
    let from = |proposal: Proposal| (proposal, enough(reached, proposal, outputs, options));
    let first = from(if reached.judged.khat < LIGHT { Proposal::Gaussian } else { mixture });
    if first.1.khat < TAILED {
        return first;
    }
    let used = first.0;
    let others = [Proposal::Student, mixture].into_iter().filter(|p| *p != used).map(from);
    others.fold(first, |best, other| if other.1.khat < best.1.khat { other } else { best })
}

/// Importance draws with their weights.
pub(super) struct Drawn<'t> {
    pub(super) sample: Sample<'t>,
    pub(super) smoothed: Smoothed,
    /// Tail shape of the weights, or of the weighted squares of the output that is known worst.
    pub(super) khat: f64,
    /// What heavy tails add to the standard errors.
    pub(super) inflation: f64,
    /// The largest standard error of a mean or of a log standard deviation, in standard deviations.
    pub(super) worst: f64,
    /// Many draws without weights, one vector for each output, if the difference that weights make is known so much better
    /// than the weighted draws themselves that it is added to these.
    many: Option<Vec<Vec<f64>>>,
}

impl Drawn<'_> {
    /// Statistics of output `j`.
    pub(super) fn summary(&self, name: &str, j: usize) -> Output {
        let (values, weights) = (self.sample.column(j), &self.smoothed.weights);
        match self.many.as_ref().and_then(|many| many.get(j)) {
            Some(many) => {
                let times = many.len() as f64 / values.len() as f64;
                let error = self.inflation * summary::errors(&values, weights).shifted(times)[0];
                summary::shift(name, &values, weights, many, error)
            }
            None => summary::summarise(name, &values, weights, self.inflation),
        }
    }
}

/// The standard error to reach: the largest of so many errors should stay below 0.04 standard deviations.
pub(super) fn precision(outputs: usize) -> f64 {
    0.04 / (2.0 * (2.0 * outputs.max(1) as f64).ln()).sqrt().max(2.0)
}

/// Draws until the standard error of everything inferred is small, or no more can be held. Predictions do not count: their
/// own noise, heavy-tailed as it may be, says nothing about the fit.
fn enough<'t>(reached: &Reached<'t>, proposal: Proposal, outputs: usize, options: &Options) -> Drawn<'t> {
    let (flow, q) = reached.bent;
    let d = q.mean.len();
    let judged = outputs.saturating_sub(flow.model().predicted());
    let most = (HELD / outputs.max(1))
        .min(WORK / (d * d + 50 * outputs))
        .clamp(FEWEST, MOST_DRAWS)
        .min(flow.most_draws());
    let many = if flow.cheap() && proposal == Proposal::Gaussian { MANY.min(most) } else { 0 };
    let mut sample = match options.draws {
        Some(_) => Sample::new(flow, q, proposal, options.seed),
        None => Sample::begun(flow, q, proposal, &reached.judged.pilot, options.seed),
    };
    let mut count = options.draws.unwrap_or(FEWEST.max(2 * options.keep.min(most))).max(64);
    loop {
        sample.extend(count);
        let smoothed = smooth(&sample.log_weights);
        let errors: Vec<Errors> = (0..judged)
            .into_par_iter()
            .map(|j| summary::errors(&sample.column(j), &smoothed.weights))
            .collect();
        let have = sample.log_weights.len();
        let times = many as f64 / have as f64;
        let (mut place, mut largest) = largest(&errors, |e| e.weighted);
        let shifted = (times > 1.0).then(|| self::largest(&errors, |e| e.shifted(times)));
        let shifted = shifted.filter(|found| found.1 < BETTER * largest);
        if let Some(found) = shifted {
            (place, largest) = found;
        }
        let goal = precision(judged);
        // Where the error of an output stays large, the tail of that output counts too.
        let heavy = inflation(smoothed.khat) * largest > LARGE * goal;
        let khat =
            if heavy { smoothed.khat.max(spread_khat(&sample, &smoothed, place)) } else { smoothed.khat };
        let inflation = inflation(khat);
        let worst = inflation * largest;
        // A k̂ near the limit is decided by more draws; one far above it is not.
        let unsure = UNSURE.contains(&khat) && have < DECIDED;
        let done = options.draws.is_some() || have >= most || (worst <= goal && !unsure);
        if done || (khat >= KHAT_LIMIT && !unsure) || d == 0 {
            // So near to the limit, with errors still large, the upper end of what it may be counts.
            let open = UNSURE.contains(&khat) && worst > LARGE * goal;
            let khat = if open { khat + khat_error(khat, have) } else { khat };
            let many = shifted.map(|_| plain(flow, q, many, judged, options.seed));
            return Drawn { sample, smoothed, khat, inflation, worst, many };
        }
        let needed = have as f64 * ((worst / goal).powi(2) * 1.1).clamp(2.0, 8.0);
        count = (needed as usize).min(most);
    }
}

/// Which output has the largest error, and how large it is.
fn largest(errors: &[Errors], of: impl Fn(&Errors) -> [f64; 2]) -> (usize, f64) {
    let one = |e: &Errors| {
        let [mean, sd] = of(e);
        if mean.is_finite() && sd.is_finite() { mean.max(sd) } else { 0.0 }
    };
    errors.iter().map(one).enumerate().fold((0, 0.0), |m, (j, e)| if e > m.1 { (j, e) } else { m })
}

/// The tail shape of the weights times the squared deviation of one output: what its standard deviation is estimated from.
fn spread_khat(sample: &Sample, smoothed: &Smoothed, output: usize) -> f64 {
    if sample.log_weights.is_empty() || smoothed.weights.is_empty() {
        return f64::NEG_INFINITY;
    }
    let values = sample.column(output);
    let mean: f64 = values.iter().zip(&smoothed.weights).map(|(x, w)| x * w).sum();
    let both = |(x, l): (&f64, &f64)| l + 2.0 * (x - mean).abs().ln();
    let logs: Vec<f64> = values.iter().zip(&sample.log_weights).map(both).collect();
    let khat = smooth(&logs).khat;
    if khat.is_finite() { khat } else { f64::NEG_INFINITY }
}

/// The standard error of k̂ from so many draws: (1 + k) / √M for the M that are in the tail.
fn khat_error(khat: f64, draws: usize) -> f64 {
    (1.0 + khat) / tail(draws).sqrt()
}

/// Standard errors from the weights of a sample miss what its tail hides; the factor is from the mean of a generalised
/// Pareto tail beyond the sample.
fn inflation(khat: f64) -> f64 {
    1.0 + (2.0 * (khat - 0.3)).max(0.0)
}
