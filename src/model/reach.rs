//! Refuses arguments that can leave their domain: a scale that some values of the parameters make negative.

use super::types::Type;
use super::{Elaborator, Result};
use crate::dist::{self, ArgSpec, Distribution, Domain};
use crate::facts::{Range, Structure};
use crate::ops::scalar;
use crate::source::{Diagnostic, Span};

impl Elaborator<'_> {
    /// Refuses a parameter whose values reach outside an argument's domain, and anything computed that has no
    /// bound on the wrong side. What is merely not known to stay inside passes: its density is zero where it
    /// does not.
    pub(super) fn check_reach(
        &mut self,
        row: &Distribution,
        spec: &ArgSpec,
        value: &Type,
        span: Span,
    ) -> Result<()> {
        let parameter = self.parameter_of(value).map(|p| p.name.name.clone());
        if let (Some(name), Some((structure, what, ty))) = (&parameter, structure_of(spec.domain)) {
            let whole = value.rank().is_some_and(|rank| rank >= structure.axes());
            if whole && !value.structure.is_some_and(|s| s.implies(structure)) {
                return Err(self.unstructured(row, spec, name, what, ty, span));
            }
            return Ok(());
        }
        let Some(allowed) = spec.domain.range() else { return Ok(()) };
        let (low, high) = (value.range.low.at, value.range.high.at);
        let below = low < allowed.low.at && (parameter.is_some() || low.is_infinite());
        let above = high > allowed.high.at && (parameter.is_some() || high.is_infinite());
        if !value.reached || !(below || above) {
            return Ok(());
        }
        let reach = match (below, allowed) {
            (true, _) => "can be negative",
            (false, Range::UNIT) => "can be above 1",
            (false, _) => "can be too large",
        };
        Err(match parameter {
            Some(name) => self.unbounded_parameter(row, spec, &name, reach, span),
            None => match self.unlinked(row, spec, value, span) {
                Some(help) => unbounded(row, spec, reach, span).help(help),
                None => unbounded(row, spec, reach, span),
            },
        })
    }

    /// What to write for `bernoulli(logit(e))` and `poisson(log(e))`: the relative applies the link itself,
    /// and a value that fits as it is needs none.
    fn unlinked(&self, row: &Distribution, spec: &ArgSpec, value: &Type, span: Span) -> Option<String> {
        let other = relative(row, spec)?;
        let through = value.through?;
        let link = through.row;
        let known = *link == scalar::LOGIT || *link == scalar::LOG;
        if !known || !other.ends_with(link.name) {
            return None;
        }
        let written = span.text(self.source);
        let inner = written.strip_prefix(link.name).and_then(|t| t.strip_prefix('(')?.strip_suffix(')'));
        let inner = inner.unwrap_or("...");
        let fits = spec.domain.range().is_some_and(|range| through.range.within(range));
        let called = if fits { row.name } else { other };
        let arguments: Vec<&str> =
            row.args.iter().map(|a| if a.name == spec.name { inner } else { a.name }).collect();
        let call = format!("`{called}({})`", arguments.join(", "));
        Some(match fits {
            true => format!("it fits as it is: write {call}, without `{}`", link.name),
            false => format!("write {call}, without `{}`: `{other}` has that link by itself", link.name),
        })
    }

    fn unbounded_parameter(
        &self,
        row: &Distribution,
        spec: &ArgSpec,
        name: &str,
        reach: &str,
        span: Span,
    ) -> Diagnostic {
        let wanted = wanted(spec.domain);
        let error = Diagnostic::error(
            "argument-domain",
            format!("`{}` of `{}` must be {wanted}, and the parameter `{name}` {reach}", spec.name, row.name),
        )
        .label(span, "");
        let (bound, other) = match spec.domain {
            Domain::Unit => ("in (0, 1)", "beta(1, 1)"),
            _ => ("> 0", "half_normal(1)"),
        };
        let support =
            self.model.parameters.iter().find(|p| p.name.name == name).map_or("real", |p| &p.support);
        let help = match support {
            "real" => format!(
                "give the parameter its bounds: `param {name}{} : real {bound} ~ ...`",
                self.sizes_after(name)
            ),
            _ => format!(
                "it may lie anywhere in {support}: give it a prior that stays inside, such as `{other}`"
            ),
        };
        let inverse = match spec.domain {
            Domain::Unit => name.starts_with("logit_").then_some("inv_logit"),
            _ => name.starts_with("log_").then_some("exp"),
        };
        self.with_declaration(error, name).help(match (inverse, relative(row, spec)) {
            (Some(inverse), _) => {
                format!(
                    "write `{inverse}({})` if it is on the scale that its name says; or {help}",
                    span.text(self.source)
                )
            }
            (None, Some(other)) => format!("{help}; or use `{other}`, which takes any number"),
            (None, None) => help,
        })
    }

    fn unstructured(
        &self,
        row: &Distribution,
        spec: &ArgSpec,
        name: &str,
        what: &str,
        ty: &str,
        span: Span,
    ) -> Diagnostic {
        let error = Diagnostic::error(
            "argument-domain",
            format!(
                "`{}` of `{}` must be {what}, and the parameter `{name}` need not be one",
                spec.name, row.name
            ),
        )
        .label(span, "");
        if let Some(other) = self.other_form(row, name) {
            return self
                .with_declaration(error, name)
                .help(format!("use `{other}`, which takes it as it is"));
        }
        let sizes = self.sizes_after(name);
        let ty = match sizes.matches(',').count() {
            0 if !sizes.is_empty() => ty.replace("[K]", sizes),
            _ => ty.to_string(),
        };
        let help = format!("say so in its type: `param {name} : {ty} ~ ...`");
        self.with_declaration(error, name).help(match relative(row, spec) {
            Some(other) => format!("{help}; or use `{other}`, which takes any numbers"),
            None => help,
        })
    }

    /// The same distribution by the covariance matrix or by its Cholesky factor, whichever the parameter is.
    fn other_form(&self, row: &Distribution, name: &str) -> Option<&'static str> {
        let (other, needed) = match row.name.strip_suffix("_cholesky") {
            Some(plain) => (dist::find(plain)?, Structure::Covariance),
            None => (dist::find(&format!("{}_cholesky", row.name))?, Structure::CholeskyFactor),
        };
        let p = self.model.parameters.iter().find(|p| p.name.name == name)?;
        p.ty.structure.is_some_and(|s| s.implies(needed)).then_some(other.name)
    }

    /// The sizes after the name of a parameter as they are written, with their brackets.
    pub(super) fn sizes_after(&self, name: &str) -> &str {
        let declared = self.declared.names.iter().find(|(known, _)| known == name);
        let rest = declared.map_or("", |(_, span)| &self.source[span.end..]);
        match (rest.starts_with('['), rest.find(']')) {
            (true, Some(end)) => &rest[..=end],
            _ => "",
        }
    }

    fn with_declaration(&self, error: Diagnostic, name: &str) -> Diagnostic {
        match self.declared.names.iter().find(|(known, _)| known == name) {
            Some((_, span)) => error.label(*span, "declared here"),
            None => error,
        }
    }
}

