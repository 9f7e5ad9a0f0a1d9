//! Operators and characters of other languages.

use super::case::{Case, write};
use super::{Inside, Row};
use crate::source::Diagnostic;
use crate::syntax::names::as_name;

/// Characters that mean nothing; whatever else is wrong, they come first.
pub(super) const CHARACTERS: &[Row] = &[backticks, unknown_character];

/// Known mistakes, most telling first.
pub(super) const ROWS: &[Row] = &[
    dollar,
    pymc,
    dotted_name,
    single_quotes,
    arrow,
    double_star,
    percent,
    ternary,
    word_operator,
    colon_range,
];

/// Characters that word processors and keyboards put in place of those meant.
const LOOKALIKES: [(char, &str); 25] = [
    ('“', "\""),
    ('”', "\""),
    ('„', "\""),
    ('«', "\""),
    ('»', "\""),
    ('‘', "\""),
    ('’', "'"),
    ('−', "-"),
    ('–', "-"),
    ('—', "-"),
    ('×', "*"),
    ('·', "*"),
    ('∗', "*"),
    ('÷', "/"),
    ('≤', "<="),
    ('≥', ">="),
    ('≠', "!="),
    ('∼', "~"),
    ('～', "~"),
    ('←', "="),
    ('≔', "="),
    ('…', ".."),
    ('≈', "~"),
    ('∈', "in"),
    ('∞', "inf"),
];

fn unknown_character(case: &Case<'_>) -> Option<Diagnostic> {
    let c = case.found_text().chars().next()?;
    let known = c.is_alphanumeric() || "_()[]{},;:~=+-*/^.<>!&|'\"%$?".contains(c);
    if known {
        return None;
    }
    let error = case.error(
        "unknown-character",
        format!("the character `{c}` has no meaning in a model"),
        (case.found, case.found + 1),
        "not understood",
    );
    let function = [('√', "sqrt"), ('∑', "sum"), ('∏', "prod")].into_iter().find(|(sign, _)| *sign == c);
    if let Some((_, function)) = function {
        return Some(error.help(format!("write `{function}(...)`")));
    }
    if c == '@' {
        return Some(error.help("the matrix product is written `*`"));
    }
    Some(match LOOKALIKES.iter().find(|(other, _)| *other == c) {
        Some((_, ours)) => error.help(format!("write `{ours}`")),
        None => error,
    })
}

/// R's `` `Body Mass` ``
fn backticks(case: &Case<'_>) -> Option<Diagnostic> {
    let open = case.found;
    if case.found_text() != "`" {
        return None;
    }
    let close = (open + 1..case.len()).find(|&i| case.text(i) == "`")?;
    let message = "a name has letters, digits and `_` only, and stands without backticks";
    let help = renamed(case, (open, close + 1), &case.written(open + 1, close));
    Some(case.error("backticks", message, (open, close + 1), "written as in R").help(help))
}

/// What to write for something that cannot be a name, and stands at these tokens: a declaration still reads
/// the column of that name.
fn renamed(case: &Case<'_>, (from, to): (usize, usize), column: &str) -> String {
    let name = as_name(column);
    let declares = case.inside == Inside::Data && from == 0 && case.find(|i| case.text(i) == "=").is_none();
    match declares && case.text(to) == ":" {
        true => write(&format!("{} = column(\"{column}\")", case.with(from, to, &name))),
        false => write(&name),
    }
}

/// R's `d$x`.
fn dollar(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.find(|i| case.text(i) == "$")?;
    let from = i.saturating_sub(1);
    let name = case.text(i + 1);
    let message = "a column is used by its own name, without the table and `$`";
    let help = format!("declare `{name}` in a `data` block and write `{name}`");
    Some(case.error("dollar", message, (from, i + 2), "written as in R").help(help))
}

