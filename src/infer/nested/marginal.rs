//! The outer coordinates alone, as a target to fit; and with the inner ones given them, as a way to draw from
//! the model.

use crate::infer::nested::blocks::places;
use crate::infer::nested::conditional::Conditional;
use crate::infer::nested::groups::{alternatives, pick};
use crate::infer::nested::lanes;
use crate::infer::nested::lanes::{LANES, Lanes, part};
use crate::infer::nested::lattice::Lattice;
use crate::infer::nested::partition::How;
use crate::infer::nested::solver::{Solver, slope};
use crate::infer::proposal::placement::{Placed, Placement};
use crate::infer::transport::map::Warped;
use crate::num::real::LN_2PI;
use crate::target::{Evaluator, Target};
use std::sync::Mutex;

/// Half-widths of the differences that give the gradient: this share of a standard deviation, within these
/// bounds. The value is known to about 1e-11, and a difference over 0.05 standard deviations has an error of
/// 0.0004 of its third derivative.
const SHARE: f64 = 0.05;
const NARROWEST: f64 = 1e-7;
const WIDEST: f64 = 2e-3;
/// Most draws that take a search for a mode, or candidates, each.
const SEARCHED: usize = 16_384;
/// Points of a draw, inner coordinates given the same outer ones: where a search took the work, and where one
/// factorisation did.
const COPIES: usize = 8;
const FEW_COPIES: usize = 2;
/// How much wider the differences of gradients are that give the Hessian.
const WIDER: f64 = 10.0;

/// The outer coordinates, inner ones integrated out.
pub(super) struct Marginal<'c> {
    pub(super) conditional: &'c Conditional<'c>,
    /// Half-widths of the differences that give the gradient.
    widths: Vec<f64>,
    /// The place of each standard normal number within its group, where differences along these give it
    /// instead.
    directions: Option<Vec<usize>>,
    /// Whether each evaluation begins where the last one ended.
    follows: bool,
}

impl<'c> Marginal<'c> {
    /// With differences that suit outer coordinates of these scales.
    pub(super) fn new(conditional: &'c Conditional<'c>, scales: &[f64]) -> Marginal<'c> {
        Marginal { conditional, widths: widths(scales), directions: directions(conditional), follows: false }
    }

    /// The same for a search of one thread, whose points follow each other.
    pub(super) fn followed(self) -> Marginal<'c> {
        Marginal { follows: true, ..self }
    }
}

/// The place of each standard normal number of a draw within its group, where gradients of the outer
/// coordinates come from differences along these: where no rule and no surface gives them, and they are
/// fewer than those of log densities.
pub(super) fn directions(conditional: &Conditional) -> Option<Vec<usize>> {
    if conditional.integrates() || conditional.is_smooth() || conditional.held.is_some() {
        return None;
    }
    let places = places(&conditional.drawn_group());
    let largest = places.iter().max().map_or(0, |place| place + 1);
    let pays = slope::pays(
        conditional.parts.how,
        conditional.gradients_each(),
        conditional.parts.outer.len(),
        largest,
    );
    pays.then_some(places)
}

/// Widths of differences for coordinates of these scales.
pub(super) fn widths(scales: &[f64]) -> Vec<f64> {
    scales.iter().map(|s| (SHARE * s).clamp(NARROWEST, WIDEST)).collect()
}

impl Target for Marginal<'_> {
    fn dimension(&self) -> usize {
        self.conditional.parts.outer.len()
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        Box::new(MarginalEvaluator {
            solver: if self.conditional.integrates() {
                Solver::new(self.conditional).anchoring()
            } else {
                Solver::new(self.conditional)
            },
            of: self,
        })
    }

    /// Of one gradient of the model: how many a search takes is not known.
    fn operations(&self) -> usize {
        self.conditional.target.operations()
    }

    fn searches(&self) -> bool {
        self.conditional.parts.how != How::Quadratic
    }

    fn coordinate_names(&self) -> Vec<String> {
        let names = self.conditional.target.coordinate_names();
        self.conditional.parts.outer.iter().map(|&i| names[i].clone()).collect()
    }
}

struct MarginalEvaluator<'c> {
    of: &'c Marginal<'c>,
    solver: Solver<'c>,
}

