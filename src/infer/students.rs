//! A mixture of Student-t's, and its fit to weighted draws by expectation and maximisation.

use crate::num::linalg::{cholesky, log_det_cholesky};
use crate::num::real::{F8, LANES, Real};
use crate::num::special::{inv_gamma_p_whole, lgamma};
use std::f64::consts::PI;

/// Half the degrees of freedom of the parts, and of the wide one.
const HALF_FREEDOM: u32 = 2;
const WIDE_HALF_FREEDOM: u32 = 1;
/// Rounds of expectation and maximisation.
const ROUNDS: usize = 8;
/// Most parts beside the wide one.
const MOST: usize = 6;
/// The share of the wide part, and how much wider than all draws it is: it reaches what the others miss.
const WIDE_SHARE: f64 = 0.1;
const WIDER: f64 = 2.0;
/// A new part is this much narrower than all draws.
const NARROWER: f64 = 0.5;

/// A mixture of multivariate Student-t's; the last part is the wide one.
#[derive(Clone, Debug, PartialEq)]
pub struct Students {
    d: usize,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
struct Part {
    share: f64,
    half_freedom: u32,
    mean: Vec<f64>,
    /// Lower factor of the scale, row by row.
    factor: Vec<f64>,
    /// The log density at the mean, without the share.
    peak: f64,
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
        peak.is_finite().then_some(Part { share, half_freedom, mean, factor: scale, peak })
    }

    /// Degrees of freedom.
    fn freedom(&self) -> f64 {
        2.0 * f64::from(self.half_freedom)
    }

    /// The log density at eight points so far away (squared), with the share.
    fn log_density(&self, distance: F8) -> F8 {
        let tail = (distance * F8::splat(1.0 / self.freedom())).log1p();
        let fall = 0.5 * (self.freedom() + self.mean.len() as f64);
        F8::splat(self.share.ln() + self.peak) - F8::splat(fall) * tail
    }

    /// The squared distances of eight points (coordinate by coordinate) from the mean, by the scale.
    fn distance(&self, x: &[F8], room: &mut Vec<F8>) -> F8 {
        room.clear();
        let mut sum = F8::zero();
        for (row, (x, m)) in self.factor.chunks_exact(x.len()).zip(x.iter().zip(&self.mean)) {
            let mut y = *x - F8::splat(*m);
            room.iter().zip(row).for_each(|(before, c)| y -= *before * F8::splat(*c));
            y = y * F8::splat(1.0 / row[room.len()]);
            room.push(y);
            sum += y * y;
        }
        sum
    }
}

/// The logarithm of a sum of exponentials, lane by lane; the largest is finite.
fn log_sum_exp(logs: &[F8]) -> F8 {
    let top = logs.iter().fold(F8::splat(f64::NEG_INFINITY), |top, l| top.max(*l));
    let sum = logs.iter().fold(F8::zero(), |sum, l| sum + (*l - top).exp());
    top + sum.ln()
}

/// Eight of the points that stand one after another from `first` on, coordinate by coordinate; beyond the last, it again.
fn eight(points: &[f64], d: usize, first: usize) -> Vec<F8> {
    let last = points.len() / d - 1;
    let coordinate = |i: usize| F8(std::array::from_fn(|lane| points[(first + lane).min(last) * d + i]));
    (0..d).map(coordinate).collect()
}

/// Mean and covariance of weighted points, one after another; weights sum to `total`.
fn moments(points: &[f64], weights: &[f64], scaled: &[f64], d: usize) -> (Vec<f64>, Vec<f64>) {
    let (total, scaled_total) = (weights.iter().sum::<f64>(), scaled.iter().sum::<f64>());
    let mut mean = vec![0.0; d];
    for (x, w) in points.chunks_exact(d).zip(scaled) {
        mean.iter_mut().zip(x).for_each(|(m, x)| *m += w / scaled_total * x);
    }
    let mut covariance = vec![0.0; d * d];
    for (x, w) in points.chunks_exact(d).zip(scaled).filter(|(_, w)| **w > 0.0) {
        for i in 0..d {
            let a = w / total * (x[i] - mean[i]);
            for j in 0..=i {
                covariance[i * d + j] += a * (x[j] - mean[j]);
            }
        }
    }
    for i in 0..d {
        (0..i).for_each(|j| covariance[j * d + i] = covariance[i * d + j]);
    }
    (mean, covariance)
}

fn scaled(a: &[f64], by: f64) -> Vec<f64> {
    a.iter().map(|x| by * x).collect()
}