/// `mu = pm.Normal("mu", 0, 10)`
fn pymc(case: &Case<'_>) -> Option<Diagnostic> {
    let i =
        case.find(|i| matches!(case.text(i), "pm" | "pymc" | "numpyro" | "dist") && case.text(i + 1) == ".")?;
    let message = match case.text(i + 2) {
        "Potential" => "a term is added to the log density with `target +=`",
        "Deterministic" => "a value that is computed and reported is defined with `derive`",
        _ => "a parameter and its prior are written on one line with `param` and `~`",
    };
    let error = case.error("pymc", message, (i, i + 3), "written as in Python");
    let close = case.closing(i + 3)?;
    let mut args = case.entries(i + 4, close);
    let observed = args.iter().any(|arg| arg.starts_with("observed"));
    args.retain(|arg| !arg.starts_with('"') && !arg.starts_with("observed") && !arg.starts_with("shape"));
    let values: Vec<&str> =
        args.iter().map(|arg| arg.split_once('=').map_or(arg.as_str(), |(_, v)| v.trim())).collect();
    let keyword = if observed { "" } else { "param " };
    let (name, what, values) = (case.text(0), case.text(i + 2), values.join(", "));
    let call = match what {
        "Potential" => format!("target += {values}"),
        "Deterministic" => format!("derive {name} = {values}"),
        _ => format!("{keyword}{name} ~ {}({values})", in_small_letters(what)),
    };
    Some(if case.is_name(0) && case.text(1) == "=" {
        error.help(write(&call))
    } else {
        error.help("write for example `param mu ~ normal(0, 10)`, and `y ~ normal(mu, sigma)` for data")
    })
}

