//! Slips within the language itself: a `let`, `~`, comma or bracket forgotten, a word in the wrong place.

use super::case::{Case, write};
use super::clauses::{
    bounds_after_prior, clause_before_prior, misplaced_clause, misspelt_clause, trailing_combination,
};
use super::{Inside, Row, stan};
use crate::source::Diagnostic;
use crate::syntax::layout::STARTERS;
use crate::syntax::names::RESERVED;

/// Known mistakes, most telling first.
pub(super) const ROWS: &[Row] = &[
    decimal_comma,
    reserved_word,
    data_defined,
    missing_let,
    missing_colon,
    bounds_without_type,
    no_type,
    several_names,
    equals_for_tilde,
    tilde_for_equals,
    typed_let,
    mixture_weight,
    no_arguments,
    missing_tilde,
    misplaced_clause,
    misspelt_clause,
    clause_before_prior,
    bounds_after_prior,
    several_parameters,
    trailing_combination,
    range_as_value,
    empty_brackets,
    empty_index,
    missing_operator,
    missing_comma,
    two_statements,
    no_effect,
];

fn decimal_comma(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let glued = i > 0 && case.glued(i - 1) && case.glued(i);
    (case.found_text() == "," && glued && case.is_number(i - 1) && case.is_number(i + 1)).then(|| {
        let number = format!("{}.{}", case.text(i - 1), case.text(i + 1));
        let error = case.error(
            "decimal-comma",
            "the decimal sign is a point, not a comma",
            (i - 1, i + 2),
            "a comma in a number",
        );
        match case.text(i + 1).len() {
            3 => error.help(format!(
                "write `{number}`, or `{}{}` if the comma parts thousands",
                case.text(i - 1),
                case.text(i + 1)
            )),
            _ => error.help(write(&number)),
        }
    })
}

/// Words that a name follows.
const DECLARES: [&str; 8] = ["param", "let", "derive", "predict", "fn", "for", "of", "data"];

/// `param data ~ ...`, `let for = ...`, `normal(if c then a else b, 1)`
fn reserved_word(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let word = case.found_text();
    let name_wanted = DECLARES.contains(&case.before(i))
        || i == 0 && case.inside == Inside::Data
        || i > 0 && !case.ends_value(i - 1) && !matches!(case.before(i), "}" | "{");
    let in_place = i == 0 && case.inside == Inside::Statements || case.before(i) == "for" && word == "in";
    (RESERVED.contains(&word) && name_wanted && !in_place).then(|| {
        if word == "if" && !DECLARES.contains(&case.before(i)) {
            return case
                .error("if-in-value", "`if` chooses between statements, not between values", (i, i + 1), "")
                .help("write `where(condition, a, b)`: `a` where the condition holds, `b` elsewhere, element by element");
        }
        let message = format!("`{word}` is a word of the language and cannot be a name");
        let error = case.error("reserved-word", message, (i, i + 1), "choose another name");
        match case.inside {
            Inside::Data => error.help(format!(
                "for a column called {word:?} write for example `{word}_ : real[N] = column({word:?})`"
            )),
            Inside::Statements => error.help(format!("write for example `{word}_`")),
        }
    })
}

/// `y = a + b * x`, where `y` is data.
fn data_defined(case: &Case<'_>) -> Option<Diagnostic> {
    let end = case.value_after(0);
    if case.text(end) != "=" || !case.is_data(case.text(0)) {
        return None;
    }
    let (name, right) = (case.written(0, end), case.written(end + 1, case.len()));
    let message = format!("`{}` is data, which are given, not defined", case.text(0));
    Some(case.error("data-defined", message, (0, end), "declared as data").help(format!(
        "say how the data are distributed: `{name} ~ normal({right}, ...)`, their standard deviation last"
    )))
}

/// `eta = a + b`, `s[t] = ...`
fn missing_let(case: &Case<'_>) -> Option<Diagnostic> {
    let end = case.value_after(0);
    let has_sign = case.is_name(0) && case.text(end) == "=";
    if !has_sign || case.inside == Inside::Data {
        return None;
    }
    let name = case.written(0, end);
    let message = format!("a definition begins with `let`: what is `{}`?", case.text(0));
    Some(
        case.error("missing-let", message, (0, end), "not defined with `let`")
            .help(write(&format!("let {name} = {}", case.written(end + 1, case.len()))))
            .note(if end > 1 {
                "an array is defined by its elements: no line before them makes room for it"
            } else {
                "`derive` in place of `let` also reports the quantity with the parameters"
            }),
    )
}

