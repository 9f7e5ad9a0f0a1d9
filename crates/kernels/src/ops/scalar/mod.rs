//! Elementwise functions of a few numbers: value and slopes written once, run over tiles of elements and
//! draws.

mod arithmetic;
mod compare;
mod elementary;
mod log_sum;
mod row;
mod special;
mod sweep;
mod tile;

pub use arithmetic::*;
pub use compare::*;
pub use elementary::*;
pub use log_sum::LOG_SUM_EXPS;
pub(crate) use row::scalar_row;
pub use row::{Facts, JetOf, OddsOf, ScalarFn, ScalarRow};
pub use special::*;
pub use sweep::{Predictor, ROOM, map, pull, sum, sum_predicted, sum_predicted_value, sum_value};
pub use tile::{Elementwise, MOST_ARGS, ScalarKernel, Sink, TILE, Tile};

/// Every function with a name of its own in the language, in the order of the manual. Densities are rows too;
/// they are listed with their distributions; [`LOG_SUM_EXPS`] are what rewrites make of others.
pub static TABLE: &[&[&ScalarRow]] = &[arithmetic::ROWS, elementary::ROWS, special::ROWS, compare::ROWS];

/// The elementwise function called `name`.
pub fn find(name: &str) -> Option<&'static ScalarRow> {
    TABLE.iter().copied().flatten().copied().find(|row| row.name == name)
}
