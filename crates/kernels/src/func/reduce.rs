//! Reductions of a whole array or along one axis.

use super::args::{Built, Checked, Nodes, Types, given, keep_axis, needed, node, option, optional, ty};
use super::row::{Function, FunctionArg, Ty};
use crate::facts::{Shape, show};
use crate::graph::{BuildError, Builder, NodeId};
use crate::ops::array::{Max, Min, Product};
use crate::ops::scalar;

const ARGS: &[FunctionArg] = &[needed("x"), optional("axis")];
const X: &[FunctionArg] = &[needed("x")];

/// What people mean who give two values to compare or add instead of an array and its axis.
const PAIRS: &str = "for two values, element by element, there are `fmax(a, b)` and `fmin(a, b)`, and for several numbers `max([a, b, c])`";
/// The same of logarithms.
const PAIRS_OF_LOGS: &str = "for two values, element by element, there is `log_add_exp(a, b)`, and for several numbers `log_sum_exp([a, b, c])`";

/// The shape without the axis that the second argument names.
fn reduced(args: Types, pairs: &str) -> Result<Shape, String> {
    let x = ty(args, 0)?;
    let Some(axis) = given(args, 1) else { return Ok(Shape::new()) };
    let at = axis.value.as_ref().and_then(|v| v.as_integer());
    match at.and_then(|a| usize::try_from(a - 1).ok()).filter(|&a| a < x.shape.len()) {
        Some(at) => {
            let mut shape = x.shape.clone();
            shape.remove(at);
            Ok(shape)
        }
        None if x.shape.is_empty() => Err(format!("`axis` makes no sense for a single number; {pairs}")),
        None => {
            let (axes, shape) = (x.shape.len(), show(&x.shape));
            let wrong = format!("`axis` must be a number from 1 to {axes}, the number of axes of {shape}");
            Err(if at.is_some_and(|a| a >= 1) { wrong } else { format!("{wrong}; {pairs}") })
        }
    }
}

fn real(args: Types) -> Checked {
    reduced(args, PAIRS).map(Ty::real)
}

fn of_logs(args: Types) -> Checked {
    reduced(args, PAIRS_OF_LOGS).map(Ty::real)
}

fn integer(args: Types) -> Checked {
    reduced(args, PAIRS).map(Ty::integer)
}

fn same_kind(args: Types) -> Checked {
    let integer = ty(args, 0)?.integer;
    reduced(args, PAIRS).map(|shape| Ty { shape, integer, value: None })
}

fn along_rows(args: Types) -> Checked {
    let x = ty(args, 0)?;
    let mut shape = x.shape.clone();
    shape.pop().ok_or_else(|| "an array is needed, not a single number".to_string())?;
    Ok(Ty { shape, integer: x.integer, value: None })
}

fn along_columns(args: Types) -> Checked {
    let x = ty(args, 0)?;
    if x.shape.is_empty() {
        return Err("an array is needed, not a single number".into());
    }
    Ok(Ty { shape: x.shape[1..].to_vec(), integer: x.integer, value: None })
}

fn not_integer(t: Ty) -> Ty {
    Ty { integer: false, ..t }
}

/// The array and the axis, counted from 0.
fn array_axis(b: &Builder, args: Nodes) -> Result<(NodeId, Option<usize>), BuildError> {
    let x = node(args, 0)?;
    let Some(axis) = option(args, 1) else { return Ok((x, None)) };
    let at = b.scalar_of(axis).filter(|a| *a >= 1.0 && *a <= b.dims(x).len() as f64);
    at.map(|a| (x, Some(a as usize - 1)))
        .ok_or_else(|| BuildError("`axis` must be one of the array's axes".into()))
}

fn last_axis(b: &Builder, x: NodeId) -> Result<usize, BuildError> {
    let rank = b.dims(x).len();
    rank.checked_sub(1).ok_or_else(|| BuildError("an array is needed, not a single number".into()))
}

/// How many elements each result is made of.
fn count(b: &Builder, x: NodeId, axis: Option<usize>) -> f64 {
    match axis {
        Some(k) => b.dims(x)[k] as f64,
        None => b.dims(x).iter().product::<usize>() as f64,
    }
}

/// The mean, refused for nothing at all.
pub(super) fn mean_of(b: &mut Builder, x: NodeId, axis: Option<usize>) -> Built {
    let n = count(b, x, axis);
    if n == 0.0 {
        return Err(BuildError("the mean of no elements is not defined".into()));
    }
    let total = b.sum(x, axis)?;
    let n = b.number(n);
    b.div(total, n)
}

/// The sum of squared distances from the mean, divided by n - 1.
pub(super) fn variance_of(b: &mut Builder, x: NodeId, axis: Option<usize>) -> Built {
    let n = count(b, x, axis);
    if n < 2.0 {
        return Err(BuildError(format!(
            "a variance or standard deviation needs two elements or more, not {n}"
        )));
    }
    let mut mean = mean_of(b, x, axis)?;
    if let Some(axis) = axis {
        mean = keep_axis(b, mean, axis);
    }
    let centred = b.sub(x, mean)?;
    let squares = b.unary(&scalar::SQUARE, centred);
    let total = b.sum(squares, axis)?;
    let n = b.number(n - 1.0);
    b.div(total, n)
}

/// The number of elements that are not zero.
fn true_count(b: &mut Builder, x: NodeId, axis: Option<usize>) -> Built {
    let zero = b.number(0.0);
    let truth = b.map(&scalar::NE, &[x, zero])?;
    b.sum(truth, axis)
}

/// Refuses the extremum of nothing.
fn some_elements(b: &Builder, x: NodeId, axis: Option<usize>) -> Result<(), BuildError> {
    if count(b, x, axis) == 0.0 {
        return Err(BuildError("an array without elements has no largest or smallest one".into()));
    }
    Ok(())
}

