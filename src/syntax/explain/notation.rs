//! Notation of mathematics and of scripts: `|x|`, sizes as ranges, a loop after what it repeats, a call that
//! fits a formula.

use super::case::{Case, write};
use super::{Inside, Row};
use crate::source::Diagnostic;

/// Known mistakes, most telling first.
pub(super) const ROWS: &[Row] = &[
    fit_call,
    noise_term,
    vertical_bars,
    size_as_range,
    trailing_for,
    inner_for,
    clause_after_comma,
    distribution_in_brackets,
    bare_function,
    spaced_product,
    size_after_prior,
    second_bracket,
    clause_after_tilde,
    list_in_other_brackets,
    tilde_for_colon,
    spaced_name,
    data_list,
    size_in_parentheses,
    other_word,
    other_unequal,
];

/// Functions of R and Python that fit a formula.
const FITS: [&str; 14] = [
    "brm",
    "lm",
    "glm",
    "lmer",
    "glmer",
    "gam",
    "gamm",
    "stan",
    "stan_glm",
    "stan_glmer",
    "stan_lmer",
    "ulam",
    "quap",
    "map2stan",
];

/// `fit <- brm(y ~ x, data = d)`
fn fit_call(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.find(|i| FITS.contains(&case.text(i)) && case.text(i + 1) == "(")?;
    let starts = i == 0 || matches!(case.before(i), "=" | "-" | ":") && case.opening(i).is_none();
    starts.then(|| {
        let message = format!("a model is written out, term by term: there is no `{}`", case.text(i));
        case.error("fit-call", message, (i, i + 1), "written as in R")
            .help("write a `param` with its prior for each term, and `y ~ normal(a + b * x, sigma)`; `stickler fit model.ppl data.csv` fits it")
    })
}

/// Distributions that a value added to what they describe shifts.
const SHIFTED: [&str; 5] = ["normal", "student_t", "cauchy", "logistic", "double_exponential"];

/// `y ~ a + b * x + normal(0, sigma)`
fn noise_term(case: &Case<'_>) -> Option<Diagnostic> {
    let tilde = case.find(|i| case.text(i) == "~" && case.opening(i).is_none())?;
    let is_dist = |i: usize| case.text(i + 1) == "(" && crate::dist::find(case.text(i)).is_some();
    let noise = (tilde + 1..case.len()).find(|&i| is_dist(i))?;
    let close = case.closing(noise + 1)?;
    let mut entries = case.entries(noise + 2, close);
    let row = crate::dist::find(case.text(noise)).filter(|row| SHIFTED.contains(&row.name))?;
    let location = row.args.iter().position(|a| a.name == "mu")?;
    let last = close + 1 == case.len() && case.before(noise) == "+" && case.opening(noise).is_none();
    if !last || entries.len() != row.args.len() || entries.iter().any(|entry| entry.contains('=')) {
        return None;
    }
    let predictor = case.written(tilde + 1, noise - 1);
    entries[location] = match entries[location].as_str() {
        "0" => predictor,
        shift => format!("{predictor} + {shift}"),
    };
    let help = format!("{} ~ {}({})", case.written(0, tilde), row.name, entries.join(", "));
    let message = "the noise is not a term of a sum: the sum is the location of its distribution";
    Some(case.error("formula", message, (tilde + 1, case.len()), "").help(write(&help)))
}

/// `|x|`, `||x||`
fn vertical_bars(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.find(|i| matches!(case.text(i), "|" | "||") && (i == 0 || !case.ends_value(i - 1)))?;
    let end = (i + 1..case.len()).find(|&k| case.text(k) == case.text(i))?;
    let function = if case.text(i) == "|" { "abs" } else { "norm" };
    let instead = format!("{function}({})", case.written(i + 1, end));
    let message = format!("what stands between bars in mathematics is written `{function}(...)`");
    Some(case.error("vertical-bars", message, (i, end + 1), "no brackets here").help(write(&instead)))
}

