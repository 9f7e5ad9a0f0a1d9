//! Types: head, sizes, levels, bounds, offset and multiplier.

use super::expression::nothing;
use super::{Builder, Rule};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{BaseType, Bound, Expr, StrLit, TypeExpr};
use pest::iterators::Pair;

impl Builder<'_> {
    /// A `type_written`.
    pub fn type_expr(&mut self, pair: Pair<'_, Rule>) -> TypeExpr {
        let mut ty = empty(self.span(&pair));
        for part in pair.into_inner() {
            let span = self.span(&part);
            match part.as_rule() {
                Rule::type_head => (ty.base, ty.base_span) = (base_type(part.as_str()), span),
                Rule::sizes => ty.dims = self.sizes(part),
                Rule::levels_name => {
                    let name = part.into_inner().last().map(|name| self.ident(&name));
                    self.once("of", ty.levels_name.is_some(), span);
                    ty.levels_name = name;
                }
                Rule::levels_list => {
                    self.once("levels(...)", ty.levels.is_some(), span);
                    let level = |p: Pair<'_, Rule>| match p.as_rule() {
                        Rule::string => Some(self.string(&p)),
                        Rule::number_level => Some(StrLit { text: p.as_str().into(), span: self.span(&p) }),
                        _ => None,
                    };
                    ty.levels = Some(part.into_inner().filter_map(level).collect());
                }
                Rule::bound => self.bound(part, &mut ty),
                Rule::interval => self.interval(part, &mut ty),
                Rule::offset => {
                    self.once("offset", ty.offset.is_some(), span);
                    ty.offset = Some(self.last_expression(part));
                }
                _ => {
                    self.once("multiplier", ty.multiplier.is_some(), span);
                    ty.multiplier = Some(self.last_expression(part));
                }
            }
        }
        ty
    }

    /// `[N, K]`
    pub fn sizes(&mut self, pair: Pair<'_, Rule>) -> Vec<Expr> {
        pair.into_inner().map(|e| self.expression(e)).collect()
    }

    /// The expression that a rule ends with.
    pub fn last_expression(&mut self, pair: Pair<'_, Rule>) -> Expr {
        let span = self.span(&pair);
        pair.into_inner().last().map_or(nothing(span), |e| self.expression(e))
    }

    fn bound(&mut self, pair: Pair<'_, Rule>, ty: &mut TypeExpr) {
        let span = self.span(&pair);
        let sign = pair.as_str();
        let closed = sign[1..].starts_with('=');
        let is_lower = sign.starts_with('>');
        let bound = Some(Bound { value: self.last_expression(pair), closed });
        if is_lower {
            self.once("a lower bound", ty.lower.is_some(), span);
            ty.lower = bound;
        } else {
            self.once("an upper bound", ty.upper.is_some(), span);
            ty.upper = bound;
        }
    }

    fn interval(&mut self, pair: Pair<'_, Rule>, ty: &mut TypeExpr) {
        self.once("a bound", ty.lower.is_some() || ty.upper.is_some(), self.span(&pair));
        let mut open_closed = false;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::interval_open => open_closed = part.as_str() == "[",
                Rule::interval_close => {
                    if let Some(upper) = &mut ty.upper {
                        upper.closed = part.as_str() == "]";
                    }
                }
                Rule::expression if ty.lower.is_none() => {
                    ty.lower = Some(Bound { value: self.expression(part), closed: open_closed });
                }
                Rule::expression => ty.upper = Some(Bound { value: self.expression(part), closed: false }),
                _ => {}
            }
        }
    }

    fn once(&mut self, what: &str, again: bool, span: Span) {
        if again {
            self.problems.push(
                Diagnostic::error("type-clause-twice", format!("{what} is written twice in one type"))
                    .label(span, "written again here")
                    .help("keep one of the two"),
            );
        }
    }
}

pub(super) fn empty(span: Span) -> TypeExpr {
    TypeExpr {
        base: BaseType::Real,
        base_span: span,
        dims: Vec::new(),
        levels_name: None,
        levels: None,
        lower: None,
        upper: None,
        offset: None,
        multiplier: None,
        span,
    }
}

fn base_type(word: &str) -> BaseType {
    match word {
        "int" => BaseType::Int,
        "binary" => BaseType::Binary,
        "count" => BaseType::Count,
        "category" => BaseType::Category,
        "simplex" => BaseType::Simplex,
        "ordered" => BaseType::Ordered,
        "positive_ordered" => BaseType::PositiveOrdered,
        "unit_vector" => BaseType::UnitVector,
        "sum_to_zero" => BaseType::SumToZero,
        "corr_matrix" => BaseType::CorrMatrix,
        "cov_matrix" => BaseType::CovMatrix,
        "cholesky_corr" | "cholesky_factor_corr" => BaseType::CholeskyCorr,
        "cholesky_cov" | "cholesky_factor_cov" => BaseType::CholeskyCov,
        _ => BaseType::Real,
    }
}
