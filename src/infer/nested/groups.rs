//! Draws of inner coordinates that fall into groups, independent given the outer ones: for each group the best of several.
//!
//! The error of Laplace's approximation adds up over groups, and with it the spread of importance weights. But the log density
//! is then a sum over groups too, so each group can have weights of its own: copies of K candidates are taken by their weights, and
//! the mean of the K weights, multiplied over groups, corrects what was integrated out. Averages with these weights have the same
//! expectation for any K. Candidates come in pairs of opposite sign: the skewness of a group cancels.

use super::conditional::{LANES, Lanes, Solver};
use crate::num::special::log_sum_exp;
use crate::num::stream::Stream;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How much further every second pair reaches in groups of one coordinate.
const WIDER: f64 = 1.3;
/// Numbers of a draw that key the stream of its other candidates.
const KEYED: usize = 8;

/// The group of each inner coordinate, from the rows of each column of their Hessian: what is connected belongs together.
pub(super) fn groups(columns: &[Vec<usize>]) -> Vec<usize> {
    let mut group = vec![usize::MAX; columns.len()];
    let mut count = 0;
    for first in 0..columns.len() {
        if group[first] != usize::MAX {
            continue;
        }
        let mut open = vec![first];
        group[first] = count;
        while let Some(j) = open.pop() {
            for &i in &columns[j] {
                if group[i] == usize::MAX {
                    group[i] = count;
                    open.push(i);
                }
            }
        }
        count += 1;
    }
    group
}

/// Standard normal numbers `u` for each outer point, their opposites, and others in such pairs: so many in all.
pub(super) fn alternatives(outer: &[Lanes], u: Vec<Lanes>, count: usize) -> Vec<Vec<Lanes>> {
    let mut streams = streams(outer, &u);
    let mut all = Vec::with_capacity(count);
    let mut next = u;
    while all.len() < count {
        let other = another(&mut streams, next.len());
        let opposite = next.iter().map(|u| u.map(|x| -x)).collect();
        all.extend([std::mem::replace(&mut next, other), opposite]);
    }
    all.truncate(count);
    all
}

fn another(streams: &mut [Stream], length: usize) -> Vec<Lanes> {
    (0..length).map(|_| std::array::from_fn(|b| streams[b].normal())).collect()
}

/// How far pairs of candidates reach: every second one further, so that no group has a tail that candidates do not see. An effect of which
/// the data say little on one side (no event among a few) is as wide there as its prior, and narrow at its mode.
struct Spread {
    /// Coordinates of each group, and how much further every second pair reaches there: not at all in several coordinates, where most of them
    /// would go too far.
    groups: Vec<(f64, f64)>,
    /// Pairs that reach further, of all.
    wide: f64,
}

impl Spread {
    fn new(group: &[usize], count: usize, pairs: usize) -> Spread {
        let mut sizes = vec![0.0; count];
        group.iter().for_each(|&g| sizes[g] += 1.0_f64);
        let wider = |size: f64| if size > 1.0 { 1.0 } else { WIDER };
        let groups = sizes.into_iter().map(|size| (size, wider(size))).collect();
        Spread { groups, wide: (pairs / 2) as f64 / pairs as f64 }
    }

    /// Lets the standard normal numbers of a pair, of these groups, reach as far as they should.
    fn reach(&self, pair: usize, u: &mut [Lanes], drawn_group: &[usize]) {
        if pair % 2 == 1 {
            for (u, &g) in u.iter_mut().zip(drawn_group) {
                u.iter_mut().for_each(|x| *x *= self.groups[g].1);
            }
        }
    }

