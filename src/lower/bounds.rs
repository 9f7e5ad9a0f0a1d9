//! Bounds of parameters as written: what lies between them, and what cannot be.

use super::param::{Region, row};
use super::{Lowerer, Result};
use crate::graph::NodeId;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Expr, TypeExpr};

impl Lowerer<'_> {
    /// The region that the bounds of a type leave; nothing if it has none.
    pub(super) fn written_bounds(&mut self, ty: &TypeExpr, span: Span) -> Result<Option<Region>> {
        let lower = ty.lower.as_ref().map(|b| self.bound(&b.value)).transpose()?;
        let upper = ty.upper.as_ref().map(|b| self.bound(&b.value)).transpose()?;
        if let (Some(a), Some(b)) = (&ty.lower, &ty.upper) {
            self.check_bounds(&a.value, &b.value, ty.span)?;
        }
        if ty.offset.is_some() || ty.multiplier.is_some() {
            let offset =
                ty.offset.as_ref().map_or(Ok(self.b.number(0.0)), |e| self.expr(e).map(|v| v.node))?;
            let multiplier = match &ty.multiplier {
                Some(e) => self.multiplier(e)?,
                None => self.b.number(1.0),
            };
            return Ok(Some(Region {
                transform: row("affine", span)?,
                bounds: vec![offset, multiplier],
                text: "real".into(),
            }));
        }
        if lower.is_none() && upper.is_none() {
            return Ok(None);
        }
        self.interval(lower, upper, span).map(Some)
    }

    /// Refuses bounds that leave nothing between them.
    pub(super) fn check_bounds(&mut self, lower: &Expr, upper: &Expr, span: Span) -> Result<()> {
        let (a, b) = (self.expr(lower)?, self.expr(upper)?);
        let (Some(low), Some(high)) = (self.b.scalar_of(a.node), self.b.scalar_of(b.node)) else {
            return Ok(());
        };
        if low < high {
            return Ok(());
        }
        let error = Diagnostic::error("empty-interval", format!("the interval ({low}, {high}) is empty"))
            .label(span, "");
        Err(if low > high { error.help("the lower end comes first") } else { error })
    }

    /// A bound and its text; an infinite one is none.
    fn bound(&mut self, e: &Expr) -> Result<(NodeId, String)> {
        let value = self.expr(e)?;
        let text = match self.b.scalar_of(value.node) {
            Some(x) => x.to_string(),
            None => e.span.text(self.source).to_string(),
        };
        Ok((value.node, text))
    }

    /// A multiplier, which must be positive.
    fn multiplier(&mut self, e: &Expr) -> Result<NodeId> {
        let value = self.expr(e)?;
        let numbers = self.b.constant_of(value.node).cloned();
        let wrong = numbers.and_then(|all| all.iter().copied().find(|x| !(*x > 0.0)));
        let unbounded = self.parameters.iter().any(|p| p.named.node == value.node)
            && self.b.range(value.node).low.at < 0.0;
        let message = match wrong {
            Some(x) => format!("a multiplier must be positive, and this is {x}"),
            None if unbounded => {
                format!("a multiplier must be positive, and `{}` need not be", e.span.text(self.source))
            }
            None => return Ok(value.node),
        };
        let code = if wrong.is_some() && value.from_data { "data-outside-domain" } else { "argument-domain" };
        Err(Diagnostic::error(code, message)
            .label(e.span, "")
            .help("it is the scale of the coordinates: a standard deviation, for example"))
    }

    /// The region between two ends.
    pub(super) fn interval(
        &mut self,
        lower: Option<(NodeId, String)>,
        upper: Option<(NodeId, String)>,
        span: Span,
    ) -> Result<Region> {
        let finite = |l: &Self, end: Option<(NodeId, String)>| {
            end.filter(|(n, _)| l.b.scalar_of(*n).is_none_or(f64::is_finite))
        };
        let (lower, upper) = (finite(self, lower), finite(self, upper));
        if let (Some((a, _)), Some((b, _))) = (&lower, &upper)
            && let (Some(a), Some(b)) = (self.b.scalar_of(*a), self.b.scalar_of(*b))
            && a >= b
        {
            return Err(Diagnostic::error("empty-interval", format!("the interval ({a}, {b}) is empty"))
                .label(span, ""));
        }
        let text = |end: &Option<(NodeId, String)>, none: &str| {
            end.as_ref().map_or(none.to_string(), |(_, t)| t.clone())
        };
        let shown = format!("({}, {})", text(&lower, "-inf"), text(&upper, "inf"));
        let (name, bounds, text) = match (lower, upper) {
            (None, None) => ("real", vec![], "real".to_string()),
            (Some((a, _)), None) => ("lower", vec![a], shown),
            (None, Some((b, _))) => ("upper", vec![b], shown),
            (Some((a, _)), Some((b, _))) => ("interval", vec![a, b], shown),
        };
        Ok(Region { transform: row(name, span)?, bounds, text })
    }
}
