//! What a step does to all states of a batch, compiled for the registers of the processor.

use super::tableau::{ERROR_3, ERROR_5, LINES, STAGES};
use crate::graph::Tolerance;
use crate::num::dispatch::{LaneWork, View};
use crate::num::real::Packed;

/// to = from + h Σ line_j rates_j
pub(super) struct Advance<'a, T> {
    pub(super) from: &'a [T],
    pub(super) h: T,
    pub(super) rates: &'a [T],
    pub(super) line: &'a [f64],
    pub(super) to: &'a mut [T],
}

impl<T: Packed> LaneWork<T> for Advance<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let (from, rates, to) = (view.slice(self.from), view.slice(self.rates), view.slice_mut(self.to));
        let (h, n) = (view.value(self.h), from.len());
        for i in 0..n {
            to[i] = from[i] + h * combined(rates, self.line, n, i);
        }
    }
}

/// Σ_j weights_j x_j at one place, where x is [j, n].
#[inline(always)]
fn combined<U: Packed>(x: &[U], weights: &[f64], n: usize, i: usize) -> U {
    let mut sum = U::zero();
    for (j, &weight) in weights.iter().enumerate() {
        if weight != 0.0 {
            sum += x[j * n + i].scale(weight);
        }
    }
    sum
}

/// The adjoint of the rate of a stage, h Σ_l a_l,stage (adjoint of stage l), from those of all that come
/// after it.
pub(super) struct PullRate<'a, T> {
    pub(super) pulls: &'a [T],
    pub(super) stage: usize,
    pub(super) h: T,
    pub(super) to: &'a mut [T],
}

impl<T: Packed> LaneWork<T> for PullRate<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let (pulls, to) = (view.slice(self.pulls), view.slice_mut(self.to));
        let (h, n) = (view.value(self.h), to.len());
        for i in 0..n {
            let mut sum = U::zero();
            for later in self.stage + 1..=STAGES {
                let weight = LINES[later][self.stage];
                if weight != 0.0 {
                    sum += pulls[later * n + i].scale(weight);
                }
            }
            to[i] = h * sum;
        }
    }
}

/// The root mean square of x, where 1 is what the tolerance allows beside y.
pub(super) struct Size<'a, T> {
    pub(super) x: &'a [T],
    pub(super) y: &'a [T],
    pub(super) tolerance: Tolerance,
}

impl<T: Packed> LaneWork<T> for Size<'_, T> {
    type Out = T;

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) -> T {
        let mut sum = U::zero();
        for (&x, &y) in view.slice(self.x).iter().zip(view.slice(self.y)) {
            sum += (x / allowed(y.abs(), self.tolerance)).square();
        }
        view.back(sum.scale(1.0 / self.x.len() as f64).sqrt())
    }
}

#[inline(always)]
fn allowed<U: Packed>(size: U, tolerance: Tolerance) -> U {
    size.scale(tolerance.relative).shift(tolerance.absolute)
}

/// The size of the error of a step, where 1 is what the tolerance allows: that of order 5, made smaller where
/// it is small beside that of order 3.
pub(super) struct StepError<'a, T> {
    pub(super) rates: &'a [T],
    pub(super) h: T,
    pub(super) from: &'a [T],
    pub(super) to: &'a [T],
    pub(super) tolerance: Tolerance,
}

impl<T: Packed> LaneWork<T> for StepError<'_, T> {
    type Out = T;

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) -> T {
        let (rates, from, to) = (view.slice(self.rates), view.slice(self.from), view.slice(self.to));
        let n = from.len();
        let (mut fifth, mut third) = (U::zero(), U::zero());
        for i in 0..n {
            let scale = allowed(from[i].abs().max(to[i].abs()), self.tolerance);
            fifth += (combined(rates, &ERROR_5, n, i) / scale).square();
            third += (combined(rates, &ERROR_3, n, i) / scale).square();
        }
        let below = (fifth + third.scale(0.01)).scale(n as f64).sqrt();
        let size = view.value(self.h) * fifth / below;
        view.back(U::zero().if_equal(fifth, U::zero(), size).detach())
    }
}
