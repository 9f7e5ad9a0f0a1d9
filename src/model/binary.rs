//! Operators between two values: elementwise ones and the matrix product.

use super::sizes::{Settled, show};
use super::types::{Labels, Type};
use super::{Elaborator, Result};
use crate::facts::{Range, Shape, Size};
use crate::ops::scalar::{self, ScalarRow};
use crate::source::Diagnostic;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, Index};

impl Elaborator<'_> {
    pub(super) fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Result<Type> {
        if let Some(ty) = self.level_comparison(op, left, right)? {
            return Ok(ty);
        }
        let (a, b) = (self.expr(left)?, self.expr(right)?);
        if let Some(ty) = self.numbered_level(op, (&a, left), (&b, right))? {
            return Ok(ty);
        }
        // Levels may be compared with each other, and with the variable of a loop, which counts them; nothing
        // else can be computed with them.
        let levels = |v: &Type, e: &Expr| v.levels.is_some() || self.is_counter(e);
        let comparable = levels(&a, left) && levels(&b, right);
        if !(comparable && matches!(op, BinaryOp::Eq | BinaryOp::Ne)) {
            self.refuse_category(&a, left.span)?;
            self.refuse_category(&b, right.span)?;
        }
        if op == BinaryOp::Mul && is_matrix_product(&a, &b) {
            return self.product((&a, left), (&b, right));
        }
        let shape = self.meet(&[&a, &b], |l| l.misfit(op, left, &a, right, &b))?;
        let row = row_of(op);
        let found = self.elementwise(row, &[&a, &b], shape);
        let integer = self.gives_integers(op, &a, &b);
        let value = in_sizes(op, &a, &b).filter(|_| integer && found.is_scalar());
        Ok(Type { integer, value: value.or(found.value.clone().filter(|_| integer)), ..found })
    }

    /// Whether the result consists of integers.
    fn gives_integers(&self, op: BinaryOp, a: &Type, b: &Type) -> bool {
        match op {
            BinaryOp::Or
            | BinaryOp::And
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => true,
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::ElemMul => a.integer && b.integer,
            BinaryOp::Pow => a.integer && b.integer && b.fixed && !(b.range.high.at < 0.0),
            BinaryOp::Div | BinaryOp::ElemDiv => false,
        }
    }

    /// The matrix product of two matrices, or of a matrix and a vector.
    fn product(&mut self, (a, left): (&Type, &Expr), (b, right): (&Type, &Expr)) -> Result<Type> {
        let (Some(m), Some(n)) = (&a.shape, &b.shape) else {
            return Ok(self.computed("product", &[a, b], None));
        };
        let sizes = self.sizes.clone();
        let settled = sizes.settle(&[m, n], self.context.open > 0, |reading| {
            let (m, n): (Shape, Shape) = (m.iter().map(reading).collect(), n.iter().map(reading).collect());
            let (inner, first) = (m.last().unwrap_or(&Size::Any), n.first().unwrap_or(&Size::Any));
            inner.may_equal(first).then_some(()).ok_or(())
        });
        let wrong = |l: &Self| l.misfit(BinaryOp::Mul, left, a, right, b);
        match settled {
            Settled::Holds(()) => {}
            Settled::ByChance((), (), chance) => {
                let problem = wrong(self);
                self.by_chance(problem, &chance);
            }
            Settled::Fails(()) => return Err(wrong(self)),
        }
        self.warn_column(left, right);
        let shape: Shape = m[..m.len() - 1].iter().chain(&n[1..]).cloned().collect();
        if let (Some(x), Some(y)) = (a.constant, b.constant)
            && let Ok(node) = self.constants.matmul(x, y)
        {
            return Ok(self.constant(node, a.integer && b.integer));
        }
        let found = self.computed("product", &[a, b], Some(shape));
        let range = a.range.times(b.range);
        let sign = [Range::NON_NEGATIVE, Range::REAL].into_iter().find(|wide| range.within(*wide));
        // The elements of a parameter move one by one; what is made of them may not.
        let free = |x: &Type, y: &Type| y.fixed && self.parameter_of(x).is_some() && x.reached;
        let reached = (free(a, b) || free(b, a)) && range == Range::REAL;
        let labels = product_labels(a, b);
        let integer = a.integer && b.integer;
        Ok(Type { integer, range: sign.unwrap_or(Range::REAL), reached, labels, ..found })
    }

    fn misfit(&self, op: BinaryOp, left: &Expr, a: &Type, right: &Expr, b: &Type) -> Diagnostic {
        let (shown_a, shown_b) = (self.shown(a), self.shown(b));
        let error = Diagnostic::error(
            "shape-mismatch",
            format!("the shapes {shown_a} and {shown_b} do not fit together"),
        )
        .label(left.span, format!("this has shape {shown_a}"))
        .label(right.span, format!("this has shape {shown_b}"));
        if let Some(help) = self.by_group_help([a, b]) {
            return error.help(help);
        }
        if op != BinaryOp::Mul {
            return error.note("shapes align at the last axis; an axis of size 1 is repeated");
        }
        let (l, r) = (self.text(left.span), self.text(right.span));
        let (da, db) = (a.shape.as_deref().unwrap_or(&[]), b.shape.as_deref().unwrap_or(&[]));
        error.help(match (da, db) {
            ([_], [one, _]) if r.ends_with('\'') && one.is_one() => {
                let vector = r.trim_end_matches('\'');
                format!("the matrix of all products of two vectors is `outer({l}, {vector})`; their sum of products is `dot({l}, {vector})`")
            }
            ([n], [_, m]) if n == m => {
                format!(
                    "the matrix and the vector meet the other way round: write `{r} * {l}`; for products element by element, row by row, \
                     write `{l} .* {r}`"
                )
            }
            ([_, m], [_]) => {
                let wanted = show(std::slice::from_ref(m));
                format!("the vector needs an element for each column of the matrix: its shape is {wanted}")
            }
            ([_], [_]) if let Some(told) = [left, right].into_iter().find_map(|e| self.of_rows(e)) => told,
            ([_], [_]) => format!(
                "vectors multiply element by element, so their sizes must agree: pick one element (`{l}[1] * {r}`), or let a \
                 matrix of predictors meet a vector of coefficients (`X * b`)"
            ),
            _ => "`*` of a matrix with a matrix or vector is the matrix product, whose inner sizes must agree; `.*` \
                  multiplies element by element"
                .to_string(),
        })
    }

    /// What is said of `b[g][2]`, which is the second of the rows that `b[g]` lists, where the second column
    /// was meant.
    fn of_rows(&self, e: &Expr) -> Option<String> {
        let ExprKind::Index { base, indices: last } = &e.kind else { return None };
        let ExprKind::Index { base: whole, indices: first } = &base.kind else { return None };
        let ([Index::At(group)], [Index::At(column)]) = (&first[..], &last[..]) else { return None };
        let [e, base, whole, group, column] =
            [e.span, base.span, whole.span, group.span, column.span].map(|span| self.text(span));
        Some(format!(
            "`{e}` is number {column} of the rows that `{base}` lists; for column {column} of each row write `{whole}[{group}, {column}]`"
        ))
    }
}

