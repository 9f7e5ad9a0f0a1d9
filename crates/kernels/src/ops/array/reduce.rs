//! Reductions over one axis or over the whole array.

use super::wide::wide_lanes;
use super::{Forward, Kernel, Reverse, ShapeError};
use crate::facts::{Shape, show};
use crate::num::real::Packed;
use crate::ops::operand::{Arg, accumulate};
use std::cell::Cell;

/// The shape without the reduced axis.
pub(super) fn without_axis(shape: &Shape, axis: Option<usize>) -> Result<Shape, ShapeError> {
    let Some(axis) = axis else { return Ok(Shape::new()) };
    if axis >= shape.len() {
        return Err(ShapeError(format!("there is no axis {} in {}", axis + 1, show(shape))));
    }
    let mut out = shape.clone();
    out.remove(axis);
    Ok(out)
}

/// An array seen as [outer, n, inner] around the reduced axis.
#[derive(Clone, Copy)]
pub(super) struct Lines {
    outer: usize,
    pub(super) n: usize,
    inner: usize,
}

impl Lines {
    pub(super) fn new(dims: &[usize], axis: Option<usize>) -> Self {
        match axis {
            None => Self { outer: 1, n: dims.iter().product(), inner: 1 },
            Some(k) => {
                Self { outer: dims[..k].iter().product(), n: dims[k], inner: dims[k + 1..].iter().product() }
            }
        }
    }

    /// Calls `f(line, the flat positions of that line)` for each line.
    #[inline(always)]
    pub(super) fn each(self, mut f: impl FnMut(usize, std::iter::StepBy<std::ops::Range<usize>>)) {
        for o in 0..self.outer {
            for i in 0..self.inner {
                let start = o * self.n * self.inner + i;
                f(o * self.inner + i, (start..start + self.n * self.inner).step_by(self.inner));
            }
        }
    }
}

/// Sum over an axis, or over everything.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Sum {
    /// The axis that disappears.
    pub axis: Option<usize>,
}

impl Kernel for Sum {
    const NAME: &'static str = "sum";

    fn shape(&self, args: &[Shape]) -> Result<Shape, ShapeError> {
        without_axis(&args[0], self.axis)
    }

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        Lines::new(cx.dims[0], self.axis).each(|line, places| {
            cx.out[line] = places.fold(T::zero(), |sum, p| sum + cx.args[0].get(p));
        });
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        let Some(adjoint) = cx.adjoints[0] else { return };
        Lines::new(cx.dims[0], self.axis)
            .each(|line, places| places.for_each(|p| accumulate(adjoint, p, cx.adjoint[line])));
    }
}

/// log Σ exp over an axis, or over everything.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct LogSumExp {
    /// The axis that disappears.
    pub axis: Option<usize>,
}

impl Kernel for LogSumExp {
    const NAME: &'static str = "log_sum_exp";

    fn shape(&self, args: &[Shape]) -> Result<Shape, ShapeError> {
        without_axis(&args[0], self.axis)
    }

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        let Lines { outer, n, inner } = Lines::new(cx.dims[0], self.axis);
        match cx.args[0] {
            Arg::Var(x) => log_sums(x, cx.out, outer, n, inner),
            Arg::Const(c) => {
                let x: Vec<T> = c.iter().map(|x| T::splat(*x)).collect();
                log_sums(&x, cx.out, outer, n, inner);
            }
        }
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        let (Some(adjoint), Arg::Var(x)) = (cx.adjoints[0], cx.args[0]) else { return };
        let Lines { outer, n, inner } = Lines::new(cx.dims[0], self.axis);
        add_shares(x, cx.out, cx.adjoint, adjoint, outer, n, inner);
    }
}

wide_lanes! {
    /// log Σ exp of each line of an array [outer, n, inner]: the largest element, and the logarithm of a sum
    /// of what is at most one.
    fn log_sums<'a, T>(x: &'a [T], out: &'a mut [T], outer: usize, n: usize, inner: usize) {
        let lowest = T::splat(f64::NEG_INFINITY);
        for line in 0..outer * inner {
            let start = line / inner * n * inner + line % inner;
            let mut top = lowest;
            for k in 0..n {
                top = top.max(x[start + k * inner]);
            }
            top = top.detach();
            let mut sum = T::zero();
            for k in 0..n {
                sum += (x[start + k * inner] - top).exp();
            }
            out[line] = top.if_equal(lowest, lowest, top + sum.ln());
        }
    }
}

wide_lanes! {
    /// Adds what each element of a line takes of its adjoint: its share of the sum.
    fn add_shares<'a, T>(
        x: &'a [T],
        out: &'a [T],
        up: &'a [T],
        adjoint: &'a [Cell<T>],
        outer: usize,
        n: usize,
        inner: usize
    ) {
        let lowest = T::splat(f64::NEG_INFINITY);
        for line in 0..outer * inner {
            let start = line / inner * n * inner + line % inner;
            let (all, up) = (out[line], up[line]);
            for k in 0..n {
                let at = start + k * inner;
                let share = x[at].if_equal(lowest, T::zero(), (x[at] - all).exp());
                adjoint[at].set(adjoint[at].get() + up * share);
            }
        }
    }
}

/// Product over an axis, or over everything.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Product {
    /// The axis that disappears.
    pub axis: Option<usize>,
}

impl Kernel for Product {
    const NAME: &'static str = "prod";

    fn shape(&self, args: &[Shape]) -> Result<Shape, ShapeError> {
        without_axis(&args[0], self.axis)
    }

    /// Running products of one line.
    fn saved(&self, dims: &[&[usize]]) -> usize {
        Lines::new(dims[0], self.axis).n
    }

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        Lines::new(cx.dims[0], self.axis).each(|line, places| {
            cx.out[line] = places.fold(T::one(), |product, p| product * cx.args[0].get(p));
        });
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        let Some(adjoint) = cx.adjoints[0] else { return };
        Lines::new(cx.dims[0], self.axis).each(|line, places| {
            // The product of all others is that of those before and of those after, without dividing, so that
            // zeros are right.
            let mut before = T::one();
            for (k, p) in places.clone().enumerate() {
                cx.saved[k] = before;
                before = before * cx.args[0].get(p);
            }
            let mut after = cx.adjoint[line];
            for (k, p) in places.enumerate().rev() {
                accumulate(adjoint, p, cx.saved[k] * after);
                after = after * cx.args[0].get(p);
            }
        });
    }
}
