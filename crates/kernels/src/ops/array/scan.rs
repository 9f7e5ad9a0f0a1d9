//! Running sums and products.

use super::{Forward, Kernel, Reverse, ShapeError};
use crate::facts::Shape;
use crate::num::real::Packed;
use crate::ops::operand::accumulate;

/// Running sum along the last axis.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct CumSum;

impl Kernel for CumSum {
    const NAME: &'static str = "cumsum";

    fn shape(&self, args: &[Shape]) -> Result<Shape, ShapeError> {
        if args[0].is_empty() {
            return Err(ShapeError("a scalar has no axis to sum along".into()));
        }
        Ok(args[0].clone())
    }

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        let n = cx.dims[0].last().copied().unwrap_or(1).max(1);
        let mut sum = T::zero();
        for (i, o) in cx.out.iter_mut().enumerate() {
            sum = if i % n == 0 { cx.args[0].get(i) } else { sum + cx.args[0].get(i) };
            *o = sum;
        }
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        let Some(adjoint) = cx.adjoints[0] else { return };
        let n = cx.dims[0].last().copied().unwrap_or(1).max(1);
        let mut sum = T::zero();
        for i in (0..cx.adjoint.len()).rev() {
            sum = if i % n == n - 1 { cx.adjoint[i] } else { sum + cx.adjoint[i] };
            accumulate(adjoint, i, sum);
        }
    }
}

/// Running product along the last axis.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct CumProd;

impl Kernel for CumProd {
    const NAME: &'static str = "cumprod";

    fn shape(&self, args: &[Shape]) -> Result<Shape, ShapeError> {
        if args[0].is_empty() {
            return Err(ShapeError("a scalar has no axis to multiply along".into()));
        }
        Ok(args[0].clone())
    }

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        let n = cx.dims[0].last().copied().unwrap_or(1).max(1);
        let mut product = T::one();
        for (i, o) in cx.out.iter_mut().enumerate() {
            product = if i % n == 0 { cx.args[0].get(i) } else { product * cx.args[0].get(i) };
            *o = product;
        }
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        // The product before i times what all later results take from it: no division, so zeros are right.
        let Some(adjoint) = cx.adjoints[0] else { return };
        let n = cx.dims[0].last().copied().unwrap_or(1).max(1);
        let mut after = T::zero();
        for i in (0..cx.adjoint.len()).rev() {
            after =
                if i % n == n - 1 { cx.adjoint[i] } else { cx.adjoint[i] + cx.args[0].get(i + 1) * after };
            let before = if i % n == 0 { T::one() } else { cx.out[i - 1] };
            accumulate(adjoint, i, before * after);
        }
    }
}
