//! What a Stan or BUGS user writes: blocks, declarations with the type in front, bounds in angle brackets,
//! `T[,]`.

use super::case::{Case, write};
use super::{Inside, Row};
use crate::source::{Diagnostic, nearest};

/// Known mistakes, most telling first.
pub(super) const ROWS: &[Row] = &[block, declaration, type_after_colon, truncation, for_parentheses];

/// Heads of types in Stan that have another name here.
const FOREIGN_HEADS: [&str; 5] = ["vector", "row_vector", "matrix", "array", "sum_to_zero_vector"];

/// Heads of types.
const HEADS: [&str; 16] = [
    "real",
    "int",
    "binary",
    "count",
    "category",
    "simplex",
    "ordered",
    "positive_ordered",
    "unit_vector",
    "sum_to_zero",
    "corr_matrix",
    "cov_matrix",
    "cholesky_corr",
    "cholesky_cov",
    "cholesky_factor_corr",
    "cholesky_factor_cov",
];

/// Words for types in other languages, with ours.
const OTHER_HEADS: [(&str, &str); 15] = [
    ("float", "real"),
    ("double", "real"),
    ("number", "real"),
    ("numeric", "real"),
    ("integer", "int"),
    ("bool", "binary"),
    ("boolean", "binary"),
    ("logical", "binary"),
    ("string", "category"),
    ("str", "category"),
    ("factor", "category"),
    ("complex", "real"),
    ("positive", "real > 0"),
    ("nonnegative", "real > 0"),
    ("probability", "real in (0, 1)"),
];

/// Bounds in angle brackets from token `i` on, as they are written here, and the token after them.
pub(super) fn bounds_in_angles(case: &Case<'_>, i: usize) -> Option<(String, usize)> {
    let mut ty = StanType { head: "real".into(), end: i, ..StanType::default() };
    (case.text(i) == "<" && is_bound_name(case.text(i + 1)) && case.text(i + 2) == "=").then_some(())?;
    ty.angle(case)?;
    Some((ty.our_bounds(), ty.end))
}

/// Whether the statement is a block that only Stan or BUGS has.
pub(super) fn is_foreign_block(case: &Case<'_>) -> bool {
    matches!(case.text(0), "parameters" | "transformed" | "model" | "generated" | "functions")
        && (case.text(1) == "{" || case.is_word(1) && case.text(2) == "{")
}

fn block(case: &Case<'_>) -> Option<Diagnostic> {
    if !is_foreign_block(case) {
        return None;
    }
    let words = if case.text(1) == "{" { 1 } else { 2 };
    let name = case.written(0, words);
    let help = match name.as_str() {
        "parameters" => {
            "write each parameter and its prior on one line, without a block: `param mu ~ normal(0, 5)`"
        }
        "transformed parameters" => {
            "define quantities where they are needed, without a block: `let eta = a + b * x`"
        }
        "transformed data" => {
            "define quantities where they are needed, without a block: `let z = (x - mean(x)) / sd(x)`"
        }
        "model" => "write its statements by themselves, without a block: `y ~ normal(mu, sigma)`",
        "generated quantities" => {
            "write `derive name = ...` for what is computed, and `predict name[N] ~ ...` for what is simulated"
        }
        _ => "write each function by itself, without a block: `fn f(x) = x^2`",
    };
    let message = format!("there is no `{name}` block in this language; only data stand in a block");
    Some(case.error("stan-block", message, (0, words), "not a block here").help(help))
}

/// A type in Stan's spelling.
#[derive(Default)]
struct StanType {
    head: String,
    array: Vec<String>,
    sizes: Vec<String>,
    bounds: Vec<(String, String)>,
    /// One past its last token.
    end: usize,
}

