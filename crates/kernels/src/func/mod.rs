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
