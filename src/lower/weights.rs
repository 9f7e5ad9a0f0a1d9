//! The weights of a mixture that are known with the data: between 0 and 1, and 1 together.

use super::dist::Dist;
use super::{Lowerer, Result};
use crate::graph::NodeId;
use crate::source::Diagnostic;
use crate::syntax::ast::{DistExpr, Expr};

impl Lowerer<'_> {
    /// Refuses weights of a mixture that are known and do not sum to 1.
    pub(super) fn check_weights(&self, built: &[(NodeId, Dist)], parts: &[(Expr, DistExpr)]) -> Result<()> {
        let weights: Option<Vec<f64>> = built.iter().map(|(w, _)| self.b.scalar_of(*w)).collect();
        weights.map_or(Ok(()), |weights| crate::model::sums_to_one(&weights, parts))
    }

    /// Refuses a known probability outside (0, 1), and one that parameters without bounds can bring there.
    pub(super) fn check_probability(
        &mut self,
        node: NodeId,
        e: &Expr,
        [code, what]: [&'static str; 2],
    ) -> Result<()> {
        let error = |rest: &str| {
            let message = format!("{what} lies between 0 and 1, and this {rest}");
            Err(Diagnostic::error(code, message).label(e.span, ""))
        };
        if let Some(known) = self.b.constant_of(node) {
            let inside = known.iter().all(|p| (0.0..=1.0).contains(p));
            return if inside { Ok(()) } else { error("does not") };
        }
        let known = self.b.known(node);
        let (low, high) = (known.range.low.at, known.range.high.at);
        let leaves = (low < 0.0 || high > 1.0) && (low.is_infinite() || high.is_infinite());
        if known.reached && leaves { error("need not") } else { Ok(()) }
    }
}
