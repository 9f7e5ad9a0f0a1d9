//! Arrays and numbers made out of nothing: constants, grids, the identity, standardised data.

use super::args::{Checked, Types, affordable, extent, needed, node, scalar, ty, whole};
use super::kernel::identity;
use super::reduce::{mean_of, variance_of};
use super::row::{Function, FunctionArg, Ty};
use super::shape::{check_sizes, sizes};
use crate::facts::{Size, show};
use crate::graph::{BuildError, Builder, NodeId};
use crate::ops::scalar::SQRT;

const N: &[FunctionArg] = &[needed("n")];

fn number(_: Types) -> Checked {
    Ok(Ty::real(vec![]))
}

/// A number of the check stage that is whole and known, or an expression in sizes.
fn whole_value(t: &Ty, name: &str) -> Result<Size, String> {
    scalar(t, name)?;
    if !t.integer {
        return Err(format!(
            "`{name}` must be a whole number, not a real one; linspace makes grids of real numbers"
        ));
    }
    Ok(t.value.clone().unwrap_or(Size::Any))
}

fn known(b: &Builder, id: NodeId, name: &str) -> Result<f64, BuildError> {
    b.scalar_of(id).ok_or_else(|| BuildError(format!("`{name}` must be known before the fit")))
}

pub(super) static ROWS: &[Function] = &[
    Function {
        name: "zeros",
        args: N,
        variadic: true,
        doc: "an array of zeros with the given sizes",
        example: ("zeros(2, 3)", "[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]"),
        check: |args| check_sizes(args, 0).map(Ty::real),
        build: |b, args| {
            let dims = sizes(b, args, 0)?;
            Ok(b.constant(vec![0.0; dims.iter().product()], dims))
        },
    },
    Function {
        name: "ones",
        args: N,
        variadic: true,
        doc: "an array of ones with the given sizes",
        example: ("ones(3)", "[1.0, 1.0, 1.0]"),
        check: |args| check_sizes(args, 0).map(Ty::real),
        build: |b, args| {
            let dims = sizes(b, args, 0)?;
            Ok(b.constant(vec![1.0; dims.iter().product()], dims))
        },
    },
    Function {
        name: "identity",
        args: N,
        variadic: false,
        doc: "the identity matrix with n rows",
        example: ("identity(2)", "[[1.0, 0.0], [0.0, 1.0]]"),
        check: |args| extent(ty(args, 0)?, "n").map(|n| Ty::real(vec![n.clone(), n])),
        build: |b, args| {
            let n = whole(b, node(args, 0)?, "n")?;
            affordable(vec![n, n])?;
            Ok(identity(b, n))
        },
    },
    Function {
        name: "linspace",
        args: &[needed("a"), needed("b"), needed("n")],
        variadic: false,
        doc: "n equally spaced numbers from a to b, both included",
        example: ("linspace(0, 1, 5)", "[0.0, 0.25, 0.5, 0.75, 1.0]"),
        check: |args| {
            scalar(ty(args, 0)?, "a")?;
            scalar(ty(args, 1)?, "b")?;
            Ok(Ty::real(vec![extent(ty(args, 2)?, "n")?]))
        },
        build: |b, args| {
            let (from, to) = (known(b, node(args, 0)?, "a")?, known(b, node(args, 1)?, "b")?);
            let n = whole(b, node(args, 2)?, "n")?;
            let share = |i: usize| if n > 1 { i as f64 / (n - 1) as f64 } else { 1.0 };
            let values: Vec<f64> = (0..n).map(|i| from * (1.0 - share(i)) + to * share(i)).collect();
            Ok(b.constant(values, vec![n]))
        },
    },
    Function {
        name: "seq",
        args: &[needed("a"), needed("b")],
        variadic: false,
        doc: "the whole numbers from a to b, both included",
        example: ("seq(2, 5)", "[2, 3, 4, 5]"),
        check: |args| {
            let (a, b) = (whole_value(ty(args, 0)?, "a")?, whole_value(ty(args, 1)?, "b")?);
            let n = b.plus(-1, &a).plus(1, &Size::known(1));
            let empty = n.as_integer().is_some_and(|n| n < 0);
            Ok(Ty::integer(vec![if empty { Size::known(0) } else { n }]))
        },
        build: |b, args| {
            let (from, to) = (known(b, node(args, 0)?, "a")?, known(b, node(args, 1)?, "b")?);
            let n = (to - from + 1.0).max(0.0);
            let count = b.number(n);
            let n = whole(b, count, "b - a")?;
            Ok(b.constant((0..n).map(|i| from + i as f64).collect::<Vec<_>>(), vec![n]))
        },
    },
    Function {
        name: "standardize",
        args: &[needed("x")],
        variadic: false,
        doc: "a vector, or each column of a matrix, minus its mean and divided by its standard deviation",
        example: ("standardize([1.0, 2.0, 3.0])", "[-1.0, 0.0, 1.0]"),
        check: |args| {
            let x = ty(args, 0)?;
            match x.shape.len() {
                1 | 2 => Ok(Ty::real(x.shape.clone())),
                _ => Err(format!("a vector or a matrix is needed, not {}", show(&x.shape))),
            }
        },
        build: |b, args| {
            let x = node(args, 0)?;
            if b.dims(x).is_empty() {
                return Err(BuildError("a vector or a matrix is needed".into()));
            }
            let (mean, variance) = (mean_of(b, x, Some(0))?, variance_of(b, x, Some(0))?);
            let (centred, scale) = (b.sub(x, mean)?, b.unary(&SQRT, variance));
            b.div(centred, scale)
        },
    },
    Function {
        name: "pi",
        args: &[],
        variadic: false,
        doc: "the ratio of a circle's circumference to its diameter",
        example: ("cos(pi())", "-1.0"),
        check: number,
        build: |b, _| Ok(b.number(std::f64::consts::PI)),
    },
    Function {
        name: "e",
        args: &[],
        variadic: false,
        doc: "the base of natural logarithms",
        example: ("log(e())", "1.0"),
        check: number,
        build: |b, _| Ok(b.number(std::f64::consts::E)),
    },
    Function {
        name: "machine_precision",
        args: &[],
        variadic: false,
        doc: "the distance from 1 to the next larger number, 2^-52",
        example: ("machine_precision()", "2.0^-52"),
        check: number,
        build: |b, _| Ok(b.number(f64::EPSILON)),
    },
    Function {
        name: "positive_infinity",
        args: &[],
        variadic: false,
        doc: "infinity; inf is the same",
        example: ("exp(-positive_infinity())", "0.0"),
        check: number,
        build: |b, _| Ok(b.number(f64::INFINITY)),
    },
    Function {
        name: "negative_infinity",
        args: &[],
        variadic: false,
        doc: "minus infinity; -inf is the same",
        example: ("exp(negative_infinity())", "0.0"),
        check: number,
        build: |b, _| Ok(b.number(f64::NEG_INFINITY)),
    },
    Function {
        name: "not_a_number",
        args: &[],
        variadic: false,
        doc: "the number that is none: a log density with it is undefined",
        example: ("not_a_number() == not_a_number()", "0"),
        check: number,
        build: |b, _| Ok(b.number(f64::NAN)),
    },
];
