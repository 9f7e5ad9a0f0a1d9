//! A mixture of Student-t's.

mod fit;

use crate::infer::gaussian::Gaussian;
use crate::infer::proposal::{BESIDE, BLOCK, Kind, Proposal, one_by_one};
use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::linalg::{cholesky, dot, log_det_cholesky};
use crate::num::real::{F8, Real, Zero};
use crate::num::slices::inv_phi;
use crate::num::special::{inv_gamma_p_whole, lgamma};
use std::f64::consts::PI;

/// Half the degrees of freedom of the parts, and of the wide one.
const HALF_FREEDOM: u32 = 2;
const WIDE_HALF_FREEDOM: u32 = 1;
/// Most parts beside the wide one.
pub(in crate::infer) const MOST: usize = 24;
/// How much wider than all draws the wide part is: it reaches what the others miss.
const WIDER: f64 = 2.0;

/// A mixture of multivariate Student-t's; the last part is the wide one.
#[derive(Clone, Debug, PartialEq)]
pub struct Students {
    d: usize,
    parts: Vec<Part>,
    /// The parts that it began at, one for each mode.
    known: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
struct Part {
    share: f64,
    half_freedom: u32,
    mean: Vec<f64>,
    /// Lower factor of the scale, row by row.
    factor: Vec<f64>,
    /// The log density at the mean, without the share and with it.
    peak: f64,
    height: f64,
}

impl Part {
    /// None where the scale is not positive definite.
    fn new(share: f64, half_freedom: u32, mean: Vec<f64>, mut scale: Vec<f64>) -> Option<Part> {
        let d = mean.len();
        cholesky(&mut scale, d).ok()?;
        (0..d).for_each(|i| scale[i * d + i + 1..(i + 1) * d].fill(0.0));
        let (half, dims) = (f64::from(half_freedom), d as f64);
        let constant = lgamma(half + 0.5 * dims) - lgamma(half) - 0.5 * dims * (2.0 * half * PI).ln();
        let peak = constant - 0.5 * log_det_cholesky(&scale, d);
        let height = share.ln() + peak;
        peak.is_finite().then_some(Part { share, half_freedom, mean, factor: scale, peak, height })
    }

    /// Gives it another share.
    fn set_share(&mut self, share: f64) {
        (self.share, self.height) = (share, share.ln() + self.peak);
    }

    /// Its scale.
    fn covariance(&self) -> Vec<f64> {
        covariance_of(&self.factor, self.mean.len())
    }

    /// Degrees of freedom.
    fn freedom(&self) -> f64 {
        2.0 * f64::from(self.half_freedom)
    }

    /// The log density at points so far away (squared), with the share.
    #[inline(always)]
    fn log_density<U: Real>(&self, distance: U) -> U {
        let tail = (distance * U::splat(1.0 / self.freedom())).log1p();
        let fall = 0.5 * (self.freedom() + self.mean.len() as f64);
        U::splat(self.height) - U::splat(fall) * tail
    }

    /// The squared distances of points (coordinate by coordinate) from the mean, by the scale.
    #[inline(always)]
    fn distance<U: Real>(&self, x: &[U], room: &mut [U]) -> U {
        let mut sum = U::zero();
        for (i, row) in self.factor.chunks_exact(x.len()).enumerate() {
            let mut y = x[i] - U::splat(self.mean[i]);
            for j in 0..i {
                y -= room[j] * U::splat(row[j]);
            }
            room[i] = y * U::splat(1.0 / row[i]);
            sum += room[i] * room[i];
        }
        sum
    }
}

/// The logarithm of a sum of exponentials, lane by lane; the largest is finite.
#[inline(always)]
fn log_sum_exp<U: Real>(logs: &[U]) -> U {
    let (mut top, mut sum) = (U::splat(f64::NEG_INFINITY), U::zero());
    for l in logs {
        top = top.max(*l);
    }
    for l in logs {
        sum += (*l - top).exp();
    }
    top + sum.ln()
}

/// The log density of a mixture at eight points, coordinate by coordinate.
struct Density<'a> {
    parts: &'a [Part],
    x: &'a [F8],
    room: &'a mut [F8],
}

