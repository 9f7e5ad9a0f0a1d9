//! The largest and the smallest element along an axis or of everything.

use super::reduce::{Lines, without_axis};
use super::{Forward, Kernel, Reverse, ShapeError};
use crate::facts::Shape;
use crate::num::real::Packed;
use crate::ops::operand::accumulate;

/// The largest element; the first of equals has the slope.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Max {
    /// The axis that disappears.
    pub axis: Option<usize>,
}

/// The smallest element; the first of equals has the slope.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Min {
    /// The axis that disappears.
    pub axis: Option<usize>,
}

impl Kernel for Max {
    const NAME: &'static str = "max";

    fn shape(&self, args: &[Shape]) -> Result<Shape, ShapeError> {
        without_axis(&args[0], self.axis)
    }

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        let lowest = T::splat(f64::NEG_INFINITY);
        Lines::new(cx.dims[0], self.axis).each(|line, places| {
            cx.out[line] = places.fold(lowest, |best, p| larger(best, cx.args[0].get(p)));
        });
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        to_first(Lines::new(cx.dims[0], self.axis), cx);
    }
}

impl Kernel for Min {
    const NAME: &'static str = "min";

    fn shape(&self, args: &[Shape]) -> Result<Shape, ShapeError> {
        without_axis(&args[0], self.axis)
    }

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        let lowest = T::splat(f64::NEG_INFINITY);
        Lines::new(cx.dims[0], self.axis).each(|line, places| {
            cx.out[line] = -places.fold(lowest, |best, p| larger(best, -cx.args[0].get(p)));
        });
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        to_first(Lines::new(cx.dims[0], self.axis), cx);
    }
}

/// The larger of two; not a number if either is none.
#[inline(always)]
fn larger<T: Packed>(best: T, x: T) -> T {
    x.if_equal(x, best.if_less(x, x, best), x)
}

/// Gives the adjoint of each result to the first element that equals it, lane by lane.
fn to_first<T: Packed>(lines: Lines, cx: &mut Reverse<T>) {
    let Some(adjoint) = cx.adjoints[0] else { return };
    lines.each(|line, places| {
        let mut left = cx.adjoint[line];
        for p in places {
            let share = cx.args[0].get(p).if_equal(cx.out[line], left, T::zero());
            left -= share;
            accumulate(adjoint, p, share);
        }
    });
}
