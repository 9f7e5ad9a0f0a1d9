//! Functions of the language that are more than elementwise: reductions, shapes, linear algebra, kernels; one
//! family a file.

mod args;
mod gp;
mod hmm;
pub mod kernel;
mod linear;
mod make;
mod product;
mod reduce;
mod row;
mod shape;
mod softmax;
mod sort;
mod spline;
mod stan;

pub use kernel::EXP_QUAD;
pub use row::{Function, FunctionArg, Ty};
pub use stan::{formula_term, stan_name, stan_value};

/// Every function, by family, in the order of the manual.
pub static TABLE: &[&[Function]] = &[
    reduce::ROWS,
    softmax::ROWS,
    sort::ROWS,
    make::ROWS,
    spline::ROWS,
    shape::ROWS,
    product::ROWS,
    linear::ROWS,
    gp::ROWS,
    hmm::ROWS,
];

/// The function called `name`.
pub fn find(name: &str) -> Option<&'static Function> {
    TABLE.iter().copied().flatten().find(|row| row.name == name)
}

/// All names that can be called, for suggestions.
pub fn names() -> impl Iterator<Item = &'static str> {
    let elementwise = crate::ops::scalar::TABLE.iter().copied().flatten().map(|row| row.name);
    TABLE.iter().copied().flatten().map(|row| row.name).chain(elementwise)
}

/// Functions of arrays that move elements about and do nothing else with them.
const ARRANGING: [&str; 6] = ["flatten", "reshape", "concat", "concat_columns", "transpose", "diag"];

/// Functions of one array that give its elements at other places.
const MOVING: [&str; 10] =
    ["flatten", "reshape", "transpose", "diag", "reverse", "head", "tail", "rep", "as_column", "as_row"];

/// Functions of arrays whose numbers are some of theirs.
const SELECTING: [&str; 7] = ["sort", "sort_desc", "max", "min", "concat", "concat_columns", "stack"];

/// Functions that put places in another order, or whose result counts something else.
const REORDERING: [&str; 13] = [
    "sort",
    "sort_desc",
    "order",
    "rank",
    "reverse",
    "rep",
    "concat",
    "reshape",
    "flatten",
    "linspace",
    "seq",
    "eigenvalues_sym",
    "bspline",
];

/// Functions of arrays that add or multiply their elements.
const ADDING: [&str; 8] = ["sum", "mean", "prod", "sd", "variance", "cumsum", "dot", "standardize"];

/// Whether a function moves the elements of its arguments about and does nothing else with them.
pub fn arranges(name: &str) -> bool {
    ARRANGING.contains(&name)
}

/// Whether a function gives the elements of its first argument at other places.
pub fn moves(name: &str) -> bool {
    MOVING.contains(&name)
}

/// Whether the numbers that a function gives are some of those of its arguments.
pub fn selects(name: &str) -> bool {
    SELECTING.contains(&name)
}

/// Whether a function puts places in another order, or counts something else than its arguments.
pub fn reorders(name: &str) -> bool {
    REORDERING.contains(&name)
}

/// Whether a function adds or multiplies the elements of an array.
pub fn adds(name: &str) -> bool {
    ADDING.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_documented() {
        let mut seen = HashSet::new();
        for row in TABLE.iter().copied().flatten() {
            assert!(seen.insert(row.name), "{row:?} is listed twice");
            assert!(!row.doc.is_empty() && row.example.0.contains(row.name), "{row:?}");
            assert!(!row.variadic || !row.args.is_empty(), "{row:?}");
            assert!(stan_name(row.name).is_none(), "{row:?} has the name of another language too");
        }
    }

    #[test]
    fn facts_are_about_functions_that_there_are() {
        for name in ARRANGING.iter().chain(&MOVING).chain(&SELECTING).chain(&REORDERING).chain(&ADDING) {
            assert!(find(name).is_some(), "{name}");
        }
    }

    #[test]
    fn wrong_arguments_are_refused_without_a_panic() {
        use crate::facts::Size;
        use crate::graph::Builder;
        let shapes: [&[usize]; 5] = [&[], &[0], &[3], &[2, 3], &[2, 2, 2]];
        for row in TABLE.iter().copied().flatten() {
            for n in 0..=row.args.len() {
                for first in shapes {
                    for rest in shapes {
                        let shape = |i: usize| if i == 0 { first } else { rest };
                        let types: Vec<Option<Ty>> = (0..n)
                            .map(|i| Some(Ty::real(shape(i).iter().map(|&k| Size::known(k)).collect())))
                            .collect();
                        let checked = (row.check)(&types);
                        let mut b = Builder::new();
                        let nodes: Vec<_> = (0..n)
                            .map(|i| {
                                let dims = shape(i).to_vec();
                                Some(b.constant(vec![1.5; dims.iter().product()], dims))
                            })
                            .collect();
                        if let (Ok(ty), Ok(id)) = (&checked, (row.build)(&mut b, &nodes)) {
                            let dims: Vec<Size> = b.dims(id).iter().map(|&k| Size::known(k)).collect();
                            let fits = ty.shape.len() == dims.len()
                                && ty.shape.iter().zip(&dims).all(|(a, b)| a.may_equal(b));
                            assert!(fits, "{row:?} of {first:?}, {rest:?}: {:?} and {dims:?}", ty.shape);
                        }
                    }
                }
            }
        }
    }
}