impl Evaluator for MarginalEvaluator<'_> {
    fn evaluate(&mut self, z: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]) {
        let Marginal { conditional, directions, .. } = self.of;
        let (integrates, smooth) = (conditional.integrates(), conditional.is_smooth());
        if !integrates && !smooth && directions.is_none() {
            return self.by_differences(z, draws, log_density, gradient);
        }
        for first in (0..draws).step_by(LANES) {
            let lanes = first..draws.min(first + LANES);
            let (width, points) = (lanes.len(), part(z, draws, lanes.clone()));
            let weights = self.solve(&points, width);
            log_density[lanes.clone()].copy_from_slice(&self.solver.log_marginal[..width]);
            let outer = lanes::lanes(&points, width);
            let slopes = match directions {
                Some(places) => self.solver.laplace_slope(&outer, places),
                None if integrates => self.solver.mean_slope(&outer, weights),
                None => self.solver.outer_slope(&outer),
            };
            for (row, slope) in gradient.chunks_exact_mut(draws).zip(slopes) {
                row[lanes.clone()].copy_from_slice(&slope[..width]);
            }
        }
    }

    fn log_density(&mut self, z: &[f64], draws: usize, log_density: &mut [f64]) {
        for first in (0..draws).step_by(LANES) {
            let lanes = first..draws.min(first + LANES);
            let width = lanes.len();
            self.solve(&part(z, draws, lanes.clone()), width);
            log_density[lanes].copy_from_slice(&self.solver.log_marginal[..width]);
        }
    }

    fn hessian_vectors(&mut self, z: &[f64], v: &[f64], count: usize, out: &mut [f64]) {
        let d = z.len();
        let mut points = vec![0.0; d * 2 * count];
        let length =
            |k: usize| (0..d).map(|i| (v[i * count + k] / self.of.widths[i]).powi(2)).sum::<f64>().sqrt();
        let widths: Vec<f64> = (0..count).map(|k| WIDER / length(k).max(f64::MIN_POSITIVE)).collect();
        for i in 0..d {
            for k in 0..count {
                let by = widths[k] * v[i * count + k];
                points[i * 2 * count + k] = z[i] + by;
                points[i * 2 * count + count + k] = z[i] - by;
            }
        }
        let (mut values, mut gradients) = (vec![0.0; 2 * count], vec![0.0; d * 2 * count]);
        self.evaluate(&points, 2 * count, &mut values, &mut gradients);
        for i in 0..d {
            let row = &gradients[i * 2 * count..(i + 1) * 2 * count];
            (0..count).for_each(|k| out[i * count + k] = (row[k] - row[count + k]) / (2.0 * widths[k]));
        }
    }
}

impl MarginalEvaluator<'_> {
    /// The log density at up to sixteen points; where groups are integrated out, how much each point of the
    /// rule counts.
    fn solve(&mut self, points: &[f64], width: usize) -> Vec<Vec<Lanes>> {
        self.solver.solve(points, width);
        if self.of.follows {
            self.solver.remember();
        }
        self.solver.correct(&lanes::lanes(points, width))
    }

    /// The gradient by central differences: the value is known to rounding, and there are few coordinates.
    fn by_differences(&mut self, z: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]) {
        let d = z.len() / draws;
        let around = 1 + 2 * d;
        let count = around * draws;
        let mut points = vec![0.0; d * count];
        for (row, z) in points.chunks_exact_mut(count).zip(z.chunks_exact(draws)) {
            row.chunks_exact_mut(draws).for_each(|part| part.copy_from_slice(z));
        }
        for i in 0..d {
            for (side, by) in [(1, self.of.widths[i]), (2, -self.of.widths[i])] {
                let from = i * count + (2 * i + side) * draws;
                points[from..from + draws].iter_mut().for_each(|x| *x += by);
            }
        }
        let mut values = vec![0.0; count];
        self.log_density(&points, count, &mut values);
        log_density.copy_from_slice(&values[..draws]);
        for i in 0..d {
            for b in 0..draws {
                let (up, down) = (values[(2 * i + 1) * draws + b], values[(2 * i + 2) * draws + b]);
                gradient[i * draws + b] = (up - down) / (2.0 * self.of.widths[i]);
            }
        }
    }
}