pub(super) static ROWS: &[Function] = &[
    Function {
        name: "sum",
        args: ARGS,
        variadic: false,
        doc: "sum of all elements, or along an axis",
        example: ("sum([1, 2, 3])", "6"),
        check: same_kind,
        build: |b, args| {
            let (x, axis) = array_axis(b, args)?;
            b.sum(x, axis)
        },
    },
    Function {
        name: "mean",
        args: ARGS,
        variadic: false,
        doc: "mean of all elements, or along an axis",
        example: ("mean([[1.0, 2.0], [3.0, 6.0]], axis = 1)", "[2.0, 4.0]"),
        check: real,
        build: |b, args| {
            let (x, axis) = array_axis(b, args)?;
            mean_of(b, x, axis)
        },
    },
    Function {
        name: "variance",
        args: ARGS,
        variadic: false,
        doc: "variance of all elements, or along an axis; the denominator is n - 1",
        example: ("variance([1.0, 2.0, 6.0])", "7.0"),
        check: real,
        build: |b, args| {
            let (x, axis) = array_axis(b, args)?;
            variance_of(b, x, axis)
        },
    },
    Function {
        name: "sd",
        args: ARGS,
        variadic: false,
        doc: "standard deviation of all elements, or along an axis; the denominator is n - 1",
        example: ("sd([1.0, 3.0, 8.0])", "sqrt(13.0)"),
        check: real,
        build: |b, args| {
            let (x, axis) = array_axis(b, args)?;
            let variance = variance_of(b, x, axis)?;
            Ok(b.unary(&scalar::SQRT, variance))
        },
    },
    Function {
        name: "min",
        args: ARGS,
        variadic: false,
        doc: "the smallest element, or the smallest along an axis; see fmin for the smaller of two",
        example: ("min([3, 1, 2])", "1"),
        check: same_kind,
        build: |b, args| {
            let (x, axis) = array_axis(b, args)?;
            some_elements(b, x, axis)?;
            b.array(Min { axis }, &[x])
        },
    },
    Function {
        name: "max",
        args: ARGS,
        variadic: false,
        doc: "the largest element, or the largest along an axis; see fmax for the larger of two",
        example: ("max([[3, 1], [2, 5]], axis = 2)", "[3, 5]"),
        check: same_kind,
        build: |b, args| {
            let (x, axis) = array_axis(b, args)?;
            some_elements(b, x, axis)?;
            b.array(Max { axis }, &[x])
        },
    },
    Function {
        name: "prod",
        args: ARGS,
        variadic: false,
        doc: "product of all elements, or along an axis",
        example: ("prod([2, 3, 4])", "24"),
        check: same_kind,
        build: |b, args| {
            let (x, axis) = array_axis(b, args)?;
            b.array(Product { axis }, &[x])
        },
    },
    Function {
        name: "log_sum_exp",
        args: ARGS,
        variadic: false,
        doc: "log of the sum of exponentials, without overflow",
        example: ("log_sum_exp([log(1.0), log(2.0)])", "log(3.0)"),
        check: of_logs,
        build: |b, args| {
            let (x, axis) = array_axis(b, args)?;
            b.log_sum_exp(x, axis)
        },
    },
    Function {
        name: "any",
        args: ARGS,
        variadic: false,
        doc: "1 if some element is true (not 0), else 0",
        example: ("any([1, 2, 3] == 2)", "1"),
        check: integer,
        build: |b, args| {
            let (x, axis) = array_axis(b, args)?;
            let (some, zero) = (true_count(b, x, axis)?, b.number(0.0));
            b.map(&scalar::GT, &[some, zero])
        },
    },
    Function {
        name: "all",
        args: ARGS,
        variadic: false,
        doc: "1 if every element is true (not 0), else 0",
        example: ("all([[1, 2], [0, 4]] > 0, axis = 1)", "[0, 1]"),
        check: integer,
        build: |b, args| {
            let (x, axis) = array_axis(b, args)?;
            let n = count(b, x, axis);
            let (some, n) = (true_count(b, x, axis)?, b.number(n));
            b.map(&scalar::EQ, &[some, n])
        },
    },
    Function {
        name: "rowsum",
        args: X,
        variadic: false,
        doc: "sum of each row: over the last axis",
        example: ("rowsum([[1, 2], [3, 4]])", "[3, 7]"),
        check: along_rows,
        build: |b, args| {
            let x = node(args, 0)?;
            let axis = last_axis(b, x)?;
            b.sum(x, Some(axis))
        },
    },
    Function {
        name: "colsum",
        args: X,
        variadic: false,
        doc: "sum of each column: over the first axis",
        example: ("colsum([[1, 2], [3, 4]])", "[4, 6]"),
        check: along_columns,
        build: |b, args| {
            let x = node(args, 0)?;
            last_axis(b, x)?;
            b.sum(x, Some(0))
        },
    },
    Function {
        name: "rowmean",
        args: X,
        variadic: false,
        doc: "mean of each row: over the last axis",
        example: ("rowmean([[1, 2], [3, 4]])", "[1.5, 3.5]"),
        check: |args| along_rows(args).map(not_integer),
        build: |b, args| {
            let x = node(args, 0)?;
            let axis = last_axis(b, x)?;
            mean_of(b, x, Some(axis))
        },
    },
    Function {
        name: "colmean",
        args: X,
        variadic: false,
        doc: "mean of each column: over the first axis",
        example: ("colmean([[1, 2], [3, 4]])", "[2.0, 3.0]"),
        check: |args| along_columns(args).map(not_integer),
        build: |b, args| {
            let x = node(args, 0)?;
            last_axis(b, x)?;
            mean_of(b, x, Some(0))
        },
    },
];
