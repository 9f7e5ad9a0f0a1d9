//! The weights of a mixture: between 0 and 1, and 1 together, as far as that can be seen.

use super::distribution::Dist;
use super::types::Type;
use super::{Elaborator, Result};
use crate::facts::Structure;
use crate::source::Diagnostic;
use crate::syntax::ast::{DistExpr, DistKind, Expr};

impl Elaborator<'_> {
    /// Refuses weights of a mixture that are known and do not sum to 1.
    pub(super) fn check_weights(&self, built: &[(Type, Dist)], parts: &[(Expr, DistExpr)]) -> Result<()> {
        let weights: Option<Vec<f64>> = built.iter().map(|(w, _)| self.number_of(w)).collect();
        weights.map_or(Ok(()), |weights| sums_to_one(&weights, parts))
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
        built: &[(Type, Dist)],
        parts: &[(Expr, DistExpr)],
    ) -> Result<()> {
        for ((weight, _), (e, _)) in built.iter().zip(parts) {
            self.check_probability(weight, e, ["mixture-weights", "a weight of a mixture"])?;
        }
        if let ([(weight, _)], [(e, part)]) = (built, parts)
            && !weight.fixed
        {
            if weight.structure == Some(Structure::Simplex) {
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
        let same = built.iter().all(|(w, _)| w.base == first.base && w.is_scalar());
        let simplex = self.parameter_of(first).filter(|p| p.ty.structure == Some(Structure::Simplex));
        let simplex = simplex.and_then(|p| p.ty.shape.as_ref()).filter(|shape| same && shape.len() == 1);
        let of_simplex = simplex.and_then(|shape| self.certain(&shape[0]));
        let size = of_simplex.and_then(|n| usize::try_from(n).ok());
        let wrong = match (simplex, size) {
            (Some(_), Some(size)) => size != built.len(),
            (Some(_), None) => false,
            (None, _) => built.len() == 2 && first.identity == last.identity && !first.fixed,
        };
        let (Some((one, _)), Some((other, _))) = (parts.first(), parts.last()) else { return Ok(()) };
        if !wrong {
            return Ok(());
        }
        let message = match size {
            Some(size) => format!(
                "the weights of a mixture sum to 1, and these are {} of {size} elements of a simplex",
                built.len()
            ),
            None => "the weights of a mixture sum to 1, and these are the same number twice".to_string(),
        };
        Err(Diagnostic::error("mixture-weights", message)
            .label(one.span, "")
            .label(other.span, "")
            .help("write the last one as what is left (`mixture(w: ..., 1 - w: ...)`), or use every element of a simplex"))
    }

    /// Refuses a probability that parameters give and that can leave (0, 1), or a known one that does.
    pub(super) fn check_probability(
        &mut self,
        ty: &Type,
        e: &Expr,
        [code, what]: [&'static str; 2],
    ) -> Result<()> {
        let text = e.span.text(self.source);
        let error = |rest: &str| {
            Diagnostic::error(code, format!("{what} lies between 0 and 1, and this {rest}")).label(e.span, "")
        };
        if ty.fixed {
            let known = self.numbers_of(ty).unwrap_or_default();
            let outside = known.iter().any(|p| !(0.0..=1.0).contains(p));
            return if outside { Err(error("does not")) } else { Ok(()) };
        }
        let outside = ty.range.low.at < 0.0 || ty.range.high.at > 1.0;
        let unbounded = ty.range.low.at.is_infinite() || ty.range.high.at.is_infinite();
        if !(ty.reached && outside && unbounded) {
            return Ok(());
        }
        Err(error("need not").help(format!(
            "give the parameter its bounds, `param {text} : real in (0, 1) ~ ...` or a `beta` prior; or write `inv_logit({text})`"
        )))
    }

    /// Refuses a weight that moves by itself: then the sum does too.
    fn check_joint_weights(&mut self, built: &[(Type, Dist)], parts: &[(Expr, DistExpr)]) -> Result<()> {
        for (k, (e, _)) in parts.iter().enumerate() {
            let weight = &built[k].0;
            let mut others = built.iter().enumerate().filter(|(other, _)| *other != k);
            let alone = others.all(|(_, (other, _))| !weight.meets(other));
            if weight.reached && !weight.coordinates.is_empty() && alone {
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

/// Refuses weights of the parts of a mixture that do not sum to 1.
pub fn sums_to_one(weights: &[f64], parts: &[(Expr, DistExpr)]) -> Result<()> {
    let (Some((first, _)), Some((last, _))) = (parts.first(), parts.last()) else { return Ok(()) };
    let sum: f64 = weights.iter().sum();
    if (sum - 1.0).abs() <= 1e-8 && weights.iter().all(|&w| w >= 0.0) {
        return Ok(());
    }
    let message = format!("the weights of a mixture must be positive and sum to 1, and their sum is {sum}");
    Err(Diagnostic::error("mixture-weights", message)
        .label(first.span, "")
        .label(last.span, "")
        .help("write the last one as what is left: `mixture(w: ..., 1 - w: ...)`"))
}
