//! Marks where none or others stand: semicolons and braces inside brackets, `x!`, `(1 | g)`, a call in the
//! place of `~`.

use super::case::{Case, write};
use super::{Inside, Row};
use crate::source::Diagnostic;

/// Known mistakes, most telling first.
pub(super) const ROWS: &[Row] = &[
    group_term,
    semicolon_in_brackets,
    braces_as_index,
    bare_list,
    factorial,
    call_for_tilde,
    column_by_place,
    file_in_declaration,
];

/// `normal(a + (1 | g), s)`, `normal(a + (1 + x | g), s)`
fn group_term(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let open = case.opening(i).filter(|&open| case.found_text() == "|" && case.text(open) == "(")?;
    let group = case.text(i + 1);
    let term = matches!(case.before(open), "+" | "(" | "," | "~") && case.closing(open) == Some(i + 2);
    (term && case.is_name(i + 1)).then(|| {
        let message = "an effect of groups is a parameter with a place for each group";
        let help = match case.written(open + 1, i).as_str() {
            "1" => format!("write `r[{group}]`, and declare `param r[J] ~ normal(0, tau)`"),
            _ => format!("write `r[{group}] + b[{group}] .* x`, and declare `param r[J] ~ normal(0, tau)` and the slopes `b[J]`"),
        };
        case.error("group-term", message, (open, i + 3), "written as in R").help(help)
    })
}

/// `mean(x; axis = 1)`, `[1; 2; 3]`
fn semicolon_in_brackets(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let open = case.opening(i).filter(|&open| case.found_text() == ";" && case.text(open) != "{")?;
    let close = case.closing(open)?;
    let entries: Vec<String> = (open + 1..close)
        .map(|k| if case.text(k) == ";" { ",".to_owned() } else { case.text(k).to_owned() })
        .collect();
    let instead = entries.join(" ").replace(" ,", ",");
    let (opening, closing) = (case.text(open), case.text(close));
    let start = if open > 0 && case.is_name(open - 1) { open - 1 } else { open };
    let help = format!("{}{opening}{instead}{closing}", case.written(start, open));
    let message = "inside brackets commas stand between values";
    let error = case.error("semicolon-in-brackets", message, (i, i + 1), "expected `,`").help(write(&help));
    Some(match opening {
        "[" => error.note("the rows of a matrix are lists themselves: `[[1, 2], [3, 4]]`"),
        _ => error,
    })
}

/// `r{g}`
fn braces_as_index(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let glued = i > 0 && case.found_text() == "{" && case.is_name(i - 1) && case.glued(i - 1);
    let close = case.closing(i).filter(|_| glued && case.opening(i).is_some())?;
    let element = format!("{}[{}]", case.text(i - 1), case.written(i + 1, close));
    let message = "an index stands in brackets, not in braces";
    Some(case.error("index-braces", message, (i, close + 1), "expected `[...]`").help(write(&element)))
}

/// `let z = x[1], x[2]`
fn bare_list(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let equals = case.find(|k| case.text(k) == "=").filter(|&k| k < i && case.opening(i).is_none())?;
    let decimal = i > 0 && case.is_number(i - 1) && case.is_number(i + 1) && case.glued(i);
    (matches!(case.text(0), "let" | "derive") && case.found_text() == "," && !decimal).then(|| {
        let list = format!("{} [{}]", case.written(0, equals + 1), case.written(equals + 1, case.len()));
        case.error("list-brackets", "a list stands in `[ ]`", (i, i + 1), "not inside brackets")
            .help(write(&list))
    })
}

/// `x!`
fn factorial(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    (i > 0 && case.found_text() == "!" && case.ends_value(i - 1) && case.glued(i - 1)).then(|| {
        let value = case.written(case.value_before(i), i);
        let message = "`!` before a value is its negation; the factorial is a function";
        case.error("factorial", message, (i, i + 1), "not after a value")
            .help(format!("write `exp(lfactorial({value}))`, or `lfactorial({value})` for its logarithm"))
    })
}

/// `normal(y, a, s)`, `observe(y, normal(a, s))`
fn call_for_tilde(case: &Case<'_>) -> Option<Diagnostic> {
    let close = case.closing(1).filter(|&c| c + 1 == case.len() && case.text(1) == "(" && case.is_name(0))?;
    let entries = case.entries(2, close);
    let (left, right) = match (crate::dist::find(case.text(0)), &entries[..]) {
        (Some(row), [left, rest @ ..]) if rest.len() == row.args.len() => {
            (left, format!("{}({})", row.name, rest.join(", ")))
        }
        (None, [left, right]) if matches!(case.text(0), "observe" | "factor" | "sample") => {
            (left, right.clone())
        }
        _ => return None,
    };
    let message = "what a distribution describes stands before `~`, and is no argument of it";
    Some(case.error("call-for-tilde", message, (0, close + 1), "").help(write(&format!("{left} ~ {right}"))))
}

/// `x : real[N] = column(2)`
fn column_by_place(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let column = matches!(case.before(i.checked_sub(1)?), "column" | "columns") && case.before(i) == "(";
    (case.inside == Inside::Data && column && case.is_number(i)).then(|| {
        case.error(
            "column-by-place",
            "a column is known by its name, not by its place",
            (i, i + 1),
            "not a name",
        )
        .help("write the name as it stands in the first line of the file, in quotes: `column(\"...\")`")
    })
}

/// `y : real[N] from "data.csv"`
fn file_in_declaration(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    (case.inside == Inside::Data && matches!(case.found_text(), "from" | "file" | "in")).then_some(())?;
    case.text(i + 1).starts_with('"').then(|| {
        let message = "a declaration names no file: names are looked up in all the files that are given";
        case.error("file-in-declaration", message, (i, i + 2), "not here").help(format!(
            "leave it out, and give the file after the model: `stickler fit model.ppl {}`",
            case.text(i + 1).trim_matches('"')
        ))
    })
}
