//! Orders and order statistics of vectors.

use super::args::{Built, Types, needed, node, ty, vector, vector_dim};
use super::row::{Function, FunctionArg, Ty};
use crate::graph::{BuildError, Builder, NodeId};
use crate::ops::scalar as rows;

const X: &[FunctionArg] = &[needed("x")];

/// Most parameters that are ranked: each is compared with each.
const MOST_RANKED: usize = 2000;

/// The positions that sort the numbers of a data vector; equal numbers keep their order. None if parameters
/// are among them.
fn known_order(b: &Builder, x: NodeId) -> Option<(Vec<f64>, Vec<usize>)> {
    let numbers = b.constant_of(x)?.to_vec();
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&i, &j| numbers[i].total_cmp(&numbers[j]));
    Some((numbers, order))
}

fn vector_constant(b: &mut Builder, values: Vec<f64>) -> NodeId {
    let n = values.len();
    b.constant(values, vec![n])
}

/// A vector, smallest element first. Parameters are sorted by comparing pairs of places that do not depend on
/// their values, so that every draw of a batch takes the same steps, and each element has the slope of the
/// one that came to stand there.
fn sorted(b: &mut Builder, x: NodeId) -> Built {
    if let Some((numbers, order)) = known_order(b, x) {
        return Ok(vector_constant(b, order.iter().map(|&i| numbers[i]).collect()));
    }
    let n = vector_dim(b, x)?;
    comparisons(n).iter().try_fold(x, |x, pairs| compared(b, x, n, pairs))
}

/// A vector with the smaller of each pair of places in the first of them.
fn compared(b: &mut Builder, x: NodeId, n: usize, pairs: &[(u32, u32)]) -> Built {
    let m = pairs.len();
    let low = b.take(x, pairs.iter().map(|p| p.0).collect(), vec![m]);
    let high = b.take(x, pairs.iter().map(|p| p.1).collect(), vec![m]);
    let (less, more) = (b.map(&rows::FMIN, &[low, high])?, b.map(&rows::FMAX, &[low, high])?);
    let all = b.concat(&[x, less, more], vec![n + 2 * m]);
    let mut table: Vec<u32> = (0..n as u32).collect();
    for (k, &(low, high)) in pairs.iter().enumerate() {
        table[low as usize] = (n + k) as u32;
        table[high as usize] = (n + m + k) as u32;
    }
    Ok(b.take(all, table, vec![n]))
}

/// The comparisons of Batcher's merge exchange sort, those that can be made at once together.
fn comparisons(n: usize) -> Vec<Vec<(u32, u32)>> {
    let mut layers = Vec::new();
    let mut p = 1;
    while p < n {
        let mut k = p;
        while k >= 1 {
            let starts = (k % p..n.saturating_sub(k)).step_by(2 * k);
            let pairs = starts.flat_map(|j| (j..(j + k).min(n - k)).map(move |i| (i, i + k)));
            let near = pairs.filter(|(i, j)| i / (2 * p) == j / (2 * p));
            layers.push(near.map(|(i, j)| (i as u32, j as u32)).collect());
            k /= 2;
        }
        p *= 2;
    }
    layers
}

/// The rank of each element: one more than those that are smaller, or equal and before it.
fn ranks(b: &mut Builder, x: NodeId) -> Built {
    if let Some((numbers, order)) = known_order(b, x) {
        let mut ranks = vec![0.0; numbers.len()];
        order.iter().enumerate().for_each(|(rank, &i)| ranks[i] = rank as f64 + 1.0);
        return Ok(vector_constant(b, ranks));
    }
    let n = vector_dim(b, x)?;
    if n > MOST_RANKED {
        return Err(BuildError(format!("at most {MOST_RANKED} parameters can be ranked, and these are {n}")));
    }
    let (column, row) = (b.reshape(x, vec![n, 1]), b.reshape(x, vec![1, n]));
    let smaller = b.map(&rows::LT, &[row, column])?;
    let equal = b.map(&rows::EQ, &[row, column])?;
    let mask: Vec<f64> = (0..n * n).map(|p| f64::from(u8::from(p % n < p / n))).collect();
    let before = b.constant(mask, vec![n, n]);
    let before = b.mul(equal, before)?;
    let counted = b.add2(smaller, before)?;
    let (counted, one) = (b.sum(counted, Some(1))?, b.number(1.0));
    b.add2(counted, one)
}