impl LaneWork<F8> for Density<'_> {
    type Out = F8;

    #[inline(always)]
    fn run<U: Real>(self, view: View<F8, U>) -> F8 {
        let (x, room) = (view.slice(self.x), view.slice_mut(self.room));
        let mut logs = [U::zero(); MOST + 1];
        let count = self.parts.len().min(MOST + 1);
        for (log, part) in logs.iter_mut().zip(self.parts) {
            *log = part.log_density(part.distance(x, room));
        }
        view.back(log_sum_exp(&logs[..count]))
    }
}

/// `C Cᵀ` of a factor.
fn covariance_of(factor: &[f64], d: usize) -> Vec<f64> {
    let row = |i: usize| &factor[i * d..(i + 1) * d];
    (0..d * d).map(|p| dot(row(p / d), row(p % d))).collect()
}

fn scaled(a: &[f64], by: f64) -> Vec<f64> {
    a.iter().map(|x| by * x).collect()
}

impl Proposal for Students {
    fn kind(&self) -> Kind {
        Kind::Students
    }

    fn modes(&self) -> usize {
        self.known.len()
    }

    fn draw(&self, _: &Gaussian, mut u: Vec<f64>, _: f64, log_q: &mut [f64]) -> Vec<f64> {
        let coordinates = u.len() - BESIDE * BLOCK;
        let (normal, beside) = u.split_at_mut(coordinates);
        inv_phi(&mut normal[..self.d * BLOCK]);
        let (which, tails) = beside.split_at_mut(BLOCK);
        self.reach(which, tails);
        let density = |x: &[F8], room: &mut Vec<F8>| self.log_density(x, room);
        one_by_one(self.d, u, log_q, |x, [which, reach]| self.place(x, which, reach), density)
    }
}

impl Students {
    /// A part for each mode, given with its mass, its mean and the lower factor of its covariance; and the
    /// wide one.
    pub(in crate::infer) fn around(modes: &[(f64, &[f64], &[f64])]) -> Option<Students> {
        let d = modes.first()?.1.len();
        let total: f64 = modes.iter().map(|(mass, ..)| mass).sum();
        let (mut mean, mut all) = (vec![0.0; d], vec![0.0; d * d]);
        let mut parts = Vec::with_capacity(modes.len() + 1);
        for (mass, centre, factor) in modes {
            let (share, own) = (mass / total, covariance_of(factor, d));
            mean.iter_mut().zip(*centre).for_each(|(m, x)| *m += share * x);
            all.iter_mut().zip(&own).for_each(|(a, x)| *a += share * x);
            parts.push(Part::new(0.5 * share, HALF_FREEDOM, centre.to_vec(), own)?);
        }
        for part in &parts {
            let away: Vec<f64> = part.mean.iter().zip(&mean).map(|(x, m)| x - m).collect();
            (0..d * d).for_each(|p| all[p] += 2.0 * part.share * away[p / d] * away[p % d]);
        }
        let wide = Part::new(0.5, WIDE_HALF_FREEDOM, mean, scaled(&all, WIDER * WIDER))?;
        let mut mixture = Students { d, known: parts.clone(), parts };
        mixture.level(0.5);
        mixture.parts.push(wide);
        Some(mixture)
    }

    /// The part that a uniform number falls to.
    fn part(&self, u: f64) -> &Part {
        let mut left = u;
        let found = self.parts.iter().find(|part| {
            left -= part.share;
            left <= 0.0
        });
        found.unwrap_or(&self.parts[self.parts.len() - 1])
    }

