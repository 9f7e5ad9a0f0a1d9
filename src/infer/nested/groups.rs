//! Draws of inner coordinates that fall into groups, independent given the outer ones: for each group the
//! best of several.
//!
//! The error of Laplace's approximation adds up over groups, and with it the spread of importance weights.
//! But the log density is then a sum over groups too, so each group can have weights of its own: copies of K
//! candidates are taken by their weights, and the mean of the K weights, multiplied over groups, corrects
//! what was integrated out. Averages with these weights have the same expectation for any K. Candidates come
//! in pairs of opposite sign: the skewness of a group cancels. Where groups have one or two coordinates, they
//! are the points of a lattice instead, and the integral over each group is known to some digits.

use crate::infer::nested::blocks::known;
use crate::infer::nested::lanes::{LANES, Lanes, PURPOSE};
use crate::infer::nested::lattice::{Candidates, Lattice, Shifted};
use crate::infer::nested::solver::Solver;
use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::real::{F16, Packed, Real, Zero};
use crate::num::stream::Stream;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Numbers of a draw that key the stream of its other candidates.
const KEYED: usize = 8;

/// Standard normal numbers `u` for each outer point, their opposites, and others in such pairs: so many in
/// all.
pub(super) fn alternatives(outer: &[Lanes], u: Vec<Lanes>, count: usize) -> Vec<Vec<Lanes>> {
    let mut streams = streams(outer, &u);
    let mut numbers = Opposites::new(&mut streams, u);
    (0..count).map(|_| numbers.draw()).collect()
}

/// Standard normal numbers, their opposites, others, and theirs, without end.
struct Opposites<'a> {
    streams: &'a mut [Stream],
    length: usize,
    first: Option<Vec<Lanes>>,
    /// The opposites of the last ones.
    opposite: Option<Vec<Lanes>>,
}

impl<'a> Opposites<'a> {
    fn new(streams: &'a mut [Stream], u: Vec<Lanes>) -> Opposites<'a> {
        Opposites { streams, length: u.len(), first: Some(u), opposite: None }
    }

    fn draw(&mut self) -> Vec<Lanes> {
        if let Some(u) = self.opposite.take() {
            return u;
        }
        let streams = &mut *self.streams;
        let other = || (0..self.length).map(|_| std::array::from_fn(|b| streams[b].normal())).collect();
        let u: Vec<Lanes> = self.first.take().unwrap_or_else(other);
        self.opposite = Some(u.iter().map(|u| u.map(|x| -x)).collect());
        u
    }
}

/// Standard normal numbers and their opposites: each counts one over their density.
struct Pairs<'a> {
    numbers: Opposites<'a>,
    drawn_group: &'a [usize],
    count: usize,
}

impl Candidates for Pairs<'_> {
    fn next(&mut self) -> (Vec<Lanes>, Vec<Lanes>) {
        let u = self.numbers.draw();
        let mut counts = vec![[0.0; LANES]; self.count];
        for (u, &g) in u.iter().zip(self.drawn_group) {
            (0..LANES).for_each(|b| counts[g][b] += 0.5 * u[b] * u[b]);
        }
        counts.iter_mut().flatten().for_each(|x| *x = x.exp());
        (u, counts)
    }
}

/// The weights of all candidates of a group, by how much each counts and what it adds to the log density,
/// relative to the largest of the latter, which is returned.
struct Weights<'a> {
    gains: &'a [F16],
    weights: &'a mut [F16],
}

impl LaneWork<F16> for Weights<'_> {
    type Out = F16;

    #[inline(always)]
    fn run<U: Real>(self, view: View<F16, U>) -> F16 {
        let (gains, weights) = (view.slice(self.gains), view.slice_mut(self.weights));
        let mut top = U::splat(f64::NEG_INFINITY);
        for gain in gains {
            top = top.max(*gain);
        }
        for (weight, gain) in weights.iter_mut().zip(gains) {
            *weight = *weight * (*gain - top).exp();
        }
        view.back(top)
    }
}

