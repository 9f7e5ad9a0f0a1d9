//! Draws of inner coordinates that fall into groups, independent given the outer ones: for each group the best of several.
//!
//! The error of Laplace's approximation adds up over groups, and with it the spread of importance weights. But the log density
//! is then a sum over groups too, so each group can have weights of its own: copies of K candidates are taken by their weights, and
//! the mean of the K weights, multiplied over groups, corrects what was integrated out. Averages with these weights have the same
//! expectation for any K. Candidates come in pairs of opposite sign: the skewness of a group cancels. Where every group is one coordinate,
//! they are the points of a lattice instead, and the integral over each group is known to many digits.

use super::conditional::{LANES, Lanes, Solver};
use crate::num::real::LN_2PI;
use crate::num::special::log_sum_exp;
use crate::num::stream::Stream;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Candidates of groups of one coordinate each, and how far their lattice reaches: u = sinh(s) with s between plus and minus this, which is
/// 45 standard deviations. An effect of which the data say little on one side (no event among a few) is as wide there as its prior, and narrow
/// at its mode.
pub(super) const LATTICE: usize = 28;
const REACH: f64 = 4.5;
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

/// Candidates one after another: standard normal numbers, and the logarithm of how much each counts beside the density of its group.
trait Candidates {
    /// The next one: numbers in the order of elimination, and for each group the logarithm.
    fn next(&mut self) -> (Vec<Lanes>, Vec<Lanes>);
}

/// Standard normal numbers and their opposites: each counts one over their density.
struct Pairs<'a> {
    streams: &'a mut [Stream],
    drawn_group: &'a [usize],
    count: usize,
    /// The first pair, and the opposite of the last one.
    first: Option<Vec<Lanes>>,
    opposite: Option<Vec<Lanes>>,
}

impl Candidates for Pairs<'_> {
    fn next(&mut self) -> (Vec<Lanes>, Vec<Lanes>) {
        let u = match self.opposite.take() {
            Some(u) => u,
            None => {
                let u = self.first.take().unwrap_or_else(|| another(self.streams, self.drawn_group.len()));
                self.opposite = Some(u.iter().map(|u| u.map(|x| -x)).collect());
                u
            }
        };
        let mut logs = vec![[0.0; LANES]; self.count];
        for (u, &g) in u.iter().zip(self.drawn_group) {
            (0..LANES).for_each(|b| logs[g][b] += 0.5 * u[b] * u[b]);
        }
        (u, logs)
    }
}

/// Points of a lattice, shifted at random for each group of one coordinate: the trapezoidal rule for an integral over s with u = sinh(s), whose
/// error falls exponentially with the number of points, and whose mean over all shifts is exact.
struct Lattice<'a> {
    drawn_group: &'a [usize],
    /// The next point of each number.
    at: Vec<Lanes>,
}

impl<'a> Lattice<'a> {
    const STEP: f64 = 2.0 * REACH / LATTICE as f64;

    fn new(streams: &mut [Stream], drawn_group: &'a [usize]) -> Lattice<'a> {
        let shift = |stream: &mut Stream| Self::STEP * stream.uniform() - REACH;
        let at = drawn_group.iter().map(|_| std::array::from_fn(|b| shift(&mut streams[b]))).collect();
        Lattice { drawn_group, at }
    }
}

impl Candidates for Lattice<'_> {
    fn next(&mut self) -> (Vec<Lanes>, Vec<Lanes>) {
        // All candidates together count as the mean of so many integrands of width 2 REACH, by the density of a standard normal number at 0.
        let scale = (2.0 * REACH).ln() - 0.5 * LN_2PI;
        let mut logs = vec![[0.0; LANES]; self.at.len()];
        for (s, &g) in self.at.iter().zip(self.drawn_group) {
            logs[g] = s.map(|s| scale + s.cosh().ln());
        }
        let u = self.at.iter().map(|s| s.map(f64::sinh)).collect();
        self.at.iter_mut().flatten().for_each(|s| *s += Self::STEP);
        (u, logs)
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
    let here = solver.by_groups(outer, &vec![[0.0; LANES]; u.len()]);
    let tried: Vec<(Vec<Lanes>, Vec<Lanes>)> = {
        let mut source: Box<dyn Candidates> = match count == group.len() {
            true => Box::new(Lattice::new(&mut streams, drawn_group)),
            false => {
                Box::new(Pairs { streams: &mut streams, drawn_group, count, first: Some(u), opposite: None })
            }
        };
        let mut candidate = || {
            let (u, logs) = source.next();
            let away = solver.away(u);
            let there = solver.by_groups(outer, &away);
            let weight = |g: usize| std::array::from_fn(|b| known(logs[g][b] + there[g][b] - here[g][b]));
            (away, (0..count).map(weight).collect())
        };
        (0..candidates).map(|_| candidate()).collect()
    };
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
