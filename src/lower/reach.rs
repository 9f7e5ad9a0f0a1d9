//! Refuses arguments that, with the data inside, can leave their domain.

use super::env::Value;
use super::{Lowerer, Result};
use crate::dist::{ArgSpec, Distribution};
use crate::facts::Range;
use crate::model;
use crate::source::Span;

impl Lowerer<'_> {
    /// Refuses what has no bound on the wrong side. What is merely not known to stay inside passes: its
    /// density is zero where it does not.
    pub(super) fn check_reach(
        &mut self,
        row: &Distribution,
        spec: &ArgSpec,
        value: &Value,
        span: Span,
    ) -> Result<()> {
        let Some(allowed) = spec.domain.range() else { return Ok(()) };
        let known = self.b.known(value.node);
        let (low, high) = (known.range.low.at, known.range.high.at);
        let below = low < allowed.low.at && low.is_infinite();
        let above = high > allowed.high.at && high.is_infinite();
        if !known.reached || !(below || above) {
            return Ok(());
        }
        let reach = match (below, allowed) {
            (true, _) => "can be negative",
            (false, Range::UNIT) => "can be above 1",
            (false, _) => "can be too large",
        };
        Err(model::unbounded(row, spec, reach, span))
    }
}
