//! Draws from a proposal around a fitted Gaussian, with their log weights.

use crate::infer::gaussian::Gaussian;
use crate::infer::importance::errors::Layout;
use crate::infer::importance::group_weights::Local;
use crate::infer::importance::pilot::Pilot;
use crate::infer::importance::screen::Screen;
use crate::infer::importance::weights::Weighed;
use crate::infer::proposal::placement::{Placed, Placement};
use crate::infer::proposal::tails::Tails;
use crate::infer::proposal::{BESIDE, BLOCK, Kind, Proposal};
use crate::num::linalg::{dot, solve_lower};
use crate::num::real::LN_2PI;
use crate::num::sobol::Sobol;
use crate::num::special::log_sum_exp;
use crate::target::Evaluator;
use crate::vi::Scale;
use rayon::prelude::*;
use std::sync::Arc;

/// Who draws: importance sampling.
const PURPOSE: u64 = 0x7073_6973;
/// Sequences of draws, each scrambled by itself, that take turns block by block: how much they differ tells
/// how good they are.
pub(in crate::infer) const REPLICATES: usize = 16;
/// A draw no farther from the middle of a Gaussian, in standard deviations beside the root of its dimension,
/// is where the answer is: a log density that is no number there is not to be taken for a density of zero.
const NEAR: f64 = 3.0;

/// Draws of a proposal, block by block: they can be added to.
pub(in crate::infer) struct Sample<'t> {
    flow: &'t dyn Placement,
    q: &'t Gaussian,
    proposal: Arc<dyn Proposal>,
    /// One for each replicate.
    sobol: Vec<Sobol>,
    pub(in crate::infer) copies: usize,
    /// For each block the outputs (output `j` of point `p` of `n` at `j * n + p`).
    outputs: Vec<Vec<f64>>,
    merged: Merged,
    local: Local,
    /// A point of the model, near the middle of the Gaussian, at which the log density is no number.
    astray: Option<Vec<f64>>,
}

/// Sixty-four draws.
pub(super) struct Block {
    /// What was wanted of them in the coordinates of the Gaussian, and of their points.
    seen: Vec<f64>,
    wanted: Vec<f64>,
    /// `log p - log q` of every point.
    ratios: Vec<f64>,
    /// Where groups have weights of their own: places of the draws, `log q` of the Gaussian less that of the
    /// proposal, and the parts of the groups.
    local: Option<[Vec<f64>; 3]>,
    /// A point near the middle of the Gaussian at which the log density is no number.
    pub(super) astray: Option<Vec<f64>>,
}

impl Block {
    pub(super) fn add_to(self, local: &mut Local) -> (Vec<f64>, Vec<f64>) {
        if let Some([places, shares, gains]) = &self.local {
            local.add(places, shares, gains);
        }
        (self.wanted, self.ratios)
    }
}

/// The weights of draws that have several points each.
#[derive(Clone, Debug, Default)]
pub(super) struct Merged {
    /// For every draw the logarithm of the mean of its points' ratios.
    pub(super) log_weights: Vec<f64>,
    /// For every point its share of its draw.
    shares: Vec<f64>,
}

impl Merged {
    pub(super) fn new(ratios: &[f64], copies: usize) -> Merged {
        let mut merged = Merged::default();
        merged.add(ratios, copies);
        merged
    }

    /// Adds draws.
    fn add(&mut self, ratios: &[f64], copies: usize) {
        // A density without end is rounding.
        let known = |r: &f64| if *r < f64::INFINITY { *r } else { f64::NEG_INFINITY };
        if copies == 1 {
            self.log_weights.extend(ratios.iter().map(known));
            return self.shares.resize(self.log_weights.len(), 1.0);
        }
        let ratios: Vec<f64> = ratios.iter().map(known).collect();
        for ratios in ratios.chunks_exact(copies) {
            let total = log_sum_exp(ratios);
            self.log_weights.push(total - (copies as f64).ln());
            let share = |r: &f64| if total.is_finite() { (r - total).exp() } else { 1.0 / copies as f64 };
            self.shares.extend(ratios.iter().map(share));
        }
    }
}