/// The model at outer coordinates, bent, and standard normal ones that become the inner ones given the outer.
pub(super) struct Nested<'c> {
    conditional: &'c Conditional<'c>,
    outer: Warped<'c>,
    /// Candidates for each group of inner coordinates.
    candidates: usize,
    /// The group of inner coordinates that each output follows from.
    owners: &'c [Option<usize>],
    /// The group that each standard normal number belongs to.
    drawn_group: Vec<usize>,
    /// The lattice that all candidates are points of.
    lattice: Option<&'static Lattice>,
    /// Buffers that are not in use.
    idle: Mutex<Vec<Solver<'c>>>,
}

impl<'c> Nested<'c> {
    /// With so many candidates for each group, where each output follows from the group named.
    pub(super) fn new(
        conditional: &'c Conditional<'c>,
        outer: Warped<'c>,
        candidates: usize,
        owners: &'c [Option<usize>],
    ) -> Nested<'c> {
        let (drawn_group, lattice) = (conditional.drawn_group(), conditional.lattice());
        Nested { conditional, outer, candidates, owners, drawn_group, lattice, idle: Mutex::new(Vec::new()) }
    }

    fn take_solver(&self) -> Solver<'c> {
        let kept = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        kept.unwrap_or_else(|| Solver::new(self.conditional).roughly())
    }

    fn give_back(&self, solver: Solver<'c>) {
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(solver);
        }
    }

    /// Writes points of the model for up to sixteen draws, and what is to be added to the log density of each
    /// copy, or is all of it where candidates have been weighed; returns what each group adds.
    fn place_lanes(
        &self,
        solver: &mut Solver<'c>,
        outer: &[f64],
        u: Vec<Lanes>,
        mut put: impl FnMut(usize, Vec<Lanes>, Lanes),
    ) -> Vec<Lanes> {
        let count = outer.len() / self.conditional.parts.outer.len().max(1);
        solver.solve(outer, count);
        let lanes = lanes::lanes(outer, count);
        if self.candidates > 1 {
            let groups = [&self.conditional.groups.of[..], &self.drawn_group];
            let (points, gains) =
                pick(solver, &lanes, u, groups, self.lattice, [self.candidates, self.copies()]);
            let value =
                std::array::from_fn(|b| solver.log_marginal[b] + gains.iter().map(|g| g[b]).sum::<f64>());
            points.into_iter().enumerate().for_each(|(c, x)| put(c, x, value));
            return gains;
        }
        for (c, mut u) in alternatives(&lanes, u, self.copies()).into_iter().enumerate() {
            let log_q = |b: usize| u.iter().map(|u| -0.5 * (u[b] * u[b] + LN_2PI)).sum::<f64>();
            let added: Lanes = std::array::from_fn(|b| solver.swell[b] - log_q(b));
            let stretched = self.conditional.learnt.tails.stretch(&mut u);
            let added = std::array::from_fn(|b| added[b] + stretched[b]);
            put(c, solver.inner(solver.away(u)), added);
        }
        Vec::new()
    }

    /// All coordinates at so many points, the outer ones repeated for each copy, the inner ones at the
    /// reference.
    fn outer_points(&self, outer: &[f64], n: usize, copies: usize) -> Vec<f64> {
        let Conditional { parts, reference, .. } = self.conditional;
        let points = n * copies;
        let mut z = vec![0.0; self.conditional.target.dimension() * points];
        for (&i, row) in parts.outer.iter().zip(outer.chunks_exact(n)) {
            let to = z[i * points..(i + 1) * points].chunks_exact_mut(copies);
            to.zip(row).for_each(|(copies, x)| copies.fill(*x));
        }
        parts.inner.iter().zip(reference).for_each(|(&i, x)| z[i * points..(i + 1) * points].fill(*x));
        z
    }
}

