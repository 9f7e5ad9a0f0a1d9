//! What to say when no table knows the mistake: what was expected after what, and what stands there.

use super::Inside;
use super::case::{Case, short};
use crate::source::Diagnostic;

/// One sentence about the place where the grammar stopped.
pub(super) fn expected(case: &Case<'_>) -> Diagnostic {
    let i = case.found;
    let found = match case.found_text() {
        "" if case.inside == Inside::Data => "the declaration ends".to_owned(),
        "" => "the statement ends".to_owned(),
        text => format!("`{}` stands here", short(text, 30)),
    };
    let (wanted, help) = wanted(case);
    let after = match case.before(i) {
        "" => String::new(),
        text => format!(" after `{}`", short(text, 30)),
    };
    let error = Diagnostic::error("unexpected", format!("expected {wanted}{after}, but {found}"))
        .label(case.span(i), format!("expected {wanted}"));
    match help {
        Some(help) => error.help(help),
        None => error,
    }
}

/// What the token before the place of failure calls for, and an example of it.
fn wanted(case: &Case<'_>) -> (&'static str, Option<&'static str>) {
    let i = case.found;
    match (case.before(i), case.inside) {
        ("", Inside::Data) => ("a declaration", Some("write for example `x : real[N]`")),
        ("", Inside::Statements) => (
            "a statement",
            Some(
                "a statement is one of data, param, let, for, if, fn, target +=, derive, predict, or `y ~ ...`",
            ),
        ),
        ("~", _) => ("a distribution", Some("write for example `normal(0, 1)`")),
        (":", _) if case.opening(i).is_none() => {
            ("a type", Some("write for example `real`, `real[N]`, `real > 0`, `category[N] of J`"))
        }
        (":", _) if mixture(case) => {
            ("a distribution", Some("write `mixture(w: normal(0, 1), 1 - w: normal(5, 1))`"))
        }
        ("param" | "let" | "derive" | "predict" | "fn" | "of" | "data", _) => ("a name", None),
        ("for", _) => ("a name", Some("write `for i in 1..N { ... }`")),
        ("in", _) if case.text(0) != "for" => ("`(` or `[`", Some("write for example `real in (0, 1)`")),
        ("target", _) => ("`+=`", Some("write `target += ...`")),
        ("else", _) => ("`{` or `if`", None),
        _ if case.ends_value(i.wrapping_sub(1)) => after_value(case),
        ("}", _) => ("a new statement", Some("put it on a line of its own")),
        _ => ("a value", None),
    }
}

fn mixture(case: &Case<'_>) -> bool {
    case.opening(case.found).is_some_and(|open| case.before(open) == "mixture")
}

/// What may follow a complete value, by where it stands.
fn after_value(case: &Case<'_>) -> (&'static str, Option<&'static str>) {
    let i = case.found;
    let has_tilde = || (0..i).any(|j| case.text(j) == "~");
    let has_equals = || (0..i).any(|j| case.text(j) == "=");
    match case.opening(i).map(|open| case.text(open)) {
        Some("(") => ("`,`, `)` or an operator", None),
        Some("[") => ("`,`, `]` or an operator", None),
        _ => match case.text(0) {
            "param" if i == 2 => ("`[`, `:` or `~`", Some("write for example `param mu ~ normal(0, 1)`")),
            "let" | "derive" if i == 2 => ("`=`", Some("write for example `let eta = a + b * x`")),
            "let" | "derive" if !has_equals() => (
                "`=` and a value",
                Some(
                    "nothing is declared without a value: `let mu[i] = ...` in a loop defines elements, and they make the array",
                ),
            ),
            "for" if i == 2 => ("`in`", Some("write `for i in 1..N { ... }`")),
            "fn" if case.before(i) == ")" => {
                ("`=` or a block in `{ }`", Some("write `fn f(x) = x^2`, or `fn f(x) { return x^2 }`"))
            }
            "fn" => {
                ("`(...)` and `=` or a block", Some("write `fn f(x) = x^2`, or `fn f(x) { return x^2 }`"))
            }
            "predict" if !has_tilde() => {
                ("`~` and a distribution", Some("write for example `predict y_rep[N] ~ normal(mu, sigma)`"))
            }
            "for" | "if" => ("an operator or a block in `{ }`", None),
            "param" if has_tilde() && case.text(i) == ":" => (
                "the end of the statement",
                Some("the type stands before the `~`: `param nu : real > 1 ~ gamma(2, 0.1)`"),
            ),
            _ if has_tilde() && case.before(i) == ")" => ("the end of the statement", None),
            _ if case.inside == Inside::Data => ("the end of the declaration", None),
            _ => ("an operator or the end of the statement", None),
        },
    }
}
