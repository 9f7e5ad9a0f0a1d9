//! Log densities, slopes and Hessians of the inner coordinates at sixteen outer points.

use crate::infer::nested::conditional::OF_FORMS;
use crate::infer::nested::lanes::{LANES, Lanes, spread};
use crate::infer::nested::solver::Solver;
use std::sync::atomic::Ordering;

impl Solver<'_> {
    /// Log density and slope in y at the current y; and the entries of minus the Hessian, from forward
    /// differences of so many steps, if a number is given.
    pub(super) fn measure(&mut self, outer: &[Lanes], by: Option<f64>) -> (Lanes, Vec<Lanes>) {
        self.measure_by(outer, by, &[1.0])
    }

    /// The same with each colour moved in these directions: the Hessian is from the difference between the
    /// first and the last, or the current point where there is but one.
    pub(super) fn measure_by(
        &mut self,
        outer: &[Lanes],
        by: Option<f64>,
        ways: &[f64],
    ) -> (Lanes, Vec<Lanes>) {
        let this = self.conditional;
        let by = if by.is_some() && self.read_from_forms(outer) { None } else { by };
        let colours = if by.is_some() { this.hessian.reading.colours.len() } else { 0 };
        let width = self.width;
        let count = (1 + ways.len() * colours) * width;
        self.fill(outer, count);
        for (c, colour) in this.hessian.reading.colours[..colours].iter().enumerate() {
            for (w, way) in ways.iter().enumerate() {
                let set = 1 + w * colours + c;
                self.shift(colour, way * by.unwrap_or(0.0), set * width, count);
            }
        }
        self.evaluate(count);
        let slope = |at: usize, set: usize| -> Lanes {
            let from = this.parts.inner[at] * count + set * width;
            spread(&self.gradient[from..from + width]).map(|g| this.steps[at] * g)
        };
        if let Some(by) = by {
            let (apart, last) = match ways {
                [first, .., last] => (first - last, 1 + (ways.len() - 1) * colours),
                _ => (1.0, 0),
            };
            let entry = |&(colour, row): &(usize, usize)| -> Lanes {
                let behind = if last > 0 { last + colour } else { 0 };
                let (ahead, behind) = (slope(row, 1 + colour), slope(row, behind));
                std::array::from_fn(|b| (behind[b] - ahead[b]) / (apart * by))
            };
            self.entries.clear();
            self.entries.extend(this.hessian.reading.from.iter().map(entry));
        }
        self.keep_partial(count);
        (spread(&self.values[..width]), self.slope_of(0, count))
    }

    /// Reads the entries of minus the Hessian from the functions of forms; whether these are known.
    pub(super) fn read_from_forms(&mut self, outer: &[Lanes]) -> bool {
        let Some(forms) = &self.conditional.hessian.forms else { return false };
        let width = std::mem::replace(&mut self.width, LANES);
        self.fill(outer, LANES);
        self.width = width;
        let evaluator = self.forms.get_or_insert_with(|| forms.evaluator());
        evaluator.entries(&self.points, &mut self.entries);
        self.conditional.gradients.fetch_add(OF_FORMS * width, Ordering::Relaxed);
        true
    }

    /// The slope in y of one set of points, of so many points in all.
    pub(super) fn slope_of(&self, set: usize, count: usize) -> Vec<Lanes> {
        let this = self.conditional;
        let from = |i: usize| i * count + set * self.width;
        let read = |(&i, step): (&usize, &f64)| {
            spread(&self.gradient[from(i)..from(i) + self.width]).map(|g| step * g)
        };
        this.parts.inner.iter().zip(&this.steps).map(read).collect()
    }

    /// Keeps how the log density changes with the outer coordinates at the first set of points, of so many
    /// points in all.
    pub(super) fn keep_partial(&mut self, count: usize) {
        let (this, width) = (self.conditional, self.width);
        self.partial.clear();
        let outer = this.parts.outer.iter().map(|&i| spread(&self.gradient[i * count..i * count + width]));
        self.partial.extend(outer);
    }

    /// How the log density changes with the outer coordinates at the current points, after a measurement
    /// there.
    pub(super) fn partial(&mut self, outer: &[Lanes]) -> Vec<Lanes> {
        if self.held.is_some() {
            self.fill(outer, self.width);
        }
        match &mut self.held {
            Some(held) => held.shared_gradient(&self.points, self.width),
            None => self.partial.clone(),
        }
    }

    /// The log densities at several inner points for each outer one, where what follows from the outer ones
    /// is kept.
    pub(in crate::infer::nested) fn at_copies(
        &mut self,
        outer: &[Lanes],
        copies: &[Vec<Lanes>],
    ) -> Option<Vec<Lanes>> {
        let (this, held) = (self.conditional, self.held.as_mut()?);
        let count = copies.len() * LANES;
        let mut points = vec![0.0; this.target.dimension() * count];
        let rows = |i: usize| i * count..(i + 1) * count;
        for (&i, x) in this.parts.outer.iter().zip(outer) {
            points[rows(i)].chunks_exact_mut(LANES).for_each(|to| to.copy_from_slice(x));
        }
        for (at, &i) in this.parts.inner.iter().enumerate() {
            let to = points[rows(i)].chunks_exact_mut(LANES).zip(copies);
            to.for_each(|(to, copy)| to.copy_from_slice(&copy[at]));
        }
        let mut values = vec![0.0; count];
        held.log_density(&points, count, LANES, &mut values);
        Some(values.as_chunks().0.to_vec())
    }

    /// Values and gradients at so many points.
    pub(super) fn evaluate(&mut self, count: usize) {
        let this = self.conditional;
        self.values.resize(count, 0.0);
        self.gradient.resize(this.target.dimension() * count, 0.0);
        let to = (&mut self.values, &mut self.gradient);
        match &mut self.held {
            Some(held) => held.evaluate(&self.points, count, self.width, to.0, to.1),
            None => self.evaluator.evaluate(&self.points, count, to.0, to.1),
        }
        this.gradients.fetch_add(count, Ordering::Relaxed);
    }

    /// The points to evaluate: the current one of every lane, so many in all.
    pub(super) fn fill(&mut self, outer: &[Lanes], count: usize) {
        let (this, width) = (self.conditional, self.width);
        self.points.resize(this.target.dimension() * count, 0.0);
        let mut put = |i: usize, values: &Lanes| {
            let row = &mut self.points[i * count..(i + 1) * count];
            row.chunks_exact_mut(width).for_each(|p| p.copy_from_slice(&values[..width]));
        };
        this.parts.outer.iter().zip(outer).for_each(|(&i, values)| put(i, values));
        for (at, (&i, y)) in this.parts.inner.iter().zip(&self.y).enumerate() {
            put(i, &std::array::from_fn(|b| this.reference[at] + this.steps[at] * y[b]));
        }
    }

    /// Moves the coordinates of a colour by so many steps in one set of points.
    pub(super) fn shift(&mut self, colour: &[usize], by: f64, first: usize, count: usize) {
        let (this, width) = (self.conditional, self.width);
        for &at in colour {
            let from = this.parts.inner[at] * count + first;
            self.points[from..from + width].iter_mut().for_each(|x| *x += by * this.steps[at]);
        }
    }
}
