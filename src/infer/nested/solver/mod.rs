//! Modes of the inner coordinates, the factors of their curvature, and the log density of the outer ones with
//! the inner ones integrated out; for sixteen outer points at once.
//!
//! Minus the Hessian in the steps y is read from differences of gradients, one colour of columns after
//! another: exact (but for rounding) where the log density is quadratic in x, by small forward differences
//! where it is not: their error is smooth, and only in the spread of draws, which weights correct.

mod by_surface;
mod climb;
mod integral;
mod krylov;
mod measure;
mod quadratic;
mod search;
pub(super) mod slope;

use crate::infer::nested::conditional::{Conditional, Tuning};
use crate::infer::nested::hessian::forms::FormsEvaluator;
use crate::infer::nested::hessian::prior::Curb;
use crate::infer::nested::lanes::{LANES, Lanes, lanes};
use crate::infer::nested::partition::How;
use crate::num::real::LN_2PI;
use crate::num::slices::ln;
use crate::target::{Evaluator, Given, GivenEvaluator, GroupedEvaluator};

/// Twice what is left to gain where one more step ends at the mode: where the value there must be known to
/// rounding, and where the mode is only where draws come from.
const NEAR: f64 = 1e-13;
const ROUGHLY: f64 = 1e-5;
const ANCHORED: f64 = 1e-6;
/// Most steps from an anchor or along a surface; twice what the first may promise.
const CHORDS: usize = 5;
const LONG: f64 = 20.0;
/// Buffers of one thread, and what the last solution was.
pub(super) struct Solver<'c> {
    conditional: &'c Conditional<'c>,
    pub(super) evaluator: Box<dyn Evaluator + 'c>,
    held: Option<GivenEvaluator<'c>>,
    grouped: Option<GroupedEvaluator<'c>>,
    forms: Option<FormsEvaluator<'c>>,
    /// Of the prior, where it is known what that adds to Hessians.
    prior: Option<Box<dyn Evaluator + 'c>>,
    points: Vec<f64>,
    values: Vec<f64>,
    gradient: Vec<f64>,
    entries: Vec<Lanes>,
    pub(super) factor: Vec<Lanes>,
    /// The mode, in steps from the reference.
    pub(super) y: Vec<Lanes>,
    /// The last mode found and the factor there, where searches follow each other.
    trail: Option<(Vec<f64>, Vec<f64>)>,
    /// Twice what is left to gain where one more step ends at the mode.
    near: f64,
    /// Lanes in use: others repeat the last of them.
    width: usize,
    /// How the log density changes with the outer coordinates where it was measured last, unless what follows
    /// from these is kept.
    partial: Vec<Lanes>,
    /// The log density of the outer points, inner coordinates integrated out.
    pub(super) log_marginal: Lanes,
    /// log |dx / du| of the inner coordinates there; minus infinity where there is no mode.
    pub(super) swell: Lanes,
    /// Where the last search ended at a mode.
    settled: [bool; LANES],
}