    /// Turns uniform numbers into how far the tails of draws reach, whose parts others decide.
    pub(in crate::infer) fn reach(&self, which: &[f64], tails: &mut [f64]) {
        let mut wide = tails.to_vec();
        inv_gamma_p_whole(HALF_FREEDOM, tails);
        inv_gamma_p_whole(WIDE_HALF_FREEDOM, &mut wide);
        for ((tail, wide), which) in tails.iter_mut().zip(wide).zip(which) {
            let half_freedom = self.part(*which).half_freedom;
            let gamma = if half_freedom == WIDE_HALF_FREEDOM { wide } else { *tail };
            *tail = (f64::from(half_freedom) / gamma).sqrt();
        }
    }

    /// Turns standard normal numbers `x` into a draw, with a uniform number that decides its part, and how
    /// far its tail reaches.
    pub(in crate::infer) fn place(&self, x: &mut [f64], which: f64, reach: f64) {
        let (part, d) = (self.part(which), self.d);
        for i in (0..d).rev() {
            let row = &part.factor[i * d..i * d + i + 1];
            let sum: f64 = row.iter().zip(&*x).map(|(c, x)| c * x).sum();
            x[i] = part.mean[i] + reach * sum;
        }
    }

    /// The log density at eight points, coordinate by coordinate.
    pub(in crate::infer) fn log_density(&self, x: &[F8], room: &mut Vec<F8>) -> F8 {
        room.resize(self.d, F8::zero());
        best_lanes(Density { parts: &self.parts, x, room })
    }

    /// Gives all parts together this share. Where there are several modes each has that of the square root of
    /// its mass: a small one far away counts for more in a variance, and if its mass was underestimated its
    /// draws would have large weights.
    fn level(&mut self, share: f64) {
        let several = self.modes() > 1;
        let root = |part: &Part| if several { part.share.sqrt() } else { part.share };
        let shares: Vec<f64> = self.parts.iter().map(root).collect();
        let total: f64 = shares.iter().sum();
        self.parts.iter_mut().zip(shares).for_each(|(part, own)| part.set_share(own * (share / total)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::real::Packed;
    use crate::num::stream::Stream;

    fn two_heaps() -> (Students, Vec<f64>) {
        let mut stream = Stream::new(5, 1, 1);
        let points: Vec<f64> = (0..4000)
            .flat_map(|b| {
                let centre = if b % 4 == 0 { 6.0 } else { 0.0 };
                [centre + stream.normal(), 0.1 * stream.normal()]
            })
            .collect();
        (Students::around(&[(1.0, &[0.0, 0.0], &[1.0, 0.0, 0.0, 1.0])]).unwrap(), points)
    }

    #[test]
    fn two_heaps_are_two_parts() {
        let (mut mixture, points) = two_heaps();
        let weights = vec![1.0 / 4000.0; 4000];
        for _ in 0..3 {
            mixture = mixture.fitted(&points, &weights).unwrap();
        }
        let near: f64 = mixture.parts.iter().filter(|p| (p.mean[0] - 6.0).abs() < 1.0).map(|p| p.share).sum();
        assert!((near - 0.225).abs() < 0.05, "{mixture:?}");
    }

    /// The density integrates to one, and draws have it: the mean of an importance weight is the ratio of the
    /// constants.
    #[test]
    fn draws_have_the_density() {
        let (mixture, points) = two_heaps();
        let mixture = mixture.fitted(&points, &vec![1.0 / 4000.0; 4000]).unwrap();
        let mut stream = Stream::new(6, 1, 1);
        let (mut sum, mut room, n) = (0.0, Vec::new(), 40_000);
        for _ in 0..n {
            let mut x = [stream.normal(), stream.normal()];
            let (which, mut tail) = (stream.uniform(), [stream.uniform()]);
            mixture.reach(&[which], &mut tail);
            mixture.place(&mut x, which, tail[0]);
            let target = -0.5 * (x[0] * x[0] + 100.0 * x[1] * x[1]) - (0.2 * PI).ln();
            let log_q = mixture.log_density(&x.map(F8::splat), &mut room).lane(0);
            sum += (target - log_q).exp() / f64::from(n);
        }
        assert!((sum - 1.0).abs() < 0.03, "{sum}");
    }
}