fn is_matrix_product(a: &Type, b: &Type) -> bool {
    matches!((a.rank(), b.rank()), (Some(2), Some(2)) | (Some(2), Some(1)) | (Some(1), Some(2)))
}

/// The axes of a matrix product: those that it does not sum over.
fn product_labels(a: &Type, b: &Type) -> Labels {
    let (mut left, right) = (a.axes(), b.axes());
    left.pop();
    left.into_iter().chain(right.into_iter().skip(1)).collect()
}

/// The result as an expression in sizes, where both sides are such.
fn in_sizes(op: BinaryOp, a: &Type, b: &Type) -> Option<Size> {
    let (x, y) = (a.value.as_ref()?, b.value.as_ref()?);
    match op {
        BinaryOp::Add => Some(x.plus(1, y)),
        BinaryOp::Sub => Some(x.plus(-1, y)),
        BinaryOp::Mul | BinaryOp::ElemMul => Some(x.times(y)),
        BinaryOp::Pow => {
            let power = usize::try_from(y.as_integer()?).ok().filter(|&n| n <= 4)?;
            Some((0..power).fold(Size::known(1), |product, _| product.times(x)))
        }
        _ => None,
    }
}

/// The elementwise operation that an operator is.
pub fn row_of(op: BinaryOp) -> &'static ScalarRow {
    match op {
        BinaryOp::Or => &scalar::OR,
        BinaryOp::And => &scalar::AND,
        BinaryOp::Eq => &scalar::EQ,
        BinaryOp::Ne => &scalar::NE,
        BinaryOp::Lt => &scalar::LT,
        BinaryOp::Le => &scalar::LE,
        BinaryOp::Gt => &scalar::GT,
        BinaryOp::Ge => &scalar::GE,
        BinaryOp::Add => &scalar::ADD,
        BinaryOp::Sub => &scalar::SUB,
        BinaryOp::Mul | BinaryOp::ElemMul => &scalar::MUL,
        BinaryOp::Div | BinaryOp::ElemDiv => &scalar::DIV,
        BinaryOp::Pow => &scalar::POW,
    }
}
