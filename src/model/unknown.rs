//! Names that mean nothing where they stand: what they may have been meant for.

use super::Elaborator;
use super::names::Meaning;
use crate::func;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Expr, ExprKind, StmtKind};

impl Elaborator<'_> {
    /// A name that is called and is no function.
    pub(super) fn unknown_function(&self, name: &str, span: Span) -> Diagnostic {
        let error =
            Diagnostic::error("unknown-name", format!("there is no function `{name}`")).label(span, "");
        if let Some(Meaning::Value(_) | Meaning::Elements(_)) = self.names.get(name) {
            return error.help(format!("`{name}` is a value; an element of it is written `{name}[i]`"));
        }
        if crate::dist::find(name).is_some() {
            let covariance = format!("{name}_cov");
            let other = match func::names().any(|n| n == covariance) {
                true => format!("; the matrix of its covariances is `{covariance}(...)`"),
                false => String::new(),
            };
            return error.help(format!(
                "`{name}` is a distribution: write `y ~ {name}(...)`, or `{name}_lpdf(y | ...)` for its log density; what has it is a parameter, `param s ~ {name}(...)`{other}"
            ));
        }
        if matches!(name, "column" | "columns") {
            return error.help(format!(
                "`{name}(\"...\")` stands alone after the `=` of a declaration: `data {{ x : real[N] = {name}(\"...\") }}`; compute with \
                 it in a `let`"
            ));
        }
        if let Some(help) = foreign_density(name) {
            return error.help(help);
        }
        if let Some(help) = func::formula_term(name) {
            return error.help(help);
        }
        if let Some(ours) = func::stan_name(name) {
            return error.help(format!("write `{ours}`"));
        }
        if let Some(ours) = crate::dist::other_name(name) {
            return error.help(format!("`{name}` is a distribution, which stands after `~`: {ours}"));
        }
        match crate::source::nearest(name, self.names.all().chain(func::names().map(|n| n as &str))) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help("`stickler list functions` shows them all"),
        }
    }

    pub(super) fn unknown(&self, name: &str, span: Span) -> Diagnostic {
        let error = Diagnostic::error("unknown-name", format!("`{name}` is not defined")).label(span, "");
        if let Some(function) = self.context.calls.last() {
            return error.help(format!(
                "a function sees only its arguments and sizes: pass `{name}` to `{function}`"
            ));
        }
        if let Some((_, declared)) = self.declared.names.iter().find(|(known, _)| known == name) {
            return self.used_before(name, *declared, span);
        }
        if self.declared.by_element.iter().any(|defined| defined == name) {
            return Diagnostic::error(
                "used-before-declaration",
                format!("`{name}` is read before any of its elements is defined"),
            )
            .label(span, "")
            .help(format!("define the first elements before the loop: `let {name}[1] = ...`"));
        }
        let rest = self.source.get(span.end..).unwrap_or_default().trim_start();
        if let Some(help) = other_kind(name, rest) {
            return error.help(help);
        }
        if self.declared.single.iter().any(|single| single == name) {
            return Diagnostic::error(
                "used-before-declaration",
                format!("`{name}` is read before any of its elements is there"),
            )
            .label(span, "")
            .help(format!("begin before the loop: `predict {name}[1] ~ ...`"));
        }
        if let Some(ours) = crate::func::stan_value(name) {
            return error.help(ours);
        }
        if let Some(help) = self.meant_by(name, span) {
            return error.help(help);
        }
        // What a line defines is not what it is defined by.
        let before = |other: &Span| self.source.get(other.end..span.start).is_some_and(|t| !t.contains('\n'));
        let declared =
            self.declared.names.iter().filter(|(_, other)| !before(other)).map(|(name, _)| name.as_str());
        match crate::source::nearest(name, self.names.all().chain(declared)) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None if rest.starts_with('~') => error.help(format!(
                "declare it: `param {name} ~ ...` if it is to be learnt, `data {name} : real[N]` if it is given, `predict {name}[N] ~ ...` if \
                 it is to be simulated"
            )),
            None => error.help(format!(
                "declare it: `param {name} ~ ...` if it is to be learnt, `data {name} : real[N]` if it is given; or define it: \
                 `let {name} = ...`"
            )),
        }
    }

    /// The error of a name that a later statement declares.
    fn used_before(&self, name: &str, declared: Span, span: Span) -> Diagnostic {
        let message = format!("`{name}` is used before it is declared");
        Diagnostic::error("used-before-declaration", message)
            .label(span, "")
            .label(declared, "declared here")
            .help(match self.is_parameter(name) {
                true => format!(
                    "statements are read from top to bottom: move the declaration up; or declare `param {name}{0}` before this, \
                     and leave its prior where it stands, `{name} ~ ...`",
                    self.sizes_after(name)
                ),
                false => "statements are read from top to bottom: move the declaration up".to_string(),
            })
    }

    /// Whether a statement declares a parameter of this name.
    fn is_parameter(&self, name: &str) -> bool {
        let is = |kind: &StmtKind| matches!(kind, StmtKind::Param(p) if p.name.name == name);
        self.program.statements.iter().any(|stmt| is(&stmt.kind))
    }

    /// What a name that has no meaning at a place may stand for there.
    fn meant_by(&self, name: &str, span: Span) -> Option<String> {
        if let Some((_, variable)) = self.declared.in_blocks.iter().find(|(known, _)| known == name) {
            return Some(match variable {
                Some(i) => format!(
                    "it is defined inside a loop, for each step anew: `let {name}[{i}] = ...` there makes an array, which is known \
                     after the loop too"
                ),
                None => "it is defined in a branch of an `if` that is not taken: define it in the other branch too".into(),
            });
        }
        let names_category = |name: &str| self.names.categories().any(|(known, ..)| known == name);
        if let Some((value, g)) = name.rsplit_once('_')
            && names_category(g)
            && matches!(self.names.get(value), Some(Meaning::Value(_)))
        {
            return Some(format!("for the value of each row's group write `{value}[{g}]`"));
        }
        let powers = [('²', 2), ('³', 3)];
        if let Some((base, power)) = powers.iter().find_map(|(c, n)| Some((name.strip_suffix(*c)?, n))) {
            return Some(format!("a power is written `{base}^{power}`"));
        }
        let head = self.source.get(..span.start).unwrap_or_default().trim_end();
        let compared = head.strip_suffix("==").or_else(|| head.strip_suffix("!=")).map(str::trim_end);
        let category = self.names.categories().map(|(category, ..)| category).find(|category| {
            let left = compared.and_then(|left| left.strip_suffix(category));
            left.is_some_and(|left| !left.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
        });
        category.map(|category| format!("a level of `{category}` stands between quotes: write `\"{name}\"`"))
    }

    /// A name that is not defined, or that of a category, as that of a size.
    pub(super) fn unknown_size(&self, problem: Diagnostic, e: &Expr) -> Diagnostic {
        match &e.kind {
            ExprKind::Name(name)
                if problem.code == "not-known" && self.names.categories().any(|(known, ..)| known == name) =>
            {
                category_as_size(name, self.level_count(name).as_deref(), e)
            }
            ExprKind::Name(name) if problem.code == "unknown-name" => {
                Diagnostic { message: format!("the size `{name}` is not defined"), ..problem }.help(format!(
                    "sizes come from the data: give some data that size (`x : real[{name}]`; `g : category[N] of {name}` where it is a number of \
                     groups), declare it (`data {name} : int`), or write a number"
                ))
            }
            _ => problem,
        }
    }
}