impl<'t> Sample<'t> {
    /// No draws yet: they will be those of scrambled Sobol sequences.
    pub(in crate::infer) fn new(
        flow: &'t dyn Placement,
        q: &'t Gaussian,
        proposal: Arc<dyn Proposal>,
        seed: u64,
    ) -> Sample<'t> {
        let rows = q.mean.len() + flow.standard() + BESIDE;
        let replicate = |r: u64| Sobol::new(rows, seed, PURPOSE + (r << 32));
        let sobol = (0..REPLICATES as u64).into_par_iter().map(replicate).collect();
        let (outputs, merged, local) = (Vec::new(), Merged::default(), Local::default());
        let copies = flow.copies();
        Sample { flow, q, proposal, sobol, copies, outputs, merged, local, astray: None }
    }

    /// Takes the draws of a pilot, of the same Gaussian in the same coordinates with the same seed, as the
    /// first, if they serve.
    pub(in crate::infer) fn begin(&mut self, pilot: &Pilot) {
        if self.proposal.kind() == Kind::Gaussian {
            let (model, points) = (self.flow.model(), BLOCK * self.copies);
            self.outputs = pilot.places.par_iter().map(|z| model.constrain_batch(z, points)).collect();
            self.merged = Merged::new(&pilot.ratios, self.copies);
            self.local = pilot.local.clone();
            self.astray = pilot.astray.clone();
        }
    }

    /// A point of the model, near the middle of the Gaussian, at which the log density is no number.
    pub(in crate::infer) fn astray(&self) -> Option<&[f64]> {
        self.astray.as_deref()
    }

    /// Adds draws until there are `count`, rounded up to whole blocks.
    pub(in crate::infer) fn extend(&mut self, count: usize) {
        let (model, points) = (self.flow.model(), BLOCK * self.copies);
        let have = self.outputs.len();
        for block in self.blocks(have, count, nothing, |z| model.constrain_batch(&z, points)) {
            self.astray = self.astray.take().or_else(|| block.astray.clone());
            let (outputs, ratios) = block.add_to(&mut self.local);
            self.outputs.push(outputs);
            self.merged.add(&ratios, self.copies);
        }
    }

    /// The draws from block `have` on until there are `count`: what is wanted of them in the coordinates of
    /// the Gaussian and of their points in the model, and `log p - log q` of each.
    pub(super) fn blocks(
        &self,
        have: usize,
        count: usize,
        seen: impl Fn(&[f64]) -> Vec<f64> + Sync,
        wanted: impl Fn(Vec<f64>) -> Vec<f64> + Sync,
    ) -> Vec<Block> {
        let log_det = self.q.factor.log_det(self.q.mean.len());
        let block = |evaluator: &mut Box<dyn Evaluator + '_>, block: usize| {
            let mut log_q = vec![0.0; BLOCK];
            let w = self.points(block, log_det, &mut log_q);
            let places = (self.flow.groups() > 0).then(|| standardised(self.q, &w));
            let seen = seen(&w);
            let mut placed = self.flow.place(w.clone(), BLOCK, evaluator.as_mut());
            let astray = self.first_astray(&w, &placed);
            for (points, q) in placed.log_density.chunks_exact_mut(self.copies).zip(&log_q) {
                points.iter_mut().for_each(|p| *p -= q);
            }
            let local = places.map(|places| {
                let d = self.q.mean.len();
                let share = |(u, q): (&[f64], &f64)| normal(u, d) - log_det - q;
                let shares = places.chunks_exact(d).zip(&log_q).map(share).collect();
                [places, shares, placed.gains]
            });
            Block { seen, wanted: wanted(placed.points), ratios: placed.log_density, local, astray }
        };
        let range = have..count.div_ceil(BLOCK).max(have);
        // Draws of the Gaussian tell its ELBO too, for which each counts.
        let screen =
            if self.proposal.kind() == Kind::Gaussian { None } else { Screen::new(self.flow, self.q) };
        let evaluator = || {
            let inner = self.flow.model().evaluator();
            match &screen {
                Some(screen) => screen.before(inner),
                None => inner,
            }
        };
        range.into_par_iter().map_init(evaluator, block).collect()
    }

    /// The first point of a block at which the log density is no number, though its draw is near the middle
    /// of the Gaussian.
    fn first_astray(&self, w: &[f64], placed: &Placed) -> Option<Vec<f64>> {
        if placed.log_density.iter().all(|p| !p.is_nan()) {
            return None;
        }
        let d = self.q.mean.len();
        let farthest = (d as f64).sqrt() + NEAR;
        let near: Vec<bool> =
            standardised(self.q, w).chunks_exact(d).map(|u| dot(u, u).sqrt() < farthest).collect();
        let n = placed.log_density.len();
        let p = (0..n).find(|&p| placed.log_density[p].is_nan() && near[p / self.copies])?;
        Some(placed.points.iter().skip(p).step_by(n).copied().collect())
    }

    /// The first `count` draws, rounded up to whole blocks, in the coordinates of the Gaussian, one after
    /// another, and their log weights.
    pub(in crate::infer) fn probes(&self, count: usize) -> (Vec<f64>, Vec<f64>) {
        let d = self.q.mean.len();
        let draws = |w: &[f64]| (0..BLOCK * d).map(|p| w[p % d * BLOCK + p / d]).collect();
        let blocks = self.blocks(0, count, draws, |_| Vec::new());
        let (points, ratios): (Vec<_>, Vec<_>) =
            blocks.into_iter().map(|block| (block.seen, block.ratios)).unzip();
        (points.concat(), Merged::new(&ratios.concat(), self.copies).log_weights)
    }

    /// How its points hang together.
    pub(in crate::infer) fn layout(&self) -> Layout {
        layout(self.copies)
    }

    /// Weights of the draws.
    pub(in crate::infer) fn weigh(&self) -> Weighed {
        Weighed::new(&self.merged.log_weights, &self.local)
    }

    /// The group that an output follows from.
    pub(in crate::infer) fn group_of(&self, output: usize) -> Option<usize> {
        self.flow.group_of(output)
    }

    /// Log weights of the draws.
    pub(in crate::infer) fn log_weights(&self) -> &[f64] {
        &self.merged.log_weights
    }

    /// For every point its share of its draw.
    pub(in crate::infer) fn shares(&self) -> &[f64] {
        &self.merged.shares
    }

    /// Weights of the points, given those of the draws.
    pub(in crate::infer) fn spread(&self, weights: &[f64]) -> Vec<f64> {
        let points = self.merged.shares.chunks_exact(self.copies).zip(weights);
        points.flat_map(|(shares, w)| shares.iter().map(move |s| s * w)).collect()
    }

    /// The points of a block, coordinate by coordinate, and log q at each.
    fn points(&self, block: usize, log_det: f64, log_q: &mut [f64]) -> Vec<f64> {
        let d = self.q.mean.len();
        let mut u = vec![0.0; (d + self.flow.standard() + BESIDE) * BLOCK];
        let first = (block / REPLICATES * BLOCK) as u64;
        self.sobol[block % REPLICATES].fill_uniform(first, BLOCK, &mut u);
        self.proposal.draw(self.q, u, log_det, log_q)
    }

    /// All values of output `j`, point by point.
    pub(in crate::infer) fn column(&self, j: usize) -> Vec<f64> {
        column(&self.outputs, BLOCK * self.copies, j)
    }
}

