//! What lies aside of the modes of groups of inner coordinates, which draws around them do not reach: other
//! modes, higher ones, and shoulders where the data say nothing more.
//!
//! Groups are independent given the outer coordinates, so that one evaluation for each place on a line looks
//! along a coordinate of all groups together.

use crate::infer::gaussian::Gaussian;
use crate::infer::nested::anchor::points;
use crate::infer::nested::blocks::{known, places, sizes};
use crate::infer::nested::conditional::Conditional;
use crate::infer::nested::lanes::{LANES, Lanes, lanes};
use crate::infer::nested::solver::Solver;
use std::collections::HashMap;

/// Most coordinates of a group.
const LARGEST: usize = 2;
/// Outer points at which it is looked.
const LOOKS: usize = 4;
/// How far lines go: in standard deviations at the mode, in distances to the modes of other groups, and at
/// all where that is not too many standard deviations.
const REACH: f64 = 30.0;
const REACH_OTHERS: f64 = 1.5;
const REACH_AT_ALL: f64 = 4.0;
const TOO_MANY: f64 = 250.0;
/// How far apart places are, in standard deviations, and how many there are.
const APART: f64 = 0.7;
const PLACES: [usize; 2] = [96, 768];
/// What lies further from the mode, in standard deviations, is aside.
const ASIDE: f64 = 5.0;
/// Shares of the mass, and of the variance, that are overlooked without harm.
const OF_MASS: f64 = 2e-3;
const OF_VARIANCE: f64 = 0.04;
/// A top so many nats above the lowest place on the way to it is a mode of its own; a place so many above the
/// mode is where the search should have ended.
const VALLEY: f64 = 1.0;
const HIGHER: f64 = 0.5;
/// A lattice resolves a mode that is wider than this share of its distance, and of a group of one coordinate.
const RESOLVED: f64 = 0.1;

/// What lies aside of modes.
#[derive(Default)]
pub(in crate::infer) struct Aside {
    /// Whether groups reach further than draws around their modes.
    pub(in crate::infer) is_wide: bool,
    /// The inner coordinate with the largest other mode that a lattice does not resolve, and the share of its
    /// mass.
    pub(in crate::infer) other: Option<(usize, f64)>,
    /// Places of inner coordinates that are higher than their modes.
    pub(in crate::infer) higher: Vec<(usize, f64)>,
}

/// Looks around the modes at some points of a Gaussian for the outer coordinates.
pub(in crate::infer) fn aside(conditional: &Conditional, q: &Gaussian, seed: u64) -> Aside {
    look(conditional, &points(q, LOOKS, 1.0, [seed, 0]), LOOKS)
}

/// Places of inner coordinates that are higher than the modes at these outer coordinates.
pub(in crate::infer) fn higher(conditional: &Conditional, outer: &[f64]) -> Vec<(usize, f64)> {
    look(conditional, outer, 1).higher
}

/// Looks at so many outer points (coordinate `i` of point `b` at `i * count + b`), of which each has as many
/// lanes as the others.
fn look(conditional: &Conditional, outer: &[f64], count: usize) -> Aside {
    let order = places(&conditional.groups.of);
    let mut found = Aside::default();
    let sizes = sizes(&conditional.groups.of);
    let small: Vec<usize> =
        (0..order.len()).filter(|&at| sizes[conditional.groups.of[at]] <= LARGEST).collect();
    if conditional.groups.apart.is_none() || small.is_empty() {
        return found;
    }
    let alone = sizes.iter().all(|size| *size == 1);
    let repeated: Vec<f64> =
        outer.chunks_exact(count).flat_map(|row| (0..LANES).map(move |lane| row[lane % count])).collect();
    let mut solver = Solver::new(conditional).roughly();
    solver.solve(&repeated, LANES);
    let outer = lanes(&repeated, LANES);
    for k in 0..LARGEST {
        let along: Vec<usize> = small.iter().copied().filter(|&at| order[at] == k).collect();
        if along.is_empty() {
            continue;
        }
        let lines = Lines::new(conditional, &solver, &along);
        let seen = lines.walk(&mut solver, &outer, count);
        for (&at, seen) in along.iter().zip(&seen) {
            found.note(at, seen, alone);
        }
    }
    found
}

