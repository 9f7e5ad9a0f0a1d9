//! Orders and order statistics of data.

use super::args::{Built, Nodes, Types, data, needed, node, scalar, ty, vector};
use super::row::{Function, FunctionArg, Ty};
use crate::graph::{BuildError, Builder};

const X: &[FunctionArg] = &[needed("x")];

/// The numbers of a data vector and the positions that sort it; equal numbers keep their order.
fn sorted(b: &Builder, args: Nodes, function: &str) -> Result<(Vec<f64>, Vec<usize>), BuildError> {
    let x = data(b, node(args, 0)?, function).map_err(|e| {
        BuildError(format!("{e}; the rank of each parameter is `rowsum(as_column(a) >= as_row(a))`"))
    })?;
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&i, &j| x[i].total_cmp(&x[j]));
    Ok((x, order))
}

fn vector_constant(b: &mut Builder, values: Vec<f64>) -> Built {
    let n = values.len();
    Ok(b.constant(values, vec![n]))
}

/// The quantile that leaves a share p below, interpolated between order statistics (R's type 7).
fn quantile(b: &Builder, args: Nodes, p: f64, function: &str) -> Result<f64, BuildError> {
    let (x, order) = sorted(b, args, function)?;
    if x.is_empty() || !(0.0..=1.0).contains(&p) {
        return Err(BuildError(format!("`{function}` needs at least one element and a share from 0 to 1")));
    }
    let place = p * (x.len() - 1) as f64;
    let (low, high) = (x[order[place.floor() as usize]], x[order[place.ceil() as usize]]);
    Ok(low + (high - low) * place.fract())
}

fn same_vector(args: Types) -> Result<Ty, String> {
    let x = ty(args, 0)?;
    vector(x, "x")?;
    Ok(Ty { value: None, ..x.clone() })
}

fn positions(args: Types) -> Result<Ty, String> {
    Ok(Ty::integer(vec![vector(ty(args, 0)?, "x")?]))
}

pub(super) static ROWS: &[Function] = &[
    Function {
        name: "sort",
        args: X,
        variadic: false,
        doc: "a data vector, smallest element first",
        example: ("sort([3, 1, 2])", "[1, 2, 3]"),
        check: same_vector,
        build: |b, args| {
            let (x, order) = sorted(b, args, "sort")?;
            vector_constant(b, order.iter().map(|&i| x[i]).collect())
        },
    },
    Function {
        name: "sort_desc",
        args: X,
        variadic: false,
        doc: "a data vector, largest element first",
        example: ("sort_desc([3, 1, 2])", "[3, 2, 1]"),
        check: same_vector,
        build: |b, args| {
            let (x, order) = sorted(b, args, "sort_desc")?;
            vector_constant(b, order.iter().rev().map(|&i| x[i]).collect())
        },
    },
    Function {
        name: "order",
        args: X,
        variadic: false,
        doc: "the positions of a data vector's elements from the smallest to the largest: x[order(x)] is sort(x)",
        example: ("order([3.5, 1.5, 2.5])", "[2, 3, 1]"),
        check: positions,
        build: |b, args| {
            let (_, order) = sorted(b, args, "order")?;
            vector_constant(b, order.iter().map(|&i| i as f64 + 1.0).collect())
        },
    },
    Function {
        name: "rank",
        args: X,
        variadic: false,
        doc: "the rank of each element of a data vector, 1 for the smallest; equal ones rank in their order",
        example: ("rank([3.5, 1.5, 2.5])", "[3, 1, 2]"),
        check: positions,
        build: |b, args| {
            let (x, order) = sorted(b, args, "rank")?;
            let mut ranks = vec![0.0; x.len()];
            order.iter().enumerate().for_each(|(rank, &i)| ranks[i] = rank as f64 + 1.0);
            vector_constant(b, ranks)
        },
    },
    Function {
        name: "median",
        args: X,
        variadic: false,
        doc: "the middle element of a data vector, or the mean of the two in the middle",
        example: ("median([4.0, 1.0, 2.0, 9.0])", "3.0"),
        check: |args| vector(ty(args, 0)?, "x").map(|_| Ty::real(vec![])),
        build: |b, args| {
            let x = quantile(b, args, 0.5, "median")?;
            Ok(b.number(x))
        },
    },
    Function {
        name: "quantile",
        args: &[needed("x"), needed("p")],
        variadic: false,
        doc: "the number that leaves a share p of a data vector below it, interpolated between elements",
        example: ("quantile([1.0, 2.0, 4.0], 0.75)", "3.0"),
        check: |args| {
            vector(ty(args, 0)?, "x")?;
            scalar(ty(args, 1)?, "p")?;
            Ok(Ty::real(vec![]))
        },
        build: |b, args| {
            let p = b.scalar_of(node(args, 1)?);
            let p = p.ok_or_else(|| BuildError("`p` must be known before the fit".into()))?;
            let x = quantile(b, args, p, "quantile")?;
            Ok(b.number(x))
        },
    },
];
