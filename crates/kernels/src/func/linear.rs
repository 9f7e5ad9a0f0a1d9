//! Linear algebra: factors, systems, inverses, determinants, eigenvalues.

use super::args::{
    Built, Checked, Types, agree, given, needed, node, option, optional, square, square_dim, ty,
};
use super::kernel::identity;
use super::row::{Function, FunctionArg, Ty};
use super::shape::diagonal;
use crate::facts::show;
use crate::graph::{Builder, NodeId};
use crate::ops::array::{Cholesky, EigenSym, Inverse, LogDet, Solve, TriangularSolve};
use crate::ops::scalar;

const A: &[FunctionArg] = &[needed("a")];

fn same_square(args: Types) -> Checked {
    square(ty(args, 0)?, "a").map(|n| Ty::real(vec![n.clone(), n]))
}

fn of_square(args: Types) -> Checked {
    square(ty(args, 0)?, "a").map(|_| Ty::real(vec![]))
}

/// A square matrix and a right side with as many rows.
fn system(args: Types) -> Checked {
    let (a, x) = (ty(args, 0)?, ty(args, 1)?);
    let n = square(a, "a")?;
    match x.shape.as_slice() {
        [k] | [k, _] => {
            agree(&n, k, ("a", a), ("b", x))?;
            Ok(Ty::real(x.shape.clone()))
        }
        _ => Err(format!("`b` must be a vector or a matrix, not {}", show(&x.shape))),
    }
}

fn cholesky(b: &mut Builder, a: NodeId) -> Built {
    b.array(Cholesky, &[a])
}

/// A⁻¹ = WᵀW with W = L⁻¹.
fn inverse_spd(b: &mut Builder, a: NodeId) -> Built {
    let n = square_dim(b, a)?;
    let (l, eye) = (cholesky(b, a)?, identity(b, n));
    let w = b.array(TriangularSolve { transposed: false, rows: false }, &[l, eye])?;
    let transposed = b.transpose(w);
    b.matmul(transposed, w)
}

/// 2 Σ log diag(L)
fn logdet_spd(b: &mut Builder, a: NodeId) -> Built {
    let l = cholesky(b, a)?;
    let pivots = diagonal(b, l);
    let (total, two) = (b.map_sum(&scalar::LOG, &[pivots], None)?, b.number(2.0));
    b.mul(two, total)
}

/// Row 0 of the result of [`EigenSym`] are the values, the other rows the vectors.
fn eigen(b: &mut Builder, a: NodeId, vectors: bool) -> Built {
    let n = square_dim(b, a)?;
    let both = b.array(EigenSym, &[a])?;
    let (from, to, dims) = if vectors { (n, n * (n + 1), vec![n, n]) } else { (0, n, vec![n]) };
    Ok(b.take(both, (from as u32..to as u32).collect(), dims))
}

pub(super) static ROWS: &[Function] = &[
    Function {
        name: "cholesky",
        args: A,
        variadic: false,
        doc: "the lower triangular l with l * l' = a, for a symmetric positive definite matrix; its lower triangle is read",
        example: ("cholesky([[4.0, 2.0], [2.0, 10.0]])", "[[2.0, 0.0], [1.0, 3.0]]"),
        check: same_square,
        build: |b, args| cholesky(b, node(args, 0)?),
    },
    Function {
        name: "solve",
        args: &[needed("a"), needed("b")],
        variadic: false,
        doc: "the x with a * x = b; b is a vector or a matrix of right sides in columns",
        example: ("solve([[2.0, 1.0], [1.0, 3.0]], [4.0, 7.0])", "[1.0, 2.0]"),
        check: system,
        build: |b, args| b.array(Solve, &[node(args, 0)?, node(args, 1)?]),
    },
    Function {
        name: "solve_lower",
        args: &[needed("l"), needed("b"), optional("transposed")],
        variadic: false,
        doc: "the x with l * x = b for a lower triangular l; with transposed = true, l' * x = b",
        example: ("solve_lower([[2.0, 0.0], [1.0, 3.0]], [2.0, 7.0])", "[1.0, 2.0]"),
        check: |args| {
            if given(args, 2).is_some_and(|t| !t.shape.is_empty()) {
                return Err("`transposed` must be true or false".into());
            }
            system(args)
        },
        build: |b, args| {
            let flag = option(args, 2).map(|t| b.scalar_of(t));
            let transposed = match flag {
                None => false,
                Some(Some(x)) => x != 0.0,
                Some(None) => {
                    return Err(crate::graph::BuildError("`transposed` must be true or false".into()));
                }
            };
            b.array(TriangularSolve { transposed, rows: false }, &[node(args, 0)?, node(args, 1)?])
        },
    },
    Function {
        name: "inverse",
        args: A,
        variadic: false,
        doc: "the inverse of a square matrix; prefer solve(a, b) to inverse(a) * b",
        example: ("inverse([[2.0, 1.0], [1.0, 1.0]])", "[[1.0, -1.0], [-1.0, 2.0]]"),
        check: same_square,
        build: |b, args| b.array(Inverse, &[node(args, 0)?]),
    },
    Function {
        name: "inverse_spd",
        args: A,
        variadic: false,
        doc: "the inverse of a symmetric positive definite matrix, through its Cholesky factor",
        example: ("inverse_spd([[2.0, 1.0], [1.0, 1.0]])", "[[1.0, -1.0], [-1.0, 2.0]]"),
        check: same_square,
        build: |b, args| inverse_spd(b, node(args, 0)?),
    },
    Function {
        name: "logdet",
        args: A,
        variadic: false,
        doc: "log of the absolute determinant of a square matrix",
        example: ("logdet([[2.0, 1.0], [1.0, -1.0]])", "log(3.0)"),
        check: of_square,
        build: |b, args| b.array(LogDet, &[node(args, 0)?]),
    },
    Function {
        name: "logdet_spd",
        args: A,
        variadic: false,
        doc: "log determinant of a symmetric positive definite matrix, through its Cholesky factor",
        example: ("logdet_spd([[4.0, 2.0], [2.0, 10.0]])", "log(36.0)"),
        check: of_square,
        build: |b, args| logdet_spd(b, node(args, 0)?),
    },
    Function {
        name: "eigenvalues_sym",
        args: A,
        variadic: false,
        doc: "eigenvalues of a symmetric matrix, smallest first",
        example: ("eigenvalues_sym([[2.0, 1.0], [1.0, 2.0]])", "[1.0, 3.0]"),
        check: |args| square(ty(args, 0)?, "a").map(|n| Ty::real(vec![n])),
        build: |b, args| eigen(b, node(args, 0)?, false),
    },
    Function {
        name: "eigenvectors_sym",
        args: A,
        variadic: false,
        doc: "eigenvectors of a symmetric matrix as columns, in the order of eigenvalues_sym, of length 1 and with their \
              largest entry positive; without derivative where two eigenvalues are equal",
        example: ("eigenvectors_sym([[2.0, 0.0], [0.0, 1.0]])", "[[0.0, 1.0], [1.0, 0.0]]"),
        check: same_square,
        build: |b, args| eigen(b, node(args, 0)?, true),
    },
];
