//! Defaults of data: the values that declarations give where the data have none.

use super::env::Value;
use super::{Lowerer, Result};
use crate::source::Diagnostic;
use crate::syntax::ast::{BaseType, DataDecl, Expr, ExprKind};

impl Lowerer<'_> {
    /// The value that a declaration gives for data that have none.
    pub(super) fn default_value(&mut self, decl: &DataDecl, e: &Expr) -> Result<Value> {
        let value = self.expr(e)?;
        let whole = matches!(decl.ty.base, BaseType::Int | BaseType::Binary | BaseType::Count);
        if whole && !value.integer {
            let message = format!("`{}` is an integer, and its default is not", decl.name.name);
            return Err(Diagnostic::error("not-an-integer", message)
                .label(e.span, "this is real")
                .help(format!("declare `{} : real`, or write an integer", decl.name.name)));
        }
        self.check_default(decl, e, &value)?;
        self.default_shape(decl, e, value)
    }

    /// Refuses a default outside the bounds that its declaration gives.
    fn check_default(&mut self, decl: &DataDecl, e: &Expr, value: &Value) -> Result<()> {
        let Some(numbers) = self.b.constant_of(value.node).cloned() else { return Ok(()) };
        let outside = |wanted: String| {
            let message = format!("the default of `{}` must be {wanted}", decl.name.name);
            Err(Diagnostic::error("default-out-of-bounds", message).label(e.span, ""))
        };
        match decl.ty.base {
            BaseType::Binary if numbers.iter().any(|&x| x != 0.0 && x != 1.0) => {
                return outside("0 or 1".into());
            }
            BaseType::Count if numbers.iter().any(|&x| x < 0.0) => {
                return outside("a count, 0, 1, 2 …".into());
            }
            _ => {}
        }
        for (bound, lower) in [(&decl.ty.lower, true), (&decl.ty.upper, false)] {
            let Some(bound) = bound else { continue };
            let at = self.expr(&bound.value)?;
            let Some(at) = self.b.scalar_of(at.node) else { continue };
            let fits = |x: f64| match (lower, bound.closed) {
                (true, true) => x >= at,
                (true, false) => x > at,
                (false, true) => x <= at,
                (false, false) => x < at,
            };
            if !numbers.iter().all(|&x| fits(x)) {
                let sign = if lower { ">" } else { "<" };
                let equal = if bound.closed { "=" } else { "" };
                return outside(format!("{sign}{equal} {at}, as it is declared"));
            }
        }
        Ok(())
    }

    /// Gives a default the shape that is declared: one number counts for all; a size that nothing else gives
    /// follows from it.
    fn default_shape(&mut self, decl: &DataDecl, e: &Expr, value: Value) -> Result<Value> {
        let found = self.b.dims(value.node).to_vec();
        if found.is_empty() && !decl.ty.dims.is_empty() {
            let dims = self.sizes(&decl.ty.dims)?;
            return Ok(Value { node: self.b.broadcast_to(value.node, &dims), ..value });
        }
        let mut fits = found.len() == decl.ty.dims.len();
        for (size, &n) in decl.ty.dims.iter().zip(&found) {
            match &size.kind {
                ExprKind::Name(name) if self.env.get(name).is_none() => self.bind_size(name, n, size.span)?,
                _ => fits &= self.integer(size)? == n as i64,
            }
        }
        if fits {
            return Ok(value);
        }
        let dims: Vec<&str> = decl.ty.dims.iter().map(|d| d.span.text(self.source)).collect();
        let wanted = if dims.is_empty() { "a scalar".into() } else { format!("[{}]", dims.join(", ")) };
        let message = format!("`{}` is {wanted}, and its default is {}", decl.name.name, self.shape(&found));
        Err(Diagnostic::error("shape-mismatch", message)
            .label(e.span, "")
            .label(decl.ty.span, "")
            .help("give a default of that shape, or one number, which counts for all elements"))
    }
}
