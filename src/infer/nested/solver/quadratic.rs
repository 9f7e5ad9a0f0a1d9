//! The mode of a quadratic, one step away.

use crate::infer::nested::lanes::{LANES, Lanes, lanes, product, spread};
use crate::infer::nested::solver::Solver;

/// Rounding of a log density, with what leads to it, relative to it; and a thousandth of a nat may be lost.
const UNKNOWN: f64 = 1e3 * 1e-13;
/// What is left to gain, in nats, after a step to the mode of a quadratic, if rounding is all that is left;
/// and most steps more that columns which are nearly the same may need.
const AT_MODE: f64 = 1e-3;
const AGAIN: usize = 6;

impl Solver<'_> {
    /// The entries of minus the Hessian at sixteen outer points, where they are numbers.
    pub(in super::super) fn hessians(&mut self, outer: &[f64]) -> Vec<Vec<f64>> {
        self.width = LANES;
        self.y = vec![[0.0; LANES]; self.conditional.parts.inner.len()];
        self.measure(&lanes(outer, LANES), Some(1.0));
        let of_lane = |b: usize| -> Vec<f64> { self.entries.iter().map(|e| e[b]).collect() };
        (0..LANES).map(of_lane).filter(|entries| entries.iter().all(|x| x.is_finite())).collect()
    }

    /// One step to the mode, with a Hessian that is read colour by colour; leaves the log density there, not
    /// a number where it is not known.
    pub(in crate::infer) fn solve_quadratic(&mut self, outer: &[Lanes]) {
        let (value, slope) = self.measure(outer, Some(1.0));
        self.factor(&[0.0; LANES]);
        self.land(outer, &value, &slope);
    }

    /// The same with the Hessian that one product with a vector tells; whether it does, in all lanes:
    /// differences between lanes must not be those between two ways.
    pub(in crate::infer) fn solve_quadratic_in_basis(&mut self, outer: &[Lanes]) -> bool {
        let (this, width) = (self.conditional, self.width);
        let Some(span) = &this.hessian.span else { return false };
        let count = 2 * width;
        self.fill(outer, count);
        for ((&i, step), by) in this.parts.inner.iter().zip(&this.steps).zip(&span.direction) {
            self.points[i * count + width..(i + 1) * count].iter_mut().for_each(|x| *x += by * step);
        }
        self.evaluate(count);
        self.keep_partial(count);
        let (slope, ahead) = (self.slope_of(0, count), self.slope_of(1, count));
        let change = slope.iter().zip(&ahead).map(|(a, b)| std::array::from_fn(|lane| a[lane] - b[lane]));
        let left = span.entries(&change.collect::<Vec<Lanes>>(), &mut self.entries);
        self.factor(&[0.0; LANES]);
        let pattern = &this.hessian.pattern;
        if !span.tells(&left, &self.entries, pattern.pivots(&self.factor), pattern.places()) {
            return false;
        }
        let value = spread(&self.values[..width]);
        self.land(outer, &value, &slope);
        true
    }

    /// The step for this value and slope, with the factor at hand.
    fn land(&mut self, outer: &[Lanes], value: &Lanes, slope: &[Lanes]) {
        self.y = self.ascent(slope);
        let gain = product(&self.y, slope).map(|x| 0.5 * x);
        self.log_marginal = std::array::from_fn(|b| sum(value[b], gain[b]));
        for _ in 0..AGAIN {
            if !(0..LANES).any(|b| self.log_marginal[b].is_nan() && gain[b].is_finite()) {
                break;
            }
            // Far from the reference value and gain cancel; the value at the mode itself does not.
            let (value, slope) = self.measure(outer, None);
            let step = self.ascent(&slope);
            let gain = product(&step, &slope).map(|x| 0.5 * x);
            let known = |b: usize| if gain[b].abs() < AT_MODE { value[b] + gain[b] } else { f64::NAN };
            self.log_marginal = std::array::from_fn(known);
            self.y.iter_mut().zip(&step).for_each(|(y, s)| (0..LANES).for_each(|b| y[b] += s[b]));
        }
    }
}

/// The sum of two numbers; not a number where they cancel so far that it is not known.
fn sum(a: f64, b: f64) -> f64 {
    if UNKNOWN * (a.abs() + b.abs()) < 1.0 { a + b } else { f64::NAN }
}
