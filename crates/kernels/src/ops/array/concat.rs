//! Arrays put one after another.

use super::{Forward, Kernel, Reverse, ShapeError};
use crate::facts::{Shape, Size};
use crate::num::real::Packed;
use crate::ops::operand::accumulate;

/// The elements of all arguments in order, as an array of shape `dims`.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Concat {
    /// Shape of the result.
    pub dims: Vec<usize>,
}

impl Kernel for Concat {
    const NAME: &'static str = "concat";

    fn shape(&self, _: &[Shape]) -> Result<Shape, ShapeError> {
        Ok(self.dims.iter().map(|&n| Size::known(n)).collect())
    }

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        let mut at = 0;
        for arg in cx.args {
            for i in 0..arg.len() {
                cx.out[at + i] = arg.get(i);
            }
            at += arg.len();
        }
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        let mut at = 0;
        for (arg, adjoint) in cx.args.iter().zip(cx.adjoints) {
            if let Some(adjoint) = adjoint {
                (0..arg.len()).for_each(|i| accumulate(adjoint, i, cx.adjoint[at + i]));
            }
            at += arg.len();
        }
    }
}
