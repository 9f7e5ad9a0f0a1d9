//! A mixture of Student-t's, and its fit to weighted draws by expectation and maximisation.

use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::linalg::{add_symmetric_product, cholesky, dot, log_det_cholesky};
use crate::num::real::{F8, LANES, Packed, Real};
use crate::num::special::{inv_gamma_p_whole, lgamma};
use std::f64::consts::PI;

/// Half the degrees of freedom of the parts, and of the wide one.
const HALF_FREEDOM: u32 = 2;
const WIDE_HALF_FREEDOM: u32 = 1;
/// Rounds of expectation and maximisation.
const ROUNDS: usize = 8;
/// Most parts beside the wide one, and most that come about by adding one where weights are largest; all of
/// them from so many points on.
pub(in crate::infer) const MOST: usize = 24;
/// Most parts that draws may add to those of modes that are known.
const MOST_LEARNED: usize = 12;
/// The share of the variance of a known mode below which a part is another one.
const SHRUNK: f64 = 0.2;
const LEARNED: usize = 6;
const MANY: usize = 8192;
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

    /// Whether it is so much narrower than another along some coordinate that it is no longer the same: a
    /// slab that has become the spike in it.
    fn has_shrunk(&self, known: &Part) -> bool {
        let d = self.mean.len();
        let (own, other) = (self.covariance(), known.covariance());
        (0..d).any(|i| own[i * d + i] < SHRUNK * other[i * d + i])
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

/// What a part of a mixture has to do with weighted points, eight sums of each kind: of the weights that are
/// its own, of their squares, of these weights by how near the point is, and of the last times how far the
/// point is from the mean, and times products of that (lower triangle, row by row).
struct Sums(Vec<F8>);

/// Sums before those of coordinates.
const BEFORE: usize = 3;

impl Sums {
    fn none(d: usize) -> Sums {
        Sums(vec![F8::zero(); BEFORE + d + d * (d + 1) / 2])
    }

    #[inline(always)]
    fn add<U: Real>(&mut self, view: View<F8, U>, [duty, near]: [U; 2], away: &[U]) {
        let (before, of_places) = view.slice_mut(&mut self.0).split_at_mut(BEFORE);
        let (first, second) = of_places.split_at_mut(away.len());
        before[0] += duty;
        before[1] += duty * duty;
        before[2] += near;
        let mut second = second.iter_mut();
        for (i, x) in away.iter().enumerate() {
            let x = near * *x;
            first[i] += x;
            away[..=i].iter().zip(&mut second).for_each(|(y, sum)| *sum += x * *y);
        }
    }

    /// The part that suits these points, from the one that the sums are about; its scale drawn towards
    /// another one where few speak for it. None where hardly any do.
    fn part(&self, old: &Part, drawn_to: &[f64]) -> Option<Part> {
        let about = &old.mean;
        let d = about.len();
        let sums: Vec<f64> = self.0.iter().map(|s| (0..LANES).map(|lane| s.lane(lane)).sum()).collect();
        let (before, of_places) = sums.split_at(BEFORE);
        let (share, near) = (before[0], before[2]);
        let (first, second) = of_places.split_at(d);
        let effective = share * share / before[1];
        let step: Vec<f64> = first.iter().map(|x| x / near).collect();
        let own = |p: usize| {
            let (i, j) = ((p / d).max(p % d), (p / d).min(p % d));
            (second[i * (i + 1) / 2 + j] - near * step[i] * step[j]) / share
        };
        let towards = d as f64 / (d as f64 + effective);
        let scale =
            drawn_to.iter().enumerate().map(|(p, a)| (1.0 - towards) * own(p) + towards * a).collect();
        let mean = about.iter().zip(&step).map(|(m, s)| m + s).collect();
        (effective > 2.0).then(|| Part::new(share, HALF_FREEDOM, mean, scale)).flatten()
    }
}

/// Points, eight at a time and coordinate by coordinate, and their weights; zeros where these are zero, and
/// beyond the last.
struct Eights {
    points: Vec<F8>,
    weights: Vec<F8>,
}

impl Eights {
    /// Of points that stand one after another.
    fn new(points: &[f64], weights: &[f64], d: usize) -> Eights {
        let mut eights = Eights { points: Vec::new(), weights: Vec::new() };
        for (points, weights) in points.chunks(d * LANES).zip(weights.chunks(LANES)) {
            let weight = |lane: usize| weights.get(lane).copied().filter(|w| *w > 0.0);
            let lane = |i: usize, lane: usize| weight(lane).map_or(0.0, |_| points[lane * d + i]);
            eights.points.extend((0..d).map(|i| F8(std::array::from_fn(|b| lane(i, b)))));
            eights.weights.push(F8(std::array::from_fn(|b| weight(b).unwrap_or(0.0))));
        }
        eights
    }
}

/// Expectation: what is whose.
struct Expectation<'a> {
    mixture: &'a Students,
    of: &'a Eights,
}

