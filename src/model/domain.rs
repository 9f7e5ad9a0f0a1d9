//! Arguments of distributions that are known, or cannot be known, to lie where they must.

use super::distribution::call_of;
use super::types::Type;
use super::{Elaborator, Result};
use crate::dist::{ArgSpec, Distribution, Domain};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::Arg;

/// How far the sum of a simplex that is written out may be from 1.
const MAX_SUM_ERROR: f64 = 1e-8;

impl Elaborator<'_> {
    /// Refuses constants outside an argument's domain, and what can move outside it.
    pub(super) fn check_domain(
        &mut self,
        row: &'static Distribution,
        k: usize,
        value: &Type,
        span: Span,
    ) -> Result<()> {
        let spec = &row.args[k];
        self.refuse_category(value, span)?;
        if spec.rank == 2 && value.rank().is_some_and(|rank| rank < 2) {
            return Err(not_a_matrix(row, spec, &self.shown(value), span));
        }
        if !value.fixed {
            return self.check_varying(row, spec, value, span);
        }
        match value.constant.and_then(|node| self.constants.constant_of(node)).cloned() {
            Some(numbers) => self.check_numbers(row, spec, value, &numbers, span),
            None => Ok(()),
        }
    }

    fn check_varying(
        &mut self,
        row: &'static Distribution,
        spec: &'static ArgSpec,
        value: &Type,
        span: Span,
    ) -> Result<()> {
        if spec.domain == Domain::Count && value.drawn && !value.integer {
            let message = format!("`{}` of `{}` must be a count (0, 1, 2, ...)", spec.name, row.name);
            return Err(Diagnostic::error("argument-domain", message)
                .label(span, "this is predicted, and real")
                .help("predict it from a distribution of counts, such as `poisson`"));
        }
        if let Some((i, x)) = value.not_finite.filter(|_| spec.rank == 0) {
            return Err(never_finite(row, spec, (i, x), span));
        }
        if !value.drawn && matches!(spec.domain, Domain::Count | Domain::Data) {
            return Err(argument_not_data(row, spec, span));
        }
        self.check_reach(row, spec, value, span)
    }

    fn check_numbers(
        &self,
        row: &Distribution,
        spec: &ArgSpec,
        value: &Type,
        numbers: &[f64],
        span: Span,
    ) -> Result<()> {
        let last = value.shape.as_ref().and_then(|shape| shape.last()).and_then(|n| n.as_integer());
        let shares = last.and_then(|n| usize::try_from(n).ok()).unwrap_or(1).max(1);
        let sum = |one: &[f64]| one.iter().sum::<f64>();
        let apart = |one: &&[f64]| (sum(one) - 1.0).abs() > MAX_SUM_ERROR;
        if spec.domain == Domain::Simplex
            && let Some(one) = numbers.chunks(shares).find(apart)
        {
            return Err(sum_is_not_one(row, spec, sum(one), "argument-domain", span));
        }
        let (fits, _) = requirement(spec.domain);
        match numbers.iter().position(|&x| !fits(x)) {
            None => Ok(()),
            Some(i) => Err(outside_domain(row, spec, (i, numbers), "argument-domain", span)),
        }
    }

    /// Adds the order of the arguments to the error of one, if another would do in its place.
    pub(super) fn in_order(
        &self,
        error: Diagnostic,
        row: &Distribution,
        k: usize,
        values: &[Option<Type>],
    ) -> Diagnostic {
        let range = row.args[k].domain.range().filter(|_| error.code == "argument-domain");
        let fits = |v: &Type| range.is_some_and(|range| v.range.within(range));
        let others = values.iter().enumerate().filter(|(other, _)| *other != k);
        match others.filter_map(|(_, value)| value.as_ref()).any(fits) {
            true => error.note(format!("the arguments are {}", call_of(row))),
            false => error,
        }
    }

    /// Adds the call with the last argument first, as `student_t(4, mu, sigma)` for `student_t(mu, sigma,
    /// 4)`, if the first leaves its domain and all fit then.
    pub(super) fn rotated(
        &self,
        error: Diagnostic,
        row: &Distribution,
        k: usize,
        values: &[Option<Type>],
        args: &[Arg],
    ) -> Diagnostic {
        let by_place = args.len() == row.args.len() && args.iter().all(|a| a.name.is_none());
        let Some(last) = args.len().checked_sub(1).filter(|&last| last > 0) else { return error };
        if k != 0 || !by_place || !matches!(error.code, "argument-domain" | "argument-not-data") {
            return error;
        }
        let fits = |(to, spec): (usize, &ArgSpec)| {
            let value = values[if to == 0 { last } else { to - 1 }].as_ref();
            let known = matches!(spec.domain, Domain::Count | Domain::Data);
            let within = |value: &Type| {
                (!known || value.fixed) && spec.domain.range().is_none_or(|r| value.range.within(r))
            };
            value.is_some_and(within)
        };
        if !row.args.iter().enumerate().all(fits) {
            return error;
        }
        let mut texts: Vec<&str> = args.iter().map(|a| self.text(a.value.span)).collect();
        texts.rotate_right(1);
        let call = format!("`{}` comes first: write `{}({})`", row.args[0].name, row.name, texts.join(", "));
        let help = match &error.help {
            Some(other) => format!("{call}; or {other}"),
            None => call,
        };
        error.help(help)
    }
}