/// `data { x real[N] }`, `param x real > 0`
fn missing_colon(case: &Case<'_>) -> Option<Diagnostic> {
    let start = usize::from(matches!(case.text(0), "data" | "param"));
    let end = case.value_after(start);
    let is_head =
        matches!(case.text(end), "real" | "int" | "binary" | "count" | "category" | "simplex" | "ordered");
    let declares = case.inside == Inside::Data || start == 1;
    (declares && case.is_name(start) && is_head).then(|| {
        let message = format!("a `:` stands between the name `{}` and its type", case.text(start));
        case.error("missing-colon", message, (end, end + 1), "expected `:` before this")
            .help(write(&format!("{} : {}", case.written(0, end), case.written(end, case.len()))))
    })
}

/// `param sigma > 0 ~ ...`, `data { x[N] >= 0 }`, `param sigma<lower=0> ~ ...`
fn bounds_without_type(case: &Case<'_>) -> Option<Diagnostic> {
    let start = usize::from(matches!(case.text(0), "data" | "param"));
    let end = case.value_after(start);
    let is_bound = matches!(case.text(end), ">" | ">=" | "<" | "<=" | "in");
    let declares = case.inside == Inside::Data || start == 1;
    (declares && case.is_name(start) && is_bound).then(|| {
        let message = format!("the bounds of `{}` follow its type", case.text(start));
        let (bounds, rest) = stan::bounds_in_angles(case, end).unwrap_or((" ".into(), end));
        let (head, rest) = (case.written(0, end), case.written(rest, case.len()));
        case.error("missing-colon", message, (end, end + 1), "expected `: real` before this")
            .help(write(format!("{head} : real{bounds} {rest}").replace("  ", " ").trim_end()))
    })
}

/// `data { x }`, `data { x = 5 }`, `data { x[N] }`
fn no_type(case: &Case<'_>) -> Option<Diagnostic> {
    let start = usize::from(case.text(0) == "data");
    let end = case.value_after(start);
    let declares = case.inside == Inside::Data || start == 1 && case.text(1) != "{";
    let stops = end == case.len() || case.text(end) == "=" || case.reads(end, &[":", "="]);
    let typed_in_front = case.text(start + 1) == "[" && case.text(end) == ":";
    if !declares || !case.is_name(start) || !(stops || typed_in_front) {
        return None;
    }
    let name = case.text(start);
    let sizes = case.written(start + 1, end);
    let prefix = case.written(0, start);
    let value =
        if case.text(end) == "=" { format!(" {}", case.written(end, case.len())) } else { String::new() };
    let (ty, rest) = match typed_in_front {
        true => (case.text(end + 1), format!(" {}", case.written(end + 2, case.len()))),
        false => ("real", value),
    };
    let example = format!("{prefix} {name} : {ty}{sizes}{rest}");
    let (message, label) = if typed_in_front {
        (format!("the sizes of `{name}` stand after its type"), "sizes after the name")
    } else {
        (format!("the type of `{name}` is missing"), "of what type?")
    };
    let error = case.error("no-type", message, (start, end), label).help(write(example.trim()));
    Some(if case.separator == "," {
        error.note("every name has a type of its own, also in a list")
    } else {
        error
    })
}

/// `param a, b ~ normal(0, 1)`
fn several_names(case: &Case<'_>) -> Option<Diagnostic> {
    let declares = matches!(case.text(0), "param" | "let" | "derive" | "predict");
    (declares && case.found_text() == "," && case.is_name(1) && case.found == case.value_after(1)).then(
        || {
            let word = case.text(0);
            let sign = if matches!(word, "param" | "predict") { "~" } else { "=" };
            let message = format!("one `{word}` declares one name");
            let help = format!("write a line `{word} {} {sign} ...` for each", case.text(1));
            case.error("several-names", message, (case.found, case.found + 1), "a second name").help(help)
        },
    )
}

/// `param mu = normal(0, 1)`, `predict y = normal(0, 1)`
fn equals_for_tilde(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let word = case.text(0);
    (matches!(word, "param" | "predict") && case.found_text() == "=").then(|| {
        let (left, right) = (case.written(1, i), case.written(i + 1, case.len()));
        let (message, other) = match word {
            "param" => ("the prior of a parameter follows `~`, not `=`", "let"),
            _ => ("what is predicted is drawn from a distribution after `~`, not defined with `=`", "derive"),
        };
        let name = case.text(1);
        let right = right.replacen("_rng(", "(", 1);
        let is_call = case.is_name(i + 1) && case.text(i + 2) == "(" && case.value_after(i + 1) == case.len();
        let error = case.error("equals-for-tilde", message, (i, i + 1), "expected `~`");
        if is_call {
            error
                .help(write(&format!("{word} {left} ~ {right}")))
                .note(format!("for a value computed from others write `{other} {name} = ...`"))
        } else {
            error.help(format!("write `{other} {name} = ...` for a value computed from others, `{word} {left} ~ ...` for an unknown"))
        }
    })
}

