//! Functions that move, repeat or join elements, and the sizes of arrays.

use super::args::{
    Built, Checked, Nodes, Types, affordable, agree, count, extent, needed, node, same, scalar, square,
    square_dim, ty, vector, vector_dim, whole,
};
use super::kernel::add_diag;
use super::row::{Function, FunctionArg, Ty};
use crate::facts::{Shape, Size, show};
use crate::graph::{BuildError, Builder, NodeId};

const X: &[FunctionArg] = &[needed("x")];
const X_N: &[FunctionArg] = &[needed("x"), needed("n")];
const MANY: &[FunctionArg] = &[needed("x")];

/// The diagonal of a square matrix.
pub(super) fn diagonal(b: &mut Builder, m: NodeId) -> NodeId {
    let n = b.dims(m).first().copied().unwrap_or(0);
    b.take(m, (0..n).map(|i| (i * (n + 1)) as u32).collect(), vec![n])
}

fn axis_needed(args: Types<'_>) -> Result<&Ty, String> {
    let x = ty(args, 0)?;
    if x.shape.is_empty() { Err("an array is needed, not a single number".into()) } else { Ok(x) }
}

fn first_extent(b: &Builder, x: NodeId) -> Result<usize, BuildError> {
    b.dims(x).first().copied().ok_or_else(|| BuildError("an array is needed, not a single number".into()))
}

/// Listed elements of the first axis.
fn pick(b: &mut Builder, x: NodeId, which: Vec<usize>) -> NodeId {
    let mut dims = b.dims(x).to_vec();
    let width: usize = dims[1..].iter().product();
    dims[0] = which.len();
    let table = which.iter().flat_map(|&i| (i * width) as u32..((i + 1) * width) as u32).collect();
    b.take(x, table, dims)
}

/// `head` and `tail`: the first axis becomes n long.
fn check_part(args: Types) -> Checked {
    let x = axis_needed(args)?;
    let n = extent(ty(args, 1)?, "n")?;
    if let (Some(n), Some(all)) = (n.as_integer(), x.shape[0].as_integer())
        && n > all
    {
        return Err(format!(
            "`n` is {n}, but {} has only {all} elements along its first axis",
            show(&x.shape)
        ));
    }
    let mut shape = x.shape.clone();
    shape[0] = n;
    Ok(Ty { shape, integer: x.integer, value: None })
}

/// The array and how many of its elements to keep, at most as many as there are.
fn part(b: &Builder, args: Nodes) -> Result<(NodeId, usize, usize), BuildError> {
    let x = node(args, 0)?;
    let (n, all) = (whole(b, node(args, 1)?, "n")?, first_extent(b, x)?);
    if n > all {
        return Err(BuildError(format!("`n` is {n}, but there are only {all} elements")));
    }
    Ok((x, n, all))
}

/// Sizes given as arguments from position `from` on.
pub(super) fn check_sizes(args: Types, from: usize) -> Result<Shape, String> {
    (from..args.len()).map(|i| extent(ty(args, i)?, "n")).collect()
}

/// The same as numbers.
pub(super) fn sizes(b: &Builder, args: Nodes, from: usize) -> Result<Vec<usize>, BuildError> {
    let dims = (from..args.len()).map(|i| whole(b, node(args, i)?, "n")).collect::<Result<_, _>>()?;
    affordable(dims)
}

fn check_reshape(args: Types) -> Checked {
    let x = ty(args, 0)?;
    let shape = check_sizes(args, 1)?;
    let (had, wanted) = (count(&x.shape), count(&shape));
    if same(&had, &wanted).is_none() && had.as_integer().is_some() && wanted.as_integer().is_some() {
        return Err(format!(
            "{} has {had} elements and {} would have {wanted}: they must be as many",
            show(&x.shape),
            show(&shape)
        ));
    }
    Ok(Ty { shape, integer: x.integer, value: None })
}

fn check_rep(args: Types) -> Checked {
    let x = ty(args, 0)?;
    let mut shape = check_sizes(args, 1)?;
    shape.extend(x.shape.iter().cloned());
    Ok(Ty { shape, integer: x.integer, value: None })
}

fn check_stack(args: Types) -> Checked {
    let first = ty(args, 0)?;
    let mut shape = first.shape.clone();
    for i in 1..args.len() {
        let other = ty(args, i)?;
        let fits = other.shape.len() == shape.len();
        let met: Option<Shape> = shape.iter().zip(&other.shape).map(|(a, b)| same(a, b)).collect();
        shape = met.filter(|_| fits).ok_or_else(|| {
            format!(
                "only arrays of one shape can be stacked, but the first is {} and argument {} is {}",
                show(&first.shape),
                i + 1,
                show(&other.shape)
            )
        })?;
    }
    shape.insert(0, Size::known(args.len()));
    Ok(Ty { shape, integer: all_integer(args), value: None })
}

