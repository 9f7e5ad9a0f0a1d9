//! Statements: declarations, definitions, loops, choices, functions.

use super::dist::no_dist;
use super::expression::nothing;
use super::{Builder, Rule};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{
    Centering, DataDecl, DataSource, DeriveDecl, Expr, FnDecl, ForLoop, Ident, IfStmt, LetDecl, ParamDecl,
    PredictDecl, Program, Sample, Stmt, StmtKind, TypeExpr,
};
use pest::iterators::Pair;

/// A statement, or the `return` that only a function may end with.
enum Built {
    Stmt(Box<Stmt>),
    Return(Expr, Span),
}

/// Parts of a statement, collected by what they are.
#[derive(Default)]
struct Parts {
    names: Vec<Ident>,
    sizes: Vec<Expr>,
    expressions: Vec<Expr>,
    ty: Option<TypeExpr>,
    dist: Option<crate::syntax::ast::DistExpr>,
    centering: Option<(Centering, Span)>,
    blocks: Vec<Vec<Built>>,
}

impl Parts {
    fn name(&mut self, span: Span) -> Ident {
        self.names.pop().unwrap_or(Ident { name: String::new(), span })
    }

    /// The next expression in order.
    fn expression(&mut self, span: Span) -> Expr {
        if self.expressions.is_empty() { nothing(span) } else { self.expressions.remove(0) }
    }

    fn dist(&mut self, span: Span) -> crate::syntax::ast::DistExpr {
        self.dist.take().unwrap_or_else(|| no_dist(span))
    }
}