/// The error of an argument that can leave its domain.
pub fn unbounded(row: &Distribution, spec: &ArgSpec, reach: &str, span: Span) -> Diagnostic {
    let message =
        format!("`{}` of `{}` must be {}, and this {reach}", spec.name, row.name, wanted(spec.domain));
    let error = Diagnostic::error("argument-domain", message).label(span, "");
    let link = if spec.domain == Domain::Unit { "inv_logit" } else { "exp" };
    let help = match relative(row, spec) {
        Some(other) => format!("use `{other}`, which takes any number; or bring it inside: `{link}(...)`"),
        None => {
            format!("bring it inside, for example with `{link}(...)`, or give the parameters in it bounds")
        }
    };
    error.help(help)
}

/// The same distribution with this argument on the whole line, if there is one.
fn relative(row: &Distribution, spec: &ArgSpec) -> Option<&'static str> {
    let place = row.args.iter().position(|a| a.name == spec.name)?;
    let other = ["_logit", "_log"].iter().find_map(|end| dist::find(&format!("{}{end}", row.name)))?;
    other.args.get(place).is_some_and(|a| a.domain == Domain::Real).then_some(other.name)
}

fn wanted(domain: Domain) -> &'static str {
    match domain {
        Domain::Positive => "positive",
        Domain::NonNegative | Domain::Count | Domain::Simplex => "zero or positive",
        Domain::Unit => "between 0 and 1",
        Domain::Real | Domain::Ordered | Domain::Covariance | Domain::CholeskyFactor | Domain::Data => {
            "a number"
        }
    }
}

/// The structure that an argument must have, its name, and the type that has it.
fn structure_of(domain: Domain) -> Option<(Structure, &'static str, &'static str)> {
    match domain {
        Domain::Simplex => Some((Structure::Simplex, "a simplex", "simplex[K]")),
        Domain::Ordered => Some((Structure::Ordered, "an increasing vector", "ordered[K]")),
        Domain::Covariance => Some((Structure::Covariance, "a covariance matrix", "cov_matrix[K]")),
        Domain::CholeskyFactor => {
            Some((Structure::CholeskyFactor, "a Cholesky factor of a covariance matrix", "cholesky_cov[K]"))
        }
        Domain::Real
        | Domain::Positive
        | Domain::NonNegative
        | Domain::Unit
        | Domain::Count
        | Domain::Data => None,
    }
}