fn all_integer(args: Types) -> bool {
    args.iter().flatten().all(|t| t.integer)
}

/// `concat`: along the first axis; a number counts as one element.
fn check_concat(args: Types) -> Checked {
    let rest = |t: &Ty| t.shape.get(1..).map(<[Size]>::to_vec).unwrap_or_default();
    let (mut total, first) = (Size::known(0), ty(args, 0)?);
    for i in 0..args.len() {
        let other = ty(args, i)?;
        let (mine, theirs) = (rest(first), rest(other));
        if mine.len() != theirs.len() || !mine.iter().zip(&theirs).all(|(a, b)| a.may_equal(b)) {
            return Err(format!(
                "arrays are joined along their first axis and must agree in the others, but the first is {} and argument {} \
                 is {}",
                show(&first.shape),
                i + 1,
                show(&other.shape)
            ));
        }
        total = total.plus(1, other.shape.first().unwrap_or(&Size::known(1)));
    }
    let mut shape = vec![total];
    shape.extend(rest(first));
    Ok(Ty { shape, integer: all_integer(args), value: None })
}

fn all_nodes(args: Nodes) -> Result<Vec<NodeId>, BuildError> {
    (0..args.len()).map(|i| node(args, i)).collect()
}

fn concat(b: &mut Builder, args: Nodes) -> Built {
    let all = all_nodes(args)?;
    let mut dims = b.dims(node(args, 0)?).to_vec();
    let rest = dims.get(1..).map(<[usize]>::to_vec).unwrap_or_default();
    if all.iter().any(|&x| b.dims(x).get(1..).unwrap_or_default() != rest) {
        return Err(BuildError("arrays that are joined must agree in all axes but the first".into()));
    }
    dims = vec![all.iter().map(|&x| b.dims(x).first().copied().unwrap_or(1)).sum()];
    dims.extend(rest);
    Ok(b.concat(&all, dims))
}

/// `concat_columns`: matrices side by side; a vector is one column.
fn check_columns(args: Types) -> Checked {
    let (mut width, first) = (Size::known(0), ty(args, 0)?);
    for i in 0..args.len() {
        let other = ty(args, i)?;
        let columns = match other.shape.as_slice() {
            [_] => Size::known(1),
            [_, m] => m.clone(),
            _ => {
                return Err(format!(
                    "argument {} must be a vector or a matrix, not {}",
                    i + 1,
                    show(&other.shape)
                ));
            }
        };
        agree(&first.shape[0], &other.shape[0], ("the first argument", first), ("another", other))?;
        width = width.plus(1, &columns);
    }
    Ok(Ty { shape: vec![first.shape[0].clone(), width], integer: all_integer(args), value: None })
}

fn concat_columns(b: &mut Builder, args: Nodes) -> Built {
    let mut upright = Vec::new();
    for x in all_nodes(args)? {
        upright.push(match b.dims(x).to_vec().as_slice() {
            [n] => b.reshape(x, vec![1, *n]),
            [_, _] => b.transpose(x),
            _ => return Err(BuildError("a vector or a matrix is needed".into())),
        });
    }
    let upright: Vec<Option<NodeId>> = upright.into_iter().map(Some).collect();
    let joined = concat(b, &upright)?;
    Ok(b.transpose(joined))
}

/// The diagonal matrix with the given diagonal.
fn diag_matrix(b: &mut Builder, v: NodeId) -> NodeId {
    let (n, zero) = (b.dims(v).first().copied().unwrap_or(1), b.number(0.0));
    let entries = b.concat(&[v, zero], vec![n + 1]);
    let table = (0..n * n).map(|p| if p / n == p % n { (p / n) as u32 } else { n as u32 }).collect();
    b.take(entries, table, vec![n, n])
}

fn known(b: &mut Builder, n: usize) -> Built {
    Ok(b.number(n as f64))
}

