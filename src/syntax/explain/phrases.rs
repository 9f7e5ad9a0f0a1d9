//! Phrases that are right elsewhere: formulas after `~`, imports, bounds with names or commas, a choice
//! inside a value.

use super::case::{Case, write};
use super::{Inside, Row};
use crate::source::Diagnostic;
use crate::syntax::layout::STARTERS;

/// Known mistakes, most telling first; those about declarations come first.
pub(super) const ROWS: &[Row] = &[
    named_bounds,
    called_bounds,
    listed_bounds,
    import,
    upper_case,
    data_bracket,
    undeclared,
    density_for_tilde,
    extra_zeros_order,
    formula,
    weights,
    inline_if,
    inner_if,
];

/// Whether the statement declares something: data, or a parameter.
fn declares(case: &Case<'_>) -> bool {
    case.inside == Inside::Data || matches!(case.text(0), "data" | "param")
}

/// `x : real[N], lower=0`, `param s : real lower=0`
fn named_bounds(case: &Case<'_>) -> Option<Diagnostic> {
    let is_bound = |i: usize| matches!(case.text(i), "lower" | "upper") && case.text(i + 1) == "=";
    let i = case.find(|i| is_bound(i) && case.opening(i).is_none())?;
    if !declares(case) || i > case.found {
        return None;
    }
    let sign = if case.text(i) == "lower" { ">" } else { "<" };
    let start = if matches!(case.before(i), "," | "<") { i - 1 } else { i };
    let head = case.written(0, start);
    let value = case.written(i + 2, case.value_after(i + 2));
    let message = "bounds follow the type as comparisons, without names";
    Some(
        case.error("named-bounds", message, (i, i + 2), "not a bound here")
            .help(write(&format!("{head} {sign} {value}")))
            .note("both ends together are written `in (0, 1)`"),
    )
}

/// `param p : real(0, 1)`
fn called_bounds(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.find(|i| matches!(case.text(i), "real" | "int") && case.text(i + 1) == "(")?;
    if !declares(case) || case.before(i) != ":" {
        return None;
    }
    let close = case.closing(i + 1)?;
    if close == i + 3 {
        let message = "a size stands in brackets";
        let size = format!("[{}]", case.text(i + 2));
        return Some(
            case.error("size-brackets", message, (i + 1, close + 1), "expected `[...]`")
                .help(write(&case.with(i + 1, close + 1, &size))),
        );
    }
    let named = |end: &str| {
        let at = (i + 2..close).find(|&k| case.text(k) == end && case.text(k + 1) == "=")?;
        let last = (at + 2..close).find(|&k| case.text(k) == ",").unwrap_or(close);
        Some(case.written(at + 2, last))
    };
    let bounds = match (named("lower"), named("upper")) {
        (None, None) => None,
        (Some(low), None) => Some(format!(" > {low}")),
        (None, Some(high)) => Some(format!(" < {high}")),
        (Some(low), Some(high)) => Some(format!(" in ({low}, {high})")),
    };
    if let Some(bounds) = bounds {
        let message = "bounds follow the type as comparisons, without names";
        return Some(
            case.error("named-bounds", message, (i + 1, close + 1), "not a bound here")
                .help(write(&case.with(i + 1, close + 1, &bounds))),
        );
    }
    let interval = case.written(i + 1, close + 1);
    let message = "bounds follow the type after `in`";
    Some(
        case.error("named-bounds", message, (i + 1, close + 1), "expected `in` before this")
            .help(write(&case.with(i + 1, close + 1, &format!(" in {interval}")))),
    )
}

/// `param p : real > 0, < 1`, `data { p : real[N] > 0, < 1 }`
fn listed_bounds(case: &Case<'_>) -> Option<Diagnostic> {
    let sign = |i: usize| matches!(case.text(i), "<" | "<=" | ">" | ">=");
    let i = match case.inside {
        Inside::Data if sign(0) => 0,
        _ if case.text(0) == "param" => case.find(|i| case.text(i) == "," && sign(i + 1))?,
        _ => return None,
    };
    let message = "two bounds stand one after the other, without a comma";
    Some(
        case.error("listed-bounds", message, (i, i + 1), "a second bound")
            .help("write `real > 0 < 1`, or `real in (0, 1)`"),
    )
}

/// `import pymc as pm`, `library(brms)`, `with pm.Model() as m:`
fn import(case: &Case<'_>) -> Option<Diagnostic> {
    let word = case.text(0);
    let fits =
        matches!(word, "import" | "from" | "library" | "require" | "using" | "with") && case.text(1) != "~";
    fits.then(|| {
        let message = format!("nothing is imported or opened in a model: there is no `{word}`");
        case.error("import", message, (0, 1), "not needed").help("begin with `data { ... }` and `param ...`")
    })
}