/// Lines along inner coordinates, one for each of their groups.
struct Lines<'a> {
    along: &'a [usize],
    group: Vec<usize>,
    inner: usize,
    /// How far they go to each side, and a standard deviation, in steps, of each in each lane.
    reach: Vec<Lanes>,
    sd: Vec<Lanes>,
    /// The length of a step.
    steps: Vec<f64>,
    /// Where their modes are.
    modes: Vec<Lanes>,
    places: usize,
}

/// A line as it was walked at one outer point: how far from the mode each place is, in standard deviations,
/// what the group has there, and what share of its mass; and where the mode is, with the length of a standard
/// deviation.
struct Walk {
    far: Vec<f64>,
    log_density: Vec<f64>,
    shares: Vec<f64>,
    mode: f64,
    sd: f64,
}

impl<'a> Lines<'a> {
    fn new(conditional: &Conditional, solver: &Solver, along: &'a [usize]) -> Lines<'a> {
        let inner = conditional.parts.inner.len();
        let modes = solver.inner(vec![[0.0; LANES]; inner]);
        let (unit, none) = (solver.away(vec![[1.0; LANES]; inner]), solver.away(vec![[0.0; LANES]; inner]));
        let names = conditional.target.coordinate_names();
        let name = |at: usize| names[conditional.parts.inner[at]].split('[').next().unwrap_or_default();
        let steps = conditional.steps();
        // Between which numbers the modes of each parameter lie.
        let mut ends: HashMap<&str, [Lanes; 2]> = HashMap::new();
        for &at in along {
            let [low, high] = ends.entry(name(at)).or_insert([modes[at]; 2]);
            for b in 0..LANES {
                (low[b], high[b]) = (low[b].min(modes[at][b]), high[b].max(modes[at][b]));
            }
        }
        let (mut reach, mut sd) = (Vec::new(), Vec::new());
        for &at in along {
            let own: Lanes = std::array::from_fn(|b| (unit[at][b] - none[at][b]).abs());
            let [low, high] = ends[name(at)];
            let to_others = |b: usize| (high[b] - modes[at][b]).max(modes[at][b] - low[b]) / steps[at];
            reach.push(std::array::from_fn(|b| {
                let at_all = REACH_AT_ALL / steps[at];
                let at_all = if at_all < TOO_MANY * own[b] { at_all } else { 0.0 };
                (REACH * own[b]).max(REACH_OTHERS * to_others(b)).max(at_all)
            }));
            sd.push(own);
        }
        let most = reach.iter().zip(&sd).flat_map(|(r, s)| (0..LANES).map(move |b| r[b] / s[b]));
        let most = most.filter(|x| x.is_finite()).fold(0.0, f64::max);
        let places = ((2.0 * most / APART).ceil() as usize).clamp(PLACES[0], PLACES[1]) | 1;
        Lines {
            along,
            group: along.iter().map(|&at| conditional.groups.of[at]).collect(),
            inner,
            reach,
            sd,
            steps: along.iter().map(|&at| steps[at]).collect(),
            modes: along.iter().map(|&at| modes[at]).collect(),
            places,
        }
    }

    /// How far from its mode place `j` of a line is in a lane, in steps.
    fn place(&self, line: usize, lane: usize, j: usize) -> f64 {
        self.reach[line][lane] * (2.0 * j as f64 / (self.places - 1) as f64 - 1.0)
    }

    /// All walks of each line, at so many outer points that lanes have in turn.
    fn walk(&self, solver: &mut Solver, outer: &[Lanes], count: usize) -> Vec<Vec<Walk>> {
        let each = LANES / count;
        let mut values = vec![vec![f64::NEG_INFINITY; self.places * count]; self.along.len()];
        for first in (0..self.places).step_by(each) {
            let at = |lane: usize| (first + lane / count).min(self.places - 1);
            let mut away = vec![[0.0; LANES]; self.inner];
            for (line, &k) in self.along.iter().enumerate() {
                away[k] = std::array::from_fn(|lane| self.place(line, lane, at(lane)));
            }
            let there = solver.of_groups(outer, &away);
            for (line, values) in values.iter_mut().enumerate() {
                for lane in 0..LANES {
                    values[at(lane) * count + lane % count] = known(there[self.group[line]][lane]);
                }
            }
        }
        let walk = |line: usize, b: usize| {
            let log_density: Vec<f64> = (0..self.places).map(|j| values[line][j * count + b]).collect();
            Walk {
                far: (0..self.places).map(|j| self.place(line, b, j) / self.sd[line][b]).collect(),
                shares: shares(&log_density),
                log_density,
                mode: self.modes[line][b],
                sd: self.sd[line][b] * self.steps[line],
            }
        };
        let known = |b: &usize| solver.log_marginal[*b].is_finite();
        let all = |line: usize| (0..count).filter(known).map(|b| walk(line, b)).collect();
        (0..self.along.len()).map(all).collect()
    }
}

impl Aside {
    /// Notes what the walks along one coordinate show.
    fn note(&mut self, at: usize, walks: &[Walk], alone: bool) {
        let count = walks.len().max(1) as f64;
        let shares = |of: &dyn Fn(&Walk) -> [f64; 2]| {
            walks.iter().map(of).fold([0.0; 2], |sum, [m, v]| [sum[0] + m / count, sum[1] + v / count])
        };
        let matters = |[mass, variance]: [f64; 2]| mass > OF_MASS || variance > OF_VARIANCE;
        self.is_wide |= matters(shares(&Walk::beyond));
        let others = shares(&|walk| {
            walk.others()
                .filter(|top| !alone || !top.is_resolved())
                .fold([0.0; 2], |sum, top| [sum[0] + top.mass, sum[1] + top.mass * top.far * top.far])
        });
        if matters(others) && self.other.is_none_or(|(_, mass)| mass < others[0]) {
            self.other = Some((at, others[0]));
        }
        let higher = walks.iter().find_map(Walk::higher);
        self.higher.extend(higher.map(|place| (at, place)));
    }
}

/// A mode aside of the one that is known: how far away, how wide, and its share of the mass.
struct Top {
    far: f64,
    width: f64,
    mass: f64,
}

impl Top {
    fn is_resolved(&self) -> bool {
        self.width > RESOLVED * self.far
    }
}

/// The share of the mass at each place.
fn shares(log_density: &[f64]) -> Vec<f64> {
    let top = log_density.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = log_density.iter().map(|v| (v - top).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|w| w / total).collect()
}

impl Walk {
    /// The mass aside of the mode, and what it adds to the variance, relative to that at the mode.
    fn beyond(&self) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for (j, &share) in self.shares.iter().enumerate() {
            if self.far[j].abs() > ASIDE && share.is_finite() {
                sums[0] += share;
                sums[1] += share * self.far[j] * self.far[j];
            }
        }
        sums
    }

