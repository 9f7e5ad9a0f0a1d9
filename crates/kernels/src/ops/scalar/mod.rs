//! Elementwise functions of a few numbers: value and slopes written once, run over tiles of elements and
//! draws.

mod arithmetic;
mod compare;
mod elementary;
mod fused;
mod kernel;
mod log_sum;
mod row;
mod special;
mod sweep;

pub use arithmetic::*;
pub use compare::*;
pub use elementary::*;
pub use kernel::{Elementwise, Kernel, MOST_ARGS, Sink, TILE};
pub use log_sum::LOG_SUM_EXPS;
pub(crate) use row::scalar_row;
pub use row::{Facts, JetOf, OddsOf, OpaqueFn, ScalarFn, ScalarRow};
pub use special::*;
pub use sweep::{Predictor, map, pull, room, sum, sum_predicted, sum_predicted_value, sum_value};

/// Every function with a name of its own in the language, in the order of the manual. Densities are rows too;
/// they are listed with their distributions; [`LOG_SUM_EXPS`] are what rewrites make of others.
pub static TABLE: &[&[&ScalarRow]] = &[arithmetic::ROWS, elementary::ROWS, special::ROWS, compare::ROWS];

/// The elementwise function called `name`.
pub fn find(name: &str) -> Option<&'static ScalarRow> {
    TABLE.iter().copied().flatten().copied().find(|row| row.name == name)
}

/// Functions whose values are integers where their arguments are.
const KEEPING_INTEGERS: [&ScalarRow; 5] = [&ABS, &FMAX, &FMIN, &IDIV, &MOD];

/// Functions whose values are integers.
const MAKING_INTEGERS: [&ScalarRow; 3] = [&FLOOR, &CEIL, &ROUND];

/// Whether the values of a function are integers, from which of its arguments are.
pub fn gives_integers(row: &ScalarRow, of: &[bool]) -> bool {
    match row {
        _ if MAKING_INTEGERS.contains(&row) => true,
        _ if *row == WHERE => of[1..].iter().all(|integer| *integer),
        _ => KEEPING_INTEGERS.contains(&row) && of.iter().all(|integer| *integer),
    }
}
