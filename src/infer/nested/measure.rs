//! Finds the pattern of the inner Hessian, a reference and steps, and how the mode moves near the reference.

use crate::infer::nested::blocks::groups;
use crate::infer::nested::conditional::{
    Conditional, HessianSource, MOST_COLOURS, MOST_COLOURS_SMOOTH, MOST_OUTER_SMOOTH,
};
use crate::infer::nested::hessian::basis::Span;
use crate::infer::nested::hessian::colouring::{Reading, read};
use crate::infer::nested::hessian::forms::Forms;
use crate::infer::nested::hessian::pattern::{PROBES, ROUNDING, pattern, sound};
use crate::infer::nested::lanes::{LANES, PURPOSE, part};
use crate::infer::nested::partition::{How, Partition};
use crate::infer::nested::solver::Solver;
use crate::num::linalg::Pattern;
use crate::num::stream::Stream;
use crate::target::Target;
use std::sync::atomic::AtomicUsize;

/// Entries beyond which colours are not counted: they are too many.
const MOST_COLOURED: usize = 30_000;
/// Colours from which on it is worth while to see whether Hessians have much in common, and how far around
/// the origin.
const MANY_COLOURS: usize = 3;
const AROUND: f64 = 3.0;
/// Most work of one factorisation where each draw takes one, and where they are found at few points alone:
/// that of a dense matrix of two thousand rows.
const MOST_WORK: usize = 20_000_000;
const MOST_WORK_SMOOTH: usize = 3_000_000_000;

