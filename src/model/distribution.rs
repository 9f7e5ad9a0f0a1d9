//! Distributions as written: their arguments, and what these may be.

use super::types::Type;
use super::{Elaborator, Result};
use crate::dist::{self, Distribution, End, Support};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Arg, DistExpr, DistKind, Expr, Ident};

/// A distribution with what is known of its arguments.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time, while its statement is read")]
pub enum Dist {
    /// A row of the table.
    Row {
        /// The row.
        row: &'static Distribution,
        /// Its arguments.
        args: Vec<Type>,
        /// Where it was written.
        span: Span,
    },
    /// A sum of weighted densities.
    Mixture(Vec<(Type, Dist)>),
    /// Cut to an interval and normalised.
    Truncated {
        /// What is cut.
        inner: Box<Dist>,
        /// From below.
        lower: Option<Type>,
        /// From above.
        upper: Option<Type>,
    },
    /// Known only to lie beyond some values.
    Censored {
        /// What is censored.
        inner: Box<Dist>,
        /// Marks and limits: left, right, lower, upper.
        marks: [Option<Type>; 4],
    },
    /// Zero with some probability.
    ZeroInflated {
        /// That probability.
        probability: Type,
        /// Otherwise.
        inner: Box<Dist>,
    },
}

impl Dist {
    /// A row that it is made of, and where it was written.
    pub fn first_row(&self) -> Option<(&'static Distribution, Span)> {
        match self {
            Dist::Row { row, span, .. } => Some((row, *span)),
            Dist::Mixture(parts) => parts.first().and_then(|(_, part)| part.first_row()),
            Dist::Truncated { inner, .. }
            | Dist::Censored { inner, .. }
            | Dist::ZeroInflated { inner, .. } => inner.first_row(),
        }
    }

    /// The values that it needs.
    pub fn values<'d>(&'d self, into: &mut Vec<&'d Type>) {
        match self {
            Dist::Row { args, .. } => into.extend(args),
            Dist::Mixture(parts) => parts.iter().for_each(|(weight, part)| {
                into.push(weight);
                part.values(into);
            }),
            Dist::Truncated { inner, lower, upper } => {
                into.extend(lower.iter().chain(upper));
                inner.values(into);
            }
            Dist::Censored { inner, marks } => {
                into.extend(marks.iter().flatten());
                inner.values(into);
            }
            Dist::ZeroInflated { probability, inner } => {
                into.push(probability);
                inner.values(into);
            }
        }
    }

    /// Whether its values are integers.
    pub fn is_discrete(&self) -> bool {
        match self {
            Dist::Row { row, .. } => row.discrete,
            Dist::Mixture(parts) => parts.iter().all(|(_, part)| part.is_discrete()),
            Dist::Truncated { inner, .. } | Dist::ZeroInflated { inner, .. } => inner.is_discrete(),
            // Limits of detection need not be integers.
            Dist::Censored { .. } => false,
        }
    }
}

