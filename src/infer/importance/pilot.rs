//! A few draws of a Gaussian, which judge it and may be the beginning of a sample.

use crate::infer::gaussian::Gaussian;
use crate::infer::importance::elbo::Elbo;
use crate::infer::importance::group_weights::Local;
use crate::infer::importance::sample::{Merged, Sample, column, layout, nothing};
use crate::infer::importance::weights::Weighed;
use crate::infer::options::Options;
use crate::infer::proposal::BLOCK;
use crate::infer::proposal::placement::Placement;
use crate::infer::proposal::tails::Tails;
use rayon::prelude::*;
use std::sync::Arc;

/// The first draws of a Gaussian, which judge it and may be the beginning of a sample.
#[derive(Clone, Debug, Default)]
pub(in crate::infer) struct Pilot {
    /// For each block its points in the model (coordinate `i` of point `p` of `n` at `i * n + p`).
    pub(super) places: Vec<Vec<f64>>,
    /// `log p - log q` of every point.
    pub(in crate::infer) ratios: Vec<f64>,
    pub(super) local: Local,
    /// A point at which the log density is no number.
    pub(super) astray: Option<Vec<f64>>,
}

impl Pilot {
    /// The tail shape of the weights of its draws, of so many copies each.
    pub(in crate::infer) fn khat(&self, copies: usize) -> f64 {
        Weighed::new(&Merged::new(&self.ratios, copies).log_weights, &self.local).khat
    }

    /// The outputs at its points: one vector for each output.
    pub(in crate::infer) fn outputs(&self, flow: &dyn Placement, outputs: usize) -> Vec<Vec<f64>> {
        let points = BLOCK * flow.copies();
        let blocks: Vec<Vec<f64>> =
            self.places.par_iter().map(|z| flow.model().constrain_batch(z, points)).collect();
        (0..outputs).map(|j| column(&blocks, points, j)).collect()
    }
}

/// A few draws of a Gaussian, to judge it.
pub(in crate::infer) fn pilot(flow: &dyn Placement, q: &Gaussian, draws: usize, seed: u64) -> Pilot {
    let blocks = Sample::new(flow, q, Arc::new(Tails::Gaussian), seed).blocks(0, draws, nothing, |z| z);
    let mut local = Local::default();
    let astray = blocks.iter().find_map(|block| block.astray.clone());
    let (places, ratios): (Vec<_>, Vec<_>) = blocks.into_iter().map(|block| block.add_to(&mut local)).unzip();
    Pilot { places, ratios: ratios.concat(), local, astray }
}

/// What a few draws tell of a Gaussian.
#[derive(Clone, Debug)]
pub(in crate::infer) struct Judged {
    pub(in crate::infer) elbo: Elbo,
    /// Tail shape of the weights.
    pub(in crate::infer) khat: f64,
    /// The draws.
    pub(in crate::infer) pilot: Pilot,
}

/// Judges a Gaussian by so many draws.
pub(in crate::infer) fn judge(flow: &dyn Placement, q: &Gaussian, draws: usize, options: &Options) -> Judged {
    let pilot = pilot(flow, q, draws, options.seed);
    let copies = flow.copies();
    let elbo = match flow.model().limits() {
        [] => Elbo::of(&pilot.ratios, layout(copies)),
        _ => Elbo::within(&pilot.ratios),
    };
    Judged { elbo, khat: pilot.khat(copies), pilot }
}