impl<'c> Solver<'c> {
    pub(super) fn new(conditional: &'c Conditional<'c>) -> Solver<'c> {
        Solver {
            conditional,
            evaluator: conditional.target.evaluator(),
            held: conditional.held.as_ref().map(Given::evaluator),
            grouped: None,
            forms: None,
            prior: conditional.learnt.curb.as_ref().map(Curb::evaluator),
            points: Vec::new(),
            values: Vec::new(),
            gradient: Vec::new(),
            entries: Vec::new(),
            factor: Vec::new(),
            y: Vec::new(),
            trail: None,
            near: NEAR,
            width: LANES,
            partial: Vec::new(),
            log_marginal: [f64::NAN; LANES],
            swell: [f64::NEG_INFINITY; LANES],
            settled: [true; LANES],
        }
    }

    /// The same for modes that draws come from, whose weights know how far off they are.
    pub(super) fn roughly(self) -> Solver<'c> {
        Solver { near: ROUGHLY, ..self }
    }

    /// The same for anchors.
    pub(super) fn anchoring(self) -> Solver<'c> {
        Solver { near: ANCHORED, ..self }
    }

    /// Solves for up to sixteen outer points (coordinate `i` of point `b` at `i * count + b`); lanes beyond
    /// repeat the last.
    pub(super) fn solve(&mut self, outer: &[f64], count: usize) {
        let all = lanes(outer, count);
        self.width = count;
        self.y.clear();
        self.y.resize(self.conditional.parts.inner.len(), [0.0; LANES]);
        let failed = self.follow_surface(&all);
        self.for_some(&all, &failed, Self::find);
        self.integrate();
    }

    /// Solves for these outer points.
    fn find(&mut self, outer: &[Lanes]) {
        let this = self.conditional;
        self.y.fill([0.0; LANES]);
        match this.parts.how {
            How::Quadratic => {
                if !self.solve_quadratic_in_basis(outer) {
                    self.solve_quadratic(outer);
                }
            }
            How::Searched if this.costly() && !this.drift.factor.is_empty() => self.search_by_krylov(outer),
            How::Searched => {
                let failed = self.approach(outer);
                self.for_some(outer, &failed, Self::search);
            }
        }
    }

    /// Does something for some of these outer points alone, from where these are.
    fn for_some(&mut self, outer: &[Lanes], which: &[usize], what: impl FnOnce(&mut Self, &[Lanes])) {
        let Some(&last) = which.last() else { return };
        if which.len() == self.width {
            return what(self, outer);
        }
        let lane = |b: usize| which.get(b).copied().unwrap_or(last);
        let some =
            |of: &[Lanes]| -> Vec<Lanes> { of.iter().map(|x| std::array::from_fn(|b| x[lane(b)])).collect() };
        let (outer, y, factor) = (some(outer), some(&self.y), some(&self.factor));
        let (y, factor) = (std::mem::replace(&mut self.y, y), std::mem::replace(&mut self.factor, factor));
        let (partial, log_marginal) = (std::mem::take(&mut self.partial), self.log_marginal);
        let width = std::mem::replace(&mut self.width, which.len());
        let settled = self.settled;
        what(self, &outer);
        self.width = width;
        let found = std::mem::replace(&mut self.settled, settled);
        which.iter().enumerate().for_each(|(b, &lane)| self.settled[lane] = found[b]);
        let back = |found: &mut Vec<Lanes>, mut others: Vec<Lanes>| {
            for (to, from) in others.iter_mut().zip(found.iter()) {
                which.iter().enumerate().for_each(|(b, &lane)| to[lane] = from[b]);
            }
            *found = others;
        };
        back(&mut self.y, y);
        back(&mut self.factor, factor);
        back(&mut self.partial, partial);
        let found = std::mem::replace(&mut self.log_marginal, log_marginal);
        which.iter().enumerate().for_each(|(b, &lane)| self.log_marginal[lane] = found[b]);
    }

    /// From the log density at the mode to that of the outer point alone.
    fn integrate(&mut self) {
        let half = 0.5 * self.conditional.parts.inner.len() as f64 * LN_2PI;
        self.swell = self.find_swell();
        (0..LANES).for_each(|b| self.log_marginal[b] += half + self.swell[b]);
    }

    /// Factors minus the Hessian with so much added to its diagonal.
    fn factor(&mut self, damping: &Lanes) {
        let this = self.conditional;
        if damping.iter().any(|x| *x != 0.0) {
            for (entry, value) in this.hessian.reading.entries.iter().zip(&mut self.entries) {
                if entry.0 == entry.1 {
                    (0..LANES).for_each(|b| value[b] += damping[b]);
                }
            }
        }
        this.hessian.pattern.factor(&self.entries, &mut self.factor);
    }

    /// Newton's step for a slope, with the factor at hand.
    fn ascent(&self, slope: &[Lanes]) -> Vec<Lanes> {
        let pattern = &self.conditional.hessian.pattern;
        let mut step = slope.to_vec();
        pattern.solve_lower(&self.factor, &mut step);
        pattern.solve_transposed(&self.factor, &mut step);
        step
    }

    /// Lets the next search begin where the first point of this one ended. For searches of one thread after
    /// another only: what came before leaves its trace in the last digits.
    pub(super) fn remember(&mut self) {
        if self.log_marginal[0].is_finite() && self.conditional.parts.how == How::Searched {
            let first = |of: &[Lanes]| of.iter().map(|x| x[0]).collect();
            self.trail = Some((first(&self.y), first(&self.factor)));
        }
    }

    /// Moves with the outer coordinates as the modes near the reference do.
    fn drift(&mut self, outer: &[Lanes]) {
        let this = self.conditional;
        if let Some((mode, _)) = &self.trail {
            self.y.iter_mut().zip(mode).for_each(|(y, x)| *y = [*x; LANES]);
            return;
        }
        for (y, drift) in self.y.iter_mut().zip(this.drift.slopes.chunks_exact(outer.len())) {
            for ((drift, outer), centre) in drift.iter().zip(outer).zip(&this.drift.centre) {
                (0..LANES).for_each(|b| y[b] += drift * (outer[b] - centre));
            }
        }
    }

    /// Takes the last factor, or that at the reference, if there is one.
    fn reuse_factor(&mut self) {
        let factor = self.trail.as_ref().map_or(&self.conditional.drift.factor, |(_, factor)| factor);
        self.factor.clear();
        self.factor.extend(factor.iter().map(|f| [*f; LANES]));
    }

    /// How far from the mode standard normal numbers are: `L⁻ᵀ (m + s u)`, in steps, for the shift m and the
    /// scale s that it is tuned by.
    pub(super) fn away(&self, mut u: Vec<Lanes>) -> Vec<Lanes> {
        let Tuning { shift, scale } = &self.conditional.learnt.tuning;
        for ((u, m), s) in u.iter_mut().zip(shift).zip(scale) {
            u.iter_mut().for_each(|x| *x = m + s * *x);
        }
        self.conditional.hessian.pattern.solve_transposed(&self.factor, &mut u);
        u
    }

    /// The inner coordinates so far from the mode; the reference where there is no mode.
    pub(super) fn inner(&self, mut away: Vec<Lanes>) -> Vec<Lanes> {
        let this = self.conditional;
        for (i, x) in away.iter_mut().enumerate() {
            for b in 0..LANES {
                let place = this.reference[i] + this.steps[i] * (self.y[i][b] + x[b]);
                x[b] = if self.log_marginal[b].is_finite() && place.is_finite() {
                    place
                } else {
                    this.reference[i]
                };
            }
        }
        away
    }

    /// log |dx / du| of the inner coordinates; minus infinity where there is no mode.
    fn find_swell(&self) -> Lanes {
        let tuned: f64 = self.conditional.learnt.tuning.scale.iter().map(|s| s.ln()).sum();
        let volume = self.volume();
        let lane =
            |b: usize| if self.log_marginal[b].is_finite() { volume[b] + tuned } else { f64::NEG_INFINITY };
        std::array::from_fn(lane)
    }

    /// The logarithm of one over the determinant of the factor, in the coordinates of the model.
    fn volume(&self) -> Lanes {
        let this = self.conditional;
        let mut volume = [this.steps.iter().map(|s| s.ln()).sum::<f64>(); LANES];
        let mut logs = this.hessian.pattern.pivots(&self.factor).to_vec();
        ln(logs.as_flattened_mut());
        logs.iter().for_each(|logs| (0..LANES).for_each(|b| volume[b] -= logs[b]));
        volume
    }

    /// What each group adds to the log density so far from the mode, but for a constant; nothing if groups
    /// are not known apart.
    pub(super) fn of_groups(&mut self, outer: &[Lanes], away: &[Lanes]) -> Vec<Lanes> {
        let this = self.conditional;
        let Some(grouped) = &this.groups.apart else { return Vec::new() };
        let points = self.places(outer, |lane| lane, |at, lane| away[at][lane]);
        let values = self.grouped.get_or_insert_with(|| grouped.evaluator()).evaluate(&points);
        values.as_chunks().0.to_vec()
    }

    /// All coordinates at sixteen points, coordinate `i` of point `b` at `i * 16 + b`: which outer point each
    /// has, and how far from the mode there its inner coordinates are.
    pub(super) fn places(
        &self,
        outer: &[Lanes],
        of: impl Fn(usize) -> usize,
        away: impl Fn(usize, usize) -> f64,
    ) -> Vec<f64> {
        let this = self.conditional;
        let mut points = vec![[0.0; LANES]; this.target.dimension()];
        for (&i, values) in this.parts.outer.iter().zip(outer) {
            for (lane, to) in points[i].iter_mut().enumerate() {
                *to = values[of(lane)];
            }
        }
        for (at, &i) in this.parts.inner.iter().enumerate() {
            let (reference, step, mode) = (this.reference[at], this.steps[at], &self.y[at]);
            for (lane, to) in points[i].iter_mut().enumerate() {
                *to = reference + step * (mode[of(lane)] + away(at, lane));
            }
        }
        points.into_flattened()
    }
}