pub(super) static ROWS: &[Function] = &[
    Function {
        name: "transpose",
        args: X,
        variadic: false,
        doc: "rows and columns of a matrix exchanged; x' is the same",
        example: ("transpose([[1, 2, 3], [4, 5, 6]])", "[[1, 4], [2, 5], [3, 6]]"),
        check: |args| {
            let x = ty(args, 0)?;
            let shape = match x.shape.as_slice() {
                [n, m] => vec![m.clone(), n.clone()],
                [n] => vec![Size::known(1), n.clone()],
                _ => return Err(format!("a matrix or a vector is needed, not {}", show(&x.shape))),
            };
            Ok(Ty { shape, integer: x.integer, value: None })
        },
        build: |b, args| Ok(b.transpose(node(args, 0)?)),
    },
    Function {
        name: "as_column",
        args: X,
        variadic: false,
        doc: "a vector [N] as a matrix of one column [N, 1]",
        example: ("as_column([1, 2])", "[[1], [2]]"),
        check: |args| {
            let x = ty(args, 0)?;
            let shape = vec![vector(x, "x")?, Size::known(1)];
            Ok(Ty { shape, integer: x.integer, value: None })
        },
        build: |b, args| Ok(super::product::column(b, node(args, 0)?)),
    },
    Function {
        name: "as_row",
        args: X,
        variadic: false,
        doc: "a vector [N] as a matrix of one row [1, N]",
        example: ("as_row([1, 2])", "[[1, 2]]"),
        check: |args| {
            let x = ty(args, 0)?;
            let shape = vec![Size::known(1), vector(x, "x")?];
            Ok(Ty { shape, integer: x.integer, value: None })
        },
        build: |b, args| {
            let x = node(args, 0)?;
            let dims = [&[1], b.dims(x)].concat();
            Ok(b.reshape(x, dims))
        },
    },
    Function {
        name: "reshape",
        args: X_N,
        variadic: true,
        doc: "the same elements, row by row, in an array with the given sizes",
        example: ("reshape([1, 2, 3, 4, 5, 6], 2, 3)", "[[1, 2, 3], [4, 5, 6]]"),
        check: check_reshape,
        build: |b, args| {
            let (x, dims) = (node(args, 0)?, sizes(b, args, 1)?);
            let (had, wanted) = (b.dims(x).iter().product::<usize>(), dims.iter().product::<usize>());
            if had != wanted {
                return Err(BuildError(format!("{had} elements cannot fill an array of shape {dims:?}")));
            }
            Ok(b.reshape(x, dims))
        },
    },
    Function {
        name: "flatten",
        args: X,
        variadic: false,
        doc: "all elements, row by row, as a vector",
        example: ("flatten([[1, 2], [3, 4]])", "[1, 2, 3, 4]"),
        check: |args| {
            let x = ty(args, 0)?;
            Ok(Ty { shape: vec![count(&x.shape)], integer: x.integer, value: None })
        },
        build: |b, args| {
            let x = node(args, 0)?;
            let n = b.dims(x).iter().product();
            Ok(b.reshape(x, vec![n]))
        },
    },
    Function {
        name: "rep",
        args: X_N,
        variadic: true,
        doc: "x repeated: rep(x, n) has n copies along a new first axis, rep(x, n, m) has n rows of m copies",
        example: ("rep([1, 2], 3)", "[[1, 2], [1, 2], [1, 2]]"),
        check: check_rep,
        build: |b, args| {
            let (x, mut dims) = (node(args, 0)?, sizes(b, args, 1)?);
            dims.extend(b.dims(x));
            let dims = affordable(dims)?;
            Ok(b.broadcast_to(x, &dims))
        },
    },
    Function {
        name: "concat",
        args: MANY,
        variadic: true,
        doc: "arrays one after another along their first axis; a number counts as one element",
        example: ("concat([1, 2], 3, [4, 5])", "[1, 2, 3, 4, 5]"),
        check: check_concat,
        build: concat,
    },
    Function {
        name: "concat_columns",
        args: MANY,
        variadic: true,
        doc: "matrices side by side; a vector is one column",
        example: ("concat_columns([1, 2], [[3, 4], [5, 6]])", "[[1, 3, 4], [2, 5, 6]]"),
        check: check_columns,
        build: concat_columns,
    },
    Function {
        name: "stack",
        args: MANY,
        variadic: true,
        doc: "arrays of one shape stacked along a new first axis; [a, b] is the same as stack(a, b)",
        example: ("stack([1, 2], [3, 4])", "[[1, 2], [3, 4]]"),
        check: check_stack,
        build: |b, args| {
            let all = all_nodes(args)?;
            if all.windows(2).any(|w| b.dims(w[0]) != b.dims(w[1])) {
                return Err(BuildError("only arrays of one shape can be stacked".into()));
            }
            Ok(b.stack(&all))
        },
    },
    Function {
        name: "reverse",
        args: X,
        variadic: false,
        doc: "the elements of the first axis in the opposite order",
        example: ("reverse([1, 2, 3])", "[3, 2, 1]"),
        check: |args| axis_needed(args).map(|x| Ty { value: None, ..x.clone() }),
        build: |b, args| {
            let x = node(args, 0)?;
            let n = first_extent(b, x)?;
            Ok(pick(b, x, (0..n).rev().collect()))
        },
    },
    Function {
        name: "head",
        args: X_N,
        variadic: false,
        doc: "the first n elements of the first axis",
        example: ("head([1, 2, 3], 2)", "[1, 2]"),
        check: check_part,
        build: |b, args| {
            let (x, n, _) = part(b, args)?;
            Ok(pick(b, x, (0..n).collect()))
        },
    },
    Function {
        name: "tail",
        args: X_N,
        variadic: false,
        doc: "the last n elements of the first axis",
        example: ("tail([1, 2, 3], 2)", "[2, 3]"),
        check: check_part,
        build: |b, args| {
            let (x, n, all) = part(b, args)?;
            Ok(pick(b, x, (all - n..all).collect()))
        },
    },
    Function {
        name: "diag",
        args: &[needed("m")],
        variadic: false,
        doc: "the diagonal of a square matrix; see diag_matrix for the matrix with a given diagonal",
        example: ("diag([[1, 2], [3, 4]])", "[1, 4]"),
        check: |args| {
            let m = ty(args, 0)?;
            if m.shape.len() == 1 {
                return Err("`diag` gives the diagonal of a matrix; to make a matrix from a vector, write diag_matrix".into());
            }
            Ok(Ty { shape: vec![square(m, "m")?], integer: m.integer, value: None })
        },
        build: |b, args| {
            let m = node(args, 0)?;
            square_dim(b, m)?;
            Ok(diagonal(b, m))
        },
    },
    Function {
        name: "diag_matrix",
        args: &[needed("v")],
        variadic: false,
        doc: "the matrix with a given diagonal and zeros elsewhere",
        example: ("diag_matrix([1, 2])", "[[1, 0], [0, 2]]"),
        check: |args| {
            let v = ty(args, 0)?;
            let n = vector(v, "v")?;
            Ok(Ty { shape: vec![n.clone(), n], integer: v.integer, value: None })
        },
        build: |b, args| {
            let v = node(args, 0)?;
            affordable(vec![vector_dim(b, v)?; 2])?;
            Ok(diag_matrix(b, v))
        },
    },
    Function {
        name: "add_diag",
        args: &[needed("m"), needed("v")],
        variadic: false,
        doc: "a square matrix with v, a number or one for each row, added to its diagonal",
        example: ("add_diag([[1.0, 2.0], [3.0, 4.0]], 0.5)", "[[1.5, 2.0], [3.0, 4.5]]"),
        check: |args| {
            let (m, v) = (ty(args, 0)?, ty(args, 1)?);
            let n = square(m, "m")?;
            if scalar(v, "v").is_err() {
                agree(&n, &vector(v, "v")?, ("m", m), ("v", v))?;
            }
            Ok(Ty::real(vec![n.clone(), n]))
        },
        build: |b, args| {
            let m = node(args, 0)?;
            square_dim(b, m)?;
            add_diag(b, m, node(args, 1)?)
        },
    },
    Function {
        name: "size",
        args: X,
        variadic: false,
        doc: "number of elements",
        example: ("size([[1, 2, 3], [4, 5, 6]])", "6"),
        check: |args| Ok(Ty::size(count(&ty(args, 0)?.shape))),
        build: |b, args| {
            let n = b.dims(node(args, 0)?).iter().product();
            known(b, n)
        },
    },
    Function {
        name: "rows",
        args: X,
        variadic: false,
        doc: "size of the first axis",
        example: ("rows([[1, 2, 3], [4, 5, 6]])", "2"),
        check: |args| axis_needed(args).map(|x| Ty::size(x.shape[0].clone())),
        build: |b, args| {
            let n = first_extent(b, node(args, 0)?)?;
            known(b, n)
        },
    },
    Function {
        name: "cols",
        args: X,
        variadic: false,
        doc: "size of the second axis",
        example: ("cols([[1, 2, 3], [4, 5, 6]])", "3"),
        check: |args| {
            let x = ty(args, 0)?;
            let n = x.shape.get(1).cloned();
            n.map(Ty::size).ok_or_else(|| format!("a matrix is needed, not {}", show(&x.shape)))
        },
        build: |b, args| {
            let n = b.dims(node(args, 0)?).get(1).copied();
            let n = n.ok_or_else(|| BuildError("a matrix is needed".into()))?;
            known(b, n)
        },
    },
];
