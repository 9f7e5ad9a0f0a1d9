//! Draws from a proposal around a fitted Gaussian, with their log weights.

use super::gaussian::Gaussian;
use crate::num::sobol::Sobol;
use crate::num::special::{inv_gamma_p, lgamma};
use crate::num::stream::Stream;
use crate::target::Target;
use rayon::prelude::*;

/// Who draws: importance sampling.
const PURPOSE: u64 = 0x7073_6973;
/// Draws evaluated together.
const BLOCK: usize = 64;
/// Degrees of freedom of the heavy-tailed proposal.
const FREEDOM: f64 = 8.0;
const LOG_TWO_PI: f64 = 1.837_877_066_409_345_5;

/// What the draws come from; both have the mean and scale of the fitted Gaussian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proposal {
    /// The Gaussian itself.
    Gaussian,
    /// A multivariate Student-t with eight degrees of freedom.
    Student,
}

/// Draws of a proposal, block by block: they can be added to.
pub(super) struct Sample<'t> {
    target: &'t dyn Target,
    q: &'t Gaussian,
    proposal: Proposal,
    seed: u64,
    sobol: Option<Sobol>,
    /// For each block the outputs (output `j` of draw `b` at `j * BLOCK + b`).
    outputs: Vec<Vec<f64>>,
    /// `log p - log q` of every draw.
    pub(super) log_weights: Vec<f64>,
}

impl<'t> Sample<'t> {
    /// No draws yet: they will be those of a scrambled Sobol sequence where it has enough dimensions, random beyond.
    pub(super) fn new(target: &'t dyn Target, q: &'t Gaussian, proposal: Proposal, seed: u64) -> Sample<'t> {
        let sobol = Sobol::new(q.mean.len() + 1, seed, PURPOSE);
        Sample { target, q, proposal, seed, sobol, outputs: Vec::new(), log_weights: Vec::new() }
    }

    /// Adds draws until there are `count`, rounded up to whole blocks.
    pub(super) fn extend(&mut self, count: usize) {
        let d = self.q.mean.len();
        let log_det = self.q.factor.log_det(d);
        let have = self.outputs.len();
        let this = &*self;
        let blocks: Vec<(Vec<f64>, Vec<f64>)> = (have..count.div_ceil(BLOCK).max(have))
            .into_par_iter()
            .map_init(
                || this.target.evaluator(),
                |evaluator, block| {
                    let mut log_q = vec![0.0; BLOCK];
                    let z = this.points(block, log_det, &mut log_q);
                    let mut value = vec![0.0; BLOCK];
                    evaluator.log_density(&z, BLOCK, &mut value);
                    log_q.iter_mut().zip(&value).for_each(|(q, p)| *q = p - *q);
                    (this.target.constrain_batch(&z, BLOCK), log_q)
                },
            )
            .collect();
        for (outputs, log_weights) in blocks {
            self.outputs.push(outputs);
            self.log_weights.extend(log_weights);
        }
    }

    /// The points of a block, coordinate by coordinate, and log q at each.
    fn points(&self, block: usize, log_det: f64, log_q: &mut [f64]) -> Vec<f64> {
        let d = self.q.mean.len();
        let mut u = vec![0.0; (d + 1) * BLOCK];
        match &self.sobol {
            Some(sobol) => sobol.fill_uniform((block * BLOCK) as u64, BLOCK, &mut u),
            None => {
                let mut stream = Stream::new(self.seed, PURPOSE, block as u64);
                u.iter_mut().for_each(|x| *x = stream.uniform());
            }
        }
        log_q.copy_from_slice(&place(self.q, self.proposal, &mut u, log_det));
        let mut z = vec![0.0; d * BLOCK];
        self.q.factor.apply(&u, [d, BLOCK], &mut z);
        z.chunks_exact_mut(BLOCK).zip(&self.q.mean).for_each(|(row, m)| row.iter_mut().for_each(|z| *z += m));
        z
    }

    /// All values of output `j`.
    pub(super) fn column(&self, j: usize) -> Vec<f64> {
        self.outputs.iter().flat_map(|block| block[j * BLOCK..(j + 1) * BLOCK].iter().copied()).collect()
    }
}

/// The outputs at `count` draws of the Gaussian itself, without weights: one vector for each output.
pub(super) fn plain(
    target: &dyn Target,
    q: &Gaussian,
    count: usize,
    outputs: usize,
    seed: u64,
) -> Vec<Vec<f64>> {
    let sample = Sample::new(target, q, Proposal::Gaussian, seed);
    let blocks: Vec<Vec<f64>> = (0..count.div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let mut log_q = vec![0.0; BLOCK];
            target.constrain_batch(&sample.points(block, 0.0, &mut log_q), BLOCK)
        })
        .collect();
    let column = |j: usize| {
        blocks.iter().flat_map(|block| block[j * BLOCK..(j + 1) * BLOCK].iter().copied()).collect()
    };
    (0..outputs).map(column).collect()
}

/// Turns uniforms into standard draws of the proposal in place (the last row decides the tails); log q of each.
fn place(q: &Gaussian, proposal: Proposal, u: &mut [f64], log_det: f64) -> Vec<f64> {
    let d = q.mean.len();
    let (u, tails) = u.split_at_mut(d * BLOCK);
    u.iter_mut().for_each(|x| *x = crate::num::special::inv_phi(*x));
    let scale = |t: f64| match proposal {
        Proposal::Gaussian => 1.0,
        Proposal::Student => (0.5 * FREEDOM / inv_gamma_p(0.5 * FREEDOM, t)).sqrt(),
    };
    let scales: Vec<f64> = tails.iter().map(|t| scale(*t)).collect();
    let mut squares = [0.0; BLOCK];
    for row in u.chunks_exact_mut(BLOCK) {
        for ((x, s), square) in row.iter_mut().zip(&scales).zip(&mut squares) {
            *x *= s;
            *square += *x * *x;
        }
    }
    let dims = d as f64;
    let half = 0.5 * (FREEDOM + dims);
    let density = |square: &f64| match proposal {
        Proposal::Gaussian => -0.5 * (square + dims * LOG_TWO_PI) - log_det,
        Proposal::Student => {
            lgamma(half)
                - lgamma(0.5 * FREEDOM)
                - 0.5 * dims * (FREEDOM * std::f64::consts::PI).ln()
                - half * (square / FREEDOM).ln_1p()
                - log_det
        }
    };
    squares.iter().map(density).collect()
}