/// `log p - log q` at so many draws of a Gaussian.
pub(in crate::infer) fn log_weights(flow: &dyn Placement, q: &Gaussian, draws: usize, seed: u64) -> Vec<f64> {
    let blocks =
        Sample::new(flow, q, Arc::new(Tails::Gaussian), seed).blocks(0, draws, nothing, |_| Vec::new());
    blocks.into_iter().flat_map(|block| block.ratios).collect()
}

/// The outputs at `count` draws of the Gaussian itself, without weights, as far as a glance tells them: one
/// vector for each output that is wanted.
pub(in crate::infer) fn plain(
    flow: &dyn Placement,
    q: &Gaussian,
    count: usize,
    wanted: &[usize],
    seed: u64,
) -> Vec<Vec<f64>> {
    let sample = Sample::new(flow, q, Arc::new(Tails::Gaussian), seed);
    let blocks: Vec<Vec<f64>> = (0..count.div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let mut log_q = vec![0.0; BLOCK];
            let z = flow.glance(sample.points(block, 0.0, &mut log_q), BLOCK);
            let all = flow.model().constrain_batch(&z, BLOCK);
            wanted.iter().flat_map(|&j| all[j * BLOCK..(j + 1) * BLOCK].iter().copied()).collect()
        })
        .collect();
    (0..wanted.len()).map(|j| column(&blocks, BLOCK, j)).collect()
}

/// For draws that are wanted as points of the model alone.
pub(super) fn nothing(_: &[f64]) -> Vec<f64> {
    Vec::new()
}

/// Output `j` of blocks of so many points.
pub(super) fn column(blocks: &[Vec<f64>], points: usize, j: usize) -> Vec<f64> {
    let mut out = Vec::with_capacity(blocks.len() * points);
    blocks.iter().for_each(|block| out.extend_from_slice(&block[j * points..(j + 1) * points]));
    out
}

/// How the points of draws of so many copies hang together.
pub(in crate::infer) fn layout(copies: usize) -> Layout {
    Layout { copies, replicates: REPLICATES }
}

/// Places of a block (coordinate by coordinate) in the standard coordinates of a Gaussian, draw by draw.
fn standardised(q: &Gaussian, w: &[f64]) -> Vec<f64> {
    let d = q.mean.len();
    let mut out = vec![0.0; d * BLOCK];
    for (b, u) in out.chunks_exact_mut(d).enumerate() {
        (0..d).for_each(|i| u[i] = w[i * BLOCK + b] - q.mean[i]);
        match &q.factor {
            Scale::Dense(c) => solve_lower(c, d, u),
            Scale::Diagonal(s) => u.iter_mut().zip(s).for_each(|(u, s)| *u /= s),
        }
    }
    out
}

/// The log density of standard normal coordinates.
fn normal(u: &[f64], d: usize) -> f64 {
    -0.5 * (u.iter().map(|u| u * u).sum::<f64>() + d as f64 * LN_2PI)
}