/// What the numbers of an argument must be, and how that is said.
pub fn requirement(domain: Domain) -> (fn(f64) -> bool, &'static str) {
    match domain {
        Domain::Positive => (|x| x > 0.0, "positive"),
        Domain::NonNegative => (|x| x >= 0.0, "zero or positive"),
        Domain::Unit => (|x| (0.0..=1.0).contains(&x), "between 0 and 1"),
        Domain::Count => (|x| x >= 0.0 && x.fract() == 0.0, "a count (0, 1, 2, ...)"),
        Domain::Simplex => (|x| x >= 0.0, "zero or positive"),
        Domain::Real | Domain::Data | Domain::Ordered | Domain::Covariance | Domain::CholeskyFactor => {
            (f64::is_finite, "a finite number")
        }
    }
}

/// The error of an argument that depends on a parameter where data are needed.
pub fn argument_not_data(row: &Distribution, spec: &ArgSpec, span: Span) -> Diagnostic {
    let message = format!("`{}` of `{}` must be known before the fit", spec.name, row.name);
    Diagnostic::error("argument-not-data", message)
        .label(span, "this depends on a parameter")
        .note(format!("the arguments are {}", call_of(row)))
}

/// The error of an argument that is no matrix where one is needed.
pub fn not_a_matrix(row: &Distribution, spec: &ArgSpec, shape: &str, span: Span) -> Diagnostic {
    let message = format!("`{}` of `{}` must be a matrix, and this is {shape}", spec.name, row.name);
    Diagnostic::error("shape-mismatch", message).label(span, "").help(
        "a matrix with standard deviations `s` and no correlations is `diag_matrix(s^2)`, its Cholesky factor \
         `diag_matrix(s)`; elements that are independent are `normal(mu, s)`",
    )
}

/// The error of an argument a part of which is not finite, whatever the parameters are.
pub fn never_finite(row: &Distribution, spec: &ArgSpec, (i, x): (usize, f64), span: Span) -> Diagnostic {
    let message =
        format!("`{}` of `{}` is {x} (element {}), whatever the parameters are", spec.name, row.name, i + 1);
    Diagnostic::error("data-outside-domain", message)
        .label(span, "a part that depends on no parameter is not finite")
        .help("correct the data, or choose another value there: `where(e > 0, log(e), 0)`")
}

/// The error of a simplex whose sum is not 1.
pub fn sum_is_not_one(
    row: &Distribution,
    spec: &ArgSpec,
    sum: f64,
    code: &'static str,
    span: Span,
) -> Diagnostic {
    let message = format!("`{}` of `{}` must sum to 1, and its sum is {sum}", spec.name, row.name);
    Diagnostic::error(code, message).label(span, "").help("divide it by its sum")
}

/// The error of a number outside the domain of an argument.
pub fn outside_domain(
    row: &Distribution,
    spec: &ArgSpec,
    (i, numbers): (usize, &[f64]),
    code: &'static str,
    span: Span,
) -> Diagnostic {
    let which = if numbers.len() > 1 { format!(" (element {})", i + 1) } else { String::new() };
    let (_, wanted) = requirement(spec.domain);
    let message = format!("`{}` of `{}` must be {wanted}, and is {}{which}", spec.name, row.name, numbers[i]);
    let error = Diagnostic::error(code, message).label(span, "");
    let has_ends = matches!(
        row.support,
        crate::dist::Support::Interval(crate::dist::End::Arg(_), crate::dist::End::Arg(_))
    );
    match has_ends && numbers[i].is_infinite() {
        true => error.help(
            "a prior without an end is `flat()`, with the other end as a bound (`param s : real > 0 ~ flat()`); one that says \
             what is likely, `normal` or `half_normal`, is better",
        ),
        false => error,
    }
}
