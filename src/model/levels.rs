//! Categories: comparisons with their levels, and what is said where levels are taken for numbers.

use super::types::{LevelSet, Type, are_indices};
use super::{Elaborator, Result};
use crate::data::listed;
use crate::ops::scalar::{self, ScalarRow};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{BinaryOp, Expr, ExprKind};

impl Elaborator<'_> {
    /// `category == "label"`
    pub(super) fn level_comparison(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
    ) -> Result<Option<Type>> {
        let (category, text) = match (&left.kind, &right.kind) {
            (ExprKind::Str(s), _) => (right, (s, left.span)),
            (_, ExprKind::Str(s)) => (left, (s, right.span)),
            _ => return Ok(None),
        };
        let row = equality(op, text.1)?;
        let ty = self.expr(category)?;
        let Some(levels) = ty.levels.clone() else {
            return Err(Diagnostic::error("text-compare", "only a category can be compared with a text")
                .label(category.span, "this is not a category"));
        };
        refuse_unknown_level(&levels, text.0, text.1)?;
        Ok(Some(self.compared(row, &ty, text.0)))
    }

    /// `category == 2`: the level that is called so.
    pub(super) fn numbered_level(
        &mut self,
        op: BinaryOp,
        (a, left): (&Type, &Expr),
        (b, right): (&Type, &Expr),
    ) -> Result<Option<Type>> {
        let (category, e, number) = match (&left.kind, &right.kind) {
            (_, ExprKind::Int(number)) if a.levels.is_some() => (a, right, number),
            (ExprKind::Int(number), _) if b.levels.is_some() => (b, left, number),
            _ => return Ok(None),
        };
        let compares = matches!(op, BinaryOp::Eq | BinaryOp::Ne);
        let Some(levels) = category.levels.as_ref().filter(|_| compares) else { return Ok(None) };
        let Some(labels) = &levels.listed else {
            return Ok(Some(self.compared(equality(op, e.span)?, category, &number.to_string())));
        };
        if are_indices(labels) || !labels.iter().all(|label| label.parse::<f64>().is_ok()) {
            return Ok(None);
        }
        refuse_unknown_level(levels, &number.to_string(), e.span)?;
        Ok(Some(self.compared(equality(op, e.span)?, category, &number.to_string())))
    }

    fn compared(&mut self, row: &'static ScalarRow, category: &Type, label: &str) -> Type {
        let found = self.computed(&format!("{} {label}", row.name), &[category], category.shape.clone());
        Type { integer: true, range: crate::facts::Range::UNIT, from_data: true, ..found }
    }

    /// Whether an expression is the variable of a loop.
    pub(super) fn is_counter(&self, e: &Expr) -> bool {
        matches!(&e.kind, ExprKind::Name(name) if self.context.loops.iter().any(|l| l.variable == *name))
    }
}

/// Refuses a label that a category which lists its levels does not have.
fn refuse_unknown_level(levels: &LevelSet, label: &str, span: Span) -> Result<()> {
    let Some(labels) = &levels.listed else { return Ok(()) };
    let number = label.parse::<f64>().ok();
    let is = |known: &String| known == label || number.is_some() && known.parse::<f64>().ok() == number;
    if labels.iter().any(is) {
        return Ok(());
    }
    Err(unknown_level(label, labels, span))
}

/// The error of a label that a category does not have.
pub fn unknown_level(label: &str, labels: &[String], span: Span) -> Diagnostic {
    let error = Diagnostic::error("unknown-level", format!("\"{label}\" is not a level of this category"))
        .label(span, "")
        .note(format!("its levels are {}", listed(labels)));
    match crate::source::nearest(label, labels.iter().map(String::as_str)) {
        Some(near) => error.help(format!("did you mean \"{near}\"?")),
        None => error,
    }
}

/// The error of a label that an axis does not have.
pub fn unknown_label(label: &str, labels: &[String], span: Span) -> Diagnostic {
    let error = Diagnostic::error("unknown-level", format!("\"{label}\" is not a label of this axis"))
        .label(span, "")
        .note(format!("its labels are {}", listed(labels)));
    match crate::source::nearest(label, labels.iter().map(String::as_str)) {
        Some(near) => error.help(format!("did you mean \"{near}\"?")),
        None => error,
    }
}

/// The error of a category where a number is needed.
pub fn category_as_number(name: &str, label: &str, span: Span) -> Diagnostic {
    Diagnostic::error("category-as-number", format!("`{name}` is a category: its levels are not numbers"))
        .label(span, "a number is needed here")
        .help(format!(
            "index by it (`alpha[{name}]`), compare it with a level (`{name} == \"{label}\"`, which is 1 or 0), or declare it \
             `real` or `int` if its labels are meant as numbers"
        ))
}

/// The function that compares levels.
fn equality(op: BinaryOp, span: Span) -> Result<&'static ScalarRow> {
    match op {
        BinaryOp::Eq => Ok(&scalar::EQ),
        BinaryOp::Ne => Ok(&scalar::NE),
        _ => Err(Diagnostic::error("text-compare", "levels are compared with `==` or `!=`").label(span, "")),
    }
}