    /// Other modes: from the mode outwards, tops beyond valleys.
    fn others(&self) -> impl Iterator<Item = Top> {
        let middle = self.far.len() / 2;
        let step = self.far[middle + 1] - self.far[middle];
        let sides: [Vec<usize>; 2] = [(middle..self.far.len()).collect(), (0..=middle).rev().collect()];
        sides.into_iter().filter_map(move |side| {
            let (mut low, mut start) = (f64::INFINITY, middle);
            let mut best: Option<usize> = None;
            for &j in &side {
                let value = self.log_density[j];
                if best.is_none() && value < low {
                    (low, start) = (value, j);
                }
                let higher = best.is_none_or(|k| value > self.log_density[k]);
                if self.far[j].abs() > ASIDE && value > low + VALLEY && higher {
                    best = Some(j);
                }
            }
            let (top, valley) = (best?, self.far[start].abs());
            let mass: f64 =
                side.iter().filter(|&&j| self.far[j].abs() > valley).map(|&j| self.shares[j]).sum();
            let width = mass * step / (self.shares[top].max(f64::MIN_POSITIVE) * 2.5);
            mass.is_finite().then_some(Top { far: self.far[top].abs(), width, mass })
        })
    }

    /// The highest place, if that is not where the mode is.
    fn higher(&self) -> Option<f64> {
        let middle = self.far.len() / 2;
        let best = (0..self.far.len())
            .reduce(|a, b| if self.log_density[b] > self.log_density[a] { b } else { a })?;
        let above = self.log_density[best] - self.log_density[middle];
        (above > HIGHER && self.far[best].abs() > 1.0).then(|| self.mode + self.sd * self.far[best])
    }
}