/// `param c[1:J]`, `param c[1..J]`, `y : real[1:N]`
fn size_as_range(case: &Case<'_>) -> Option<Diagnostic> {
    let sizes = |i: usize| {
        case.text(i) == "["
            && (case.text(0) == "param" && i == 2
                || case.inside == Inside::Data && i > 1 && case.text(i - 2) == ":")
    };
    let open = case.find(sizes)?;
    let close = case.closing(open)?;
    let plain = |entry: String| {
        let rest = entry.strip_prefix('1').map(str::trim_start);
        let size = rest.and_then(|r| r.strip_prefix("..").or_else(|| r.strip_prefix(':')));
        size.map_or(entry.clone(), |size| size.trim().to_owned())
    };
    let entries = case.entries(open + 1, close);
    let instead: Vec<String> = entries.iter().cloned().map(plain).collect();
    (instead != entries).then(|| {
        let sizes = format!("[{}]", instead.join(", "));
        case.error(
            "size-as-range",
            "a size is one number, and places count from 1",
            (open + 1, close),
            "a range",
        )
        .help(write(&case.with(open, close + 1, &sizes)))
    })
}

/// `param c[j] ~ normal(0, 1) for j in 1..J`, `y[i] ~ normal(a, s) for i in 1..N`
fn trailing_for(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    if case.found_text() != "for" || i == 0 || case.opening(i).is_some() || !case.ends_value(i - 1) {
        return None;
    }
    let range = case.find(|k| case.text(k) == "..").filter(|&k| k > i)?;
    let end = case.written(range + 1, case.len());
    let error = case.error(
        "trailing-for",
        "a loop stands before what it repeats",
        (i, case.len()),
        "after a statement",
    );
    let of_loop = format!("[{}]", case.text(i + 1));
    let tilde = case.find(|k| case.text(k) == "~").filter(|_| case.text(0) == "param");
    Some(match tilde {
        Some(tilde) if case.written(2, tilde) == of_loop => error
            .help(write(&format!("param {}[{end}] {}", case.text(1), case.written(tilde, i))))
            .note("one `param` declares the whole array"),
        Some(_) => error
            .help("one `param` declares the whole array: write for example `param c[J, K] ~ normal(0, 1)`"),
        None => error.help(write(&format!("{} {{ {} }}", case.written(i, case.len()), case.written(0, i)))),
    })
}

/// `sum(x^2 for x in y)`, `let z = [x[i] for i in 1..N]`
fn inner_for(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let open = case.opening(i).filter(|_| case.found_text() == "for" && case.ends_value(i - 1))?;
    let close = case.closing(open)?;
    let message = "no loop stands inside a value: operations apply to every element of an array";
    let error = case.error("inner-for", message, (i, close), "written as in Python");
    let whole = case.text(0) == "let" && case.text(2) == "=" && open == 3 && close + 1 == case.len();
    let counted = (i..close).any(|k| case.text(k) == "..");
    Some(match whole && case.text(open) == "[" && counted {
        true => error.help(write(&format!(
            "{} {{ let {}[{}] = {} }}",
            case.written(i, close),
            case.text(1),
            case.text(i + 1),
            case.written(open + 1, i)
        ))),
        false => error
            .help("write for example `x^2` for all squares, `sum(x^2)` for their sum, `x[2..N]` for a part"),
    })
}

/// `param c ~ normal(0, 1), noncentered`
fn clause_after_comma(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let clause = matches!(case.text(i + 1), "noncentered" | "centered" | "weight");
    (case.found_text() == "," && case.opening(i).is_none() && case.before(i) == ")" && clause).then(|| {
        let message = format!("no comma stands before `{}`", case.text(i + 1));
        let instead = format!("{} {}", case.written(0, i), case.written(i + 1, case.len()));
        case.error("clause-after-comma", message, (i, i + 1), "not needed").help(write(&instead))
    })
}

/// Words that follow a distribution.
const CLAUSES: [&str; 4] = ["noncentered", "centered", "weight", "missing"];

/// `y ~ normal[a, s]`, `y ~ normal a s`, `y ~ normal{a, s}`
fn distribution_in_brackets(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found.checked_sub(1).filter(|&i| case.before(i) == "~")?;
    let row = crate::dist::find(case.text(i))?;
    let arguments = match case.found_text() {
        "[" => case.written(case.found + 1, case.closing(case.found)?),
        _ if case.begins_value(case.found) && !CLAUSES.contains(&case.found_text()) => {
            row.args.iter().map(|a| a.name).collect::<Vec<_>>().join(", ")
        }
        _ => return None,
    };
    let message = "the arguments of a distribution stand in parentheses, with commas between them";
    let instead = format!("{} {}({arguments})", case.written(0, i), row.name);
    Some(
        case.error("distribution-brackets", message, (case.found, case.found + 1), "expected `(`")
            .help(write(&instead)),
    )
}