/// `Data {`, `PARAM x`, `Let y`
fn upper_case(case: &Case<'_>) -> Option<Diagnostic> {
    let word = case.text(0);
    let lower = word.to_lowercase();
    let follows = case.text(1) == "{" || case.is_name(1);
    (lower != word && follows && STARTERS.contains(&lower.as_str())).then(|| {
        let message = format!("the words of the language are written in lower case: `{lower}`");
        case.error("upper-case", message, (0, 1), "upper case").help(write(&case.with(0, 1, &lower)))
    })
}

/// `data: { ... }`, `data ( ... )`, `data [ ... ]`
fn data_bracket(case: &Case<'_>) -> Option<Diagnostic> {
    let opens = case.inside == Inside::Statements && case.text(0) == "data";
    (opens && matches!(case.text(1), ":" | "(" | "[" | "=")).then(|| {
        case.error("data-bracket", "data are declared in braces", (1, 2), "expected `{`")
            .help("write `data { y : real[N] }`, or `data y : real[N]` for a single one")
    })
}

/// `x : real[N]` outside a `data` block
fn undeclared(case: &Case<'_>) -> Option<Diagnostic> {
    let colon = case.value_after(0);
    let fits = case.inside == Inside::Statements && case.is_name(0) && case.text(colon) == ":";
    let ty = matches!(case.text(colon + 1), "real" | "int" | "binary" | "count" | "category");
    (fits && ty).then(|| {
        let text = case.written(0, case.len());
        let message = format!("what is `{}`: data or a parameter?", case.text(0));
        case.error("no-declaration", message, (0, colon + 1), "a declaration without its first word")
            .help(format!("write `data {text}` if it is given, `param {text} ~ ...` if it is to be learnt"))
    })
}

/// `y = normal(mu, sigma)`, `y <- normal(mu, sigma)`
fn density_for_tilde(case: &Case<'_>) -> Option<Diagnostic> {
    let end = case.value_after(0);
    let from = if case.reads(end, &["<", "-"]) { end + 2 } else { end + 1 };
    let sign = case.written(end, from);
    let fits = case.inside == Inside::Statements && case.is_name(0) && matches!(&sign[..], "=" | "<-");
    let name = crate::dist::spelled(case.text(from)).filter(|_| case.text(from + 1) == "(")?.name;
    (fits && case.value_after(from) == case.len()).then(|| {
        let (left, arguments) = (case.written(0, end), case.written(from + 1, case.len()));
        let message =
            format!("`{name}` is a distribution: what it describes stands before `~`, not `{sign}`");
        case.error("equals-for-tilde", message, (end, from), "expected `~`").help(format!(
            "write `param {left} ~ {name}{arguments}` for an unknown, `{left} ~ {name}{arguments}` for data"
        ))
    })
}

/// `zero_inflated(poisson(3), 0.2)`
fn extra_zeros_order(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.find(|i| case.text(i) == "zero_inflated" && case.text(i + 1) == "(")?;
    let close = case.closing(i + 1)?;
    let entries = case.entries(i + 2, close);
    let [dist, probability] = &entries[..] else { return None };
    let is_dist = case.text(i + 3) == "(" && crate::dist::find(case.text(i + 2)).is_some();
    is_dist.then(|| {
        let message = "the probability of an extra zero comes first, then the distribution";
        case.error("zero-inflated", message, (i + 2, close), "the other way round").help(write(&case.with(
            i,
            close + 1,
            &format!("zero_inflated({probability}, {dist})"),
        )))
    })
}

