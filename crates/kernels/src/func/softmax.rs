//! Softmax and its relatives, and running sums and products: functions along the last axis.

use super::args::{Built, Checked, Types, agree, given, keep_axis, needed, node, option, optional, ty};
use super::row::{Function, FunctionArg, Ty};
use crate::facts::{Structure, broadcast, show};
use crate::graph::{BuildError, Builder, NodeId};
use crate::ops::array::CumProd;
use crate::ops::scalar;

const X: &[FunctionArg] = &[needed("x")];

fn an_array(args: Types<'_>) -> Result<&Ty, String> {
    let x = ty(args, 0)?;
    if x.shape.is_empty() { Err("an array is needed, not a single number".into()) } else { Ok(x) }
}

fn last_axis(b: &Builder, x: NodeId) -> Result<usize, BuildError> {
    let rank = b.dims(x).len();
    rank.checked_sub(1).ok_or_else(|| BuildError("an array is needed, not a single number".into()))
}

/// x - log Σ exp x along the last axis.
pub(super) fn log_softmax(b: &mut Builder, x: NodeId) -> Built {
    let axis = last_axis(b, x)?;
    let total = b.log_sum_exp(x, Some(axis))?;
    let total = keep_axis(b, total, axis);
    b.sub(x, total)
}

/// The shape of `log_mix`: elementwise with three arguments, along the last axis with two.
fn check_log_mix(args: Types) -> Checked {
    let (w, a) = (ty(args, 0)?, ty(args, 1)?);
    if let Some(c) = given(args, 2) {
        let shape = broadcast(&w.shape, &a.shape).and_then(|s| broadcast(&s, &c.shape));
        return shape.map(Ty::real).ok_or_else(|| {
            format!(
                "the shapes {}, {} and {} do not fit together",
                show(&w.shape),
                show(&a.shape),
                show(&c.shape)
            )
        });
    }
    match (w.shape.as_slice(), a.shape.as_slice()) {
        ([k], [rest @ .., l]) => {
            agree(k, l, ("w", w), ("a", a))?;
            Ok(Ty::real(rest.to_vec()))
        }
        _ => Err(format!(
            "with two arguments, `log_mix` takes weights [K] and log densities [K] or [N, K], not {} and {}; with three, \
             a weight and two log densities",
            show(&w.shape),
            show(&a.shape)
        )),
    }
}

pub(super) static ROWS: &[Function] = &[
    Function {
        name: "softmax",
        args: X,
        variadic: false,
        doc: "exp(x) scaled to sum to 1 along the last axis",
        example: ("softmax([log(1.0), log(3.0)])", "[0.25, 0.75]"),
        check: |args| an_array(args).map(|x| Ty::real(x.shape.clone())),
        build: |b, args| {
            let logs = log_softmax(b, node(args, 0)?)?;
            let shares = b.unary(&scalar::EXP, logs);
            b.assert_structure(shares, Structure::Simplex);
            Ok(shares)
        },
    },
    Function {
        name: "log_softmax",
        args: X,
        variadic: false,
        doc: "log of softmax: x - log_sum_exp(x), along the last axis",
        example: ("log_softmax([log(1.0), log(3.0)])", "[log(0.25), log(0.75)]"),
        check: |args| an_array(args).map(|x| Ty::real(x.shape.clone())),
        build: |b, args| log_softmax(b, node(args, 0)?),
    },
    Function {
        name: "log_mix",
        args: &[needed("w"), needed("a"), optional("b")],
        variadic: false,
        doc: "log density of a mixture: log(w exp(a) + (1 - w) exp(b)), or with weights [K] and log densities [K] or [N, K] \
              the log of their weighted sum along the last axis",
        example: ("log_mix([0.25, 0.75], [log(4.0), log(2.0)])", "log(2.5)"),
        check: check_log_mix,
        build: |b, args| {
            let (w, x) = (node(args, 0)?, node(args, 1)?);
            if let Some(other) = option(args, 2) {
                return b.map(&scalar::LOG_MIX, &[w, x, other]);
            }
            let log_w = b.unary(&scalar::LOG, w);
            let terms = b.add2(log_w, x)?;
            let axis = last_axis(b, terms)?;
            b.log_sum_exp(terms, Some(axis))
        },
    },
    Function {
        name: "cumsum",
        args: X,
        variadic: false,
        doc: "running sum along the last axis",
        example: ("cumsum([1, 2, 3])", "[1, 3, 6]"),
        check: |args| an_array(args).map(|x| Ty { value: None, ..x.clone() }),
        build: |b, args| b.cumsum(node(args, 0)?),
    },
    Function {
        name: "cumprod",
        args: X,
        variadic: false,
        doc: "running product along the last axis",
        example: ("cumprod([1, 2, 3])", "[1, 2, 6]"),
        check: |args| an_array(args).map(|x| Ty { value: None, ..x.clone() }),
        build: |b, args| b.array(CumProd, &[node(args, 0)?]),
    },
];