impl Placement for Nested<'_> {
    fn model(&self) -> &dyn Target {
        self.conditional.target
    }

    fn standard(&self) -> usize {
        self.conditional.parts.inner.len()
    }

    fn most_draws(&self) -> usize {
        if self.searches_each_draw() { SEARCHED } else { usize::MAX }
    }

    fn places_cheaply(&self) -> bool {
        false
    }

    fn searches_each_draw(&self) -> bool {
        self.conditional.parts.how != How::Quadratic || self.conditional.is_smooth()
    }

    /// All outer coordinates: logarithms of scales have tails that no Student-t in all coordinates together
    /// follows. Fits by quadrature have no such tails.
    fn leaders(&self) -> usize {
        match self.conditional.parts.how {
            How::Given => 0,
            How::Searched if self.conditional.parts.leaves_many() => 0,
            How::Quadratic | How::Searched => self.conditional.parts.outer.len(),
        }
    }

    fn outer_margin_is_exact(&self) -> bool {
        let exact = self.conditional.parts.how == How::Quadratic && !self.conditional.is_smooth();
        exact || self.conditional.integrates()
    }

    fn copies(&self) -> usize {
        match self.conditional.parts.how {
            How::Quadratic => FEW_COPIES,
            How::Searched | How::Given if self.candidates > 1 => self.candidates.min(COPIES),
            How::Searched | How::Given => COPIES,
        }
    }

    fn groups(&self) -> usize {
        // What a lattice integrates has no noise to be smoothed.
        if self.candidates > 1 && self.lattice.is_none() { self.conditional.group_count() } else { 0 }
    }

    fn group_of(&self, output: usize) -> Option<usize> {
        self.owners.get(output).copied().flatten()
    }

    fn place(&self, mut w: Vec<f64>, n: usize, evaluator: &mut dyn Evaluator) -> Placed {
        let parts = &self.conditional.parts;
        let u = w.split_off(parts.outer.len() * n);
        let (outer, log_det) = self.outer.forward(w, n);
        let copies = self.copies();
        let points = n * copies;
        let mut z = self.outer_points(&outer, n, copies);
        let (mut log_density, mut added) = (vec![0.0; points], vec![0.0; points]);
        let mut gains = vec![0.0; self.groups() * n];
        let mut solver = self.take_solver();
        let mut known = self.candidates > 1;
        for first in (0..n).step_by(LANES) {
            let lanes = first..n.min(first + LANES);
            let u = lanes::lanes(&part(&u, n, lanes.clone()), lanes.len());
            let here = part(&outer, n, lanes.clone());
            let mut placed = Vec::with_capacity(copies);
            let parts_of = self.place_lanes(&mut solver, &here, u, |c, x, more| {
                for (&i, x) in parts.inner.iter().zip(&x) {
                    let row = &mut z[i * points + lanes.start * copies..i * points + lanes.end * copies];
                    row[c..].iter_mut().step_by(copies).zip(x).for_each(|(to, x)| *to = *x);
                }
                for (b, draw) in lanes.clone().enumerate() {
                    added[draw * copies + c] = log_det[draw] + more[b];
                }
                placed.push(x);
            });
            let at_copies = || solver.at_copies(&lanes::lanes(&here, lanes.len()), &placed);
            if let Some(values) = (self.candidates == 1).then(at_copies).flatten() {
                known = true;
                let to = log_density[lanes.start * copies..lanes.end * copies].chunks_exact_mut(copies);
                to.enumerate().for_each(|(b, to)| to.iter_mut().zip(&values).for_each(|(to, x)| *to = x[b]));
            }
            for (row, gain) in gains.chunks_exact_mut(n).zip(&parts_of) {
                row[lanes.clone()].copy_from_slice(&gain[..lanes.len()]);
            }
        }
        self.give_back(solver);
        if !known {
            evaluator.log_density(&z, points, &mut log_density);
        }
        log_density.iter_mut().zip(&added).for_each(|(l, a)| *l += a);
        Placed { points: z, log_density, gains }
    }

    fn alone(&self, w: Vec<f64>, n: usize) -> Vec<f64> {
        let (outer, mut log_density) = self.outer.forward(w, n);
        let mut solver = self.take_solver();
        for first in (0..n).step_by(LANES) {
            let lanes = first..n.min(first + LANES);
            let (here, width) = (part(&outer, n, lanes.clone()), lanes.len());
            solver.solve(&here, width);
            solver.correct(&lanes::lanes(&here, width));
            log_density[lanes].iter_mut().zip(solver.log_marginal).for_each(|(l, m)| *l += m);
        }
        self.give_back(solver);
        log_density
    }

    fn glance(&self, mut w: Vec<f64>, n: usize) -> Vec<f64> {
        w.truncate(self.conditional.parts.outer.len() * n);
        self.outer_points(&self.outer.forward(w, n).0, n, 1)
    }
}
