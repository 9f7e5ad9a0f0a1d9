//! Arguments of calls: put in order by position and by name, and what is said of those that do not fit.

use super::types::Type;
use super::{Elaborator, Result};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::Arg;

impl Elaborator<'_> {
    /// Arguments put in order, by position and by name. Optional ones that were not given are None.
    pub(super) fn arguments(
        &mut self,
        what: &str,
        names: &[&str],
        required: &[bool],
        args: &[Arg],
        span: Span,
    ) -> Result<Vec<Option<Type>>> {
        let mut values: Vec<Option<Type>> = vec![None; names.len()];
        for (i, arg) in args.iter().enumerate() {
            let place = match &arg.name {
                Some(name) => names
                    .iter()
                    .position(|n| *n == name.name)
                    .ok_or_else(|| unknown_argument(what, names, &name.name).label(name.span, ""))?,
                None => i,
            };
            let value = self.expr(&arg.value)?;
            match values.get_mut(place) {
                Some(slot @ None) => *slot = Some(value),
                Some(Some(_)) => {
                    return Err(Diagnostic::error(
                        "argument-twice",
                        format!("`{}` is given twice", names[place]),
                    )
                    .label(arg.value.span, ""));
                }
                None => return Err(arity(what, names, required, args.len(), span)),
            }
        }
        if values.iter().zip(required).any(|(v, r)| *r && v.is_none()) {
            return Err(arity(what, names, required, args.len(), span));
        }
        Ok(values)
    }
}

/// Adds the arguments that a function takes to the error of one that stands where another may have been
/// meant.
pub fn with_arguments(error: Diagnostic, row: &crate::func::Function, args: &[Arg]) -> Diagnostic {
    if row.variadic || row.args.len() < 2 || args.iter().any(|arg| arg.name.is_some()) {
        return error;
    }
    let written = |a: &crate::func::FunctionArg| {
        if a.optional { format!("{} = ...", a.name) } else { a.name.to_string() }
    };
    let names: Vec<String> = row.args.iter().map(written).collect();
    error.note(format!("the arguments are `{}({})`", row.name, names.join(", ")))
}

/// Names of arguments in other languages, with ours.
const OTHER_ARGUMENTS: [(&str, &str); 10] = [
    ("sd", "sigma"),
    ("std", "sigma"),
    ("scale", "sigma"),
    ("stdev", "sigma"),
    ("mean", "mu"),
    ("loc", "mu"),
    ("df", "nu"),
    ("rate", "beta"),
    ("prob", "theta"),
    ("p", "theta"),
];

/// Names of arguments in other languages that mean something else here, by what is called.
const OTHER_MEANINGS: [(&[&str], &str, &str); 13] = [
    (&["seq"], "by", "`a + k * seq(0, n - 1)` are n numbers from a on, in steps of k"),
    (&["seq"], "length", "write `linspace(a, b, n)`"),
    (&["seq"], "length_out", "write `linspace(a, b, n)`"),
    (&["gamma", "inv_gamma", "weibull", "loglogistic", "frechet", "pareto"], "shape", "write `alpha = ...`"),
    (&["gamma"], "scale", "`beta` is a rate: write `beta = 1 / scale`"),
    (&["gamma"], "theta", "`beta` is a rate, 1 / theta: write `beta = 1 / ...`"),
    (
        &["gamma", "beta"],
        "mu",
        "gamma by mean m and sd s is `gamma(m^2 / s^2, m / s^2)`; beta by mean is `beta_proportion`",
    ),
    (&["exponential"], "scale", "`beta` is a rate: write `beta = 1 / scale`"),
    (&["exponential"], "lambda", "write `beta = ...`: a rate"),
    (&["inv_gamma", "loglogistic"], "scale", "write `beta = ...`, which is the scale"),
    (
        &["normal", "student_t", "lognormal", "cauchy"],
        "tau",
        "scales are standard deviations: write `sigma = 1 / sqrt(tau)`",
    ),
    (
        &["normal", "student_t", "lognormal", "cauchy"],
        "precision",
        "scales are standard deviations: write `sigma = 1 / sqrt(precision)`",
    ),
    (
        &["normal", "student_t", "lognormal"],
        "var",
        "scales are standard deviations: write `sigma = sqrt(var)`",
    ),
];

fn unknown_argument(what: &str, names: &[&str], given: &str) -> Diagnostic {
    let error = Diagnostic::error("unknown-argument", format!("`{what}` has no argument `{given}`"))
        .note(format!("its arguments are {}", names.join(", ")));
    if given == "offset" {
        return error.help(format!("an offset is written into the predictor: `{what}(a + offset)`"));
    }
    if matches!(given, "lower" | "upper") && crate::dist::find(what).is_some() {
        return error.help(format!(
            "write `truncated({what}(...), {given} = ...)`; the bounds of a parameter stand in its type: `param s : real > 0 ~ ...`"
        ));
    }
    let meaning = OTHER_MEANINGS.iter().find(|(all, theirs, _)| *theirs == given && all.contains(&what));
    if let Some((.., help)) = meaning {
        return error.help(*help);
    }
    if matches!(given, "shape" | "size" | "dims" | "plate") && crate::dist::find(what).is_some() {
        return error
            .help(format!("the size of a parameter stands after its name: `param c[J] ~ {what}(...)`"));
    }
    let other = OTHER_ARGUMENTS.iter().find(|(theirs, ours)| *theirs == given && names.contains(ours));
    match other.map(|(_, ours)| *ours).or_else(|| crate::source::nearest(given, names.iter().copied())) {
        Some(ours) => error.help(format!("write `{ours} = ...`")),
        None => error,
    }
}

fn arity(what: &str, names: &[&str], required: &[bool], given: usize, span: Span) -> Diagnostic {
    let least = required.iter().filter(|r| **r).count();
    let wanted = if least == names.len() { least.to_string() } else { format!("{least} to {}", names.len()) };
    let plural = if wanted == "1" { "" } else { "s" };
    let are = if given == 1 { "is" } else { "are" };
    let error = Diagnostic::error(
        "arity",
        format!("`{what}` takes {wanted} argument{plural}, and {given} {are} given"),
    )
    .label(span, "");
    let one_list = |row: &&crate::dist::Distribution| matches!(row.args, [only] if only.rank == 1);
    if given > 1 && crate::dist::find(what).filter(one_list).is_some() {
        let numbers = vec!["..."; given].join(", ");
        return error.help(format!("`{}` is one list: write `{what}([{numbers}])`", names[0]));
    }
    if what == "e" {
        return error.help("the exponential function is `exp(x)`, and `e()` the number itself");
    }
    let error = error.help(format!("write `{what}({})`", names.join(", ")));
    if what.starts_with("half_") && given == names.len() + 1 {
        return error.note("it begins at 0: there is no location to give");
    }
    if what.starts_with("lkj_corr") && given == names.len() + 1 {
        return error.note("the size is that of the type, as in `param L : cholesky_corr[2]`");
    }
    error
}
