//! Control flow, functions and assignments as other languages write them.

use super::case::{Case, write};
use super::{Inside, Row};
use crate::source::Diagnostic;

/// Known mistakes, most telling first.
pub(super) const ROWS: &[Row] = &[
    function_word,
    loop_word,
    elif,
    stray_else,
    equals_in_condition,
    range_end,
    range_in_for,
    no_braces,
    target,
    reassignment,
    typed_argument,
];

/// `def f(x):`, `f <- function(x)`, `lambda x: ...`
fn function_word(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.find(|i| matches!(case.text(i), "def" | "function" | "lambda" | "func"))?;
    let fits = i == case.found || i + 1 == case.found || i == 0;
    fits.then(|| {
        let message = format!("a function is defined with `fn`, not with `{}`", case.text(i));
        case.error("function-word", message, (i, i + 1), "written as in another language")
            .help("write `fn f(x) = x^2`, or `fn f(x) { let y = x^2; return y }`")
    })
}

/// `while`, `repeat`
fn loop_word(case: &Case<'_>) -> Option<Diagnostic> {
    matches!(case.text(0), "while" | "repeat" | "foreach").then(|| {
        let message = format!(
            "there is no `{}` loop: how often a loop runs must be known before the fit",
            case.text(0)
        );
        case.error("loop-word", message, (0, 1), "not a loop here").help("write `for i in 1..N { ... }`")
    })
}

/// `elif c {`, `elseif`
fn elif(case: &Case<'_>) -> Option<Diagnostic> {
    matches!(case.text(0), "elif" | "elseif" | "elsif").then(|| {
        let message = format!(
            "`{}` is written `else if`, on the line of the `}}` before it or on the next",
            case.text(0)
        );
        case.error("elif", message, (0, 1), "two words")
            .help("write `if a { ... } else if b { ... } else { ... }`")
    })
}

fn stray_else(case: &Case<'_>) -> Option<Diagnostic> {
    (case.text(0) == "else").then(|| {
        case.error("stray-else", "this `else` belongs to no `if`", (0, 1), "no `if` before it")
            .help("write `if condition { ... } else { ... }`, with only the block between `if` and `else`")
    })
}

/// `if N = 1 {`
fn equals_in_condition(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.find(|i| case.text(i) == "=")?;
    (case.text(0) == "if" && case.found <= i + 1).then(|| {
        let brace = case.find(|i| case.text(i) == "{").unwrap_or(case.len());
        let condition = format!("{} == {}", case.written(1, i), case.written(i + 1, brace.max(i + 1)));
        case.error(
            "equals-in-condition",
            "equality is tested with `==`; a single `=` defines",
            (i, i + 1),
            "write `==`",
        )
        .help(write(&format!("if {condition} {{ ... }}")))
    })
}

/// `for i in 1.. {`, `for i in ..N {`
fn range_end(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.find(|i| case.text(i) == "..")?;
    let (no_end, no_start) = (case.text(i + 1) == "{" || i + 1 == case.len(), case.before(i) == "in");
    if case.text(0) != "for" || !(no_end || no_start) {
        return None;
    }
    let which = if no_end { "last" } else { "first" };
    let help = format!("write for example `for {} in 1..N {{ ... }}`", case.text(1));
    let message = format!("the range of a loop needs its {which} value too");
    Some(case.error("range-end", message, (i, i + 1), &format!("no {which} value")).help(help))
}

/// `for i in N {`, `for i in range(N) {`, `for x in xs {`
fn range_in_for(case: &Case<'_>) -> Option<Diagnostic> {
    let called = matches!(case.text(3), "range" | "seq_len" | "seq_along");
    let sign = |i: usize| case.text(i) == ".." || case.text(i) == ":" && !called;
    let has_range = case.find(|i| sign(i) && i + 1 < case.len()).is_some();
    if case.text(0) != "for" || !case.is_name(1) || case.text(2) != "in" || has_range {
        return None;
    }
    let brace = case.find(|i| matches!(case.text(i), "{" | ":")).unwrap_or(case.len());
    let over = case.written(3, brace);
    let help = match case.text(3) {
        _ if called => {
            format!("write `for {} in 1..N {{ ... }}`; both ends are included", case.text(1))
        }
        "" => "write `for i in 1..N { ... }`".to_owned(),
        column if case.is_column(column) => format!(
            "`{column}` has a value for each row: a statement about all rows needs no loop, `y ~ normal(a[{column}], s)`; a loop \
             over them is `for {} in 1..N {{ ... }}`",
            case.text(1)
        ),
        _ => format!("write `for {0} in 1..{over} {{ ... }}` to count up to `{over}`", case.text(1)),
    };
    let message = "a loop runs over a range of integers with both ends written out";
    Some(case.error("range-expected", message, (3, brace.max(4)), "not a range").help(help))
}