impl Builder<'_> {
    /// The whole model.
    pub fn program(&mut self, pair: Pair<'_, Rule>) -> Program {
        let built = pair.into_inner().filter(|p| p.as_rule() != Rule::EOI).map(|p| self.built(p)).collect();
        Program { statements: self.without_return(built) }
    }

    fn built(&mut self, pair: Pair<'_, Rule>) -> Built {
        let span = self.span(&pair);
        let rule = pair.as_rule();
        if matches!(rule, Rule::data_block | Rule::data_line) {
            let data =
                pair.into_inner().filter(|p| p.as_rule() == Rule::datum).map(|p| self.datum(p)).collect();
            return Built::Stmt(Box::new(Stmt { kind: StmtKind::Data(data), span }));
        }
        let mut parts = self.parts(pair);
        let kind = match rule {
            Rule::returned => return Built::Return(parts.expression(span), span),
            Rule::parameter => StmtKind::Param(ParamDecl {
                name: parts.name(span),
                dims: parts.sizes,
                ty: parts.ty,
                prior: parts.dist,
                centering: parts.centering,
            }),
            Rule::definition => StmtKind::Let(LetDecl {
                name: parts.name(span),
                value: parts.expression(span),
                indices: parts.sizes,
            }),
            Rule::for_loop => StmtKind::For(ForLoop {
                var: parts.name(span),
                from: parts.expression(span),
                to: parts.expression(span),
                body: self.body(&mut parts),
            }),
            Rule::if_choice => self.choice(parts, span),
            Rule::function_line | Rule::function_block => self.function(parts, span),
            Rule::increment => StmtKind::Target(parts.expression(span)),
            Rule::derived => StmtKind::Derive(DeriveDecl {
                name: parts.name(span),
                value: parts.expression(span),
                indices: parts.sizes,
            }),
            Rule::predicted => StmtKind::Predict(PredictDecl {
                name: parts.name(span),
                dist: parts.dist(span),
                dims: parts.sizes,
            }),
            _ => StmtKind::Sample(Sample {
                value: parts.expression(span),
                dist: parts.dist(span),
                weight: parts.expressions.pop(),
            }),
        };
        Built::Stmt(Box::new(Stmt { kind, span }))
    }

    fn parts(&mut self, pair: Pair<'_, Rule>) -> Parts {
        let mut parts = Parts::default();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::name => parts.names.push(self.ident(&part)),
                Rule::arguments_named => parts.names.extend(part.into_inner().map(|name| self.ident(&name))),
                Rule::sizes => parts.sizes = self.sizes(part),
                Rule::expression => parts.expressions.push(self.expression(part)),
                Rule::type_written => parts.ty = Some(self.type_expr(part)),
                Rule::distribution => parts.dist = Some(self.distribution(part)),
                Rule::centering => {
                    let noncentered = part.as_str() == "noncentered";
                    let centering = if noncentered { Centering::Noncentered } else { Centering::Centered };
                    parts.centering = Some((centering, self.span(&part)));
                }
                Rule::block => parts.blocks.push(part.into_inner().map(|p| self.built(p)).collect()),
                _ => {}
            }
        }
        parts
    }

    fn body(&mut self, parts: &mut Parts) -> Vec<Stmt> {
        let block = parts.blocks.pop().unwrap_or_default();
        self.without_return(block)
    }

    /// Conditions and blocks in order; one block more than conditions if there is a last `else`.
    fn choice(&mut self, mut parts: Parts, span: Span) -> StmtKind {
        if parts.expressions.len() > super::MAX_HEIGHT / 4 {
            self.problems.push(super::too_deep(span));
            parts.expressions.truncate(1);
            parts.blocks.truncate(1);
        }
        let mut otherwise = match parts.blocks.len() > parts.expressions.len() {
            true => self.body(&mut parts),
            false => Vec::new(),
        };
        loop {
            let condition = parts.expressions.pop().unwrap_or_else(|| nothing(span));
            let choice = StmtKind::If(IfStmt { then: self.body(&mut parts), otherwise, condition });
            if parts.expressions.is_empty() {
                return choice;
            }
            let StmtKind::If(inner) = &choice else { return choice };
            let span = Span::new(inner.condition.span.start, span.end);
            otherwise = vec![Stmt { kind: choice, span }];
        }
    }

    fn function(&mut self, mut parts: Parts, span: Span) -> StmtKind {
        let name = if parts.names.is_empty() { parts.name(span) } else { parts.names.remove(0) };
        let params = std::mem::take(&mut parts.names);
        if !parts.expressions.is_empty() {
            return StmtKind::Fn(FnDecl { name, params, body: Vec::new(), result: parts.expression(span) });
        }
        let mut block = parts.blocks.pop().unwrap_or_default();
        let result = match block.pop() {
            Some(Built::Return(result, _)) => result,
            last => {
                self.problems.push(
                    Diagnostic::error(
                        "no-return",
                        format!("the function `{}` does not end with `return`", name.name),
                    )
                    .label(name.span, "what does it give back?")
                    .help("end its block with `return` and an expression"),
                );
                block.extend(last);
                nothing(span)
            }
        };
        StmtKind::Fn(FnDecl { name, params, body: self.without_return(block), result })
    }

    /// The statements, when none of them may be a `return`.
    fn without_return(&mut self, built: Vec<Built>) -> Vec<Stmt> {
        let mut statements = Vec::with_capacity(built.len());
        for one in built {
            match one {
                Built::Stmt(stmt) => statements.push(*stmt),
                Built::Return(_, span) => self.problems.push(
                    Diagnostic::error(
                        "misplaced-return",
                        "`return` may only be the last statement of a function",
                    )
                    .label(span, "not the end of a function")
                    .help("use `where(condition, a, b)` to choose between values"),
                ),
            }
        }
        statements
    }

    /// A `datum`.
    pub fn datum(&mut self, pair: Pair<'_, Rule>) -> DataDecl {
        let span = self.span(&pair);
        let mut missing = false;
        let mut source = None;
        let mut name = Ident { name: String::new(), span };
        let mut ty = None;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::name => name = self.ident(&part),
                Rule::type_written => ty = Some(self.type_expr(part)),
                Rule::k_missing => missing = true,
                Rule::columns => source = Some(self.columns(part)),
                Rule::default => source = Some(DataSource::Default(self.last_expression(part))),
                _ => {}
            }
        }
        DataDecl { name, ty: ty.unwrap_or_else(|| super::types::empty(span)), missing, source, span }
    }

    fn columns(&mut self, pair: Pair<'_, Rule>) -> DataSource {
        let mut parts = pair.into_inner();
        let word = parts.next();
        let single = word.as_ref().is_some_and(|word| word.as_str() == "column");
        let patterns: Vec<_> = parts.map(|s| self.string(&s)).collect();
        if single && let [_, second, ..] = patterns.as_slice() {
            self.problems.push(
                Diagnostic::error(
                    "several-columns",
                    "`column(...)` names one column, but several are listed",
                )
                .label(second.span, "a second column")
                .help("write `columns(...)` for a matrix of several columns"),
            );
        }
        DataSource::Columns { patterns, single }
    }
}
