//! Draws from a proposal around a fitted Gaussian, with their log weights.

use super::flow::Flow;
use super::gaussian::Gaussian;
use crate::num::real::LN_2PI;
use crate::num::sobol::Sobol;
use crate::num::special::{inv_gamma_p, inv_phi, lgamma, log_sum_exp};
use crate::num::stream::Stream;
use crate::target::Evaluator;
use rayon::prelude::*;

/// Who draws: importance sampling.
const PURPOSE: u64 = 0x7073_6973;
/// Draws evaluated together.
const BLOCK: usize = 64;
/// Degrees of freedom of the heavy-tailed proposal.
const FREEDOM: f64 = 8.0;

/// What the draws come from; all have the mean and scale of the fitted Gaussian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proposal {
    /// The Gaussian itself.
    Gaussian,
    /// A multivariate Student-t with eight degrees of freedom: where the target's tails lie between the two, its weights are
    /// largest in the middle and have no tail.
    Student,
    /// A mixture: half of the draws from the Gaussian, the others from a multivariate Student-t with eight degrees of
    /// freedom, or half of those from a Gaussian with Student-t tails (two degrees of freedom) in so many leading
    /// coordinates. Its tails are heavier than either's, and it costs at most half of the draws.
    Mixture(usize),
    /// Half of the draws from the Gaussian, half from one with Student-t tails (two degrees of freedom) in every coordinate.
    Heavy,
}

/// A part of a proposal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Component {
    Gaussian,
    Student,
    Leaders,
}

impl Proposal {
    /// The component that draws a block.
    fn component(self, block: usize) -> Component {
        match (self, block % 4) {
            (Proposal::Gaussian, _) | (Proposal::Mixture(_) | Proposal::Heavy, 0 | 2) => Component::Gaussian,
            (Proposal::Student | Proposal::Mixture(0), _) | (Proposal::Mixture(_), 1) => Component::Student,
            (Proposal::Mixture(_) | Proposal::Heavy, _) => Component::Leaders,
        }
    }
}

/// The first draws of a Gaussian, which judge it and may be the beginning of a sample.
#[derive(Clone, Debug, Default)]
pub(super) struct Pilot {
    /// For each block its points in the model (coordinate `i` of draw `b` at `i * BLOCK + b`).
    places: Vec<Vec<f64>>,
    /// `log p - log q` of every draw.
    pub(super) log_weights: Vec<f64>,
}