/// `if c y ~ ...`, `for i in 1..N x[i] ~ ...`
fn no_braces(case: &Case<'_>) -> Option<Diagnostic> {
    let has_block = case.find(|i| case.text(i) == "{").is_some();
    if !matches!(case.text(0), "if" | "for") || has_block {
        return None;
    }
    let word = case.text(0);
    let at = case.found.min(case.len());
    let message = format!("what belongs to this `{word}` must stand in braces");
    let help = format!("write `{} {{ ... }}`", case.written(0, at));
    let error = case.error("no-braces", message, (at, at + 1), "expected `{` here");
    Some(if at > 1 { error.help(help) } else { error.help(format!("write `{word} ... {{ ... }}`")) })
}

/// `target = e`, `target(e)`, `increment_log_prob(e)`, `target -= e`
fn target(case: &Case<'_>) -> Option<Diagnostic> {
    let old = case.text(0) == "increment_log_prob";
    if !old && (case.text(0) != "target" || case.text(1) == "+=") {
        return None;
    }
    let from = match case.text(1) {
        "+" | "-" | "*" if case.text(2) == "=" => 3,
        "(" => 1,
        "=" if case.text(2) == "target" && matches!(case.text(3), "+" | "-") => 4,
        _ => 2,
    };
    let mut value = case.written(from, case.len());
    let is_sum = || (from + 1..case.len()).any(|i| matches!(case.text(i), "+" | "-"));
    let negative = match case.text(1) {
        "-" if is_sum() => {
            value = format!("({value})");
            "-"
        }
        "-" => "-",
        "=" if from == 4 && case.text(3) == "-" => "-",
        _ => "",
    };
    let error = case.error(
        "target-increment",
        "the log density is only ever added to, with `target +=`",
        (0, from.min(case.len())),
        "expected `target +=`",
    );
    let bare = value.strip_prefix('(').and_then(|v| v.strip_suffix(')')).filter(|_| negative.is_empty());
    let value = bare.unwrap_or(&value);
    Some(if value.is_empty() || from == 2 && case.text(1) != "=" {
        error.help("write `target += ...`")
    } else {
        error.help(write(&format!("target += {negative}{value}")))
    })
}

/// `x += 1`, `x++`, `lp += e`
fn reassignment(case: &Case<'_>) -> Option<Diagnostic> {
    let end = case.value_after(0);
    let is_update =
        case.text(end) == "+=" || matches!(case.text(end), "-" | "*" | "/") && case.text(end + 1) == "=";
    let is_update = is_update || case.reads(end, &["+", "+"]) || case.reads(end, &["-", "-"]);
    // `s = s + x`
    let has_itself = |i: usize| i > 1 && case.text(i) == case.text(0) && case.text(i + 1) != "(";
    let from_itself =
        end == 1 && case.text(1) == "=" && case.text(2) != "pm" && case.find(has_itself).is_some();
    if case.inside == Inside::Data || !case.is_name(0) || !(is_update || from_itself) {
        return None;
    }
    if matches!(case.text(0), "lp" | "lp__" | "logp" | "log_prob" | "ll" | "loglik") && case.text(1) == "+=" {
        let message = "what is added to the log density is added to `target`";
        let sum = format!("target += {}", case.written(2, case.len()));
        return Some(
            case.error("target-increment", message, (0, 2), "expected `target +=`").help(write(&sum)),
        );
    }
    let sign = if matches!(case.text(end), "+=" | "=") { 1 } else { 2 };
    let message = format!("`{}` cannot be changed: every quantity is defined once", case.text(0));
    Some(
        case.error("reassignment", message, (0, end + sign), "changes a value")
            .note("`target +=` adds to the log density")
            .help("add up with `sum(...)`, or define one element after the other: `let s[t] = s[t-1] + ...`"),
    )
}

/// `fn f(real x, vector y) = ...`
fn typed_argument(case: &Case<'_>) -> Option<Diagnostic> {
    if case.text(0) != "fn" || case.text(2) != "(" {
        return None;
    }
    let close = case.closing(2)?;
    let i = (3..close)
        .find(|&i| case.is_word(i) && (case.is_word(i + 1) || matches!(case.text(i + 1), ":" | "[")))?;
    let message = "the arguments of a function are names only, without types";
    Some(
        case.error("typed-argument", message, (i, i + 2), "more than a name")
            .help("write for example `fn f(x, y) = ...`"),
    )
}
