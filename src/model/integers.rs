//! Integers that must be known before the fit: sizes, ends of ranges, indices.

use super::{Elaborator, Result};
use crate::facts::{Shape, Size};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Expr, ExprKind};

impl Elaborator<'_> {
    /// An integer known before the fit, as an expression in sizes; `Any` where only the data can tell.
    pub(super) fn integer(&mut self, e: &Expr) -> Result<Size> {
        let ty = self.expr(e)?;
        let known = ty.fixed && ty.rank().is_none_or(|rank| rank == 0);
        if !known {
            return Err(Diagnostic::error("not-known", "this must be one integer known before the fit")
                .label(e.span, "it depends on a parameter, or is an array"));
        }
        if let Some(x) = self.number_of(&ty).filter(|x| x.fract() != 0.0) {
            return Err(not_an_integer(&x.to_string(), ty.integer, e.span));
        }
        if !ty.integer && ty.constant.is_none() && !self.sizes.from_data && self.is_quotient(e) {
            return Err(not_an_integer(self.text(e.span), false, e.span));
        }
        let number = self.number_of(&ty).map_or(Size::Any, |x| Size::integer(x as i64));
        Ok(ty.value.unwrap_or(number))
    }

    /// Whether an expression is `a / b`, which gives a real number even of integers.
    fn is_quotient(&self, e: &Expr) -> bool {
        use crate::syntax::ast::BinaryOp::{Add, Div, Sub};
        match &e.kind {
            ExprKind::Binary(Div, ..) => true,
            ExprKind::Binary(Add | Sub, a, b) => self.is_quotient(a) || self.is_quotient(b),
            _ => false,
        }
    }

    /// Sizes of axes.
    pub(super) fn sizes_of(&mut self, dims: &[Expr]) -> Result<Shape> {
        dims.iter()
            .map(|e| {
                let n = self.integer(e).map_err(|problem| self.unknown_size(problem, e))?;
                match n.as_integer() {
                    Some(n) if n < 0 => {
                        let message = format!("a size cannot be negative, and this is {n}");
                        Err(Diagnostic::error("negative-size", message).label(e.span, ""))
                    }
                    _ => Ok(n),
                }
            })
            .collect()
    }
}

/// The error of a number that is no integer where one is needed.
fn not_an_integer(what: &str, integer: bool, span: Span) -> Diagnostic {
    let error =
        Diagnostic::error("not-an-integer", format!("an integer is needed here, not {what}")).label(span, "");
    if integer { error } else { error.help("`idiv(a, b)` divides integers; `/` gives a real number") }
}