/// `half_normal` for `HalfNormal`.
fn in_small_letters(name: &str) -> String {
    let mut out = String::new();
    for (i, c) in name.char_indices() {
        if c.is_uppercase() && i > 0 {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// `alpha.c`, as R and BUGS allow.
fn dotted_name(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.find(|i| case.is_word(i) && case.text(i + 1) == "." && case.is_word(i + 2))?;
    let further = (i + 3..).step_by(2).take_while(|&k| case.text(k) == "." && case.is_word(k + 1));
    let end = i + 3 + 2 * further.count();
    let name = case.written(i, end);
    if case.text(i + 3) == "(" {
        let (object, function) = (case.text(i), case.text(i + 2));
        let close = case.closing(i + 3).unwrap_or(case.len());
        if let Some(density) = density_method(case, i, close) {
            return Some(density);
        }
        let mut arguments = case.written(i + 4, close);
        let library =
            matches!(object, "np" | "numpy" | "math" | "jnp" | "torch" | "tf" | "pt" | "at" | "stats");
        if !library {
            let comma = if arguments.is_empty() { "" } else { ", " };
            arguments = format!("{object}{comma}{arguments}");
        }
        let message = "functions are called by their own name, with everything in parentheses";
        return Some(
            case.error("dotted-name", message, (i, i + 3), "written as in Python")
                .help(write(&format!("{function}({arguments})"))),
        );
    }
    if let Some(transposed) = name.strip_suffix(".T") {
        let error = case.error(
            "dotted-name",
            "an array is transposed by `'` after it",
            (i, end),
            "written as in Python",
        );
        return Some(error.help(write(&format!("{transposed}'"))));
    }
    let message = format!("a name cannot contain a dot, as `{name}` does");
    let help = renamed(case, (i, end), &name);
    Some(case.error("dotted-name", message, (i, end), "a dot in a name").help(help))
}

/// `y.normal(a, s)`, `normal.logpdf(y, a, s)`
fn density_method(case: &Case<'_>, i: usize, close: usize) -> Option<Diagnostic> {
    let (object, method, arguments) = (case.text(i), case.text(i + 2), case.written(i + 4, close));
    let error = |message: &str| case.error("dotted-name", message, (i, i + 3), "written as in Python");
    if let Some(row) = crate::dist::find(method) {
        let message = "what a distribution describes stands before `~`";
        return Some(error(message).help(write(&format!("{object} ~ {}({arguments})", row.name))));
    }
    let density = matches!(method, "logpdf" | "logpmf" | "lpdf" | "lpmf" | "log_prob" | "logp");
    let row = crate::dist::find(object).filter(|_| density)?;
    let ending = if row.discrete { "lpmf" } else { "lpdf" };
    let call = format!("{}_{ending}({})", row.name, arguments.replacen(", ", " | ", 1));
    Some(error("a log density is called by its own name, with `|` after the value").help(write(&call)))
}

/// `'text'`
fn single_quotes(case: &Case<'_>) -> Option<Diagnostic> {
    let open = case.find(|i| case.text(i) == "'" && (i == 0 || !case.ends_value(i - 1)))?;
    let close = (open + 1..case.len()).find(|&i| case.text(i) == "'");
    let end = close.map_or(open + 1, |c| c + 1);
    let text = case.written(open + 1, close.unwrap_or(open + 1));
    let help = write(&format!("\"{text}\""));
    let message = "text stands between double quotes; a single quote means transposition";
    Some(case.error("single-quotes", message, (open, end), "single quotes").help(help))
}

/// `x <- 3`
fn arrow(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.find(|i| case.text(i) == "<" && case.text(i + 1) == "-" && case.glued(i))?;
    let start = usize::from(matches!(case.text(0), "let" | "derive"));
    let is_target = case.is_name(start) && case.value_after(start) == i;
    if !is_target {
        return None;
    }
    let word = if case.text(0) == "derive" { "derive" } else { "let" };
    let help = write(&format!("{word} {} = {}", case.written(start, i), case.written(i + 2, case.len())));
    let message = "a quantity is defined with `let` and `=`, not with `<-`";
    Some(case.error("arrow", message, (i, i + 2), "written as in R").help(help))
}

/// `x ** 2`
fn double_star(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.find(|i| case.reads(i, &["*", "*"]) && case.glued(i))?;
    let (base, exponent) =
        (case.written(case.value_before(i), i), case.written(i + 2, case.value_after(i + 2)));
    let help = write(&format!("{base}^{exponent}"));
    Some(
        case.error("double-star", "power is written `^`, not `**`", (i, i + 2), "written as in Python")
            .help(help),
    )
}

/// `%*%`, `%%`, `%/%`, `%in%`, `%`
fn percent(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.find(|i| case.text(i) == "%")?;
    let end = if case.text(i + 1) == "%" {
        i + 2
    } else if case.text(i + 2) == "%" {
        i + 3
    } else {
        i + 1
    };
    let sign = case.written(i, end);
    let (a, b) = (case.written(case.value_before(i), i), case.written(end, case.value_after(end)));
    let instead = match sign.as_str() {
        "%*%" => format!("{a} * {b}"),
        "%/%" => format!("idiv({a}, {b})"),
        "%o%" => format!("outer({a}, {b})"),
        _ => format!("mod({a}, {b})"),
    };
    let error =
        case.error("percent", format!("there is no operator `{sign}`"), (i, end), "not an operator here");
    Some(if sign == "%in%" { error } else { error.help(write(&instead)) })
}

/// `c ? a : b`
fn ternary(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.find(|i| case.text(i) == "?")?;
    let message = "a choice between values is written `where(condition, a, b)`, not with `?`";
    let error = case.error("ternary", message, (i, i + 1), "not an operator here");
    let equals = case.find(|i| case.text(i) == "=");
    let colon = (i..case.len()).find(|&j| case.text(j) == ":");
    Some(match (equals, colon) {
        (Some(equals), Some(colon)) if equals < i && case.opening(i).is_none() => {
            let condition = case.written(equals + 1, i);
            let (yes, no) = (case.written(i + 1, colon), case.written(colon + 1, case.len()));
            error.help(write(&case.with(equals + 1, case.len(), &format!("where({condition}, {yes}, {no})"))))
        }
        _ => error,
    })
}

/// `and`, `or`, `not`, `&`, `|`
fn word_operator(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let ours = match case.found_text() {
        "and" | "&" => "&&",
        "or" => "||",
        "|" if !matches!(case.before(case.opening(i).unwrap_or(0)), before if before.contains("_lp")) => "||",
        _ if i > 0 && case.before(i) == "not" => "!",
        _ => return None,
    };
    let at = if ours == "!" { i - 1 } else { i };
    let message = format!("the operator `{}` is written `{ours}` here", case.text(at));
    Some(case.error("word-operator", message, (at, at + 1), format!("write `{ours}`").as_str()))
}

/// `x[2:T]`, `for i in 1:N`
fn colon_range(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.find(|i| {
        case.text(i) == ":"
            && (case.ends_value(i.wrapping_sub(1)) || case.begins_value(i + 1))
            && (case.text(0) == "for" && case.inside == Inside::Statements
                || case.opening(i).is_some_and(|open| case.text(open) == "["))
    })?;
    let from = (0..i).rev().find(|&j| matches!(case.text(j), "[" | "," | "in")).map_or(i, |j| j + 1);
    let to = (i..case.len()).find(|&j| matches!(case.text(j), "]" | "," | "{")).unwrap_or(case.len());
    let (a, b) = (case.written(from, i), case.written(i + 1, to));
    let help = format!("write `{a}..{b}`; both ends are included");
    Some(
        case.error("colon-range", "a range is written with `..`, not with `:`", (from, to), "a range")
            .help(help),
    )
}
