//! Distributions: plain ones and those made of others.

use super::expression::nothing;
use super::{Builder, Rule};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Arg, DistExpr, DistKind, Expr, Ident};
use pest::iterators::Pair;

impl Builder<'_> {
    /// A `distribution`.
    pub fn distribution(&mut self, pair: Pair<'_, Rule>) -> DistExpr {
        let span = self.span(&pair);
        let kind = match pair.into_inner().next() {
            Some(form) => match form.as_rule() {
                Rule::mixture => DistKind::Mixture(form.into_inner().map(|c| self.component(c)).collect()),
                Rule::truncated => self.truncated(form),
                Rule::censored => self.censored(form),
                Rule::zero_inflated => self.zero_inflated(form),
                _ => self.plain(form),
            },
            None => no_dist(span).kind,
        };
        DistExpr { kind, span }
    }

    fn plain(&mut self, pair: Pair<'_, Rule>) -> DistKind {
        let mut kind = no_dist(self.span(&pair)).kind;
        if let DistKind::Call { name, args } = &mut kind {
            for part in pair.into_inner() {
                match part.as_rule() {
                    Rule::name => *name = self.ident(&part),
                    _ => *args = self.arguments(part),
                }
            }
        }
        kind
    }

    /// `weight: distribution` in a mixture.
    fn component(&mut self, pair: Pair<'_, Rule>) -> (Expr, DistExpr) {
        let span = self.span(&pair);
        let (mut weight, mut dist) = (nothing(span), no_dist(span));
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::distribution => dist = self.distribution(part),
                _ => weight = self.expression(part),
            }
        }
        (weight, dist)
    }

    fn zero_inflated(&mut self, pair: Pair<'_, Rule>) -> DistKind {
        let (probability, inner) = self.component(pair);
        DistKind::ZeroInflated { probability, inner: Box::new(inner) }
    }

    fn truncated(&mut self, pair: Pair<'_, Rule>) -> DistKind {
        let (inner, [lower, upper]) = self.wrapped("truncated", pair, ["lower", "upper"]);
        DistKind::Truncated { inner, lower, upper }
    }

    fn censored(&mut self, pair: Pair<'_, Rule>) -> DistKind {
        let (inner, [left, right, lower, upper]) =
            self.wrapped("censored", pair, ["left", "right", "lower", "upper"]);
        DistKind::Censored { inner, left, right, lower, upper }
    }

    /// A distribution and arguments by name, each at most once.
    fn wrapped<const K: usize>(
        &mut self,
        form: &str,
        pair: Pair<'_, Rule>,
        names: [&str; K],
    ) -> (Box<DistExpr>, [Option<Expr>; K]) {
        let span = self.span(&pair);
        let problems = self.problems.len();
        let mut inner = no_dist(span);
        let mut values = [const { None }; K];
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::distribution => inner = self.distribution(part),
                _ => {
                    let arg = self.argument(part);
                    let place = arg.name.as_ref().and_then(|n| names.iter().position(|name| *name == n.name));
                    match place.and_then(|k| values.get_mut(k)) {
                        Some(value) if value.is_none() => *value = Some(arg.value),
                        known => {
                            let again = known.is_some();
                            self.problems.push(not_a_limit(form, &arg, &names, again));
                        }
                    }
                }
            }
        }
        if values.iter().all(Option::is_none) && self.problems.len() == problems {
            self.problems.push(no_limit(form, &names, span));
        }
        (Box::new(inner), values)
    }
}

fn not_a_limit(form: &str, arg: &Arg, names: &[&str], again: bool) -> Diagnostic {
    let listed = names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    match &arg.name {
        Some(name) if again => {
            Diagnostic::error("argument-twice", format!("`{}` is given twice to `{form}`", name.name))
                .label(name.span, "given again here")
        }
        Some(name) => {
            Diagnostic::error("unknown-argument", format!("`{form}` has no argument called `{}`", name.name))
                .label(name.span, "unknown name")
                .help(format!("its arguments after the distribution are {listed}"))
        }
        None => Diagnostic::error(
            "unnamed-limit",
            format!("which limit of `{form}` this is must be said by name"),
        )
        .label(arg.value.span, if names.len() > 2 { "which one?" } else { "lower or upper?" })
        .help(match names.len() {
            0..=2 => format!("name it, as in `{form}(..., {} = ...)`; the names are {listed}", names[0]),
            _ => format!("`{form}(..., right = ...)` takes marks, 1 for values known only to be larger (`left` for smaller); `upper` and `lower` take the limit itself"),
        }),
    }
}

fn no_limit(form: &str, names: &[&str], span: Span) -> Diagnostic {
    let listed = names.iter().map(|n| format!("`{n} = ...`")).collect::<Vec<_>>().join(", ");
    Diagnostic::error("no-limit", format!("`{form}` is given no limit"))
        .label(span, "nothing is cut here")
        .help(format!("add one of {listed} after the distribution"))
}

/// What stands for a distribution until it is built.
pub(super) fn no_dist(span: Span) -> DistExpr {
    DistExpr { kind: DistKind::Call { name: Ident { name: String::new(), span }, args: Vec::new() }, span }
}
