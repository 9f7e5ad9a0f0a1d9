//! `stickler list`: the catalogue, printed from the tables that the compiler uses.

use super::args::{Catalogue, ListArgs};
use super::{Failure, Outcome};
use crate::dist::{Distribution, End, Support};
use crate::infer::{Finding, Kind};
use crate::{dist, func, ops::scalar, transform};
use std::process::ExitCode;

/// A name and what is said of it, briefly and at length.
struct Entry {
    name: String,
    line: String,
    page: String,
}

impl Entry {
    /// Its name without arguments and sizes.
    fn bare(&self) -> &str {
        self.name.split(['(', '[']).next().unwrap_or_default().trim_end()
    }

    /// Whether this is the entry that a user means.
    fn is_called(&self, name: &str) -> bool {
        let transform = self.page.trim_start().strip_prefix("transform: ").and_then(|p| p.lines().next());
        self.name == name || self.bare() == name || transform == Some(name)
    }
}

/// What the language itself builds of distributions: call, line, page.
const COMBINATIONS: [(&str, &str, &str); 4] = [
    (
        "mixture(w1: D1, w2: D2, ...)",
        "one of several distributions, with these probabilities; the choice is summed out",
        "  weights are scalars or arrays and sum to 1\n  example: y ~ mixture(w: normal(0, 1), 1 - w: normal(5, 1))",
    ),
    (
        "truncated(D, lower, upper)",
        "a distribution cut to an interval and renormalised",
        "  either limit may be left out; D has a cumulative distribution function\n  example: y ~ truncated(normal(mu, 1), lower = 0)",
    ),
    (
        "censored(D, right, left, lower, upper)",
        "a distribution of which some values are known only to lie beyond a point",
        "  right, left: 1 where only 'at least', 'at most' is known; lower, upper: limits of detection\n  \
         example: time ~ censored(weibull(a, b), right = 1 - dead)",
    ),
    (
        "zero_inflated(p, D)",
        "0 with probability p, otherwise a draw from D",
        "  example: fish ~ zero_inflated(p, poisson(lambda))",
    ),
];

/// Functions that take a function of the model: call, line, page.
const OF_FUNCTIONS: [(&str, &str, &str); 2] = [
    (
        "ode(f, initial, t0, times, arguments..., [rel_tol], [abs_tol])",
        "states of y' = f(t, y, arguments...) at the times, one row a time; explicit, order 8",
        "  times are data; the gradient is that of the numbers computed\n  example: ode(decay, [start], 0, ts, rate)",
    ),
    (
        "ode_stiff(f, initial, t0, times, arguments..., [rel_tol], [abs_tol])",
        "the same for stiff equations; implicit, order 5",
        "  times are data; the gradient is that of the numbers computed\n  example: ode_stiff(decay, [start], 0, ts, rate)",
    ),
];

fn entry((name, line, page): &(&str, &str, &str)) -> Entry {
    Entry { name: (*name).into(), line: (*line).into(), page: (*page).into() }
}

pub(super) fn run(args: &ListArgs) -> Outcome {
    let entries: Vec<Entry> = match args.what {
        Catalogue::Distributions => {
            dist::TABLE.iter().map(|d| distribution(d)).chain(COMBINATIONS.iter().map(entry)).collect()
        }
        Catalogue::Functions => functions(),
        Catalogue::Transforms => transforms(),
        Catalogue::Constraints => constraints(),
        Catalogue::Findings => findings(),
    };
    let Some(name) = &args.name else {
        let width = entries.iter().map(|e| e.name.len()).max().unwrap_or(0);
        for e in &entries {
            outln!("{:<width$}  {}", e.name, e.line);
        }
        return Ok(ExitCode::SUCCESS);
    };
    match entries.iter().find(|e| e.is_called(name)) {
        Some(e) => {
            outln!("{}\n  {}\n{}", e.name, e.line, e.page);
            Ok(ExitCode::SUCCESS)
        }
        None => {
            let names = entries.iter().map(Entry::bare);
            let near = crate::source::nearest(name, names)
                .map_or(String::new(), |n| format!("; did you mean `{n}`?"));
            Err(Failure::Usage(format!("there is no `{name}` in this list{near}")))
        }
    }
}

fn distribution(d: &Distribution) -> Entry {
    let args: Vec<&str> = d.args.iter().map(|a| a.name).collect();
    let mut page = format!("  support: {}\n  log density: {}", support(d), d.formula);
    if let Some(nc) = &d.noncentered {
        page += &format!("\n  noncentered: from {}", nc.base.name);
    }
    if d.lcdf.is_some() {
        page += &format!("\n  can be truncated and censored; {0}_lcdf, {0}_lccdf", d.name);
    }
    Entry { name: format!("{}({})", d.name, args.join(", ")), line: d.doc.into(), page }
}

fn support(d: &Distribution) -> String {
    let end = |e: End| match e {
        End::At(x) | End::Past(x) => x.to_string(),
        End::Arg(k) => d.args[k].name.to_string(),
        End::Length(k) => format!("the length of {}", d.args[k].name),
    };
    match d.support {
        Support::Interval(a, b) => format!("({}, {})", end(a), end(b)),
        Support::Integers(a, b) => format!("integers from {} to {}", end(a), end(b)),
        Support::Circle => "any number, with period 2π; a parameter lies in (-π, π)".into(),
        Support::Simplex => "simplexes".into(),
        Support::Counts => "vectors of counts".into(),
        Support::CorrMatrix => "correlation matrices".into(),
        Support::CovMatrix => "covariance matrices".into(),
        Support::CholeskyCorr => "Cholesky factors of correlation matrices".into(),
        Support::Anywhere => "wherever the declared type says".into(),
    }
}

fn functions() -> Vec<Entry> {
    let elementwise = scalar::TABLE.iter().copied().flatten().map(|row| Entry {
        name: format!("{}({})", row.name, row.args.join(", ")),
        line: row.doc.into(),
        page: "  element by element, with broadcasting".into(),
    });
    let others = func::TABLE.iter().copied().flatten().map(|row| {
        let args: Vec<String> = row
            .args
            .iter()
            .map(|a| if a.optional { format!("[{}]", a.name) } else { a.name.to_string() })
            .collect();
        Entry {
            name: format!("{}({})", row.name, args.join(", ")),
            line: row.doc.into(),
            page: format!("  example: {} is {}", row.example.0, row.example.1),
        }
    });
    elementwise.chain(others).chain(OF_FUNCTIONS.iter().map(entry)).collect()
}

/// Constraints as they are written; their names are those of the transforms.
fn constraints() -> Vec<Entry> {
    let entry = |t: &&transform::Transform| Entry {
        name: t.written.into(),
        line: t.doc.into(),
        page: format!("  transform: {}\n  {}\n  example: param x : {} ~ ...", t.name, t.formula, t.written),
    };
    transform::TABLE.iter().map(entry).collect()
}

fn findings() -> Vec<Entry> {
    let entry = |kind: &Kind| Entry {
        name: kind.code.into(),
        line: format!("{}: {}", kind.severity.name(), kind.meaning),
        page: String::new(),
    };
    Finding::KINDS.iter().map(entry).collect()
}

fn transforms() -> Vec<Entry> {
    transform::TABLE
        .iter()
        .map(|t| Entry { name: t.name.into(), line: t.doc.into(), page: format!("  {}", t.formula) })
        .collect()
}
