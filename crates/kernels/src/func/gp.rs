//! Covariance matrices of Gaussian processes.

use super::args::{
    Built, Checked, Nodes, Types, agree, given, needed, node, option, optional, scalar, ty, vector,
};
use super::kernel::{Covariance, covariance, cross_covariance};
use super::row::{Function, FunctionArg, Ty};
use crate::facts::show;
use crate::graph::Builder;

const ALPHA_RHO: &[FunctionArg] = &[needed("x"), needed("alpha"), needed("rho"), optional("x2")];
const PERIODIC: &[FunctionArg] =
    &[needed("x"), needed("alpha"), needed("rho"), needed("period"), optional("x2")];
const LINEAR: &[FunctionArg] = &[needed("x"), needed("alpha"), optional("x2")];

/// The shape of a covariance matrix with `count` arguments after the points and before `x2`.
fn check(args: Types, count: usize) -> Checked {
    let x = ty(args, 0)?;
    let points = |t: &Ty, name: &str| match t.shape.as_slice() {
        [n] | [n, _] => Ok(n.clone()),
        _ => Err(format!("`{name}` must be points [N] or [N, D], not {}", show(&t.shape))),
    };
    let n = points(x, "x")?;
    for (i, name) in ["alpha", "rho", "period"].iter().enumerate().take(count) {
        let t = ty(args, i + 1)?;
        match x.shape.get(1) {
            Some(d) if *name == "rho" && !t.shape.is_empty() => {
                agree(d, &vector(t, name)?, ("x", x), (name, t))?;
            }
            _ => scalar(t, name)?,
        }
    }
    let m = match given(args, count + 1) {
        Some(other) => {
            let m = points(other, "x2")?;
            match (x.shape.get(1), other.shape.get(1)) {
                (None, None) => {}
                (Some(d), Some(e)) => drop(agree(d, e, ("x", x), ("x2", other))?),
                _ => return Err("`x` and `x2` must both be vectors [N], or both matrices [N, D]".into()),
            }
            m
        }
        None => n.clone(),
    };
    Ok(Ty::real(vec![n, m]))
}

fn build(b: &mut Builder, args: Nodes, form: Covariance, count: usize) -> Built {
    let x = node(args, 0)?;
    let settings = (1..=count).map(|i| node(args, i)).collect::<Result<Vec<_>, _>>()?;
    match option(args, count + 1) {
        Some(other) => cross_covariance(b, form, x, other, &settings),
        None => covariance(b, form, x, &settings, None),
    }
}

pub(super) static ROWS: &[Function] = &[
    Function {
        name: "gp_exp_quad_cov",
        args: ALPHA_RHO,
        variadic: false,
        doc: "covariances alpha^2 exp(-d^2 / (2 rho^2)) of points x, [N] or [N, D]; rho may be a vector [D]; with x2, those \
              between x and x2",
        example: ("gp_exp_quad_cov([0.0, 1.0], 2.0, 1.0)", "[[4.0, 4 * exp(-0.5)], [4 * exp(-0.5), 4.0]]"),
        check: |args| check(args, 2),
        build: |b, args| build(b, args, Covariance::ExpQuad, 2),
    },
    Function {
        name: "gp_matern32_cov",
        args: ALPHA_RHO,
        variadic: false,
        doc: "covariances alpha^2 (1 + s) exp(-s) with s = sqrt(3) d / rho; otherwise as gp_exp_quad_cov",
        example: ("gp_matern32_cov([0.0], 2.0, 1.0, x2 = [sqrt(3.0)])", "[[16 * exp(-3.0)]]"),
        check: |args| check(args, 2),
        build: |b, args| build(b, args, Covariance::Matern32, 2),
    },
    Function {
        name: "gp_matern52_cov",
        args: ALPHA_RHO,
        variadic: false,
        doc: "covariances alpha^2 (1 + s + s^2 / 3) exp(-s) with s = sqrt(5) d / rho; otherwise as gp_exp_quad_cov",
        example: ("gp_matern52_cov([0.0], 1.0, sqrt(5.0), x2 = [3.0])", "[[7 * exp(-3.0)]]"),
        check: |args| check(args, 2),
        build: |b, args| build(b, args, Covariance::Matern52, 2),
    },
    Function {
        name: "gp_exponential_cov",
        args: ALPHA_RHO,
        variadic: false,
        doc: "covariances alpha^2 exp(-d / rho); otherwise as gp_exp_quad_cov",
        example: ("gp_exponential_cov([[0.0, 0.0]], 2.0, 5.0, x2 = [[3.0, 4.0]])", "[[4 * exp(-1.0)]]"),
        check: |args| check(args, 2),
        build: |b, args| build(b, args, Covariance::Exponential, 2),
    },
    Function {
        name: "gp_periodic_cov",
        args: PERIODIC,
        variadic: false,
        doc: "covariances alpha^2 exp(-2 sin(pi d / period)^2 / rho^2); otherwise as gp_exp_quad_cov",
        example: ("gp_periodic_cov([0.0, 1.0], 1.0, 1.0, 2.0)", "[[1.0, exp(-2.0)], [exp(-2.0), 1.0]]"),
        check: |args| check(args, 3),
        build: |b, args| build(b, args, Covariance::Periodic, 3),
    },
    Function {
        name: "gp_linear_cov",
        args: LINEAR,
        variadic: false,
        doc: "covariances alpha^2 + x * x' of lines with uncertain intercept; otherwise as gp_exp_quad_cov",
        example: ("gp_linear_cov([1.0, 2.0], 3.0)", "[[10.0, 11.0], [11.0, 13.0]]"),
        check: |args| check(args, 1),
        build: |b, args| build(b, args, Covariance::Linear, 1),
    },
];
