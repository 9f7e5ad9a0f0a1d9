//! The fit of a mixture of Student-t's to weighted draws, by expectation and maximisation.

use crate::infer::proposal::Proposal;
use crate::infer::proposal::student::{
    HALF_FREEDOM, Part, Students, WIDE_HALF_FREEDOM, WIDER, log_sum_exp, scaled,
};
use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::linalg::add_symmetric_product;
use crate::num::real::{F8, LANES, Packed, Real, Zero};

/// Rounds of expectation and maximisation.
const ROUNDS: usize = 8;
/// Most parts that draws may add to those of modes that are known; and most where there are fewer points than
/// this, at the largest weights of which parts are added.
const MOST_LEARNED: usize = 12;
const LEARNED: usize = 6;
const MANY: usize = 8192;
/// The share of the variance of a known mode below which a part is another one.
const SHRUNK: f64 = 0.2;
/// The share of the wide part.
const WIDE_SHARE: f64 = 0.1;
/// A new part is this much narrower than all draws.
const NARROWER: f64 = 0.5;

impl Part {
    /// Whether it is so much narrower than another along some coordinate that it is no longer the same: a
    /// slab that has become the spike in it.
    fn has_shrunk(&self, known: &Part) -> bool {
        let d = self.mean.len();
        let (own, other) = (self.covariance(), known.covariance());
        (0..d).any(|i| own[i * d + i] < SHRUNK * other[i * d + i])
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

impl Students {
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