/// `exp x`, `sqrt x`
fn bare_function(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found.checked_sub(1).filter(|&i| case.is_name(i) && !case.is_data(case.text(i)))?;
    let name = case.text(i);
    if name == "not" {
        return None;
    }
    let known = crate::ops::scalar::find(name).is_some() || crate::func::find(name).is_some();
    let follows = case.is_name(case.found) || case.is_number(case.found);
    (known && follows && !case.begins_line(case.found)).then(|| {
        let argument = case.written(case.found, case.value_after(case.found));
        let message = format!("the argument of `{name}` stands in parentheses");
        case.error("bare-function", message, (case.found, case.found + 1), "expected `(` before this")
            .help(write(&format!("{name}({argument})")))
    })
}

/// `2 x`
fn spaced_product(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let word = matches!(case.found_text(), "and" | "or" | "xor" | "mod" | "div" | "to");
    let product = i > 0 && case.is_number(i - 1) && case.is_name(i) && !case.glued(i - 1) && !word;
    (product && case.opening(i).is_none() && case.find(|k| case.text(k) == "=").is_some()).then(|| {
        let (a, b) = (case.text(i - 1), case.written(i, case.value_after(i)));
        let message = format!("an operator is missing between `{a}` and `{b}`");
        case.error("missing-operator", message, (i, i + 1), "expected an operator before this")
            .help(write(&format!("{a} * {b}")))
    })
}

/// `param c ~ normal(0, 1) [J]`
fn size_after_prior(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let close = case.closing(i).filter(|close| close + 1 == case.len())?;
    let tilde = case.find(|k| case.text(k) == "~").filter(|&t| t < i && case.before(i) == ")")?;
    (case.text(0) == "param" && case.found_text() == "[" && tilde == 2).then(|| {
        let sizes = case.written(i, close + 1);
        let instead = format!("param {}{sizes} {}", case.text(1), case.written(tilde, i));
        case.error(
            "misplaced-size",
            "the size of a parameter stands after its name",
            (i, close + 1),
            "not here",
        )
        .help(write(&instead))
    })
}

/// `param b[P][2] ~ normal(0, 1)`
fn second_bracket(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let open = case.opening(i.checked_sub(1)?)?;
    let close = case.closing(i)?;
    let sizes = case.text(0) == "param" && open == 2 || case.inside == Inside::Data;
    (sizes && case.before(i) == "]" && case.found_text() == "[").then(|| {
        let all = format!("[{}, {}]", case.written(open + 1, i - 1), case.written(i + 1, close));
        case.error(
            "second-bracket",
            "all sizes stand in one pair of brackets",
            (i, close + 1),
            "a second pair",
        )
        .help(write(&case.with(open, close + 1, &all)))
    })
}

/// `param c[J] ~ noncentered normal(a, s)`
fn clause_after_tilde(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.find(|i| case.before(i) == "~" && matches!(case.text(i), "noncentered" | "centered"))?;
    (case.text(0) == "param" && case.is_name(i + 1)).then(|| {
        let word = case.text(i);
        let moved = format!("{} {} {word}", case.written(0, i), case.written(i + 1, case.len()));
        let message = format!("`{word}` follows the prior");
        case.error("misplaced-clause", message, (i, i + 1), "not here").help(write(&moved))
    })
}

/// Whether a list in braces, which is no block, is where the statement fails.
pub(super) fn is_braced_list(case: &Case<'_>) -> bool {
    matches!(case.text(0), "let" | "derive") && case.before(case.found) == "=" && case.found_text() == "{"
}

/// `let z = {1, 2, 3}`, `let z = (1, 2, 3)`
fn list_in_other_brackets(case: &Case<'_>) -> Option<Diagnostic> {
    let equals = case.find(|i| case.text(i) == "=").filter(|_| matches!(case.text(0), "let" | "derive"))?;
    let open = equals + 1;
    let bracket = case.text(open);
    let tuple = bracket == "(" && case.found_text() == "," && case.opening(case.found) == Some(open);
    if !(tuple || bracket == "{" && case.found == open) {
        return None;
    }
    let list = case.closing(open).map(|close| case.written(open + 1, close)).filter(|list| !list.is_empty());
    let list = list.unwrap_or_else(|| "1, 2, 3".to_owned());
    let message = format!("a list stands in `[ ]`, not in `{bracket}`");
    let error = case.error("list-brackets", message, (open, open + 1), "expected `[`");
    Some(error.help(write(&format!("{} [{list}]", case.written(0, open)))))
}