impl LaneWork<F8> for Expectation<'_> {
    type Out = Vec<Sums>;

    #[inline(always)]
    fn run<U: Real>(self, view: View<F8, U>) -> Vec<Sums> {
        let (parts, d) = (&self.mixture.parts[..], self.mixture.d);
        let mut out: Vec<Sums> = parts.iter().map(|_| Sums::none(d)).collect();
        let mut room = vec![F8::zero(); d + 2 * parts.len()];
        let (room, both) = view.slice_mut(&mut room).split_at_mut(d);
        let (distances, logs) = both.split_at_mut(parts.len());
        let (points, weights) = (view.slice(&self.of.points), view.slice(&self.of.weights));
        for (x, &weights) in points.chunks_exact(d).zip(weights) {
            for (k, part) in parts.iter().enumerate() {
                distances[k] = part.distance(x, room);
                logs[k] = part.log_density(distances[k]);
            }
            let total = log_sum_exp(logs);
            for (k, part) in parts.iter().enumerate() {
                let duty = weights * (logs[k] - total).exp();
                let near = U::splat(part.freedom()) + distances[k];
                let closer = duty * U::splat(part.freedom() + d as f64) / near;
                for (away, (x, m)) in room.iter_mut().zip(x.iter().zip(&part.mean)) {
                    *away = *x - U::splat(*m);
                }
                out[k].add(view, [duty, closer], room);
            }
        }
        out
    }
}

/// Mean and covariance of points, one after another, with weights that sum to one.
fn moments(points: &[f64], weights: &[f64], d: usize) -> (Vec<f64>, Vec<f64>) {
    let mut mean = vec![0.0; d];
    for (x, w) in points.chunks_exact(d).zip(weights) {
        mean.iter_mut().zip(x).for_each(|(m, x)| *m += w * x);
    }
    let away: Vec<f64> = points.iter().zip(mean.iter().cycle()).map(|(x, m)| x - m).collect();
    let mut weighted = away.clone();
    for (x, w) in weighted.chunks_exact_mut(d).zip(weights) {
        x.iter_mut().for_each(|x| *x *= w);
    }
    let mut covariance = vec![0.0; d * d];
    add_symmetric_product(1.0, &away, &weighted, [d, weights.len()], &mut covariance);
    (mean, covariance)
}

/// `C Cᵀ` of a factor.
fn covariance_of(factor: &[f64], d: usize) -> Vec<f64> {
    let row = |i: usize| &factor[i * d..(i + 1) * d];
    (0..d * d).map(|p| dot(row(p / d), row(p % d))).collect()
}

fn scaled(a: &[f64], by: f64) -> Vec<f64> {
    a.iter().map(|x| by * x).collect()
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

    /// Modes that it began at.
    pub(in crate::infer) fn modes(&self) -> usize {
        self.known.len()
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

    /// A mixture fitted to points (one after another) with weights that sum to one, with one part more, begun
    /// at the point of the largest weight; None where the points lie in a plane.
    pub(in crate::infer) fn fitted(&self, points: &[f64], weights: &[f64]) -> Option<Students> {
        let d = self.d;
        let (mean, all) = moments(points, weights, d);
        let wide = Part::new(WIDE_SHARE, WIDE_HALF_FREEDOM, mean, scaled(&all, WIDER * WIDER))?;
        let mut parts: Vec<Part> = self.parts[..self.parts.len() - 1].to_vec();
        if parts.len() < if weights.len() < MANY { LEARNED } else { MOST_LEARNED } {
            let heaviest = (0..weights.len()).max_by(|&a, &b| weights[a].total_cmp(&weights[b]))?;
            let centre = points[heaviest * d..(heaviest + 1) * d].to_vec();
            parts.push(Part::new(0.0, HALF_FREEDOM, centre, scaled(&all, NARROWER * NARROWER))?);
        }
        let count = parts.len() as f64;
        // The share of a known mode is the root of its mass: a slab of little mass that began with as much as
        // the spike in it would end as that spike.
        let known = if self.modes() > 1 { self.modes().min(parts.len()) } else { 0 };
        let masses: f64 = parts[..known].iter().map(|part| part.share.powi(2)).sum();
        for (k, part) in parts.iter_mut().enumerate() {
            let of_known = if k < known { known as f64 * part.share.powi(2) / masses } else { 1.0 };
            part.set_share(of_known / count);
        }
        let mut mixture = Students { d, parts, known: self.known.clone() };
        let eights = Eights::new(points, weights, d);
        for _ in 0..ROUNDS {
            mixture.maximise(&eights, &all);
        }
        mixture.level(1.0 - WIDE_SHARE);
        mixture.parts.push(wide);
        Some(mixture)
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

    /// One round of expectation and maximisation.
    fn maximise(&mut self, of: &Eights, all: &[f64]) {
        let sums = best_lanes(Expectation { mixture: self, of });
        // The scale of all points is that of the distance between modes. It says nothing of a mode that is
        // known, and such a one is never given up.
        let known = if self.modes() > 1 { &self.known[..] } else { &[] };
        let next = |(k, (sums, old)): (usize, (&Sums, &Part))| match known.get(k) {
            None => sums.part(old, all),
            Some(known) => {
                let part = sums.part(old, &old.covariance()).filter(|part| !part.has_shrunk(known));
                part.or_else(|| Some(Part { share: old.share, ..known.clone() }))
            }
        };
        let parts: Vec<Part> = sums.iter().zip(&self.parts).enumerate().filter_map(next).collect();
        if parts.is_empty() {
            return;
        }
        let total: f64 = parts.iter().map(|p| p.share).sum();
        self.parts = parts;
        self.parts.iter_mut().for_each(|p| p.set_share(p.share / total));
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
