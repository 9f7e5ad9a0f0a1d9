//! Expressions: precedence over the flat lists that the grammar yields, operands, calls, indices, literals.

use super::{Builder, Rule};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Arg, BinaryOp, Expr, ExprKind, Index, UnaryOp};
use crate::syntax::names::{PREFIX, tightness};
use pest::iterators::{Pair, Pairs};
use std::iter::Peekable;

impl Builder<'_> {
    /// An `expression` or an `additive`.
    pub fn expression(&mut self, pair: Pair<'_, Rule>) -> Expr {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        if parts.len() == 1
            && let Some(operand) = parts.next()
        {
            return self.operand(operand);
        }
        let operators = parts.clone().filter(|part| part.as_rule() != Rule::operand).count();
        let expr =
            if self.descend(operators, span) { self.climb(&mut parts.peekable(), 0) } else { nothing(span) };
        self.ascend(operators);
        expr
    }

    /// The expression that the parts begin with, as far as its operators bind at least as tightly as `least`.
    fn climb(&mut self, parts: &mut Peekable<Pairs<'_, Rule>>, least: u8) -> Expr {
        let mut left = self.prefixed(parts);
        while let Some(sign) = parts.next_if(|part| tightness(binary_op(part.as_str())) >= least) {
            let op = binary_op(sign.as_str());
            let right_least = if op == BinaryOp::Pow { PREFIX } else { tightness(op) + 1 };
            let right = self.climb(parts, right_least);
            left = self.binary(left, op, sign.as_str(), right);
        }
        left
    }

    /// An operand with the signs before it. They bind tighter than `*`, but `^` binds tighter than they do.
    fn prefixed(&mut self, parts: &mut Peekable<Pairs<'_, Rule>>) -> Expr {
        let Some(part) = parts.next() else { return nothing(Span::default()) };
        if part.as_rule() != Rule::prefix {
            return self.operand(part);
        }
        let operand = self.climb(parts, PREFIX);
        let span = self.span(&part).to(operand.span);
        let op = if part.as_str() == "!" { UnaryOp::Not } else { UnaryOp::Neg };
        Expr { kind: ExprKind::Unary(op, Box::new(operand)), span }
    }

    fn binary(&mut self, left: Expr, op: BinaryOp, sign: &str, right: Expr) -> Expr {
        if op.is_comparison() && is_bare_comparison(&left) {
            self.problems.push(chained(self.text, &left, sign, &right));
        }
        let span = left.span.to(right.span);
        Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span }
    }

    fn operand(&mut self, pair: Pair<'_, Rule>) -> Expr {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        let levels = parts.len();
        let Some(primary) = parts.next() else { return nothing(span) };
        if !self.descend(levels, span) {
            self.ascend(levels);
            return nothing(span);
        }
        let mut expr = self.primary(primary);
        for part in parts {
            let span = expr.span.to(self.span(&part));
            let base = Box::new(expr);
            let kind = match part.as_rule() {
                Rule::transpose => ExprKind::Transpose(base),
                _ => ExprKind::Index { base, indices: part.into_inner().map(|i| self.index(i)).collect() },
            };
            expr = Expr { kind, span };
        }
        self.ascend(levels);
        expr
    }

    fn primary(&mut self, pair: Pair<'_, Rule>) -> Expr {
        let span = self.span(&pair);
        let kind = match pair.as_rule() {
            Rule::integer => self.integer(&pair),
            Rule::real => self.real(&pair),
            Rule::string => ExprKind::Str(self.string(&pair).text),
            Rule::truth => ExprKind::Int(i64::from(pair.as_str() == "true")),
            Rule::array => ExprKind::Array(pair.into_inner().map(|e| self.expression(e)).collect()),
            Rule::parenthesised => {
                let inner = pair.into_inner().next().map(|e| self.expression(e));
                inner.unwrap_or_else(|| nothing(span)).kind
            }
            _ => {
                let mut parts = pair.into_inner();
                match (parts.next(), parts.next()) {
                    (Some(name), Some(args)) => {
                        ExprKind::Call { name: self.ident(&name), args: self.arguments(args) }
                    }
                    (name, _) => ExprKind::Name(name.map_or(String::new(), |name| name.as_str().to_owned())),
                }
            }
        };
        Expr { kind, span }
    }

    fn integer(&mut self, pair: &Pair<'_, Rule>) -> ExprKind {
        match pair.as_str().replace('_', "").parse() {
            Ok(value) => ExprKind::Int(value),
            Err(_) => {
                self.problems.push(
                    Diagnostic::error(
                        "integer-too-big",
                        "this integer is larger than 9223372036854775807 (2^63 - 1)",
                    )
                    .label(self.span(pair), "too large to be exact")
                    .help("write it as a real number, such as `1e20`"),
                );
                ExprKind::Int(0)
            }
        }
    }

    fn real(&mut self, pair: &Pair<'_, Rule>) -> ExprKind {
        let value = pair.as_str().replace('_', "").parse().unwrap_or(f64::INFINITY);
        if f64::is_infinite(value) {
            self.problems.push(
                Diagnostic::error(
                    "number-too-big",
                    "this number is larger than any that can be stored (about 1.8e308)",
                )
                .label(self.span(pair), "becomes infinite")
                .help("write `inf` if infinity is meant"),
            );
        }
        ExprKind::Real(value)
    }

    fn index(&mut self, pair: Pair<'_, Rule>) -> Index {
        let span = self.span(&pair);
        let (mut from, mut to, mut range) = (None, None, false);
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::whole => return Index::All(span),
                Rule::dots => range = true,
                _ if range => to = Some(self.expression(part)),
                _ => from = Some(self.expression(part)),
            }
        }
        match from {
            Some(at) if !range => Index::At(at),
            from => Index::Range { from, to, span },
        }
    }

    /// The arguments of a call: those by position, then those by name.
    pub fn arguments(&mut self, pair: Pair<'_, Rule>) -> Vec<Arg> {
        let args: Vec<Arg> = pair.into_inner().map(|a| self.argument(a)).collect();
        let named = args.iter().position(|a| a.name.is_some()).unwrap_or(args.len());
        if let Some(late) = args[named..].iter().find(|a| a.name.is_none()) {
            let first = args[named].name.as_ref().map_or(late.value.span, |n| n.span);
            self.problems.push(
                Diagnostic::error(
                    "positional-after-named",
                    "an argument without a name follows one with a name",
                )
                .label(late.value.span, "which argument is this?")
                .label(first, "named from here on")
                .help("put arguments without names first, or name this one too"),
            );
        }
        for (i, arg) in args.iter().enumerate() {
            let same =
                |other: &&Arg| other.name.as_ref().map(|n| &n.name) == arg.name.as_ref().map(|n| &n.name);
            if let (Some(name), Some(earlier)) = (&arg.name, args[..i].iter().find(same)) {
                self.problems.push(
                    Diagnostic::error(
                        "argument-twice",
                        format!("the argument `{}` is given twice", name.name),
                    )
                    .label(name.span, "given again here")
                    .label(earlier.value.span, "given here"),
                );
            }
        }
        args
    }

    /// `value` or `name = value`.
    pub fn argument(&mut self, pair: Pair<'_, Rule>) -> Arg {
        let span = self.span(&pair);
        let mut arg = Arg { name: None, value: nothing(span) };
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::name => arg.name = Some(self.ident(&part)),
                _ => arg.value = self.expression(part),
            }
        }
        arg
    }
}

