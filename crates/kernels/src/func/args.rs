//! What functions ask of their arguments: of types when a model is checked, of nodes when it is built.

use super::row::{FunctionArg, Ty};
use crate::facts::{Shape, Size, show};
use crate::graph::{BuildError, Builder, NodeId};

/// Types of the arguments; None where an optional one was left out.
pub(super) type Types<'a> = &'a [Option<Ty>];
/// Nodes of the arguments; None where an optional one was left out.
pub(super) type Nodes<'a> = &'a [Option<NodeId>];
/// A type, or what is wrong.
pub(super) type Checked = Result<Ty, String>;
/// A node, or what is wrong.
pub(super) type Built = Result<NodeId, BuildError>;

/// More numbers than any function may make out of nothing.
const MOST_ELEMENTS: usize = 1 << 28;

/// An argument that must be given.
pub(super) const fn needed(name: &'static str) -> FunctionArg {
    FunctionArg { name, optional: false }
}

/// An argument that may be left out.
pub(super) const fn optional(name: &'static str) -> FunctionArg {
    FunctionArg { name, optional: true }
}

/// The type of argument `i`.
pub(super) fn ty(args: Types<'_>, i: usize) -> Result<&Ty, String> {
    given(args, i).ok_or_else(|| format!("argument {} is missing", i + 1))
}

/// The type of argument `i`, if it was given.
pub(super) fn given(args: Types<'_>, i: usize) -> Option<&Ty> {
    args.get(i).and_then(Option::as_ref)
}

/// The node of argument `i`.
pub(super) fn node(args: Nodes, i: usize) -> Built {
    option(args, i).ok_or_else(|| BuildError(format!("argument {} is missing", i + 1)))
}

/// The node of argument `i`, if it was given.
pub(super) fn option(args: Nodes, i: usize) -> Option<NodeId> {
    args.get(i).copied().flatten()
}

/// The size of a vector.
pub(super) fn vector(t: &Ty, name: &str) -> Result<Size, String> {
    match t.shape.as_slice() {
        [n] => Ok(n.clone()),
        _ => Err(format!("`{name}` must be a vector such as real[N], not {}", show(&t.shape))),
    }
}

/// The sizes of a matrix.
pub(super) fn matrix(t: &Ty, name: &str) -> Result<(Size, Size), String> {
    match t.shape.as_slice() {
        [n, m] => Ok((n.clone(), m.clone())),
        _ => Err(format!("`{name}` must be a matrix such as real[N, M], not {}", show(&t.shape))),
    }
}

/// The size of a square matrix.
pub(super) fn square(t: &Ty, name: &str) -> Result<Size, String> {
    let (n, m) = matrix(t, name)?;
    same(&n, &m).ok_or_else(|| format!("`{name}` must be a square matrix, not {}", show(&t.shape)))
}

/// Refuses all but a single number.
pub(super) fn scalar(t: &Ty, name: &str) -> Result<(), String> {
    if t.shape.is_empty() {
        return Ok(());
    }
    Err(format!("`{name}` must be a single number, not {}", show(&t.shape)))
}

/// The value of a whole number that sizes an axis.
pub(super) fn extent(t: &Ty, name: &str) -> Result<Size, String> {
    scalar(t, name)?;
    if !t.integer {
        return Err(format!("`{name}` must be a whole number such as 3 or a size N, not a real number"));
    }
    match t.value.as_ref().and_then(Size::as_integer) {
        Some(n) if n < 0 => Err(format!("`{name}` must not be negative, but it is {n}")),
        _ => Ok(t.value.clone().unwrap_or(Size::Any)),
    }
}

/// The size that both are, if they may be the same.
pub(super) fn same(a: &Size, b: &Size) -> Option<Size> {
    a.may_equal(b).then(|| if *a == Size::Any { b.clone() } else { a.clone() })
}

/// The size that both are, or a message that shows the two shapes.
pub(super) fn agree(a: &Size, b: &Size, left: (&str, &Ty), right: (&str, &Ty)) -> Result<Size, String> {
    same(a, b).ok_or_else(|| {
        format!(
            "`{}` is {} but `{}` is {}: {a} and {b} must be equal",
            left.0,
            show(&left.1.shape),
            right.0,
            show(&right.1.shape)
        )
    })
}

/// The number of elements of a shape.
pub(super) fn count(shape: &Shape) -> Size {
    shape.iter().fold(Size::known(1), |n, axis| n.times(axis))
}

/// The whole number that a constant is.
pub(super) fn whole(b: &Builder, id: NodeId, name: &str) -> Result<usize, BuildError> {
    match b.scalar_of(id) {
        Some(x) if x >= 0.0 && x.fract() == 0.0 && x <= MOST_ELEMENTS as f64 => Ok(x as usize),
        Some(x) => Err(BuildError(format!("`{name}` must be a whole number from 0 up, but it is {x}"))),
        None => Err(BuildError(format!("`{name}` must be known before the fit: a number, a size or data"))),
    }
}

/// Refuses shapes that no memory could hold.
pub(super) fn affordable(dims: Vec<usize>) -> Result<Vec<usize>, BuildError> {
    let total = dims.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).unwrap_or(usize::MAX);
    if total > MOST_ELEMENTS {
        return Err(BuildError(format!("an array of shape {dims:?} would be too large")));
    }
    Ok(dims)
}

/// The size of a node that is a vector.
pub(super) fn vector_dim(b: &Builder, id: NodeId) -> Result<usize, BuildError> {
    match b.dims(id) {
        [n] => Ok(*n),
        other => Err(BuildError(format!("a vector is needed, not an array of shape {other:?}"))),
    }
}

/// The sizes of a node that is a matrix.
pub(super) fn matrix_dims(b: &Builder, id: NodeId) -> Result<(usize, usize), BuildError> {
    match b.dims(id) {
        [n, m] => Ok((*n, *m)),
        other => Err(BuildError(format!("a matrix is needed, not an array of shape {other:?}"))),
    }
}

/// The size of a node that is a square matrix.
pub(super) fn square_dim(b: &Builder, id: NodeId) -> Result<usize, BuildError> {
    match matrix_dims(b, id)? {
        (n, m) if n == m => Ok(n),
        (n, m) => Err(BuildError(format!("a square matrix is needed, not one of shape [{n}, {m}]"))),
    }
}

/// The array with an axis of size 1 put back where it was reduced.
pub(super) fn keep_axis(b: &mut Builder, reduced: NodeId, axis: usize) -> NodeId {
    let mut dims = b.dims(reduced).to_vec();
    dims.insert(axis.min(dims.len()), 1);
    b.reshape(reduced, dims)
}