/// Draws of a proposal, block by block: they can be added to.
pub(super) struct Sample<'t> {
    flow: &'t dyn Flow,
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
    pub(super) fn new(flow: &'t dyn Flow, q: &'t Gaussian, proposal: Proposal, seed: u64) -> Sample<'t> {
        let sobol = Sobol::new(q.mean.len() + flow.standard() + 1, seed, PURPOSE);
        Sample { flow, q, proposal, seed, sobol, outputs: Vec::new(), log_weights: Vec::new() }
    }

    /// The same with the draws of a pilot, of the same Gaussian in the same coordinates with the same seed, as the first.
    pub(super) fn begun(
        flow: &'t dyn Flow,
        q: &'t Gaussian,
        proposal: Proposal,
        pilot: &Pilot,
        seed: u64,
    ) -> Sample<'t> {
        let mut sample = Sample::new(flow, q, proposal, seed);
        if proposal == Proposal::Gaussian {
            let outputs = pilot.places.par_iter().map(|z| flow.model().constrain_batch(z, BLOCK));
            sample.outputs = outputs.collect();
            sample.log_weights.clone_from(&pilot.log_weights);
        }
        sample
    }

    /// Adds draws until there are `count`, rounded up to whole blocks.
    pub(super) fn extend(&mut self, count: usize) {
        let model = self.flow.model();
        for (z, log_weights) in self.blocks(self.outputs.len(), count, |z| model.constrain_batch(&z, BLOCK)) {
            self.outputs.push(z);
            self.log_weights.extend(log_weights);
        }
    }

    /// The draws from block `have` on until there are `count`: what is wanted of their points, and their log weights.
    fn blocks(
        &self,
        have: usize,
        count: usize,
        wanted: impl Fn(Vec<f64>) -> Vec<f64> + Sync,
    ) -> Vec<(Vec<f64>, Vec<f64>)> {
        let log_det = self.q.factor.log_det(self.q.mean.len());
        let block = |evaluator: &mut Box<dyn Evaluator + '_>, block: usize| {
            let mut log_q = vec![0.0; BLOCK];
            let (z, swell) = self.flow.place(self.points(block, log_det, &mut log_q), BLOCK);
            let mut value = vec![0.0; BLOCK];
            evaluator.log_density(&z, BLOCK, &mut value);
            for ((q, p), s) in log_q.iter_mut().zip(&value).zip(&swell) {
                *q = p + s - *q;
            }
            (wanted(z), log_q)
        };
        let range = have..count.div_ceil(BLOCK).max(have);
        range.into_par_iter().map_init(|| self.flow.model().evaluator(), block).collect()
    }

    /// The points of a block, coordinate by coordinate, and log q at each.
    fn points(&self, block: usize, log_det: f64, log_q: &mut [f64]) -> Vec<f64> {
        let d = self.q.mean.len();
        let mut u = vec![0.0; (d + self.flow.standard() + 1) * BLOCK];
        match &self.sobol {
            Some(sobol) => sobol.fill_uniform((block * BLOCK) as u64, BLOCK, &mut u),
            None => {
                let mut stream = Stream::new(self.seed, PURPOSE, block as u64);
                u.iter_mut().for_each(|x| *x = stream.uniform());
            }
        }
        log_q.copy_from_slice(&place(self.q, self.proposal, block, &mut u, log_det));
        let mut z = u[..u.len() - BLOCK].to_vec();
        self.q.factor.apply(&u[..d * BLOCK], [d, BLOCK], &mut z[..d * BLOCK]);
        z.chunks_exact_mut(BLOCK).zip(&self.q.mean).for_each(|(row, m)| row.iter_mut().for_each(|z| *z += m));
        z
    }

    /// All values of output `j`.
    pub(super) fn column(&self, j: usize) -> Vec<f64> {
        self.outputs.iter().flat_map(|block| block[j * BLOCK..(j + 1) * BLOCK].iter().copied()).collect()
    }
}

/// A few draws of a Gaussian, to judge it.
pub(super) fn pilot(flow: &dyn Flow, q: &Gaussian, draws: usize, seed: u64) -> Pilot {
    let blocks = Sample::new(flow, q, Proposal::Gaussian, seed).blocks(0, draws, |z| z);
    let (places, log_weights): (Vec<_>, Vec<_>) = blocks.into_iter().unzip();
    Pilot { places, log_weights: log_weights.concat() }
}

/// `log p - log q` at so many draws of a Gaussian.
pub(super) fn log_weights(flow: &dyn Flow, q: &Gaussian, draws: usize, seed: u64) -> Vec<f64> {
    let blocks = Sample::new(flow, q, Proposal::Gaussian, seed).blocks(0, draws, |_| Vec::new());
    blocks.into_iter().flat_map(|(_, log_weights)| log_weights).collect()
}

/// The outputs at `count` draws of the Gaussian itself, without weights: one vector for each output.
pub(super) fn plain(flow: &dyn Flow, q: &Gaussian, count: usize, outputs: usize, seed: u64) -> Vec<Vec<f64>> {
    let sample = Sample::new(flow, q, Proposal::Gaussian, seed);
    let blocks: Vec<Vec<f64>> = (0..count.div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let mut log_q = vec![0.0; BLOCK];
            let (z, _) = flow.place(sample.points(block, 0.0, &mut log_q), BLOCK);
            flow.model().constrain_batch(&z, BLOCK)
        })
        .collect();
    let column = |j: usize| {
        blocks.iter().flat_map(|block| block[j * BLOCK..(j + 1) * BLOCK].iter().copied()).collect()
    };
    (0..outputs).map(column).collect()
}