/// `let x ~ normal(0, 1)`, `derive x ~ normal(0, 1)`
fn tilde_for_equals(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let word = case.text(0);
    (matches!(word, "let" | "derive") && case.found_text() == "~").then(|| {
        let (left, right) = (case.written(1, i), case.written(i + 1, case.len()));
        let other = if word == "let" { "param" } else { "predict" };
        case.error(
            "tilde-for-equals",
            format!("`{word}` defines a value with `=`"),
            (i, i + 1),
            "expected `=`",
        )
        .help(write(&format!("{other} {left} ~ {right}")))
    })
}

/// `let x : real = 3`
fn typed_let(case: &Case<'_>) -> Option<Diagnostic> {
    let defined = (0..case.found).any(|i| case.text(i) == "=");
    (matches!(case.text(0), "let" | "derive") && case.found_text() == ":" && !defined).then(|| {
        let equals = (case.found..case.len()).find(|&i| case.text(i) == "=").unwrap_or(case.len());
        let help = write(&format!("{} {}", case.written(0, case.found), case.written(equals, case.len())));
        let message = format!("`{}` takes no type: it follows from the value", case.text(0));
        case.error("typed-let", message, (case.found, equals), "not needed").help(help)
    })
}

/// `mixture(normal(0, 1), normal(5, 1))`
fn mixture_weight(case: &Case<'_>) -> Option<Diagnostic> {
    let open = case.opening(case.found)?;
    let in_mixture = case.before(open) == "mixture" && matches!(case.found_text(), "," | ")");
    in_mixture.then(|| {
        let from = (open..case.found).rev().find(|&i| case.text(i) == "," && case.opening(i) == Some(open));
        let from = from.unwrap_or(open) + 1;
        case.error(
            "mixture-weight",
            "every part of a mixture needs its weight",
            (from, case.found),
            "no weight",
        )
        .help("write `mixture(w: normal(0, 1), 1 - w: normal(5, 1))`")
    })
}

/// `y ~ normal`, `param mu ~ flat`
fn no_arguments(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found.checked_sub(1)?;
    let bare = case.before(i) == "~" && case.is_name(i) && case.found_text() != "(";
    let at_end =
        case.found == case.len() || matches!(case.found_text(), "noncentered" | "centered" | "weight");
    (bare && at_end).then(|| {
        let name = case.text(i);
        let arguments = if name == "flat" || name == "std_normal" { "" } else { "..." };
        if case.is_data(name) {
            let left = case.written(0, i - 1);
            let message = format!("a distribution stands after `~`, and `{name}` is data");
            return case.error("no-arguments", message, (i, i + 1), "declared as data").help(format!(
                "say how `{left}` is distributed, such as `{left} ~ normal(a + b * {name}, s)`"
            ));
        }
        case.error(
            "no-arguments",
            format!("the distribution `{name}` needs parentheses"),
            (i, i + 1),
            "no `(...)` after it",
        )
        .help(write(&format!("{name}({arguments})")))
    })
}

/// `param mu normal(0, 1)`, `y normal(mu, sigma)`, `predict y normal(mu, sigma)`
fn missing_tilde(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let has_tilde = case.find(|i| case.text(i) == "~").is_some();
    let is_call = case.is_name(i) && case.text(i + 1) == "(";
    let fits = case.inside == Inside::Statements
        && !has_tilde
        && i > 0
        && (matches!(case.text(0), "param" | "predict") || case.is_name(0))
        && case.opening(i).is_none()
        && case.find(|i| case.text(i) == "=").is_none();
    (fits && is_call).then(|| {
        case.error(
            "missing-tilde",
            "a `~` is missing before the distribution",
            (i, i + 1),
            "expected `~` before this",
        )
        .help(write(&format!("{} ~ {}", case.written(0, i), case.written(i, case.len()))))
    })
}

/// `param a ~ normal(0, 1), b ~ normal(0, 1)`
fn several_parameters(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let fits =
        case.text(0) == "param" && case.found_text() == "," && case.before(i) == ")" && case.is_name(i + 1);
    fits.then(|| {
        let lines = format!("{}; param {}", case.written(0, i), case.written(i + 1, case.len()));
        case.error("several-names", "one `param` declares one name", (i, i + 1), "a second one")
            .help(write(&lines))
    })
}

