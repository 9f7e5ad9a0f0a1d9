//! What an operation on whole arrays must say of itself.

use crate::facts::Shape;
use crate::num::real::{Dual, F16, Packed};
use crate::ops::operand::{Adjoint, Arg};
use std::any::Any;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Why an operation cannot take these shapes; a phrase that follows 'because'.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ShapeError(pub String);

/// What the forward sweep gives an operation.
pub struct Forward<'a, T> {
    /// Its arguments.
    pub args: &'a [Arg<'a, T>],
    /// The concrete sizes of its arguments.
    pub dims: &'a [&'a [usize]],
    /// Where the result goes.
    pub out: &'a mut [T],
    /// Room that is kept for the reverse sweep.
    pub saved: &'a mut [T],
}

/// What the reverse sweep gives an operation.
pub struct Reverse<'a, T> {
    /// Its arguments.
    pub args: &'a [Arg<'a, T>],
    /// The concrete sizes of its arguments.
    pub dims: &'a [&'a [usize]],
    /// Its result.
    pub out: &'a [T],
    /// What the forward sweep kept; free to overwrite.
    pub saved: &'a mut [T],
    /// Derivative of the target in the result.
    pub adjoint: &'a [T],
    /// Where the derivative in each argument is added.
    pub adjoints: &'a [Adjoint<'a, T>],
}

/// The code of an array operation, written once for every scalar.
pub trait Kernel: std::fmt::Debug + Clone + PartialEq + Hash + Send + Sync + 'static {
    /// Its name in dumps of the graph.
    const NAME: &'static str;

    /// The shape of the result, from sizes known or symbolic.
    fn shape(&self, args: &[Shape]) -> Result<Shape, ShapeError>;

    /// How many numbers the forward sweep keeps for the reverse sweep.
    fn saved(&self, _dims: &[&[usize]]) -> usize {
        0
    }

    /// About how many additions and multiplications the forward sweep takes for one draw; the reverse sweep
    /// takes as many for each argument that varies. As many as the arguments have numbers, unless the
    /// operation says otherwise.
    fn operations(&self, dims: &[&[usize]]) -> usize {
        dims.iter().map(|d| d.iter().product::<usize>()).sum()
    }

    /// Computes the result.
    fn forward<T: Packed>(&self, cx: &mut Forward<T>);

    /// Adds to the adjoints of the arguments.
    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>);
}

/// The code of an array operation for one scalar type.
pub trait ArrayKernel<T> {
    /// See [`Kernel::forward`].
    fn forward(&self, cx: &mut Forward<T>);
    /// See [`Kernel::reverse`].
    fn reverse(&self, cx: &mut Reverse<T>);
}

impl<K: Kernel, T: Packed> ArrayKernel<T> for K {
    fn forward(&self, cx: &mut Forward<T>) {
        Kernel::forward(self, cx);
    }
    fn reverse(&self, cx: &mut Reverse<T>) {
        Kernel::reverse(self, cx);
    }
}

/// An array operation with its settings (axis, index table, ...), as the graph holds it.
pub trait ArrayOp:
    ArrayKernel<f64> + ArrayKernel<F16> + ArrayKernel<Dual> + std::fmt::Debug + Send + Sync
{
    /// See [`Kernel::NAME`].
    fn name(&self) -> &'static str;
    /// See [`Kernel::shape`].
    fn shape(&self, args: &[Shape]) -> Result<Shape, ShapeError>;
    /// See [`Kernel::saved`].
    fn saved(&self, dims: &[&[usize]]) -> usize;
    /// See [`Kernel::operations`].
    fn operations(&self, dims: &[&[usize]]) -> usize;
    /// Whether the other is the same operation with the same settings.
    fn same(&self, other: &dyn ArrayOp) -> bool;
    /// Feeds operation and settings to a hasher.
    fn feed(&self, hasher: &mut dyn Hasher);
    /// For asking which operation it is.
    fn as_any(&self) -> &dyn Any;
}

impl<K: Kernel> ArrayOp for K {
    fn name(&self) -> &'static str {
        K::NAME
    }
    fn shape(&self, args: &[Shape]) -> Result<Shape, ShapeError> {
        Kernel::shape(self, args)
    }
    fn saved(&self, dims: &[&[usize]]) -> usize {
        Kernel::saved(self, dims)
    }
    fn operations(&self, dims: &[&[usize]]) -> usize {
        Kernel::operations(self, dims)
    }
    fn same(&self, other: &dyn ArrayOp) -> bool {
        other.as_any().downcast_ref::<K>().is_some_and(|o| o == self)
    }
    fn feed(&self, mut hasher: &mut dyn Hasher) {
        K::NAME.hash(&mut hasher);
        self.hash(&mut hasher);
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A shared array operation, comparable and hashable by what it does.
#[derive(Clone, Debug)]
pub struct OpRef(pub Arc<dyn ArrayOp>);

impl OpRef {
    /// Wraps an operation; whoever is not one of them says `OpRef::from`, which is compiled once.
    pub(super) fn new(op: impl ArrayOp + 'static) -> Self {
        Self(Arc::new(op))
    }

    /// The operation as `K`, if it is one.
    pub fn downcast<K: Kernel>(&self) -> Option<&K> {
        self.0.as_any().downcast_ref()
    }
}

impl PartialEq for OpRef {
    fn eq(&self, other: &Self) -> bool {
        self.0.same(other.0.as_ref())
    }
}

impl Eq for OpRef {}

impl Hash for OpRef {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.feed(state);
    }
}