impl<'t> Conditional<'t> {
    /// Finds the pattern of the Hessian, a reference and steps; None where the curvature is not that of a
    /// Gaussian.
    pub(super) fn new(target: &'t dyn Target, parts: Partition, seed: u64) -> Option<Conditional<'t>> {
        let k = parts.inner.len();
        let found = Forms::new(target, &parts, seed);
        let (columns, diagonal) = match &found {
            Some(forms) => (forms.columns(), sound(target, &parts, &forms.diagonal, seed)?),
            None => pattern(target, &parts, seed)?,
        };
        let group = groups(&columns);
        let few = found.as_ref().is_none_or(|forms| forms.entries.len() <= MOST_COLOURED);
        let coloured = few.then(|| read(&columns));
        let colours = coloured.as_ref().map_or(usize::MAX, |reading| reading.colours.len());
        let forms = found.filter(|forms| colours.saturating_mul(target.operations()) > forms.operations());
        let (mut forms, reading) = match (forms, coloured) {
            (None, coloured) => (None, coloured?),
            (Some(forms), _) => {
                let reading = Reading::of_forms(&forms.entries);
                (Some(forms), reading)
            }
        };
        let pattern = Pattern::new(k, &reading.entries);
        let many = forms.is_none() && parts.how == How::Searched && colours > most_colours(parts.outer.len());
        let most_work = match forms.is_some() && parts.outer.len() <= MOST_OUTER_SMOOTH {
            true => MOST_WORK_SMOOTH,
            false => MOST_WORK,
        };
        if many || pattern.work() > most_work {
            return None;
        }
        let steps: Vec<f64> = diagonal.iter().map(|h| h.sqrt().recip()).collect();
        if let Some(forms) = &mut forms {
            forms.measure_in(&steps, parts.how);
        }
        let probed = if forms.is_some() { PROBES.len() } else { PROBES.len() * k };
        let large = pattern.work() > MOST_WORK;
        let mut found = Self::of(target, parts, steps, reading, pattern, group);
        found.hessian = HessianSource { forms, colours, large, ..found.hessian };
        found.gradients = AtomicUsize::new(probed);
        // One step leads from anywhere to the mode of a quadratic, and a factorisation takes long.
        if found.hessian.large && found.parts.how == How::Quadratic {
            return Some(found);
        }
        let origin = found.drift.centre.clone();
        found.recentre(&origin, &vec![1e-3; origin.len()]);
        found.look_around(&origin, &vec![AROUND; origin.len()], seed);
        Some(found)
    }

    /// Sees what Hessians have in common at outer points around this one, so far away at most.
    pub(super) fn look_around(&mut self, centre: &[f64], reach: &[f64], seed: u64) {
        self.hessian.span = self.span(centre, reach, seed);
    }

    /// The same; None where that is too little, or would save little.
    fn span(&self, centre: &[f64], reach: &[f64], seed: u64) -> Option<Span> {
        if self.parts.how != How::Quadratic || self.hessian.reading.colours.len() < MANY_COLOURS {
            return None;
        }
        let mut solver = Solver::new(self);
        // The first as they are, each of the others with one coordinate moved.
        let moved = |p: usize| {
            let (i, lane) = (p / LANES, p % LANES);
            centre[i] + if lane == 1 + i { reach[i] } else { 0.0 }
        };
        let outer: Vec<f64> = (0..centre.len() * LANES).map(moved).collect();
        if centre.len() >= LANES || !varies_with_one(&solver.hessians(&outer)) {
            return None;
        }
        let mut stream = Stream::new(seed, PURPOSE, 2);
        let mut place = |p: usize| centre[p / LANES] + reach[p / LANES] * (2.0 * stream.uniform() - 1.0);
        let outer: Vec<f64> = (0..centre.len() * LANES).map(&mut place).collect();
        Span::new(&solver.hessians(&outer), &self.hessian.reading.entries, self.parts.inner.len(), seed)
    }

    /// Takes the mode at these outer coordinates as the reference, and finds how it moves with them by
    /// differences of these widths: a reference near the modes saves digits, and Newton steps. Nothing
    /// changes if there is no mode.
    pub(super) fn recentre(&mut self, outer: &[f64], widths: &[f64]) {
        let (k, q) = (self.parts.inner.len(), outer.len());
        let count = 1 + 2 * q;
        let mut points: Vec<f64> = outer.iter().flat_map(|x| std::iter::repeat_n(*x, count)).collect();
        for (i, w) in widths.iter().enumerate() {
            points[i * count + 1 + 2 * i] += w;
            points[i * count + 2 + 2 * i] -= w;
        }
        let mut modes = vec![0.0; k * count];
        let mut factor = Vec::new();
        let mut solver = Solver::new(self);
        for first in (0..count).step_by(LANES) {
            let width = LANES.min(count - first);
            solver.solve(&part(&points, count, first..first + width), width);
            if !solver.log_marginal[..width].iter().all(|x| x.is_finite()) {
                return;
            }
            if first == 0 {
                factor = solver.factor.iter().map(|f| f[0]).collect();
            }
            for (mode, y) in modes.chunks_exact_mut(count).zip(&solver.y) {
                mode[first..first + width].copy_from_slice(&y[..width]);
            }
        }
        drop(solver);
        for (i, mode) in modes.chunks_exact(count).enumerate() {
            self.reference[i] += self.steps[i] * mode[0];
            for (j, w) in widths.iter().enumerate() {
                self.drift.slopes[i * q + j] = (mode[1 + 2 * j] - mode[2 + 2 * j]) / (2.0 * w);
            }
        }
        self.drift.centre = outer.to_vec();
        self.drift.factor = factor;
    }
}

/// Whether but one of these Hessians differs from the first, by more than rounding: then one outer coordinate
/// alone decides what all are.
fn varies_with_one(hessians: &[Vec<f64>]) -> bool {
    let Some((first, others)) = hessians.split_first().filter(|_| hessians.len() == LANES) else {
        return false;
    };
    let largest = first.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let differs =
        |other: &&Vec<f64>| other.iter().zip(first).any(|(a, b)| (a - b).abs() > ROUNDING * largest);
    others.iter().filter(differs).count() == 1
}

/// Most colours of the Hessian of inner coordinates that are searched given so many outer ones.
fn most_colours(outer: usize) -> usize {
    if outer <= MOST_OUTER_SMOOTH { MOST_COLOURS_SMOOTH } else { MOST_COLOURS }
}
