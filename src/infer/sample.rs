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

/// Points and `log p - log q` at each.
pub(super) struct Sample {
    /// Coordinate `i` of draw `b` at `b * d + i`.
    pub(super) points: Vec<f64>,
    pub(super) log_weights: Vec<f64>,
}

/// Draws `count` points (rounded up to whole blocks): a scrambled Sobol sequence where it has enough dimensions, random
/// points beyond.
pub(super) fn draw(target: &dyn Target, q: &Gaussian, proposal: Proposal, count: usize, seed: u64) -> Sample {
    let d = q.mean.len();
    let sobol = Sobol::new(d + 1, seed, PURPOSE);
    let log_det = q.factor.log_det(d);
    let blocks: Vec<(Vec<f64>, Vec<f64>)> = (0..count.div_ceil(BLOCK))
        .into_par_iter()
        .map_init(
            || target.evaluator(),
            |evaluator, block| {
                let mut u = vec![0.0; (d + 1) * BLOCK];
                match &sobol {
                    Some(sobol) => sobol.fill_uniform((block * BLOCK) as u64, BLOCK, &mut u),
                    None => {
                        let mut stream = Stream::new(seed, PURPOSE, block as u64);
                        u.iter_mut().for_each(|x| *x = stream.uniform());
                    }
                }
                let mut log_q = place(q, proposal, &mut u, log_det);
                let mut z = vec![0.0; d * BLOCK];
                q.factor.apply(&u, [d, BLOCK], &mut z);
                z.chunks_exact_mut(BLOCK)
                    .zip(&q.mean)
                    .for_each(|(row, m)| row.iter_mut().for_each(|z| *z += m));
                let mut value = vec![0.0; BLOCK];
                evaluator.log_density(&z, BLOCK, &mut value);
                log_q.iter_mut().zip(&value).for_each(|(q, p)| *q = p - *q);
                let points = (0..BLOCK * d).map(|p| z[p % d * BLOCK + p / d]).collect();
                (points, log_q)
            },
        )
        .collect();
    let mut sample = Sample { points: Vec::new(), log_weights: Vec::new() };
    for (points, log_weights) in blocks {
        sample.points.extend(points);
        sample.log_weights.extend(log_weights);
    }
    sample
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

/// The outputs of the target at each point: output `j` of draw `b` at `j * draws + b`.
pub(super) fn outputs(target: &dyn Target, sample: &Sample, count: usize) -> Vec<f64> {
    let d = target.dimension();
    let draws = sample.log_weights.len();
    let rows: Vec<Vec<f64>> = sample.points.par_chunks_exact(d).map(|z| target.constrain(z)).collect();
    let mut out = vec![f64::NAN; count * draws];
    for (b, row) in rows.iter().enumerate() {
        row.iter().take(count).enumerate().for_each(|(j, x)| out[j * draws + b] = *x);
    }
    out
}