/// `data { y ~ real[N] }`
fn tilde_for_colon(case: &Case<'_>) -> Option<Diagnostic> {
    let head = matches!(case.text(2), "real" | "int" | "binary" | "count" | "category");
    (case.inside == Inside::Data && case.text(1) == "~" && head).then(|| {
        let message = format!("a `:` stands between the name `{}` and its type", case.text(0));
        case.error("missing-colon", message, (1, 2), "expected `:`").help(write(&case.with(1, 2, ":")))
    })
}

/// `data { Body Mass : real[N] }`
fn spaced_name(case: &Case<'_>) -> Option<Diagnostic> {
    let colon = case.find(|i| case.text(i) == ":").filter(|_| case.inside == Inside::Data)?;
    let words = colon > 1 && (0..colon).all(|i| case.is_word(i) || i > 0 && case.is_number(i));
    (words && case.found == 1).then(|| {
        let column = case.written(0, colon);
        let name = (0..colon).map(|i| case.text(i)).collect::<Vec<_>>().join("_");
        let rest = case.written(colon, case.len());
        let message = "a name has letters, digits and `_` only, and no blanks";
        let error = case.error("spaced-name", message, (0, colon), "several words");
        match rest.contains('=') {
            true => error.help(write(&format!("{name} {rest}"))),
            false => error.help(write(&format!("{name} {rest} = column(\"{column}\")"))),
        }
    })
}

/// `data y, x`
fn data_list(case: &Case<'_>) -> Option<Diagnostic> {
    let names = case.text(0) == "data" && (1..case.len()).all(|i| case.is_name(i) || case.text(i) == ",");
    (names && case.len() > 2 && case.is_name(1)).then(|| {
        let declared: Vec<String> =
            case.entries(1, case.len()).iter().map(|name| format!("{name} : real[N]")).collect();
        let help = write(&format!("data {{ {} }}", declared.join("; ")));
        let message = "every name among the data has a type of its own";
        case.error("no-type", message, (1, case.len()), "of what types?").help(help)
    })
}

/// `param c(J) ~ normal(0, 1)`
fn size_in_parentheses(case: &Case<'_>) -> Option<Diagnostic> {
    let declares = matches!(case.text(0), "param" | "let" | "derive" | "predict");
    let close = case.closing(2).filter(|_| declares && case.found == 2 && case.text(2) == "(")?;
    let sizes = format!("[{}]", case.written(3, close));
    let message = "sizes and indices stand in brackets";
    let error = case.error("size-brackets", message, (2, close + 1), "expected `[...]`");
    Some(error.help(write(&case.with(2, close + 1, &sizes))))
}

/// `var z = x`, `const z = x`, `observe y ~ normal(a, s)`
fn other_word(case: &Case<'_>) -> Option<Diagnostic> {
    let ours = match (case.text(0), case.text(case.value_after(1))) {
        ("var" | "const" | "local" | "auto" | "val", "=") => "let ",
        ("observe" | "obs" | "observed", "~") => "",
        _ => return None,
    };
    case.is_name(1).then(|| {
        let message = format!("no statement begins with `{}`", case.text(0));
        let instead = format!("{ours}{}", case.written(1, case.len()));
        case.error("other-word", message, (0, 1), "written as in another language").help(write(&instead))
    })
}

/// `x <> 0`, `x =! 0`
fn other_unequal(case: &Case<'_>) -> Option<Diagnostic> {
    let other = |i: usize| case.reads(i, &["<", ">"]) || case.reads(i, &["=", "!"]) && i == case.found;
    let i = case.find(|i| other(i) && case.glued(i))?;
    let message = format!("`{}` is written `!=`", case.written(i, i + 2));
    let error = case.error("other-unequal", message, (i, i + 2), "not an operator here");
    Some(error.help(write(&case.with(i, i + 2, "!="))))
}
