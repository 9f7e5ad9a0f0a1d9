//! What reaches beyond the cells of a grid: Student-t's in all coordinates together, and Cauchy's in each by
//! itself.
//!
//! A parameter whose prior has heavy tails, and of which data say little, goes far by itself: however far it
//! is, the others are where they are anyway. Of a Student-t in all coordinates together the density falls
//! there by a higher power of the distance than that of the posterior, and the weights of such draws would
//! have a long tail.

use crate::infer::gaussian::Gaussian;
use crate::infer::proposal::grid::leaf::Leaf;
use crate::infer::proposal::grid::tree::Tree;
use crate::infer::proposal::student::Students;
use crate::num::linalg::cholesky;
use crate::num::real::{F8, Packed};
use crate::num::special::{inv_phi, log_sum_exp};
use std::f64::consts::PI;

/// The share of what goes far in each coordinate by itself.
const APART: f64 = 0.5;

/// A density that falls off slowly around a grid.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::infer) struct Beyond {
    together: Students,
    /// Centre and scale of each coordinate.
    apart: Vec<[f64; 2]>,
}

impl Beyond {
    /// With the mean and the covariance of cells that have these shares of the mass.
    pub(in crate::infer) fn around(
        q: &Gaussian,
        factor: &[f64],
        tree: &Tree,
        shares: &[f64],
    ) -> Option<Beyond> {
        let d = q.mean.len();
        let mean_of = |of: &dyn Fn(&Leaf) -> f64| -> f64 {
            tree.leaves().zip(shares).map(|(leaf, p)| p * of(leaf)).sum()
        };
        let middle = |leaf: &Leaf, i: usize| 0.5 * tree.span(leaf, i).iter().sum::<f64>();
        let within = |leaf: &Leaf, i: usize| {
            let [from, to] = tree.span(leaf, i);
            (to - from).powi(2) / 12.0
        };
        let mean: Vec<f64> = (0..d).map(|i| mean_of(&|leaf| middle(leaf, i))).collect();
        let mut spread: Vec<f64> = (0..d * d)
            .map(|p| {
                let (i, j) = (p / d, p % d);
                let within = if i == j { mean_of(&|leaf| within(leaf, i)) } else { 0.0 };
                within + mean_of(&|leaf| (middle(leaf, i) - mean[i]) * (middle(leaf, j) - mean[j]))
            })
            .collect();
        cholesky(&mut spread, d).ok()?;
        (0..d).for_each(|i| spread[i * d + i + 1..(i + 1) * d].fill(0.0));
        let through =
            |i: usize, x: &dyn Fn(usize) -> f64| (0..=i).map(|k| factor[i * d + k] * x(k)).sum::<f64>();
        let centre: Vec<f64> = (0..d).map(|i| q.mean[i] + through(i, &|k| mean[k])).collect();
        let product: Vec<f64> = (0..d * d).map(|p| through(p / d, &|k| spread[k * d + p % d])).collect();
        let scale = |i: usize| product[i * d..(i + 1) * d].iter().map(|x| x * x).sum::<f64>().sqrt();
        let apart = (0..d).map(|i| [centre[i], scale(i)]).collect();
        Some(Beyond { together: Students::around(&[(1.0, &centre, &product)])?, apart })
    }

    /// Turns uniform numbers into a draw, with two more that decide its part and how far a tail reaches.
    pub(in crate::infer) fn place(&self, x: &mut [f64], [which, tail]: [f64; 2]) {
        if which < APART {
            let far =
                |(x, [centre, scale]): (&mut f64, &[f64; 2])| *x = centre + scale * (PI * (*x - 0.5)).tan();
            return x.iter_mut().zip(&self.apart).for_each(far);
        }
        x.iter_mut().for_each(|x| *x = inv_phi(*x));
        let (which, mut reach) = ((which - APART) / (1.0 - APART), [tail]);
        self.together.reach(&[which], &mut reach);
        self.together.place(x, which, reach[0]);
    }

    /// The log density at eight points, coordinate by coordinate.
    pub(in crate::infer) fn log_density(&self, x: &[F8], room: &mut Vec<F8>) -> F8 {
        let together = self.together.log_density(x, room);
        let apart = |lane: usize| -> f64 {
            let one = |(x, [centre, scale]): (&F8, &[f64; 2])| {
                -(PI * scale * (1.0 + ((x.lane(lane) - centre) / scale).powi(2))).ln()
            };
            x.iter().zip(&self.apart).map(one).sum()
        };
        let both =
            |lane: usize| log_sum_exp(&[APART.ln() + apart(lane), (-APART).ln_1p() + together.lane(lane)]);
        F8(std::array::from_fn(both))
    }
}
