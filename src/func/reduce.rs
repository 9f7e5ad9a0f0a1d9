//! Reductions of a whole array or along one axis.

use super::row::{Function, FunctionArg, Ty};
use crate::facts::{Shape, show};
use crate::graph::{BuildError, Builder, NodeId};

const X: FunctionArg = FunctionArg { name: "x", optional: false };
const AXIS: FunctionArg = FunctionArg { name: "axis", optional: true };

/// The shape without the axis that the second argument names.
fn reduced(args: &[Option<Ty>]) -> Result<Shape, String> {
    let Some(x) = args.first().and_then(Option::as_ref) else { return Ok(Shape::new()) };
    let Some(axis) = args.get(1).and_then(Option::as_ref) else { return Ok(Shape::new()) };
    let at = axis.value.as_ref().and_then(|v| v.as_integer());
    match at.and_then(|a| usize::try_from(a - 1).ok()).filter(|&a| a < x.shape.len()) {
        Some(at) => {
            let mut shape = x.shape.clone();
            shape.remove(at);
            Ok(shape)
        }
        None => Err(format!(
            "`axis` must be a number from 1 to {}, the number of axes of {}",
            x.shape.len(),
            show(&x.shape)
        )),
    }
}

fn real(args: &[Option<Ty>]) -> Result<Ty, String> {
    reduced(args).map(Ty::real)
}

fn same_kind(args: &[Option<Ty>]) -> Result<Ty, String> {
    let integer = args.first().and_then(Option::as_ref).is_some_and(|x| x.integer);
    reduced(args).map(|shape| Ty { shape, integer, value: None })
}

/// The array and the axis, counted from 0.
fn array_axis(b: &Builder, args: &[Option<NodeId>]) -> Result<(NodeId, Option<usize>), BuildError> {
    let Some(x) = args.first().copied().flatten() else {
        return Err(BuildError("an array is needed".into()));
    };
    let Some(axis) = args.get(1).copied().flatten() else { return Ok((x, None)) };
    let at = b.scalar_of(axis).filter(|a| *a >= 1.0 && *a <= b.dims(x).len() as f64);
    at.map(|a| (x, Some(a as usize - 1)))
        .ok_or_else(|| BuildError("`axis` must be one of the array's axes".into()))
}

/// How many elements each result is made of.
fn count(b: &Builder, x: NodeId, axis: Option<usize>) -> f64 {
    match axis {
        Some(k) => b.dims(x)[k] as f64,
        None => b.dims(x).iter().product::<usize>() as f64,
    }
}

fn sum(b: &mut Builder, args: &[Option<NodeId>]) -> Result<NodeId, BuildError> {
    let (x, axis) = array_axis(b, args)?;
    b.sum(x, axis)
}

fn mean(b: &mut Builder, args: &[Option<NodeId>]) -> Result<NodeId, BuildError> {
    let (x, axis) = array_axis(b, args)?;
    let total = b.sum(x, axis)?;
    let n = count(b, x, axis);
    let n = b.number(n);
    b.div(total, n)
}

pub(super) static ROWS: &[Function] = &[
    Function {
        name: "sum",
        args: &[X, AXIS],
        doc: "sum of all elements, or along an axis",
        example: ("sum([1, 2, 3])", "6"),
        check: same_kind,
        build: sum,
    },
    Function {
        name: "mean",
        args: &[X, AXIS],
        doc: "mean of all elements, or along an axis",
        example: ("mean([[1.0, 2.0], [3.0, 6.0]], axis = 1)", "[2.0, 4.0]"),
        check: real,
        build: mean,
    },
    Function {
        name: "log_sum_exp",
        args: &[X, AXIS],
        doc: "log of the sum of exponentials, without overflow",
        example: ("log_sum_exp([log(1.0), log(2.0)])", "log(3.0)"),
        check: real,
        build: |b, args| {
            let (x, axis) = array_axis(b, args)?;
            b.log_sum_exp(x, axis)
        },
    },
];
