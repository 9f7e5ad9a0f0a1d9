//! The weights of a mixture: between 0 and 1, and 1 together, as far as that can be seen.

use super::dist::Dist;
use super::{Lowerer, Result};
use crate::facts::Structure;
use crate::graph::NodeId;
use crate::source::Diagnostic;
use crate::syntax::ast::{DistExpr, DistKind, Expr};

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

    /// The error of a simplex before one part that is meant for all.
    fn simplex_of_weights(&self, built: &Dist, weights: &Expr, part: &DistExpr) -> Diagnostic {
        let w = weights.span.text(self.source);
        let message = format!("each part of a mixture has its own weight, and `{w}` is an array of them");
        let error = Diagnostic::error("mixture-weights", message).label(weights.span, "");
        let each = format!("`mixture({w}[1]: ..., {w}[2]: ...)`");
        match (built, &part.kind) {
            (Dist::Row { row, .. }, DistKind::Call { args, .. }) => {
                let ending = if row.discrete { "lpmf" } else { "lpdf" };
                let args: Vec<&str> = args.iter().map(|arg| arg.value.span.text(self.source)).collect();
                error.help(format!(
                    "write {each}; or, with a column for each part, `target += log_mix({w}, {}_{ending}(as_column(y) | {}))`",
                    row.name,
                    args.join(", ")
                ))
            }
            _ => error.help(format!("write {each}")),
        }
    }

    /// Refuses weights that parameters give and that cannot sum to 1: outside (0, 1), one twice, or some of a
    /// simplex.
    pub(super) fn check_unknown_weights(
        &mut self,
        built: &[(NodeId, Dist)],
        parts: &[(Expr, DistExpr)],
    ) -> Result<()> {
        for ((weight, _), (e, _)) in built.iter().zip(parts) {
            self.check_probability(*weight, e, ["mixture-weights", "a weight of a mixture"])?;
        }
        if let ([(weight, _)], [(e, part)]) = (built, parts)
            && self.b.constant_of(*weight).is_none()
        {
            if self.b.has_structure(*weight, Structure::Simplex) {
                return Err(self.simplex_of_weights(&built[0].1, e, part));
            }
            let (weight, part) = (e.span.text(self.source), part.span.text(self.source));
            return Err(Diagnostic::error(
                "mixture-weights",
                "the weights of a mixture sum to 1, and this is the only one",
            )
            .label(e.span, "")
            .help(format!("say what the rest is: `mixture({weight}: {part}, 1 - {weight}: ...)`")));
        }
        self.check_joint_weights(built, parts)?;
        let [(first, _), .., (last, _)] = built else { return Ok(()) };
        let base = self.b.base_of(*first);
        let same = built.iter().all(|(w, _)| self.b.base_of(*w) == base && self.b.dims(*w).is_empty());
        let simplex = self.b.has_structure(base, Structure::Simplex) && self.b.dims(base).len() == 1;
        let size = self.b.dims(base).first().copied().unwrap_or(1);
        let wrong = match simplex && same {
            true => size != built.len(),
            false => built.len() == 2 && first == last && self.b.constant_of(*first).is_none(),
        };
        let (Some((one, _)), Some((other, _))) = (parts.first(), parts.last()) else { return Ok(()) };
        if !wrong {
            return Ok(());
        }
        let message = match simplex && same {
            true => format!(
                "the weights of a mixture sum to 1, and these are {} of {size} elements of a simplex",
                built.len()
            ),
            false => "the weights of a mixture sum to 1, and these are the same number twice".to_string(),
        };
        Err(Diagnostic::error("mixture-weights", message)
            .label(one.span, "")
            .label(other.span, "")
            .help("write the last one as what is left (`mixture(w: ..., 1 - w: ...)`), or use every element of a simplex"))
    }

    /// Refuses a probability that parameters give and that can leave (0, 1), or a known one that does.
    pub(super) fn check_probability(
        &mut self,
        node: NodeId,
        e: &Expr,
        [code, what]: [&'static str; 2],
    ) -> Result<()> {
        let text = e.span.text(self.source);
        let error = |rest: &str| {
            Diagnostic::error(code, format!("{what} lies between 0 and 1, and this {rest}")).label(e.span, "")
        };
        if let Some(known) = self.b.constant_of(node) {
            let outside = known.iter().any(|p| !(0.0..=1.0).contains(p));
            return if outside { Err(error("does not")) } else { Ok(()) };
        }
        let known = self.b.known(node);
        let outside = known.range.low.at < 0.0 || known.range.high.at > 1.0;
        let unbounded = known.range.low.at.is_infinite() || known.range.high.at.is_infinite();
        if !(known.reached && outside && unbounded) {
            return Ok(());
        }
        Err(error("need not").help(format!(
            "give the parameter its bounds, `param {text} : real in (0, 1) ~ ...` or a `beta` prior; or write `inv_logit({text})`"
        )))
    }

    /// Refuses a weight that moves by itself: then the sum does too.
    fn check_joint_weights(&mut self, built: &[(NodeId, Dist)], parts: &[(Expr, DistExpr)]) -> Result<()> {
        let weights: Vec<NodeId> = built.iter().map(|(weight, _)| *weight).collect();
        for (k, (e, _)) in parts.iter().enumerate() {
            let others = [&weights[..k], &weights[k + 1..]].concat();
            if self.b.varies_alone(weights[k], &others) {
                let text = e.span.text(self.source);
                let message =
                    format!("the weights of a mixture sum to 1, and `{text}` moves while the others stay");
                return Err(Diagnostic::error("mixture-weights", message).label(e.span, "").help(match parts.len() {
                    2 => format!("write the other one as what is left: `mixture({text}: ..., 1 - {text}: ...)`"),
                    n => format!("take them from a simplex: `param w : simplex[{n}]`, then `mixture(w[1]: ..., w[2]: ..., ...)`"),
                }));
            }
        }
        Ok(())
    }
}