impl Elaborator<'_> {
    pub(super) fn dist(&mut self, d: &DistExpr) -> Result<Dist> {
        match &d.kind {
            DistKind::Call { name, args } => self.dist_call(name, args, d.span),
            DistKind::Mixture(parts) => {
                let built = parts.iter().map(|(w, d)| Ok((self.expr(w)?, self.dist(d)?)));
                let built: Vec<(Type, Dist)> = built.collect::<Result<_>>()?;
                self.check_kinds(&built, d.span)?;
                self.check_weights(&built, parts)?;
                self.check_unknown_weights(&built, parts)?;
                Ok(Dist::Mixture(built))
            }
            DistKind::Truncated { inner, lower, upper } => {
                if let (Some(a), Some(b)) = (lower, upper) {
                    self.check_bounds(a, b, a.span.to(b.span))?;
                }
                Ok(Dist::Truncated {
                    inner: Box::new(self.dist(inner)?),
                    lower: self.optional(lower)?,
                    upper: self.optional(upper)?,
                })
            }
            DistKind::Censored { inner, left, right, lower, upper } => Ok(Dist::Censored {
                inner: Box::new(self.dist(inner)?),
                marks: [self.marks(left)?, self.marks(right)?, self.optional(lower)?, self.optional(upper)?],
            }),
            DistKind::ZeroInflated { probability, inner } => {
                let rest = self.dist(inner)?;
                if let Some((row, _)) = rest.first_row().filter(|(row, _)| !row.discrete) {
                    let message = format!(
                        "`zero_inflated` adds zeros to counts, and `{}` describes real numbers",
                        row.name
                    );
                    return Err(Diagnostic::error("zero-inflated", message).label(inner.span, "").help(
                        "describe zeros and the rest apart: `(y > 0) ~ bernoulli(p)`, and `y ~ ... weight y > 0`",
                    ));
                }
                let ty = self.expr(probability)?;
                self.check_probability(
                    &ty,
                    probability,
                    ["zero-inflated", "the probability of an extra zero"],
                )?;
                Ok(Dist::ZeroInflated { probability: ty, inner: Box::new(rest) })
            }
        }
    }

    /// Refuses a mixture of densities of real numbers with probabilities of integers: they have no common
    /// scale.
    fn check_kinds(&self, built: &[(Type, Dist)], span: Span) -> Result<()> {
        let rows: Vec<_> = built.iter().filter_map(|(_, part)| part.first_row()).collect();
        let real = rows.iter().find(|(row, _)| !row.discrete);
        let whole = rows.iter().find(|(row, _)| row.discrete);
        let (Some((real, a)), Some((whole, b))) = (real, whole) else { return Ok(()) };
        let message = format!(
            "`{}` describes real numbers and `{}` integers: they cannot be mixed",
            real.name, whole.name
        );
        Err(Diagnostic::error("mixture-kinds", message)
            .label(*a, "a density")
            .label(*b, "a probability")
            .label(span, "")
            .help("choose parts that are all continuous or all discrete"))
    }

    /// Marks of censored values: 0 or 1 each.
    fn marks(&mut self, e: &Option<Expr>) -> Result<Option<Type>> {
        let Some(e) = e else { return Ok(None) };
        let ty = self.expr(e)?;
        self.refuse_category(&ty, e.span)?;
        let numbers = self.numbers_of(&ty).unwrap_or_default();
        if let Some(i) = numbers.iter().position(|&x| x != 0.0 && x != 1.0) {
            return Err(not_a_mark(i, numbers[i], "argument-domain", e.span));
        }
        Ok(Some(ty))
    }

    fn optional(&mut self, e: &Option<Expr>) -> Result<Option<Type>> {
        e.as_ref().map(|e| self.expr(e)).transpose()
    }

    fn dist_call(&mut self, name: &Ident, args: &[Arg], span: Span) -> Result<Dist> {
        let Some(row) = dist::find(&name.name) else { return Err(self.unknown_distribution(name)) };
        let names: Vec<&str> = row.args.iter().map(|a| a.name).collect();
        let required: Vec<bool> = row.args.iter().map(|a| a.default.is_none()).collect();
        let values = self.arguments(row.name, &names, &required, args, span)?;
        for (k, value) in values.iter().enumerate() {
            if let Some(value) = value {
                let place = argument_span(args, row, k).unwrap_or(span);
                self.check_domain(row, k, value, place)
                    .map_err(|e| self.in_order(e, row, k, &values))
                    .map_err(|e| self.rotated(e, row, k, &values, args))?;
            }
        }
        if let Support::Interval(End::Arg(a), End::Arg(b)) = row.support
            && let (Some(Some(low)), Some(Some(high))) = (values.get(a), values.get(b))
            && let (Some(x), Some(y)) = (self.number_of(low), self.number_of(high))
            && x >= y
        {
            return Err(empty_support(row.name, x, y, span));
        }
        let args = self.with_defaults(row, values);
        Ok(Dist::Row { row, args, span })
    }

    /// A name that stands where a distribution should and is none.
    fn unknown_distribution(&self, name: &Ident) -> Diagnostic {
        let error =
            Diagnostic::error("unknown-distribution", format!("there is no distribution `{}`", name.name))
                .label(name.span, "");
        if let Some(ours) = dist::other_name(&name.name) {
            return error.help(ours);
        }
        if self.own_density(&name.name).is_some() {
            return error.help(format!(
                "your `{0}_lpdf` describes what stands before `~` in a statement of its own, `y ~ {0}(...)`: it can be \
                 neither drawn from nor a part of another distribution",
                name.name
            ));
        }
        let function =
            crate::func::find(&name.name).is_some() || crate::ops::scalar::find(&name.name).is_some();
        let longer = dist::TABLE.iter().filter(|d| d.name.starts_with(name.name.as_str()));
        let longer = longer.min_by_key(|d| d.name.len());
        match (function, longer) {
            (true, Some(d)) => {
                return error.help(format!("`{}` is a function; did you mean `{}`?", name.name, d.name));
            }
            (true, None) => {
                return error.help(format!(
                    "`{}` is a function: `let x = {}(...)` defines a value",
                    name.name, name.name
                ));
            }
            (false, _) => {}
        }
        match crate::source::nearest(&name.name, dist::TABLE.iter().map(|d| d.name)) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help("`stickler list distributions` shows them all"),
        }
    }
}

/// The error of a mark that is neither 0 nor 1.
pub fn not_a_mark(i: usize, x: f64, code: &'static str, span: Span) -> Diagnostic {
    let message = format!("1 marks a censored value and 0 an exact one, and element {} is {x}", i + 1);
    Diagnostic::error(code, message)
        .label(span, "")
        .help("compare, as in `right = status == 2`; a limit of detection is `upper = c` or `lower = c`")
}

/// The error of a distribution between two ends that leave nothing.
pub fn empty_support(name: &str, x: f64, y: f64, span: Span) -> Diagnostic {
    Diagnostic::error("empty-interval", format!("`{name}` between {x} and {y} describes nothing"))
        .label(span, "")
        .help("the lower end comes first")
}

/// How a distribution is called: `binomial(N, theta)`.
pub fn call_of(row: &Distribution) -> String {
    let names: Vec<&str> = row.args.iter().map(|a| a.name).collect();
    format!("`{}({})`", row.name, names.join(", "))
}

/// Where an argument is written.
fn argument_span(args: &[Arg], row: &Distribution, k: usize) -> Option<Span> {
    let named = args.iter().find(|a| a.name.as_ref().is_some_and(|n| n.name == row.args[k].name));
    named.or_else(|| args.get(k).filter(|a| a.name.is_none())).map(|a| a.value.span)
}
