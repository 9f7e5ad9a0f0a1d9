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
        let (Some(weights), Some((first, _)), Some((last, _))) = (weights, parts.first(), parts.last())
        else {
            return Ok(());
        };
        let sum: f64 = weights.iter().sum();
        if (sum - 1.0).abs() <= 1e-8 && weights.iter().all(|&w| w >= 0.0) {
            return Ok(());
        }
        let message =
            format!("the weights of a mixture must be positive and sum to 1, and their sum is {sum}");
        Err(Diagnostic::error("mixture-weights", message)
            .label(first.span, "")
            .label(last.span, "")
            .help("write the last one as what is left: `mixture(w: ..., 1 - w: ...)`"))
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