impl Students {
    /// One part and the wide one, with this mean and this lower factor of the covariance.
    pub(super) fn around(mean: &[f64], factor: &[f64]) -> Option<Students> {
        let d = mean.len();
        let entry = |p: usize| {
            let (i, j) = (p / d, p % d);
            (0..=i.min(j)).map(|k| factor[i * d + k] * factor[j * d + k]).sum()
        };
        let covariance: Vec<f64> = (0..d * d).map(entry).collect();
        let first = Part::new(0.5, HALF_FREEDOM, mean.to_vec(), covariance.clone())?;
        let wide = Part::new(0.5, WIDE_HALF_FREEDOM, mean.to_vec(), scaled(&covariance, WIDER * WIDER))?;
        Some(Students { d, parts: vec![first, wide] })
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

    /// Turns standard normal numbers `x` into a draw, with two uniform numbers that decide its part and how far its tail
    /// reaches.
    pub(super) fn place(&self, x: &mut [f64], [which, tail]: [f64; 2]) {
        let part = self.part(which);
        let scale = (f64::from(part.half_freedom) / inv_gamma_p_whole(part.half_freedom, tail)).sqrt();
        let d = self.d;
        for i in (0..d).rev() {
            let row = &part.factor[i * d..i * d + i + 1];
            let sum: f64 = row.iter().zip(&*x).map(|(c, x)| c * x).sum();
            x[i] = part.mean[i] + scale * sum;
        }
    }

    /// The log density at eight points, coordinate by coordinate.
    pub(super) fn log_density(&self, x: &[F8], room: &mut Vec<F8>) -> F8 {
        let mut logs = [F8::zero(); MOST + 1];
        logs.iter_mut().zip(&self.parts).for_each(|(l, part)| *l = part.log_density(part.distance(x, room)));
        log_sum_exp(&logs[..self.parts.len().min(MOST + 1)])
    }

    /// A mixture fitted to weighted points (one after another), with one part more, begun at the point of the largest weight;
    /// None where the points lie in a plane.
    pub(super) fn fitted(&self, points: &[f64], weights: &[f64]) -> Option<Students> {
        let d = self.d;
        let (mean, all) = moments(points, weights, weights, d);
        let wide = Part::new(WIDE_SHARE, WIDE_HALF_FREEDOM, mean, scaled(&all, WIDER * WIDER))?;
        let mut parts: Vec<Part> = self.parts[..self.parts.len() - 1].to_vec();
        if parts.len() < MOST {
            let heaviest = (0..weights.len()).max_by(|&a, &b| weights[a].total_cmp(&weights[b]))?;
            let centre = points[heaviest * d..(heaviest + 1) * d].to_vec();
            parts.push(Part::new(0.0, HALF_FREEDOM, centre, scaled(&all, NARROWER * NARROWER))?);
        }
        let count = parts.len() as f64;
        parts.iter_mut().for_each(|part| part.share = 1.0 / count);
        let mut mixture = Students { d, parts };
        for _ in 0..ROUNDS {
            mixture.maximise(points, weights, &all);
        }
        mixture.parts.iter_mut().for_each(|part| part.share *= 1.0 - WIDE_SHARE);
        mixture.parts.push(wide);
        Some(mixture)
    }

    /// One round of expectation and maximisation. Scales are drawn towards that of all points where few speak for them.
    fn maximise(&mut self, points: &[f64], weights: &[f64], all: &[f64]) {
        let (d, n) = (self.d, weights.len());
        let mut room = Vec::new();
        let mut duties = vec![vec![0.0; n]; self.parts.len()];
        let mut closeness = duties.clone();
        let mut logs = vec![F8::zero(); self.parts.len()];
        let mut distances = logs.clone();
        for (first, weights) in (0..n).step_by(LANES).zip(weights.chunks(LANES)) {
            let x = eight(points, d, first);
            for (k, part) in self.parts.iter().enumerate() {
                distances[k] = part.distance(&x, &mut room);
                logs[k] = part.log_density(distances[k]);
            }
            let total = log_sum_exp(&logs);
            for (k, part) in self.parts.iter().enumerate() {
                let share = (logs[k] - total).exp();
                for (lane, weight) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
                    let duty = weight * share.lane(lane);
                    let near = part.freedom() + distances[k].lane(lane);
                    duties[k][first + lane] = duty;
                    closeness[k][first + lane] = duty * (part.freedom() + d as f64) / near;
                }
            }
        }
        let part = |(duties, closeness): (&Vec<f64>, &Vec<f64>)| {
            let share: f64 = duties.iter().sum();
            let effective = share * share / duties.iter().map(|w| w * w).sum::<f64>();
            let (mean, own) = moments(points, duties, closeness, d);
            let towards = d as f64 / (d as f64 + effective);
            let scale = own.iter().zip(all).map(|(o, a)| (1.0 - towards) * o + towards * a).collect();
            (effective > 2.0).then(|| Part::new(share, HALF_FREEDOM, mean, scale)).flatten()
        };
        let parts: Vec<Part> = duties.iter().zip(&closeness).filter_map(part).collect();
        if parts.is_empty() {
            return;
        }
        let total: f64 = parts.iter().map(|p| p.share).sum();
        self.parts = parts;
        self.parts.iter_mut().for_each(|p| p.share /= total);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stream::Stream;

    fn two_heaps() -> (Students, Vec<f64>) {
        let mut stream = Stream::new(5, 1, 1);
        let points: Vec<f64> = (0..4000)
            .flat_map(|b| {
                let centre = if b % 4 == 0 { 6.0 } else { 0.0 };
                [centre + stream.normal(), 0.1 * stream.normal()]
            })
            .collect();
        (Students::around(&[0.0, 0.0], &[1.0, 0.0, 0.0, 1.0]).unwrap(), points)
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

    /// The density integrates to one, and draws have it: the mean of an importance weight is the ratio of the constants.
    #[test]
    fn draws_have_the_density() {
        let (mixture, points) = two_heaps();
        let mixture = mixture.fitted(&points, &vec![1.0 / 4000.0; 4000]).unwrap();
        let mut stream = Stream::new(6, 1, 1);
        let (mut sum, mut room, n) = (0.0, Vec::new(), 40_000);
        for _ in 0..n {
            let mut x = [stream.normal(), stream.normal()];
            mixture.place(&mut x, [stream.uniform(), stream.uniform()]);
            let target = -0.5 * (x[0] * x[0] + 100.0 * x[1] * x[1]) - (0.2 * PI).ln();
            let log_q = mixture.log_density(&x.map(F8::splat), &mut room).lane(0);
            sum += (target - log_q).exp() / f64::from(n);
        }
        assert!((sum - 1.0).abs() < 0.03, "{sum}");
    }
}