impl StanType {
    /// The type that begins at token `i`, if one does.
    fn read(case: &Case<'_>, i: usize) -> Option<Self> {
        let mut ty = Self { end: i, ..Self::default() };
        if case.text(i) == "array" {
            ty.array = ty.bracket(case)?;
        }
        let head = case.text(ty.end);
        if !(HEADS.contains(&head) || FOREIGN_HEADS.contains(&head)) {
            return None;
        }
        ty.head = head.to_owned();
        ty.end += 1;
        loop {
            match case.text(ty.end) {
                "[" if ty.sizes.is_empty() => {
                    ty.end -= 1;
                    ty.sizes = ty.bracket(case)?;
                }
                "<" if is_bound_name(case.text(ty.end + 1)) && case.text(ty.end + 2) == "=" => {
                    ty.angle(case)?
                }
                _ => return Some(ty),
            }
        }
    }

    /// The entries of the bracket after the token at `end`; moves past it.
    fn bracket(&mut self, case: &Case<'_>) -> Option<Vec<String>> {
        let open = self.end + 1;
        if case.text(open) != "[" {
            return None;
        }
        let close = case.closing(open)?;
        self.end = close + 1;
        Some(case.entries(open + 1, close))
    }

    /// `<lower=0, upper=1>`
    fn angle(&mut self, case: &Case<'_>) -> Option<()> {
        let close = (self.end..case.len()).find(|&i| case.text(i) == ">")?;
        let mut at = self.end + 1;
        while at < close {
            let end = (at..close)
                .find(|&i| case.text(i) == "," && is_bound_name(case.text(i + 1)))
                .unwrap_or(close);
            self.bounds.push((case.text(at).to_owned(), case.written(at + 2, end)));
            at = end + 1;
        }
        self.end = close + 1;
        Some(())
    }

