//! Expressions.

use super::env::Value;
use super::{Lowerer, Result, at};
use crate::data::{Levels, listed};
use crate::graph::NodeId;
use crate::model;
use crate::ops::scalar::{self, ScalarRow};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, UnaryOp};

impl Lowerer<'_> {
    pub(super) fn expr(&mut self, e: &Expr) -> Result<Value> {
        if self.inside.is_some()
            && let Some(value) = self.inside_value(e)?
        {
            return Ok(value);
        }
        self.value(e)
    }

    fn value(&mut self, e: &Expr) -> Result<Value> {
        match &e.kind {
            ExprKind::Real(x) => Ok(Value::real(self.b.number(*x), false)),
            ExprKind::Int(n) => Ok(Value::integer(self.b.number(*n as f64), false)),
            ExprKind::Str(s) => {
                Err(Diagnostic::error("text-as-value", format!("the text \"{s}\" is not a number"))
                    .label(e.span, "")
                    .help("text is compared with the levels of a category: `group == \"treated\"`"))
            }
            ExprKind::Name(name) => self.named(name, e.span),
            ExprKind::Unary(UnaryOp::Neg, operand) => {
                let x = self.expr(operand)?;
                self.refuse_category(&x, operand.span)?;
                Ok(Value { node: self.b.unary(&scalar::NEG, x.node), levels: None, ..x })
            }
            ExprKind::Unary(UnaryOp::Not, x) => {
                let x = self.expr(x)?;
                Ok(Value::integer(self.b.unary(&scalar::NOT, x.node), x.from_data))
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b),
            ExprKind::Transpose(x) => {
                let x = self.expr(x)?;
                let mut axes = self.axes_of(&x);
                axes.reverse();
                Ok(Value { node: self.b.transpose(x.node), ..x }.along(axes))
            }
            ExprKind::Call { name, args } => self.call(name, args, e.span),
            ExprKind::Index { base, indices } => self.index(base, indices, e.span),
            ExprKind::Array(items) => self.array(items, e),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Result<Value> {
        if let Some(value) = self.level_comparison(op, left, right)? {
            return Ok(value);
        }
        let (mut a, mut b) = (self.expr(left)?, self.expr(right)?);
        if let Some(value) = self.numbered_level(op, (&a, left), (&b, right))? {
            return Ok(value);
        }
        // Levels may be compared with each other, and with the variable of a loop, which counts them; nothing
        // else can be computed with them.
        let levels = |v: &Value, e: &Expr| v.levels.is_some() || self.is_counter(e);
        let comparable = levels(&a, left) && levels(&b, right);
        if !(comparable && matches!(op, BinaryOp::Eq | BinaryOp::Ne)) {
            self.refuse_category(&a, left.span)?;
            self.refuse_category(&b, right.span)?;
        } else if let (Some(of_a), Some(of_b)) = (&a.levels, &b.levels) {
            b.node = self.in_terms_of(of_a, of_b, b.node);
        } else {
            a.node = self.counter(&b, right, &a, left)?;
            b.node = self.counter(&a, left, &b, right)?;
        }
        let from_data = a.from_data || b.from_data;
        if op == BinaryOp::Mul && self.is_matrix_product(&a, &b) {
            let node = self.b.matmul(a.node, b.node).map_err(|_| self.misfit(left, &a, right, &b))?;
            let axes = self.product_axes(&a, &b);
            return Ok(Value::plain(node, a.integer && b.integer, from_data).along(axes));
        }
        let row = crate::model::row_of(op);
        let node = self.b.map(row, &[a.node, b.node]).map_err(|_| self.misfit(left, &a, right, &b))?;
        let integer = match op {
            BinaryOp::Or
            | BinaryOp::And
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => true,
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::ElemMul => a.integer && b.integer,
            BinaryOp::Pow => {
                a.integer
                    && b.integer
                    && self.b.constant_of(b.node).is_some_and(|p| p.iter().all(|&p| p >= 0.0))
            }
            BinaryOp::Div | BinaryOp::ElemDiv => false,
        };
        let axes = self.met_axes(&[&a, &b], node);
        Ok(Value::plain(node, integer, from_data).along(axes))
    }

    /// `category == 2`: the level that is called so.
    fn numbered_level(
        &mut self,
        op: BinaryOp,
        (a, left): (&Value, &Expr),
        (b, right): (&Value, &Expr),
    ) -> Result<Option<Value>> {
        let (category, e, number) = match (&left.kind, &right.kind) {
            (_, ExprKind::Int(number)) if a.levels.is_some() => (a, right, number),
            (ExprKind::Int(number), _) if b.levels.is_some() => (b, left, number),
            _ => return Ok(None),
        };
        let compares = matches!(op, BinaryOp::Eq | BinaryOp::Ne);
        match category.levels.as_ref().filter(|levels| compares && !levels.are_indices()) {
            Some(levels) if levels.labels().iter().all(|label| label.parse::<f64>().is_ok()) => {
                self.is_level(op, category, levels, &number.to_string(), e.span).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The places of levels of one category among those of another, by their labels; 0 where it has none of
    /// that label.
    fn in_terms_of(&mut self, wanted: &Levels, own: &Levels, places: NodeId) -> NodeId {
        let Some(known) = self.b.constant_of(places).filter(|_| wanted.labels() != own.labels()) else {
            return places;
        };
        let label = |place: f64| own.labels().get((place as usize).wrapping_sub(1));
        let place = |p: &f64| label(*p).and_then(|label| wanted.code(label)).map_or(0.0, |code| code as f64);
        let values: Vec<f64> = known.iter().map(place).collect();
        let dims = self.b.dims(places).to_vec();
        self.b.constant(values, dims)
    }

    /// The variable of a loop in terms of the levels of a category that it is compared with. Where the loop
    /// counts levels of
    /// its own, these are found by their labels; of two categories that share none the comparison means
    /// nothing.
    fn counter(&mut self, category: &Value, e: &Expr, counter: &Value, other: &Expr) -> Result<NodeId> {
        let Some(levels) = &category.levels else { return Ok(counter.node) };
        let (name, variable) = (e.span.text(self.source), other.span.text(self.source));
        let around = self.loops.iter().rev().find(|l| l.variable == variable);
        let own = around.and_then(|l| l.levels.clone());
        match own {
            Some(own) if own.labels() != levels.labels() => {
                if own.labels().iter().any(|label| levels.code(label).is_some()) {
                    return Ok(self.in_terms_of(levels, &own, counter.node));
                }
                let message = format!("`{variable}` counts levels of which `{name}` has none");
                return Err(Diagnostic::error("other-labels", message)
                    .label(other.span, format!("it counts {}", listed(own.labels())))
                    .label(e.span, format!("its levels are {}", listed(levels.labels())))
                    .help(format!(
                        "let the loop count the levels of `{name}`: `{name} : category[N] of K`, \
                         `for {variable} in 1..K`"
                    )));
            }
            _ => {}
        }
        self.refuse_other_counters(category, e, counter, other)?;
        Ok(counter.node)
    }

    /// Refuses to compare a category with the variable of a loop that does not count its levels.
    fn refuse_other_counters(&self, category: &Value, e: &Expr, counter: &Value, other: &Expr) -> Result<()> {
        let (Some(levels), Some(places)) = (&category.levels, self.b.constant_of(counter.node)) else {
            return Ok(());
        };
        let count = levels.labels().len();
        let Some(outside) = places.iter().find(|place| !(1.0..=count as f64).contains(*place)) else {
            return Ok(());
        };
        let (name, variable) = (e.span.text(self.source), other.span.text(self.source));
        let size = self.env.level_count(name).map_or_else(|| count.to_string(), str::to_string);
        let message = format!(
            "`{variable}` is {outside}, and stands here for a level of `{name}`, which are counted from 1 to {count}"
        );
        Err(Diagnostic::error("not-a-level", message).label(other.span, "").help(format!(
            "count the levels, `for {variable} in 1..{size} {{ ... }}`; or declare `{name}` as `int` if its labels are meant as numbers"
        )))
    }

    /// Whether an expression is the variable of a loop.
    fn is_counter(&self, e: &Expr) -> bool {
        matches!(&e.kind, ExprKind::Name(name) if self.loops.iter().any(|l| l.variable == *name))
    }

    /// Refuses a category where numbers are needed: the places of its levels in their order mean nothing.
    pub(super) fn refuse_category(&self, value: &Value, span: Span) -> Result<()> {
        let Some(levels) = value.levels.as_ref().filter(|levels| !levels.are_indices()) else {
            return Ok(());
        };
        let label = levels.labels().last().map_or("", String::as_str);
        Err(model::category_as_number(span.text(self.source), label, span))
    }

    fn misfit(&self, left: &Expr, a: &Value, right: &Expr, b: &Value) -> Diagnostic {
        let (a, b) = (self.shape(self.b.dims(a.node)), self.shape(self.b.dims(b.node)));
        Diagnostic::error("shape-mismatch", format!("the shapes {a} and {b} do not fit together"))
            .label(left.span, format!("this has shape {a}"))
            .label(right.span, format!("this has shape {b}"))
    }

    fn is_matrix_product(&self, a: &Value, b: &Value) -> bool {
        let (a, b) = (self.b.dims(a.node).len(), self.b.dims(b.node).len());
        matches!((a, b), (2, 2) | (2, 1) | (1, 2))
    }

    /// `category == "label"`
    fn level_comparison(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Result<Option<Value>> {
        let (category, text) = match (&left.kind, &right.kind) {
            (ExprKind::Str(s), _) => (right, (s, left.span)),
            (_, ExprKind::Str(s)) => (left, (s, right.span)),
            _ => return Ok(None),
        };
        equality(op, text.1)?;
        let value = self.expr(category)?;
        let Some(levels) = value.levels.clone() else {
            return Err(Diagnostic::error("text-compare", "only a category can be compared with a text")
                .label(category.span, "this is not a category"));
        };
        self.is_level(op, &value, &levels, text.0, text.1).map(Some)
    }

    /// Where a category has, or has not, the level of this label.
    fn is_level(
        &mut self,
        op: BinaryOp,
        category: &Value,
        levels: &Levels,
        label: &str,
        span: Span,
    ) -> Result<Value> {
        let row = equality(op, span)?;
        let Some(code) = levels.code(label) else {
            return Err(model::unknown_level(label, levels.labels(), span));
        };
        let code = self.b.number(code as f64);
        let node = at(self.b.map(row, &[category.node, code]), span)?;
        Ok(Value::integer(node, true))
    }

    fn array(&mut self, items: &[Expr], e: &Expr) -> Result<Value> {
        let values = items.iter().map(|i| self.expr(i)).collect::<Result<Vec<Value>>>()?;
        let Some(first) = values.first() else {
            return Err(
                Diagnostic::error("empty-array", "an array needs at least one element").label(e.span, "")
            );
        };
        let dims = self.b.dims(first.node).to_vec();
        for (value, item) in values.iter().zip(items) {
            if self.b.dims(value.node) != dims {
                let found = self.b.dims(value.node).to_vec();
                return Err(Diagnostic::error(
                    "shape-mismatch",
                    "the elements of an array must have one shape",
                )
                .label(items[0].span, format!("this has shape {}", self.shape(&dims)))
                .label(item.span, format!("this has shape {}", self.shape(&found))));
            }
        }
        let nodes: Vec<_> = values.iter().map(|v| v.node).collect();
        let integer = values.iter().all(|v| v.integer);
        let from_data = values.iter().any(|v| v.from_data);
        let node = self.b.stack(&nodes);
        let axes = self.met_axes(&values.iter().collect::<Vec<_>>(), node);
        Ok(Value::plain(node, integer, from_data).along(axes))
    }

    /// The value of an integer that must be known before the fit.
    pub(super) fn integer(&mut self, e: &Expr) -> Result<i64> {
        let value = self.expr(e)?;
        match self.b.scalar_of(value.node) {
            Some(x) if x.fract() == 0.0 && x.abs() < 9e15 => Ok(x as i64),
            Some(x) => Err(not_an_integer(x, &value, e.span)),
            None => Err(Diagnostic::error("not-known", "this must be one integer known before the fit")
                .label(e.span, "it depends on a parameter, or is an array")),
        }
    }

    /// An index from 1.
    pub(super) fn position(&mut self, e: &Expr) -> Result<usize> {
        let i = self.integer(e)?;
        usize::try_from(i).ok().filter(|&i| i >= 1).ok_or_else(|| {
            Diagnostic::error("index-out-of-range", format!("indices start at 1, and this is {i}"))
                .label(e.span, "")
        })
    }

    /// Sizes of axes.
    pub(super) fn sizes(&mut self, dims: &[Expr]) -> Result<Vec<usize>> {
        dims.iter()
            .map(|e| {
                let n = self.integer(e)?;
                usize::try_from(n).map_err(|_| {
                    Diagnostic::error("negative-size", format!("a size cannot be negative, and this is {n}"))
                        .label(e.span, "")
                })
            })
            .collect()
    }
}

/// The function that compares levels.
fn equality(op: BinaryOp, span: Span) -> Result<&'static ScalarRow> {
    match op {
        BinaryOp::Eq => Ok(&scalar::EQ),
        BinaryOp::Ne => Ok(&scalar::NE),
        _ => Err(Diagnostic::error("text-compare", "levels are compared with `==` or `!=`").label(span, "")),
    }
}

/// The error of a number that is no integer where one is needed.
pub(super) fn not_an_integer(x: f64, value: &Value, span: Span) -> Diagnostic {
    let error =
        Diagnostic::error("not-an-integer", format!("an integer is needed here, not {x}")).label(span, "");
    if value.integer { error } else { error.help("`idiv(a, b)` divides integers; `/` gives a real number") }
}
