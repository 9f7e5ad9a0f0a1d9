//! A row of the table of functions.

use crate::facts::{Shape, Size};
use crate::graph::{BuildError, Builder, NodeId};

/// What is known of a value before it is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Ty {
    /// Its shape.
    pub shape: Shape,
    /// Whether its numbers are integers.
    pub integer: bool,
    /// The value itself, for an integer scalar known as a number or as an expression in sizes.
    pub value: Option<Size>,
}

impl Ty {
    /// A real array of this shape.
    pub fn real(shape: Shape) -> Ty {
        Ty { shape, integer: false, value: None }
    }

    /// An integer array of this shape.
    pub fn integer(shape: Shape) -> Ty {
        Ty { shape, integer: true, value: None }
    }

    /// A whole number that is known as an expression in sizes.
    pub fn size(value: Size) -> Ty {
        Ty { shape: Shape::new(), integer: true, value: Some(value) }
    }
}

/// A function of arrays.
pub struct Function {
    /// Its name in the language.
    pub name: &'static str,
    /// Its arguments, in order.
    pub args: &'static [FunctionArg],
    /// Whether the last argument may be given any number of times, at least once.
    pub variadic: bool,
    /// One line for the manual.
    pub doc: &'static str,
    /// A call with the value it has, for the manual and the tests: `("sum([1, 2, 3])", "6")`. Both sides are
    /// expressions.
    pub example: (&'static str, &'static str),
    /// The type of the result. Optional arguments that were left out are None.
    pub check: fn(args: &[Option<Ty>]) -> Result<Ty, String>,
    /// The node of the result. Called only with arguments that `check` accepts, up to sizes; must not panic
    /// on others.
    pub build: fn(b: &mut Builder, args: &[Option<NodeId>]) -> Result<NodeId, BuildError>,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// An argument of a function.
#[derive(Debug)]
pub struct FunctionArg {
    /// Its name.
    pub name: &'static str,
    /// Whether it may be left out.
    pub optional: bool,
}