    fn bound(&self, name: &str) -> Option<&str> {
        self.bounds.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Whether the elements are plain numbers, so that all sizes can stand together.
    fn is_plain(&self) -> bool {
        matches!(self.head.as_str(), "real" | "int" | "vector" | "row_vector" | "matrix")
    }

    /// Our head for it.
    fn our_head(&self) -> &str {
        match self.head.as_str() {
            "vector" | "row_vector" | "matrix" | "array" => "real",
            "sum_to_zero_vector" => "sum_to_zero",
            "int" if self.bound("lower") == Some("0") && self.bound("upper") == Some("1") => "binary",
            "int"
                if self.bound("lower") == Some("0") && !(self.array.is_empty() && self.sizes.is_empty()) =>
            {
                "count"
            }
            head => head,
        }
    }

    /// What follows head and sizes: ` > 0`, ` in (0, 1)`.
    fn our_bounds(&self) -> String {
        if matches!(self.our_head(), "binary" | "count") {
            return String::new();
        }
        let equal = if self.head == "int" { "=" } else { "" };
        let mut text = match (self.bound("lower"), self.bound("upper")) {
            (Some(lower), Some(upper)) if self.head == "int" => format!(" in [{lower}, {upper}]"),
            (Some(lower), Some(upper)) => format!(" in ({lower}, {upper})"),
            (Some(lower), None) => format!(" >{equal} {lower}"),
            (None, Some(upper)) => format!(" <{equal} {upper}"),
            (None, None) => String::new(),
        };
        for name in ["offset", "multiplier"] {
            if let Some(value) = self.bound(name) {
                text.push_str(&format!(" {name} {value}"));
            }
        }
        text
    }

    /// The type as a declaration of data writes it.
    fn as_data(&self) -> String {
        let sizes: Vec<&str> = self.array.iter().chain(&self.sizes).map(String::as_str).collect();
        format!("{}{}{}", self.our_head(), bracketed(&sizes), self.our_bounds())
    }

    /// `param name[sizes] : type`
    fn as_param(&self, name: &str) -> String {
        let array = self.array.iter().map(String::as_str);
        if !self.is_plain() {
            let sizes: Vec<&str> = self.sizes.iter().map(String::as_str).collect();
            let array: Vec<&str> = array.collect();
            return format!("param {name}{} : {}{}", bracketed(&array), self.our_head(), bracketed(&sizes));
        }
        let sizes: Vec<&str> = array.chain(self.sizes.iter().map(String::as_str)).collect();
        let bounds = self.our_bounds();
        let ty = if bounds.is_empty() { String::new() } else { format!(" : real{bounds}") };
        format!("param {name}{}{ty}", bracketed(&sizes))
    }

    /// Code and message for what is Stan's about it.
    fn complaint(&self) -> (&'static str, String) {
        if !self.bounds.is_empty() {
            (
                "stan-bounds",
                "bounds are written after the type as in `real > 0`, not in angle brackets".to_owned(),
            )
        } else if !self.array.is_empty() {
            (
                "stan-array",
                "there is no `array`: sizes stand in the brackets after the type, as in `int[N]`".to_owned(),
            )
        } else if FOREIGN_HEADS.contains(&self.head.as_str()) {
            let head = &self.head;
            (
                "stan-vector",
                format!("there is no type `{head}`: vectors and matrices are `real[N]` and `real[N, K]`"),
            )
        } else {
            ("stan-declaration", "the type comes after the name, not before it".to_owned())
        }
    }
}

/// Whether the word names a bound between angle brackets.
pub(super) fn is_bound_name(text: &str) -> bool {
    matches!(text, "lower" | "upper" | "offset" | "multiplier")
}

fn bracketed(sizes: &[&str]) -> String {
    if sizes.is_empty() { String::new() } else { format!("[{}]", sizes.join(", ")) }
}

/// `vector[N] y`, `real<lower=0> sigma`, `array[N] int k`, `int N`, with whatever follows.
fn declaration(case: &Case<'_>) -> Option<Diagnostic> {
    let start = usize::from(matches!(case.text(0), "param" | "let" | "derive"));
    let mut ty = StanType::read(case, start)?;
    if !case.is_name(ty.end) {
        return None;
    }
    let name = case.text(ty.end);
    let named = ty.end;
    if case.inside == Inside::Statements && case.text(named + 1) == "(" {
        return Some(function(case, name, named));
    }
    if case.text(named + 1) == "[" {
        ty.end = named;
        let sizes = ty.bracket(case)?;
        ty.array.splice(0..0, sizes);
    } else {
        ty.end = named + 1;
    }
    let (code, message) = ty.complaint();
    let error = case.error(code, message, (start, named + 1), "written as in Stan");
    Some(declared_here(case, error, &ty, name))
}

/// `real f(real x, vector y) { ... }`
fn function(case: &Case<'_>, name: &str, named: usize) -> Diagnostic {
    let close = case.closing(named + 1).unwrap_or(case.len());
    let entries = case.entries(named + 2, close);
    let names: Vec<&str> = entries.iter().map(|e| e.rsplit(' ').next().unwrap_or(e)).collect();
    let message = "a function is defined with `fn`, and neither it nor its arguments have types";
    case.error("function-word", message, (0, named + 1), "written as in Stan")
        .help(format!("write `fn {name}({}) {{ ... return ... }}`", names.join(", ")))
}

/// What to write for a declaration, which depends on where it stands and on what follows.
fn declared_here(case: &Case<'_>, error: Diagnostic, ty: &StanType, name: &str) -> Diagnostic {
    let rest = case.written(ty.end + 1, case.len());
    match (case.inside, case.text(ty.end)) {
        (Inside::Data, _) => {
            let error = error.help(write(&format!("{name} : {}", ty.as_data())));
            let is_size = ty.head == "int" && ty.array.is_empty() && ty.sizes.is_empty();
            if is_size {
                error.note(format!(
                    "a size such as `{name}` need not be declared: using it in `real[{name}]` is enough"
                ))
            } else {
                error
            }
        }
        (Inside::Statements, "=") => error.help(write(&format!("let {name} = {rest}"))),
        (Inside::Statements, "~") => error.help(write(&format!("{} ~ {rest}", ty.as_param(name)))),
        (Inside::Statements, _) if matches!(ty.our_head(), "int" | "binary" | "count" | "category") => {
            error.help(write(&format!("data {name} : {}", ty.as_data())))
        }
        (Inside::Statements, _) => error.help(format!(
            "write `{} ~ ...` with its prior if it is to be learnt, or `data {name} : {}` if it is given",
            ty.as_param(name),
            ty.as_data()
        )),
    }
}

/// `x : vector[N]`, `param s : real<lower=0>`, `x : float`.
fn type_after_colon(case: &Case<'_>) -> Option<Diagnostic> {
    let start = usize::from(matches!(case.text(0), "data" | "param"));
    let colon = case.value_after(start);
    if !(start == 1 || case.inside == Inside::Data) || case.text(colon) != ":" {
        return None;
    }
    let at = colon + 1;
    if let Some(ty) = StanType::read(case, at) {
        let (code, message) = ty.complaint();
        let is_ours = code == "stan-declaration";
        return (!is_ours).then(|| {
            let help = write(&case.with(at, ty.end, &ty.as_data()));
            case.error(code, message, (at, ty.end), "written as in Stan").help(help)
        });
    }
    if !case.is_word(at) || HEADS.contains(&case.text(at)) {
        return None;
    }
    let word = case.text(at);
    let known = OTHER_HEADS.iter().find(|(other, _)| other.eq_ignore_ascii_case(word)).map(|(_, ours)| *ours);
    let error =
        case.error("unknown-type", format!("there is no type called `{word}`"), (at, at + 1), "unknown type");
    Some(match known.or_else(|| nearest(word, HEADS)) {
        Some(ours) => error.help(write(&case.with(at, at + 1, ours))),
        None => error.help("the types are real, int, binary, count, category and the constrained ones, such as simplex and ordered"),
    })
}

/// `y ~ normal(mu, sigma) T[0, ]`, and BUGS' `T(0, )` and `I(0, )`.
fn truncation(case: &Case<'_>) -> Option<Diagnostic> {
    let tilde = case.find(|i| case.text(i) == "~" && case.opening(i).is_none())?;
    let letter = (tilde..case.len()).find(|&i| {
        case.text(i) == ")" && matches!(case.text(i + 1), "T" | "I") && matches!(case.text(i + 2), "[" | "(")
    })? + 1;
    let close = case.closing(letter + 1)?;
    let limits = case.entries(letter + 2, close);
    let named = ["lower", "upper"].iter().zip(&limits).filter(|(_, value)| !value.is_empty());
    let named: String = named.map(|(name, value)| format!(", {name} = {value}")).collect();
    let cut = format!("truncated({}{named})", case.written(tilde + 1, letter));
    let message =
        format!("truncation is written `truncated(...)`, not `{}`", case.written(letter, close + 1));
    let help = write(&case.with(tilde + 1, close + 1, &cut));
    Some(case.error("stan-truncation", message, (letter, close + 1), "written as in Stan").help(help))
}

/// `for (i in 1:N) {`, `for (int i = 0; i < N; i++) {`
fn for_parentheses(case: &Case<'_>) -> Option<Diagnostic> {
    if !case.reads(0, &["for", "("]) {
        return None;
    }
    let close = case.closing(1)?;
    let range = case.written(2, close);
    if range.contains(';') {
        let name = usize::from(case.text(2) == "int") + 2;
        let message = "a loop runs over a range with both ends, and places count from 1";
        return Some(
            case.error("for-parentheses", message, (1, close + 1), "written as in C")
                .help(format!("write `for {} in 1..N {{ ... }}`", case.text(name))),
        );
    }
    let range = range.replacen(':', "..", 1);
    let help = format!("write `for {range} {{ ... }}`; both ends are included");
    let message = "a loop has no parentheses around its range";
    Some(case.error("for-parentheses", message, (1, close + 1), "no parentheses here").help(help))
}