    /// For each group minus the log density of all its candidates together, at numbers of these groups.
    fn log_weights(&self, u: &[Lanes], drawn_group: &[usize]) -> Vec<Lanes> {
        let mut squares = vec![[0.0; LANES]; self.groups.len()];
        for (u, &g) in u.iter().zip(drawn_group) {
            (0..LANES).for_each(|b| squares[g][b] += u[b] * u[b]);
        }
        let log_density = |(size, wider): (f64, f64), square: f64| {
            let narrow = (1.0 - self.wide).ln() - 0.5 * square;
            let wide = self.wide.ln() - size * wider.ln() - 0.5 * square / (wider * wider);
            log_sum_exp(&[narrow, wide])
        };
        let group = |(square, group): (&Lanes, &(f64, f64))| square.map(|s| -log_density(*group, s));
        squares.iter().zip(&self.groups).map(group).collect()
    }
}

/// For sixteen outer points whose inner coordinates the solver holds: copies of inner coordinates, of which each group is one of
/// so many candidates (the first from the standard normal `u`), and for each group the logarithm of the mean of its weights.
pub(super) fn pick(
    solver: &mut Solver,
    outer: &[Lanes],
    u: Vec<Lanes>,
    [group, drawn_group]: [&[usize]; 2],
    [candidates, copies]: [usize; 2],
) -> (Vec<Vec<Lanes>>, Vec<Lanes>) {
    let count = group.iter().max().map_or(0, |g| g + 1);
    let mut streams = streams(outer, &u);
    let mut tried: Vec<(Vec<Lanes>, Vec<Lanes>)> = Vec::with_capacity(candidates);
    let here = solver.by_groups(outer, &vec![[0.0; LANES]; u.len()]);
    let pairs = candidates / 2;
    let spread = Spread::new(group, count, pairs);
    for pair in 0..pairs {
        let mut u = if pair == 0 { u.clone() } else { another(&mut streams, u.len()) };
        spread.reach(pair, &mut u, drawn_group);
        let start = spread.log_weights(&u, drawn_group);
        let away = solver.away(u);
        let opposite: Vec<Lanes> = away.iter().map(|a| a.map(|x| -x)).collect();
        for away in [away, opposite] {
            let there = solver.by_groups(outer, &away);
            let weight = |g: usize| std::array::from_fn(|b| known(start[g][b] + there[g][b] - here[g][b]));
            let weights = (0..count).map(weight).collect();
            tried.push((away, weights));
        }
    }
    let mut gains = vec![[0.0; LANES]; count];
    let mut taken = vec![vec![[0usize; LANES]; count]; copies];
    let mut logs = vec![0.0; candidates];
    for g in 0..count {
        for b in 0..LANES {
            logs.iter_mut().zip(&tried).for_each(|(l, t)| *l = t.1[g][b]);
            let total = log_sum_exp(&logs);
            gains[g][b] = total - (candidates as f64).ln();
            let (mut sum, mut at) = ((logs[0] - total).exp(), 0);
            let first = streams[b].uniform();
            for (c, taken) in taken.iter_mut().enumerate() {
                while sum < (c as f64 + first) / copies as f64 && at + 1 < candidates {
                    at += 1;
                    sum += (logs[at] - total).exp();
                }
                taken[g][b] = at;
            }
        }
    }
    let points = taken.iter().map(|taken| {
        let away = |(i, g): (usize, &usize)| std::array::from_fn(|b| tried[taken[*g][b]].0[i][b]);
        solver.inner(group.iter().enumerate().map(away).collect())
    });
    (points.collect(), gains)
}

/// A log weight; none where the density is not known.
fn known(log_weight: f64) -> f64 {
    if log_weight.is_nan() { f64::NEG_INFINITY } else { log_weight }
}

/// A stream for each lane that depends on its point alone.
fn streams(outer: &[Lanes], u: &[Lanes]) -> Vec<Stream> {
    let key = |b: usize| {
        let mut key = DefaultHasher::new();
        outer.iter().chain(u.iter().take(KEYED)).for_each(|x| x[b].to_bits().hash(&mut key));
        Stream::new(0, super::PURPOSE, key.finish())
    };
    (0..LANES).map(key).collect()
}
