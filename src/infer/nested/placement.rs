//! Draws of all coordinates: outer ones from a Gaussian, inner ones given these.

use crate::infer::nested::conditional::Conditional;
use crate::infer::nested::groups::{alternatives, pick};
use crate::infer::nested::lanes;
use crate::infer::nested::lanes::{LANES, Lanes, part};
use crate::infer::nested::lattice::Lattice;
use crate::infer::nested::partition::How;
use crate::infer::nested::solver::Solver;
use crate::infer::proposal::placement::{Placed, Placement};
use crate::infer::transport::warped::Warped;
use crate::num::real::LN_2PI;
use crate::target::{Evaluator, Target};
use std::sync::Mutex;

/// Most draws that take a search for a mode, or candidates, each.
const SEARCHED: usize = 16_384;
/// Points of a draw, inner coordinates given the same outer ones: where a search took the work, and where one
/// factorisation did.
const COPIES: usize = 8;
const FEW_COPIES: usize = 2;

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
            How::Searched if self.candidates > 1 => self.candidates.min(COPIES),
            How::Searched => COPIES,
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
        for &(i, [low, high]) in self.conditional.target.limits() {
            for (l, x) in log_density.iter_mut().zip(&z[i * points..(i + 1) * points]) {
                *l = if low < *x && *x < high { *l } else { f64::NEG_INFINITY };
            }
        }
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