/// `y ~ a + b * x`, `y ~ 1 + x + (1 | g)`, `y ~ normal(a, s) + b`
fn formula(case: &Case<'_>) -> Option<Diagnostic> {
    let tilde = case.find(|i| case.text(i) == "~" && case.opening(i).is_none())?;
    let rest = case.written(tilde + 1, case.len());
    let operator =
        |i: usize| matches!(case.text(i), "+" | "-" | "*" | "/" | "|" | "^") && case.opening(i).is_none();
    let is_dist = case.text(tilde + 2) == "(" && crate::dist::find(case.text(tilde + 1)).is_some();
    let sum = (tilde + 1..case.len()).find(|&i| operator(i));
    if case.found <= tilde || sum.is_none() && !case.is_number(tilde + 1) {
        return None;
    }
    if let Some(i) = sum.filter(|&i| is_dist && case.begins_line(i)) {
        let sign = case.text(i);
        let message = format!(
            "a line that begins with `{sign}` continues the one before, and nothing may follow a distribution there"
        );
        return Some(case.error("formula", message, (i, i + 1), "").help(format!(
            "end the line before with `;`, or put the value in parentheses: `({}) ~ ...`",
            case.written(i, case.len()).split(" ~").next().unwrap_or_default()
        )));
    }
    let left = case.written(0, tilde);
    let joined = format!("{}_{}", case.text(tilde + 1), case.text(tilde + 3));
    if case.text(tilde + 2) == "-" && case.text(tilde + 4) == "(" && crate::dist::find(&joined).is_some() {
        let message = format!("`-` takes away; the distribution is called `{joined}`");
        return Some(
            case.error("unknown-distribution", message, (tilde + 1, tilde + 4), "")
                .help(format!("write `{joined}(...)`")),
        );
    }
    let error =
        case.error("formula", "a distribution stands after `~`, not a formula", (tilde + 1, case.len()), "");
    let parts = (tilde + 1..case.len())
        .filter(|&i| case.text(i + 1) == "(" && crate::dist::find(case.text(i)).is_some());
    if !is_dist && parts.count() > 0 {
        return Some(error.help(format!(
            "densities are mixed with their weights before colons: `{left} ~ mixture(w: normal(a, s), 1 - w: normal(b, s))`"
        )));
    }
    Some(match (is_dist, rest.contains('|')) {
        (true, true) if rest.contains("cens") => {
            error.help(format!("write `{left} ~ censored(..., right = c)`, where c is 1 for values known only to be larger"))
        }
        (true, _) => error.help("put what is added into the location: `normal(mu + b, sigma)`"),
        (false, true) => error.help(format!(
            "write the predictor out, with a parameter for each term: `{left} ~ normal(a + b * x + r[g], sigma)`"
        )),
        (false, false) => error.help(write(&format!("{left} ~ normal({rest}, sigma)"))),
    })
}

/// `y ~ normal(mu, sigma) weights w`
fn weights(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    (matches!(case.found_text(), "weights" | "wt" | "offset") && case.before(i) == ")").then(|| {
        let error = |message: &str| case.error("misplaced-clause", message, (i, i + 1), "not understood");
        if case.found_text() == "offset" {
            error("an offset is written into the predictor")
                .help("write for example `poisson_log(eta + log(exposure))`")
        } else {
            error("weights follow the word `weight`").help(write(&case.with(i, i + 1, "weight")))
        }
    })
}

/// A choice between values whose parts are not clear.
fn choice(case: &Case<'_>, i: usize) -> Diagnostic {
    let message = "a choice between values is written `where(condition, a, b)`";
    case.error("ternary", message, (i, i + 1), "not inside a value")
        .help("write `where(condition, a, b)`: a where the condition holds, b elsewhere")
}

/// `let z = a if b > 0 else 1`, `let z = if b > 0 then a else 1`
fn inline_if(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    if case.found_text() != "if" || i == 0 || case.opening(i).is_some() {
        return None;
    }
    let other = (i..case.len()).find(|&j| case.text(j) == "else")?;
    let equals = case.find(|j| case.text(j) == "=").filter(|&e| e < i)?;
    let (yes, condition) =
        match case.find(|j| case.text(j) == "then").filter(|&then| i < then && then < other) {
            Some(then) => (case.written(then + 1, other), case.written(i + 1, then)),
            None if i == equals + 1 => return Some(choice(case, i)),
            None => (case.written(equals + 1, i), case.written(i + 1, other)),
        };
    let no = case.written(other + 1, case.len());
    let message = "a choice between values is written `where(condition, a, b)`";
    Some(
        case.error("ternary", message, (i, i + 1), "not inside a value")
            .help(write(&format!("{} where({condition}, {yes}, {no})", case.written(0, equals + 1)))),
    )
}

/// `normal(a if b > 0 else 1, s)`
fn inner_if(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let open = case.opening(i).filter(|_| case.found_text() == "if" && case.ends_value(i - 1))?;
    let close = case.closing(open)?;
    let here = |k: &usize| case.opening(*k) == Some(open);
    let other = (i..close).filter(here).find(|&k| case.text(k) == "else")?;
    let start = (open + 1..i).rev().filter(here).find(|&k| case.text(k) == ",").map_or(open + 1, |k| k + 1);
    let end = (other..close).filter(here).find(|&k| case.text(k) == ",").unwrap_or(close);
    let (yes, condition) = (case.written(start, i), case.written(i + 1, other));
    let instead = format!("where({condition}, {yes}, {})", case.written(other + 1, end));
    Some(choice(case, i).help(write(&case.with(start, end, &instead))))
}