/// For sixteen outer points whose inner coordinates the solver holds: copies of inner coordinates, of which
/// each group is one of so many candidates (the first from the standard normal `u`), and for each group the
/// logarithm of the mean of its weights.
pub(super) fn pick(
    solver: &mut Solver,
    outer: &[Lanes],
    u: Vec<Lanes>,
    [group, drawn_group]: [&[usize]; 2],
    lattice: Option<&Lattice>,
    [candidates, copies]: [usize; 2],
) -> (Vec<Vec<Lanes>>, Vec<Lanes>) {
    let count = group.iter().max().map_or(0, |g| g + 1);
    let mut streams = streams(outer, &u);
    let here = solver.of_groups(outer, &vec![[0.0; LANES]; u.len()]);
    let mut tried: Vec<Vec<Lanes>> = Vec::with_capacity(candidates);
    // Candidate by candidate within each group.
    let mut weights = vec![F16::zero(); count * candidates];
    let mut added = weights.clone();
    {
        let mut source: Box<dyn Candidates> = match lattice {
            Some(lattice) => Box::new(Shifted::new(lattice, &mut streams, drawn_group, count)),
            None => Box::new(Pairs { numbers: Opposites::new(&mut streams, u), drawn_group, count }),
        };
        for k in 0..candidates {
            let (u, counts) = source.next();
            let away = solver.away(u);
            let there = solver.of_groups(outer, &away);
            for g in 0..count {
                let at = g * candidates + k;
                F16::flat_mut(&mut weights[at..=at]).copy_from_slice(&counts[g]);
                let gain: Lanes = std::array::from_fn(|b| known(there[g][b] - here[g][b]));
                F16::flat_mut(&mut added[at..=at]).copy_from_slice(&gain);
            }
            tried.push(away);
        }
    }
    let mut gains = vec![[0.0; LANES]; count];
    let mut taken = vec![vec![[0usize; LANES]; count]; copies];
    let mut order: Vec<usize> = (0..copies).collect();
    for (g, (weights, added)) in
        weights.chunks_exact_mut(candidates).zip(added.chunks_exact(candidates)).enumerate()
    {
        let top = best_lanes(Weights { gains: added, weights });
        let weights = F16::flat(weights);
        for b in 0..LANES {
            let weight = |k: usize| weights[k * LANES + b];
            let total: f64 = (0..candidates).map(weight).sum();
            let mean = top.lane(b) + (total / candidates as f64).ln();
            gains[g][b] = if total > 0.0 { mean } else { f64::NEG_INFINITY };
            let (mut sum, mut at) = (weight(0), 0);
            let first = streams[b].uniform();
            // Candidates of a lattice stand in the order of their numbers. Which copy has which is up to
            // chance in each group, or one copy would have the small ones of all groups, and sums over groups
            // would vary too much.
            streams[b].shuffle(&mut order);
            for (c, &copy) in order.iter().enumerate() {
                while sum < total * (c as f64 + first) / copies as f64 && at + 1 < candidates {
                    at += 1;
                    sum += weight(at);
                }
                taken[copy][g][b] = at;
            }
        }
    }
    let points = taken.iter().map(|taken| {
        let away = |(i, g): (usize, &usize)| std::array::from_fn(|b| tried[taken[*g][b]][i][b]);
        solver.inner(group.iter().enumerate().map(away).collect())
    });
    (points.collect(), gains)
}

/// How far from their modes, in standard deviations, groups have more than a share of `little` of what they
/// add up to, at sixteen outer points whose inner coordinates the solver holds.
pub(super) fn farthest(
    solver: &mut Solver,
    outer: &[Lanes],
    drawn_group: &[usize],
    lattice: &Lattice,
    little: f64,
) -> f64 {
    let nowhere = vec![[0.0; LANES]; drawn_group.len()];
    let here = solver.of_groups(outer, &nowhere);
    let mut streams = streams(outer, &nowhere);
    let mut source = Shifted::new(lattice, &mut streams, drawn_group, here.len());
    let mut total = vec![[0.0; LANES]; here.len()];
    let mut seen: Vec<(Vec<Lanes>, Vec<Lanes>)> = Vec::with_capacity(lattice.points);
    for _ in 0..lattice.points {
        let (u, mut weights) = source.next();
        let away = solver.away(u.clone());
        let there = solver.of_groups(outer, &away);
        for (g, weight) in weights.iter_mut().enumerate() {
            (0..LANES).for_each(|b| {
                weight[b] *= known(there[g][b] - here[g][b]).exp();
                total[g][b] += weight[b];
            });
        }
        seen.push((u, weights));
    }
    let mut far: f64 = 0.0;
    for (u, weights) in &seen {
        for (u, &g) in u.iter().zip(drawn_group) {
            let counting = (0..LANES).filter(|&b| weights[g][b] > little * total[g][b]);
            far = counting.fold(far, |far, b| far.max(u[b].abs()));
        }
    }
    far
}

/// A stream for each lane that depends on its point alone.
fn streams(outer: &[Lanes], u: &[Lanes]) -> Vec<Stream> {
    let key = |b: usize| {
        let mut key = DefaultHasher::new();
        outer.iter().chain(u.iter().take(KEYED)).for_each(|x| x[b].to_bits().hash(&mut key));
        Stream::new(0, PURPOSE, key.finish())
    };
    (0..LANES).map(key).collect()
}
