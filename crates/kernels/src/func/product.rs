//! Products, lengths and distances of vectors and matrices.

use super::args::{
    Built, Checked, Nodes, Types, agree, matrix, needed, node, square, square_dim, ty, vector,
};
use super::kernel::DISTANCE;
use super::row::{Function, FunctionArg, Ty};
use super::shape::diagonal;
use crate::facts::show;
use crate::graph::{BuildError, Builder, NodeId};
use crate::ops::scalar;

const X: &[FunctionArg] = &[needed("x")];
const AB: &[FunctionArg] = &[needed("a"), needed("b")];

fn number() -> Ty {
    Ty::real(vec![])
}

/// Two vectors of one length.
fn pair(args: Types) -> Checked {
    let (a, b) = (ty(args, 0)?, ty(args, 1)?);
    agree(&vector(a, "a")?, &vector(b, "b")?, ("a", a), ("b", b))?;
    Ok(number())
}

/// The two vectors, for a sum over both.
fn equal_lengths(b: &Builder, args: Nodes) -> Result<[NodeId; 2], BuildError> {
    let (x, y) = (node(args, 0)?, node(args, 1)?);
    if b.dims(x) != b.dims(y) {
        return Err(BuildError(format!("the shapes {:?} and {:?} differ", b.dims(x), b.dims(y))));
    }
    Ok([x, y])
}

/// Σ x²
fn dot_self(b: &mut Builder, x: NodeId) -> Built {
    b.map_sum(&scalar::SQUARE, &[x], None)
}

fn squared_distance(b: &mut Builder, args: Nodes) -> Built {
    let [x, y] = equal_lengths(b, args)?;
    let difference = b.sub(x, y)?;
    dot_self(b, difference)
}

/// [N] as [N, 1].
pub(super) fn column(b: &mut Builder, v: NodeId) -> NodeId {
    let mut dims = b.dims(v).to_vec();
    dims.push(1);
    b.reshape(v, dims)
}

fn check_quad_form(args: Types) -> Checked {
    let (a, x) = (ty(args, 0)?, ty(args, 1)?);
    let n = square(a, "a")?;
    let (rows, shape) = match x.shape.as_slice() {
        [k] => (k, vec![]),
        [k, m] => (k, vec![m.clone(), m.clone()]),
        _ => return Err(format!("`b` must be a vector or a matrix, not {}", show(&x.shape))),
    };
    agree(&n, rows, ("a", a), ("b", x))?;
    Ok(Ty::real(shape))
}

/// A square matrix and a vector of its size.
fn matrix_and_vector(args: Types) -> Checked {
    let (m, v) = (ty(args, 0)?, ty(args, 1)?);
    let n = agree(&square(m, "m")?, &vector(v, "v")?, ("m", m), ("v", v))?;
    Ok(Ty::real(vec![n.clone(), n]))
}

/// X Xᵀ
fn tcrossprod(b: &mut Builder, x: NodeId) -> Built {
    let transposed = b.transpose(x);
    b.matmul(x, transposed)
}