/// Turns uniforms into standard draws of the proposal in place (coordinates of the Gaussian, then standard ones; the last row
/// decides joint tails of the former); log q of each.
fn place(q: &Gaussian, proposal: Proposal, block: usize, u: &mut [f64], log_det: f64) -> Vec<f64> {
    let d = q.mean.len();
    let (all, tails) = u.split_at_mut(u.len() - BLOCK);
    let (u, standard) = all.split_at_mut(d * BLOCK);
    standard.iter_mut().for_each(|x| *x = inv_phi(*x));
    let leaders = match proposal {
        Proposal::Gaussian | Proposal::Student => 0,
        Proposal::Mixture(k) => k.min(d),
        Proposal::Heavy => d,
    };
    let component = proposal.component(block);
    for (i, row) in u.chunks_exact_mut(BLOCK).enumerate() {
        if component == Component::Leaders && i < leaders {
            row.iter_mut().for_each(|x| *x = student_quantile(*x));
        } else {
            row.iter_mut().for_each(|x| *x = inv_phi(*x));
        }
    }
    if component == Component::Student {
        let scale = |t: f64| (0.5 * FREEDOM / inv_gamma_p(0.5 * FREEDOM, t)).sqrt();
        let scales: Vec<f64> = tails.iter().map(|t| scale(*t)).collect();
        for row in u.chunks_exact_mut(BLOCK) {
            row.iter_mut().zip(&scales).for_each(|(x, s)| *x *= s);
        }
    }
    let (mut squares, mut heavier) = ([0.0; BLOCK], [0.0; BLOCK]);
    for (i, row) in u.chunks_exact(BLOCK).enumerate() {
        for (b, x) in row.iter().enumerate() {
            squares[b] += x * x;
            if i < leaders {
                // What a heavy tail in this coordinate adds to the Gaussian's log density.
                heavier[b] += student_density(*x) + 0.5 * (x * x + LN_2PI);
            }
        }
    }
    let mut rest = [0.0; BLOCK];
    for row in standard.chunks_exact(BLOCK) {
        row.iter().zip(&mut rest).for_each(|(x, r)| *r -= 0.5 * (x * x + LN_2PI));
    }
    let dims = d as f64;
    let half = 0.5 * (FREEDOM + dims);
    let constant = lgamma(half) - lgamma(0.5 * FREEDOM) - 0.5 * dims * (FREEDOM * std::f64::consts::PI).ln();
    let density = |b: usize| {
        let gaussian = -0.5 * (squares[b] + dims * LN_2PI);
        let student = || constant - half * (squares[b] / FREEDOM).ln_1p();
        let log = match proposal {
            Proposal::Gaussian => gaussian,
            Proposal::Student => student(),
            Proposal::Heavy => log_sum_exp(&[gaussian, gaussian + heavier[b]]) - 2.0_f64.ln(),
            Proposal::Mixture(0) => log_sum_exp(&[gaussian, student()]) - 2.0_f64.ln(),
            Proposal::Mixture(_) => {
                let parts = [gaussian + 2.0_f64.ln(), student(), gaussian + heavier[b]];
                log_sum_exp(&parts) - 4.0_f64.ln()
            }
        };
        log + rest[b] - log_det
    };
    (0..BLOCK).map(density).collect()
}

/// The density of a Student-t with two degrees of freedom, in logarithms: 1 / (2√2 (1 + x²/2)^{3/2}).
fn student_density(x: f64) -> f64 {
    -1.5 * (std::f64::consts::LN_2 + (0.5 * x * x).ln_1p())
}

/// Its quantile.
fn student_quantile(p: f64) -> f64 {
    (2.0 * p - 1.0) / (2.0 * p * (1.0 - p)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_the_student_are_those_of_tables() {
        for (p, x) in
            [(0.975, 4.302_653), (0.95, 2.919_986), (0.5, 0.0), (0.005, -9.924_843), (1e-6, -707.106_1)]
        {
            let found = student_quantile(p);
            assert!((found - x).abs() < 1e-4 * (1.0 + x.abs()), "{p}: {found} {x}");
        }
    }
}
