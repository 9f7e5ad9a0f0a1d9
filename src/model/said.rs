//! What the text of a model says that may not be as it was meant: twice, in every step of a loop, as a
//! comment.

use super::parameter::is_log_density;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{DistExpr, DistKind, Expr, ExprKind, ForLoop, Program, Sample, Stmt, StmtKind};
use crate::syntax::scan::{Kind, scan};
use std::collections::HashSet;

/// What a program says more than once, as it stands: all of it counts.
pub fn said_again(program: &Program) -> Vec<Diagnostic> {
    let mut found = two_priors(program);
    found.extend(data_twice(program));
    let loops = program.statements.iter().filter_map(|s| match &s.kind {
        StmtKind::For(f) => Some(f),
        _ => None,
    });
    loops.for_each(|f| data_in_loop(program, f, &mut found));
    found
}

fn is_data(program: &Program, name: &str) -> bool {
    let declares =
        |kind: &StmtKind| matches!(kind, StmtKind::Data(all) if all.iter().any(|d| d.name.name == name));
    program.statements.iter().any(|s| declares(&s.kind))
}

/// Data that two statements describe whole; weights may have meant that.
fn data_twice(program: &Program) -> Vec<Diagnostic> {
    let mut first: Vec<(&str, Span)> = Vec::new();
    let mut found = Vec::new();
    for stmt in &program.statements {
        let StmtKind::Sample(Sample { value, weight: None, .. }) = &stmt.kind else { continue };
        let ExprKind::Name(name) = &value.kind else { continue };
        match first.iter().find(|(known, _)| known == name) {
            Some((_, before)) if is_data(program, name) => found.push(
                Diagnostic::warning(
                    "counted-twice",
                    format!("two statements describe `{name}`, and both count"),
                )
                .label(value.span, "the second")
                .label(*before, "the first")
                .help("leave one of them out; a distribution that is one or the other is a `mixture`"),
            ),
            _ => first.push((name, value.span)),
        }
    }
    found
}

/// Data that a statement in a loop describes whole, once for each turn.
fn data_in_loop(program: &Program, f: &ForLoop, found: &mut Vec<Diagnostic>) {
    for stmt in &f.body {
        let value = match &stmt.kind {
            StmtKind::For(inner) => {
                data_in_loop(program, inner, found);
                None
            }
            StmtKind::Sample(Sample { value, .. }) => Some(value),
            StmtKind::Target(e) => density_of_whole(program, e),
            _ => None,
        };
        let (Some(value), var) = (value, &f.var.name) else { continue };
        if let ExprKind::Name(name) = &value.kind
            && is_data(program, name)
        {
            let message = format!("the whole of `{name}` counts once for each `{var}`");
            found.push(Diagnostic::warning("counted-in-loop", message).label(value.span, "").help(format!(
                "one element is `{name}[{var}]`; without the loop `{name} ~ ...` describes all of them"
            )));
        }
    }
}

/// What the first log density in a sum of such is of, if that is data as a whole.
fn density_of_whole<'e>(program: &Program, e: &'e Expr) -> Option<&'e Expr> {
    match &e.kind {
        ExprKind::Binary(_, a, b) => density_of_whole(program, a).or_else(|| density_of_whole(program, b)),
        ExprKind::Unary(_, x) => density_of_whole(program, x),
        ExprKind::Call { name, args } if is_log_density(&name.name) => {
            let of = &args.first()?.value;
            matches!(&of.kind, ExprKind::Name(n) if is_data(program, n)).then_some(of)
        }
        ExprKind::Call { args, .. } => args.iter().find_map(|arg| density_of_whole(program, &arg.value)),
        _ => None,
    }
}

/// Parameters with two priors: both count.
fn two_priors(program: &Program) -> Vec<Diagnostic> {
    let mut first: Vec<(&str, Span)> = Vec::new();
    let mut found = Vec::new();
    for (name, span, _) in priors(program).filter(|(_, _, d)| is_proper(d)) {
        match first.iter().find(|(known, _)| *known == name) {
            None => first.push((name, span)),
            Some((_, before)) if is_parameter(program, name) => found.push(
                Diagnostic::warning("two-priors", format!("`{name}` has two priors, and both count"))
                    .label(span, "the second")
                    .label(*before, "the first")
                    .help("leave one of them out, unless the product of the two densities is meant"),
            ),
            Some(_) => {}
        }
    }
    found
}

/// What is described by a distribution, as a whole and by name: where, and which.
pub fn priors(program: &Program) -> impl Iterator<Item = (&str, Span, &DistExpr)> {
    program.statements.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::Param(p) => Some((p.name.name.as_str(), p.name.span, p.prior.as_ref()?)),
        StmtKind::Sample(s) => match &s.value.kind {
            ExprKind::Name(name) => Some((name.as_str(), s.value.span, &s.dist)),
            _ => None,
        },
        _ => None,
    })
}

/// Whether a distribution as written is one.
pub fn is_proper(d: &DistExpr) -> bool {
    let DistKind::Call { name, .. } = &d.kind else { return true };
    !crate::dist::find(&name.name).is_some_and(super::parameter::is_flat)
}

fn is_parameter(program: &Program, name: &str) -> bool {
    program.statements.iter().any(|s| matches!(&s.kind, StmtKind::Param(p) if p.name.name == name))
}

/// `7 // 2`: what divides integers elsewhere begins a comment here.
pub fn divisions(program: &Program, source: &str) -> Vec<Diagnostic> {
    let tokens = scan(source);
    let declared: HashSet<&str> = program.statements.iter().flat_map(names_of).collect();
    let mut found = Vec::new();
    for pair in tokens.windows(2) {
        let (before, comment) = (&pair[0], &pair[1]);
        let Some(rest) = comment.text(source).strip_prefix("//").map(str::trim) else { continue };
        let divides = comment.kind == Kind::Comment
            && (matches!(before.kind, Kind::Word | Kind::Number) || matches!(before.text(source), ")" | "]"))
            && (rest.parse::<f64>().is_ok() || declared.contains(rest));
        if divides {
            let message = format!("`//` begins a comment: nothing is divided by `{rest}` here");
            found.push(
                Diagnostic::warning("comment-after-value", message).label(comment.span, "").help(format!(
                    "write `idiv(a, {rest})` for a division of integers, `#` before a comment"
                )),
            );
        }
    }
    found
}

/// The names that a statement declares.
fn names_of(stmt: &Stmt) -> Vec<&str> {
    match &stmt.kind {
        StmtKind::Data(all) => all.iter().map(|d| d.name.name.as_str()).collect(),
        StmtKind::Param(p) => vec![&p.name.name],
        StmtKind::Let(l) => vec![&l.name.name],
        _ => Vec::new(),
    }
}