/// What a name is that is no value: a function, a distribution. `rest`: what follows it.
fn other_kind(name: &str, rest: &str) -> Option<String> {
    if name == "e" && rest.starts_with('^') {
        return Some("the exponential function is `exp(x)`, and the number itself `e()`".into());
    }
    if func::find(name).is_some() || crate::ops::scalar::find(name).is_some() {
        return Some(format!("`{name}` is a function: call it, `{name}(...)`"));
    }
    let distribution = crate::dist::find(name).is_some() && !rest.starts_with('~');
    distribution.then(|| format!("`{name}` is a distribution: it stands after `~`, as in `y ~ {name}(...)`"))
}

/// The error of a category where the number of its levels is meant, with the name of that if it has one.
fn category_as_size(name: &str, size: Option<&str>, e: &Expr) -> Diagnostic {
    let message = format!("`{name}` is a category, not a size");
    let error = Diagnostic::error("category-as-size", message).label(e.span, "it has a level for each row");
    match size {
        Some(size) => error.help(format!("`{size}` is the number of its levels: write `{size}` here")),
        None => {
            let size: String = name.chars().take(1).flat_map(char::to_uppercase).collect();
            error.help(format!(
                "name the number of its levels where it is declared (`{name} : category[N] of {size}`), and write `{size}` here"
            ))
        }
    }
}

/// What to write for a density, probability or draw under the name that another language has for it.
fn foreign_density(name: &str) -> Option<String> {
    const ENDINGS: [(&str, &str); 11] = [
        ("_cdf_log", "`{}_lcdf(x | ...)`"),
        ("_ccdf_log", "`{}_lccdf(x | ...)`"),
        ("_log", "`{}_lpdf(x | ...)`"),
        ("_lupdf", "`{}_lpdf(x | ...)`"),
        ("_lupmf", "`{}_lpmf(x | ...)`"),
        ("_pdf", "`exp({}_lpdf(x | ...))`"),
        ("_pmf", "`exp({}_lpmf(x | ...))`"),
        ("_cdf", "`exp({}_lcdf(x | ...))`"),
        ("_ccdf", "`exp({}_lccdf(x | ...))`"),
        ("_rng", "`predict name ~ {}(...)`: a draw has a name and a statement of its own"),
        ("_logpdf", "`{}_lpdf(x | ...)`"),
    ];
    let (row, ours) = ENDINGS
        .iter()
        .find_map(|(ending, ours)| Some((crate::dist::find(name.strip_suffix(ending)?)?, ours)))?;
    Some(format!("write {}", ours.replace("{}", row.name)))
}
