//! What belongs to a parameter or a distribution, and stands in another place than it has: bounds,
//! `noncentered`, `weight`, `missing`.

use super::case::{Case, write};
use crate::source::Diagnostic;

/// `y ~ normal(0, 1) noncentered`, `param x ~ normal(0, 1) weight w`, `x : real[N] = column("X") missing`
pub(super) fn misplaced_clause(case: &Case<'_>) -> Option<Diagnostic> {
    let word = case.found_text();
    let equals = (0..case.found).find(|&i| case.text(i) == "=");
    let message = match (word, case.text(0)) {
        ("noncentered" | "centered", "predict") => {
            format!("`{word}` is about parameters; a prediction has none")
        }
        ("noncentered" | "centered", _) => {
            format!("`{word}` belongs to the line that declares the parameter")
        }
        ("weight", "param" | "predict") => {
            "`weight` belongs to a statement about data, such as `y ~ poisson(mu) weight w`".to_owned()
        }
        ("missing" | "of" | "levels", "param") => format!("`{word}` is about data, not about parameters"),
        ("missing" | "of" | "levels", _) if equals.is_some() => {
            format!("`{word}` belongs to the type, before `=`")
        }
        _ => return None,
    };
    let error = case.error("misplaced-clause", message, (case.found, case.found + 1), "not here");
    Some(match (word, equals) {
        ("noncentered", _) if case.text(0) != "predict" => {
            error.help("write `param theta[J] ~ normal(mu, tau) noncentered`")
        }
        ("missing", Some(i)) if case.text(0) != "param" => {
            let (ty, column) = (case.written(0, i), case.written(i, case.found));
            error.help(write(&format!("{ty} missing {column}")))
        }
        _ => error,
    })
}

/// `param x ~ normal(m, s) noncentred`
pub(super) fn misspelt_clause(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let meant = match case.found_text() {
        "noncentred" | "non_centered" | "non_centred" | "uncentered" | "uncentred" => "noncentered",
        "centred" => "centered",
        "weights" | "weighted" => "weight",
        _ => return None,
    };
    let after = i > 0 && case.ends_value(i - 1);
    let message = format!("there is no `{}` here", case.found_text());
    after.then(|| {
        case.error("misspelt-clause", message, (i, i + 1), "").help(write(&case.with(i, i + 1, meant)))
    })
}

/// `param x[J] noncentered ~ normal(m, s)`
pub(super) fn clause_before_prior(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found.checked_sub(1)?;
    let word = case.text(i);
    let fits =
        case.text(0) == "param" && case.found_text() == "~" && matches!(word, "noncentered" | "centered");
    fits.then(|| {
        let moved = format!("{} {} {word}", case.written(0, i), case.written(i + 1, case.len()));
        let message = format!("`{word}` follows the prior");
        case.error("misplaced-clause", message, (i, i + 1), "not here").help(write(&moved))
    })
}

/// `param s ~ normal(0, 1) > 0`
pub(super) fn bounds_after_prior(case: &Case<'_>) -> Option<Diagnostic> {
    let i = case.found;
    let tilde = case.find(|k| case.text(k) == "~")?;
    let is_bound = matches!(case.found_text(), ">" | ">=" | "<" | "<=") && case.before(i) == ")";
    (case.text(0) == "param" && is_bound && tilde < i).then(|| {
        let bounds = case.written(i, case.len());
        let moved = format!("{} : real {bounds} {}", case.written(0, tilde), case.written(tilde, i));
        let message = "the bounds of a parameter stand in its type, before the prior";
        case.error("misplaced-clause", message, (i, case.len()), "not here").help(write(&moved))
    })
}

/// `y ~ weibull(a, b) censored(right = c)`, `y ~ weibull(a, b) censored c`
pub(super) fn trailing_combination(case: &Case<'_>) -> Option<Diagnostic> {
    let (word, i) = (case.found_text(), case.found);
    let known = matches!(word, "truncated" | "censored" | "zero_inflated");
    let tilde = (0..i).find(|&j| case.text(j) == "~").filter(|_| known)?;
    let end = case.len();
    let distribution = case.written(tilde + 1, i);
    let arguments = match case.text(i + 1) {
        "(" if end > i + 3 => case.written(i + 2, end - 1),
        "(" | "" => "...".into(),
        _ if word == "censored" => format!("right = {}", case.written(i + 1, end)),
        _ => case.written(i + 1, end),
    };
    let inner = match word {
        "zero_inflated" => format!("{arguments}, {distribution}"),
        _ => format!("{distribution}, {arguments}"),
    };
    let message = format!("`{word}` stands around the distribution, not after it");
    let error = case.error("trailing-combination", message, (i, i + 1), "not here");
    Some(error.help(write(&format!("{} {word}({inner})", case.written(0, tilde + 1)))))
}