/// `let x = 1..N`
fn range_as_value(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let defines = matches!(case.text(0), "let" | "derive") && (0..i).any(|k| case.text(k) == "=");
    let colon = defines && case.found_text() == ":" && case.opening(i).is_none() && case.begins_value(i + 1);
    (case.found_text() == ".." && case.text(0) != "for" || colon).then(|| {
        let from = case.value_before(i);
        let numbers = format!("seq({}, {})", case.written(from, i), case.written(i + 1, case.value_after(i + 1)));
        case.error(
            "range-as-value",
            "a range stands only in an index or in a loop",
            (from, case.value_after(i + 1)),
            "not a value",
        )
        .help(format!(
            "write `{numbers}` for these numbers, `x[2..K]` for a part of `x`, `for i in 1..N {{ ... }}` for a loop"
        ))
    })
}

/// `x[]`, `real[]`, `()`
fn empty_brackets(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let pair = format!("{}{}", case.before(i), case.found_text());
    (pair == "[]" || pair == "()").then(|| {
        let error = case.error(
            "empty-brackets",
            format!("nothing stands between `{}` and `{}`", &pair[..1], &pair[1..]),
            (i - 1, i + 1),
            "empty",
        );
        if pair == "[]" {
            error.help(
                "write the size or the index, such as `[N]`; for all of an array leave the brackets out",
            )
        } else {
            error
        }
    })
}

/// `x[, k]`, `x[i, , k]`
fn empty_index(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let open = case.opening(i)?;
    let is_index = case.text(open) == "[" && open > 0 && case.ends_value(open - 1);
    (is_index && case.found_text() == "," && matches!(case.before(i), "[" | ",")).then(|| {
        let close = case.closing(open).map_or(case.len(), |close| close + 1);
        let whole = case.written(case.value_before(open), i) + ":" + &case.written(i, close);
        case.error("empty-index", "all places of an axis are written `:`", (i, i + 1), "no index before this")
            .help(write(&whole))
    })
}

/// `2x`, `2 x`, `(a)(b)`
fn missing_operator(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let product =
        i > 0 && case.is_number(i - 1) && (case.is_name(i) && case.glued(i - 1) || case.found_text() == "(")
            || case.before(i) == ")" && case.found_text() == "(" && case.glued(i - 1)
            || case.before(i) == "'" && case.begins_value(i) && !matches!(case.found_text(), "-");
    product.then(|| {
        let from = case.value_before(i);
        let (a, b) = (case.written(from, i), case.written(i, case.value_after(i)));
        let message = format!(
            "an operator is missing between `{}` and `{}`",
            super::case::short(&a, 30),
            super::case::short(&b, 30)
        );
        case.error("missing-operator", message, (i, i + 1), "expected an operator before this")
            .help(write(&format!("{a} * {b}")))
    })
}

/// `normal(0 1)`
fn missing_comma(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let open = case.opening(i)?;
    (i > 0 && case.ends_value(i - 1) && case.begins_value(i) && case.text(open) != "{").then(|| {
        case.error(
            "missing-comma",
            "a comma or an operator is missing here",
            (i, i + 1),
            "expected `,` before this",
        )
        .help(format!(
            "write `{0}, {1}` for two values, `{0} * {1}` for a product",
            case.written(open + 1, i),
            case.written(i, case.value_after(i))
        ))
    })
}

/// `let a = 1 let b = 2` `param a ~ normal(0, 1) param b ~ normal(0, 1)`, `y ~ normal(a, s) x ~ normal(0,
/// s)`, `data { y : real[N] x : real[N] }`
fn two_statements(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let ended = i > 0 && case.opening(i).is_none() && (case.ends_value(i - 1) || case.before(i) == "}");
    let sign = case.is_name(i).then(|| case.text(case.value_after(i)));
    let (what, begins) = match case.inside {
        Inside::Data => ("declaration", case.is_name(i) && case.text(i + 1) == ":"),
        Inside::Statements => {
            ("statement", STARTERS.contains(&case.found_text()) || matches!(sign, Some("~" | "+=")))
        }
    };
    (ended && begins).then(|| {
        let message = format!("a new {what} begins on the same line");
        case.error("two-statements", message, (i, i + 1), "begins here")
            .help("put it on a line of its own, or write `;` before it")
    })
}

/// `mu + 1`, `print(x)`
fn no_effect(case: &Case<'_>) -> Option<Diagnostic> {
    let ended = case.found == case.len() && case.len() > 0 && case.ends_value(case.len() - 1);
    let is_value = case.begins_value(0);
    (ended && is_value && case.inside == Inside::Statements).then(|| {
        case.error("no-effect", "this value is not used for anything", (0, case.len()), "a value by itself")
            .help("give it a name with `let name = ...`, report it with `derive name = ...`, say how it is distributed with `... ~ normal(mu, sigma)`, or `return` it at the end of a function")
    })
}
