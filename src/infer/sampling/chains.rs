//! Summaries of NUTS draws, with their R-hat and effective number.

use crate::infer::finding::Finding;
use crate::infer::gaussian::Gaussian;
use crate::infer::importance::budget::HELD;
use crate::infer::importance::resample::systematic;
use crate::infer::importance::summary::{Output, summarise};
use crate::infer::options::{Nuts, Options};
use crate::infer::policy::KHAT_LIMIT;
use crate::infer::sampling::{convergence, nuts};
use crate::infer::search::rivals::Rival;
use crate::infer::transport::layers::Bent;
use crate::infer::transport::map::Warp;
use crate::infer::transport::warped::Warped;
use crate::num::linalg::solve_lower;
use crate::target::Target;
use rayon::prelude::*;

/// Chains with an R-hat above this have not mixed (Vehtari et al., 2021).
pub const RHAT: f64 = 1.01;
/// Fewer effective draws of a quantity than this do not tell its quantiles (Vehtari et al., 2021).
pub const EFFECTIVE: f64 = 400.0;

/// What is known of chains.
#[derive(Clone, Debug, PartialEq)]
pub struct Chains {
    /// How many there are.
    pub count: usize,
    /// Draws of each.
    pub length: usize,
    /// The largest R-hat of a quantity.
    pub rhat: f64,
    /// The smallest effective number of draws of a quantity.
    pub effective: f64,
    /// Transitions that diverged.
    pub divergent: usize,
}

impl Chains {
    /// Whether all chains tell the same, and draws suffice for quantiles.
    pub fn mixed(&self) -> bool {
        self.rhat <= RHAT && self.effective >= EFFECTIVE
    }

    pub(in crate::infer) fn finding(&self) -> Finding {
        let Chains { count, length, rhat, effective, divergent } = *self;
        Finding::Sampled { count, length, rhat, effective, divergent }
    }
}

/// What sampling found.
pub(in crate::infer) struct Sampled {
    pub(in crate::infer) outputs: Vec<Output>,
    /// Draws of each output, as many as were to be kept, evenly from all chains.
    pub(in crate::infer) kept: Vec<Vec<f64>>,
    pub(in crate::infer) chains: Chains,
    pub(in crate::infer) findings: Vec<Finding>,
    pub(in crate::infer) gradients: usize,
}

/// Points in the coordinates in which a Gaussian is standard normal.
fn standardised(points: &[&[f64]], q: &Gaussian) -> Vec<Vec<f64>> {
    let d = q.mean.len();
    let factor = q.factor.dense(d);
    let standard = |point: &&[f64]| {
        let mut away: Vec<f64> = point.iter().zip(&q.mean).map(|(z, m)| z - m).collect();
        solve_lower(&factor, d, &mut away);
        away
    };
    points.iter().map(standard).collect()
}

/// What NUTS finds in bent coordinates, about the Gaussian as fitted and other modes, if the options ask for
/// it where weights have this k̂. Where other modes are is known in the coordinates as fitted alone.
pub(in crate::infer) fn if_asked(
    bent: &Bent,
    q: &Gaussian,
    rivals: &[Rival],
    khat: f64,
    options: &Options,
) -> Option<Sampled> {
    let asked = match options.nuts {
        Nuts::Never => false,
        Nuts::WherePoor => !(khat < KHAT_LIMIT),
        Nuts::Always => true,
    };
    let modes: Vec<&[f64]> = rivals.iter().filter_map(|rival| Some(&rival.q.as_ref()?.mean[..])).collect();
    let flat = Warped::flat(bent.target.inner);
    let (target, q) = if modes.is_empty() { (&bent.target, &bent.q) } else { (&flat, q) };
    asked.then(|| sampled(target, q, &modes, options))
}

/// Samples a target with NUTS in the coordinates of the Gaussian q, from it and from the means of other
/// modes, which are in the same coordinates.
pub(in crate::infer) fn sampled(
    target: &Warped,
    q: &Gaussian,
    modes: &[&[f64]],
    options: &Options,
) -> Sampled {
    let names = target.output_names();
    let keep = options.keep.min(HELD / names.len().max(1));
    let mut layers = target.layers.clone();
    layers.push(Warp::plain(q));
    let standard = Warped { inner: target.inner, layers };
    let chains = nuts::sample(&standard, &standardised(modes, q), keep, options.seed, &options.stop);
    let (length, all) = (chains.length, nuts::CHAINS * chains.length);
    let values: Vec<Vec<f64>> =
        chains.points.par_iter().map(|points| standard.constrain_batch(points, length)).collect();
    let even = vec![1.0 / all as f64; all];
    let rows: Vec<(Output, f64, f64)> = names
        .par_iter()
        .enumerate()
        .map(|(j, name)| {
            let columns: Vec<Vec<f64>> =
                values.iter().map(|v| v[j * length..(j + 1) * length].to_vec()).collect();
            let (rhat, size) = convergence::convergence(&columns);
            let out = summarise(name, &columns.concat(), &even, size.sqrt().recip());
            (out, rhat, size)
        })
        .collect();
    let judged = &rows[..rows.len() - standard.beside().min(rows.len())];
    let rhat = judged.iter().map(|r| r.1).filter(|x| x.is_finite()).fold(1.0, f64::max);
    let size = judged.iter().map(|r| r.2).filter(|x| x.is_finite()).fold(f64::INFINITY, f64::min);
    let (count, divergent) = (nuts::CHAINS, chains.divergent);
    let told = Chains { count, length, rhat, effective: size, divergent };
    let mut findings = Vec::new();
    if !told.mixed() {
        findings.push(Finding::NotMixed { rhat, effective: size });
    }
    if divergent > 0 {
        findings.push(Finding::Divergent { count: divergent, of: all });
    }
    let outputs = rows.into_iter().map(|r| r.0).collect();
    let chosen = systematic(&even, keep);
    let value = |j: usize, i: usize| values[i / length][j * length + i % length];
    let kept = match keep {
        0 => Vec::new(),
        _ => (0..names.len()).map(|j| chosen.iter().map(|&i| value(j, i)).collect()).collect(),
    };
    Sampled { outputs, kept, chains: told, findings, gradients: chains.gradients }
}
