//! Functions of the language that are more than elementwise: reductions, shapes, linear algebra, kernels; one family a file.

pub(crate) mod kernel;
mod reduce;
mod row;

pub use row::{Function, FunctionArg, Ty};

/// Every function, by family, in the order of the manual.
pub static TABLE: &[&[Function]] = &[reduce::ROWS];

/// The function called `name`.
pub fn find(name: &str) -> Option<&'static Function> {
    TABLE.iter().copied().flatten().find(|row| row.name == name)
}