/// The quantiles that leave shares p below, interpolated between order statistics (R's type 7).
fn quantile(b: &mut Builder, x: NodeId, p: &[f64], dims: &[usize], function: &str) -> Built {
    let n = vector_dim(b, x)?;
    if n == 0 || !p.iter().all(|p| (0.0..=1.0).contains(p)) {
        return Err(BuildError(format!("`{function}` needs at least one element and a share from 0 to 1")));
    }
    let places: Vec<f64> = p.iter().map(|p| p * (n - 1) as f64).collect();
    let at = |end: fn(f64) -> f64| places.iter().map(|&place| end(place) as u32).collect::<Vec<u32>>();
    let x = sorted(b, x)?;
    let low = b.take(x, at(f64::floor), dims.to_vec());
    let high = b.take(x, at(f64::ceil), dims.to_vec());
    let shares: Vec<f64> = places.iter().map(|place| place.fract()).collect();
    let shares = b.constant(shares, dims.to_vec());
    let span = b.sub(high, low)?;
    let part = b.mul(span, shares)?;
    b.add2(low, part)
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
        doc: "a vector, smallest element first",
        example: ("sort([3.5, 1.5, 2.5])", "[1.5, 2.5, 3.5]"),
        check: same_vector,
        build: |b, args| {
            let x = node(args, 0)?;
            sorted(b, x)
        },
    },
    Function {
        name: "sort_desc",
        args: X,
        variadic: false,
        doc: "a vector, largest element first",
        example: ("sort_desc([3.5, 1.5, 2.5])", "[3.5, 2.5, 1.5]"),
        check: same_vector,
        build: |b, args| {
            let x = sorted(b, node(args, 0)?)?;
            let n = vector_dim(b, x)?;
            Ok(b.take(x, (0..n as u32).rev().collect(), vec![n]))
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
            let (_, order) = known_order(b, node(args, 0)?).ok_or_else(|| {
                BuildError("`order` gives indices, and those of parameters are not known before the fit; `sort` and `rank` work on parameters too".into())
            })?;
            Ok(vector_constant(b, order.iter().map(|&i| i as f64 + 1.0).collect()))
        },
    },
    Function {
        name: "rank",
        args: X,
        variadic: false,
        doc: "the rank of each element of a vector, 1 for the smallest; equal ones rank in their order",
        example: ("rank([3.5, 1.5, 2.5])", "[3, 1, 2]"),
        check: positions,
        build: |b, args| {
            let x = node(args, 0)?;
            ranks(b, x)
        },
    },
    Function {
        name: "median",
        args: X,
        variadic: false,
        doc: "the middle element of a vector in order, or the mean of the two in the middle",
        example: ("median([4.0, 1.0, 2.0, 9.0])", "3.0"),
        check: |args| vector(ty(args, 0)?, "x").map(|_| Ty::real(vec![])),
        build: |b, args| {
            let x = node(args, 0)?;
            quantile(b, x, &[0.5], &[], "median")
        },
    },
    Function {
        name: "quantile",
        args: &[needed("x"), needed("p")],
        variadic: false,
        doc: "the number that leaves a share p of a vector below it, interpolated between elements; several for several p",
        example: ("quantile([1.0, 2.0, 4.0], [0.5, 0.75])", "[2.0, 3.0]"),
        check: |args| {
            vector(ty(args, 0)?, "x")?;
            Ok(Ty::real(ty(args, 1)?.shape.clone()))
        },
        build: |b, args| {
            let p = node(args, 1)?;
            let dims = b.dims(p).to_vec();
            let p = b.constant_of(p).cloned();
            let p = p.ok_or_else(|| BuildError("`p` must be known before the fit".into()))?;
            quantile(b, node(args, 0)?, &p, &dims, "quantile")
        },
    },
];