/// What stands for an expression that could not be built; a problem has been noted, so that it never leaves
/// the parser.
pub(super) fn nothing(span: Span) -> Expr {
    Expr { kind: ExprKind::Int(0), span }
}

/// Whether it is a comparison without parentheses around it: they would be part of its span.
fn is_bare_comparison(expr: &Expr) -> bool {
    let ExprKind::Binary(op, left, _) = &expr.kind else { return false };
    op.is_comparison() && left.span.start == expr.span.start
}

fn chained(text: &str, left: &Expr, sign: &str, right: &Expr) -> Diagnostic {
    let middle = match &left.kind {
        ExprKind::Binary(_, _, middle) => middle.span.text(text),
        _ => "b",
    };
    let (first, last) = (left.span.text(text), right.span.text(text));
    Diagnostic::error("chained-comparison", "comparisons cannot be chained")
        .label(left.span.to(right.span), "two comparisons in a row")
        .help(format!("write `{first} && {middle} {sign} {last}`"))
}

fn binary_op(sign: &str) -> BinaryOp {
    match sign {
        "||" => BinaryOp::Or,
        "&&" => BinaryOp::And,
        "==" => BinaryOp::Eq,
        "!=" => BinaryOp::Ne,
        "<" => BinaryOp::Lt,
        "<=" => BinaryOp::Le,
        ">" => BinaryOp::Gt,
        ">=" => BinaryOp::Ge,
        "-" => BinaryOp::Sub,
        "*" => BinaryOp::Mul,
        "/" => BinaryOp::Div,
        ".*" => BinaryOp::ElemMul,
        "./" => BinaryOp::ElemDiv,
        "^" | ".^" => BinaryOp::Pow,
        _ => BinaryOp::Add,
    }
}