pub(super) static ROWS: &[Function] = &[
    Function {
        name: "dot",
        args: AB,
        variadic: false,
        doc: "sum of the products of two vectors",
        example: ("dot([1, 2, 3], [4, 5, 6])", "32.0"),
        check: pair,
        build: |b, args| {
            let both = equal_lengths(b, args)?;
            b.map_sum(&scalar::MUL, &both, None)
        },
    },
    Function {
        name: "dot_self",
        args: X,
        variadic: false,
        doc: "sum of squares",
        example: ("dot_self([3.0, 4.0])", "25.0"),
        check: |args| ty(args, 0).map(|_| number()),
        build: |b, args| dot_self(b, node(args, 0)?),
    },
    Function {
        name: "norm",
        args: X,
        variadic: false,
        doc: "length of a vector: the root of its sum of squares",
        example: ("norm([3.0, 4.0])", "5.0"),
        check: |args| ty(args, 0).map(|_| number()),
        build: |b, args| {
            let squares = dot_self(b, node(args, 0)?)?;
            Ok(b.unary(&DISTANCE, squares))
        },
    },
    Function {
        name: "squared_distance",
        args: AB,
        variadic: false,
        doc: "sum of squared differences of two vectors",
        example: ("squared_distance([1.0, 2.0], [4.0, 6.0])", "25.0"),
        check: pair,
        build: squared_distance,
    },
    Function {
        name: "distance",
        args: AB,
        variadic: false,
        doc: "length of the difference of two vectors",
        example: ("distance([1.0, 2.0], [4.0, 6.0])", "5.0"),
        check: pair,
        build: |b, args| {
            let squares = squared_distance(b, args)?;
            Ok(b.unary(&DISTANCE, squares))
        },
    },
    Function {
        name: "outer",
        args: AB,
        variadic: false,
        doc: "all products of the elements of two vectors, [N] and [M] to [N, M]",
        example: ("outer([1, 2], [3, 4])", "[[3.0, 4.0], [6.0, 8.0]]"),
        check: |args| Ok(Ty::real(vec![vector(ty(args, 0)?, "a")?, vector(ty(args, 1)?, "b")?])),
        build: |b, args| {
            let left = column(b, node(args, 0)?);
            b.mul(left, node(args, 1)?)
        },
    },
    Function {
        name: "quad_form",
        args: AB,
        variadic: false,
        doc: "b' * a * b for a square matrix a; a number if b is a vector, a matrix if it is one",
        example: ("quad_form([[2.0, 1.0], [1.0, 3.0]], [1.0, 2.0])", "18.0"),
        check: check_quad_form,
        build: |b, args| {
            let (a, x) = (node(args, 0)?, node(args, 1)?);
            let product = b.matmul(a, x)?;
            if b.dims(x).len() == 1 {
                return b.map_sum(&scalar::MUL, &[x, product], None);
            }
            let transposed = b.transpose(x);
            b.matmul(transposed, product)
        },
    },
    Function {
        name: "quad_form_diag",
        args: &[needed("m"), needed("v")],
        variadic: false,
        doc: "diag_matrix(v) * m * diag_matrix(v): a covariance matrix from correlations m and scales v",
        example: ("quad_form_diag([[1.0, 0.5], [0.5, 1.0]], [2.0, 3.0])", "[[4.0, 3.0], [3.0, 9.0]]"),
        check: matrix_and_vector,
        build: |b, args| {
            let (m, v) = (node(args, 0)?, node(args, 1)?);
            let rows = column(b, v);
            let scaled = b.mul(m, v)?;
            b.mul(rows, scaled)
        },
    },
    Function {
        name: "diag_pre_multiply",
        args: &[needed("v"), needed("m")],
        variadic: false,
        doc: "diag_matrix(v) * m: row i of m times v[i]",
        example: ("diag_pre_multiply([2.0, 3.0], [[1.0, 0.0], [0.5, 1.0]])", "[[2.0, 0.0], [1.5, 3.0]]"),
        check: |args| {
            let (v, m) = (ty(args, 0)?, ty(args, 1)?);
            let (n, k) = matrix(m, "m")?;
            Ok(Ty::real(vec![agree(&vector(v, "v")?, &n, ("v", v), ("m", m))?, k]))
        },
        build: |b, args| {
            let rows = column(b, node(args, 0)?);
            b.mul(rows, node(args, 1)?)
        },
    },
    Function {
        name: "diag_post_multiply",
        args: &[needed("m"), needed("v")],
        variadic: false,
        doc: "m * diag_matrix(v): column j of m times v[j]",
        example: ("diag_post_multiply([[1.0, 0.5], [0.5, 1.0]], [2.0, 3.0])", "[[2.0, 1.5], [1.0, 3.0]]"),
        check: |args| {
            let (m, v) = (ty(args, 0)?, ty(args, 1)?);
            let (n, k) = matrix(m, "m")?;
            Ok(Ty::real(vec![n, agree(&k, &vector(v, "v")?, ("m", m), ("v", v))?]))
        },
        build: |b, args| b.mul(node(args, 0)?, node(args, 1)?),
    },
    Function {
        name: "trace",
        args: &[needed("m")],
        variadic: false,
        doc: "sum of the diagonal of a square matrix",
        example: ("trace([[1, 2], [3, 4]])", "5.0"),
        check: |args| square(ty(args, 0)?, "m").map(|_| number()),
        build: |b, args| {
            let m = node(args, 0)?;
            square_dim(b, m)?;
            let entries = diagonal(b, m);
            b.sum(entries, None)
        },
    },
    Function {
        name: "crossprod",
        args: X,
        variadic: false,
        doc: "x' * x for a matrix x",
        example: ("crossprod([[1, 2], [3, 4]])", "[[10.0, 14.0], [14.0, 20.0]]"),
        check: |args| matrix(ty(args, 0)?, "x").map(|(_, k)| Ty::real(vec![k.clone(), k])),
        build: |b, args| {
            let transposed = b.transpose(node(args, 0)?);
            tcrossprod(b, transposed)
        },
    },
    Function {
        name: "tcrossprod",
        args: X,
        variadic: false,
        doc: "x * x' for a matrix x",
        example: ("tcrossprod([[1, 2], [3, 4]])", "[[5.0, 11.0], [11.0, 25.0]]"),
        check: |args| matrix(ty(args, 0)?, "x").map(|(n, _)| Ty::real(vec![n.clone(), n])),
        build: |b, args| tcrossprod(b, node(args, 0)?),
    },
    Function {
        name: "multiply_lower_tri_self_transpose",
        args: &[needed("l")],
        variadic: false,
        doc: "l * l' for a lower triangular l, such as a Cholesky factor",
        example: ("multiply_lower_tri_self_transpose([[2.0, 0.0], [1.0, 3.0]])", "[[4.0, 2.0], [2.0, 10.0]]"),
        check: |args| square(ty(args, 0)?, "l").map(|n| Ty::real(vec![n.clone(), n])),
        build: |b, args| tcrossprod(b, node(args, 0)?),
    },
    Function {
        name: "cov2cor",
        args: &[needed("s")],
        variadic: false,
        doc: "the correlation matrix of a covariance matrix",
        example: ("cov2cor([[4.0, 3.0], [3.0, 9.0]])", "[[1.0, 0.5], [0.5, 1.0]]"),
        check: |args| square(ty(args, 0)?, "s").map(|n| Ty::real(vec![n.clone(), n])),
        build: |b, args| {
            let s = node(args, 0)?;
            square_dim(b, s)?;
            let variances = diagonal(b, s);
            let scales = b.unary(&scalar::INV_SQRT, variances);
            let rows = column(b, scales);
            let scaled = b.mul(s, scales)?;
            b.mul(rows, scaled)
        },
    },
];
