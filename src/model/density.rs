//! Whether the parts of a log density fit together: values, arguments, limits, weights.

use super::distribution::Dist;
use super::sizes::show;
use super::types::Type;
use super::{Elaborator, Result};
use crate::dist::{Distribution, End, Support};
use crate::facts::{Range, Shape};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::Sample;

impl Elaborator<'_> {
    /// Refuses what has no log density: events of another shape, cuts where there is no distribution
    /// function.
    pub(super) fn check_density(&mut self, dist: &Dist, value: &Type, span: Span) -> Result<()> {
        let mismatch = |why: String| Diagnostic::error("shape-mismatch", why).label(span, "");
        match dist {
            // Numbers meet as `check_extent` has seen.
            Dist::Row { row, .. } if row.event == 0 && row.args.iter().all(|a| a.rank == 0) => Ok(()),
            Dist::Row { row, args, .. } => {
                self.density_shape(row, value, args, span).map(drop).map_err(mismatch)
            }
            Dist::Mixture(parts) => {
                parts.iter().try_for_each(|(_, part)| self.check_density(part, value, span))
            }
            Dist::Truncated { inner, lower, upper } => {
                let row = plain_row(inner).ok_or_else(|| {
                    mismatch("only a plain distribution can be truncated or censored".into())
                })?;
                // Counts are added up where there is no distribution function.
                if !row.discrete {
                    tails(row, upper.is_some(), lower.is_some()).map_err(mismatch)?;
                }
                self.check_density(inner, value, span)
            }
            Dist::Censored { inner, marks } => {
                let row = plain_row(inner)
                    .ok_or_else(|| mismatch("only a plain distribution can be censored".into()))?;
                if !value.fixed {
                    return Err(mismatch("only data can be censored".into()));
                }
                for (mark, name) in marks.iter().zip(["left", "right", "lower", "upper"]) {
                    if mark.as_ref().is_some_and(|m| !m.fixed) {
                        return Err(mismatch(format!("`{name}` of `censored` must be known before the fit")));
                    }
                }
                let [left, right, lower, upper] = marks.each_ref().map(Option::is_some);
                tails(row, left || lower, right || upper).map_err(mismatch)?;
                self.check_density(inner, value, span)
            }
            Dist::ZeroInflated { inner, .. } => self.check_density(inner, value, span),
        }
    }

    /// Refuses a parameter that may lie where a distribution of it, on a line of its own, has no density: its
    /// values then have no place to start from.
    pub(super) fn check_support(&self, dist: &Dist, value: &Type, span: Span) -> Result<()> {
        let Dist::Row { row, args, span: place } = dist else { return Ok(()) };
        let Some(parameter) = self.whole_parameter(value).filter(|_| !row.discrete) else { return Ok(()) };
        let Some((low, high)) = row.support.interval() else { return Ok(()) };
        let end = |e: End| match e {
            End::At(x) | End::Past(x) => Some(x),
            End::Arg(k) => self.number_of(&args[k]),
            End::Length(_) => None,
        };
        let (Some(low), Some(high)) = (end(low), end(high)) else { return Ok(()) };
        if row.support == Support::Circle || value.range.within(Range::from_to(low, high)) {
            return Ok(());
        }
        let (name, sizes) = (&parameter.name.name, self.sizes_after(&parameter.name.name));
        let lies = match value.range == Range::REAL {
            true => "may be any number".to_string(),
            false => format!("may lie anywhere in {}", parameter.support),
        };
        let message = format!("`{name}` {lies}, and `{}` has the support ({low}, {high})", row.name);
        let error = Diagnostic::error("support-mismatch", message).label(span, "").label(*place, "");
        if parameter.transform.is_some_and(|t| t.event > 0) {
            return Err(
                error.help(format!("choose a distribution of all numbers for `{name}`, or another type"))
            );
        }
        let bounds = match (low.is_finite(), high.is_finite()) {
            (true, false) => format!("> {low}"),
            (false, true) => format!("< {high}"),
            _ => format!("in ({low}, {high})"),
        };
        Err(error.help(format!(
            "say so where it is declared: `param {name}{sizes} : real {bounds}`; a prior on that line gives its support by itself"
        )))
    }

    /// Refuses weights that are not known before the fit, or negative.
    pub(super) fn check_weight(&self, weight: Option<&(Type, Span)>) -> Result<()> {
        let Some((w, span)) = weight else { return Ok(()) };
        if !w.fixed {
            return Err(weight_not_data(self.text(*span), *span));
        }
        self.refuse_category(w, *span)?;
        let numbers = self.numbers_of(w).unwrap_or_default();
        match numbers.iter().position(|&x| !(x >= 0.0)) {
            None => Ok(()),
            Some(i) => Err(negative_weight(i, numbers[i], *span)),
        }
    }

    /// Refuses weights that are not one for each value.
    pub(super) fn check_weight_shape(
        &mut self,
        dist: &Dist,
        value: &Type,
        w: &Type,
        span: Span,
        s: &Sample,
    ) -> Result<()> {
        let event = dist.first_row().map_or(0, |(row, _)| row.event);
        let (Some(shape), Some(weights)) = (&value.shape, w.shape.clone()) else { return Ok(()) };
        let values: Shape = shape[..shape.len().saturating_sub(event)].to_vec();
        let by_row = matches!((&weights[..], &values[..]), ([n], [m, _]) if n == m);
        self.fits_within(w, &values, |l| {
            let help = match by_row {
                true => format!("a weight for each row is `weight as_column({})`", l.text(span)),
                false => {
                    "give one weight for each value; a weight for each group is `weight w[group]`".into()
                }
            };
            let (weights, values) = (show(&weights), show(&values));
            let message = format!("there are {values} values here, and {weights} weights");
            Diagnostic::error("shape-mismatch", message)
                .label(span, format!("these have shape {weights}"))
                .label(s.value.span, "")
                .help(help)
        })
    }
}

/// The error of a weight that depends on a parameter.
pub fn weight_not_data(w: &str, span: Span) -> Diagnostic {
    Diagnostic::error("weight-not-data", "weights must be known before the fit")
        .label(span, "this depends on a parameter")
        .help(format!(
            "to learn it write the log density out: `target += {w} * normal_lpdf(y | ...)`; such a power of a density is not \
             normalised"
        ))
}

/// The error of a weight below 0.
pub fn negative_weight(i: usize, x: f64, span: Span) -> Diagnostic {
    let message = format!("a weight says how often a value counts, and element {} is {x}", i + 1);
    Diagnostic::error("data-outside-domain", message).label(span, "").help("weights are zero or positive")
}

fn plain_row(dist: &Dist) -> Option<&'static Distribution> {
    match dist {
        Dist::Row { row, .. } => Some(row),
        Dist::Mixture(_) | Dist::Truncated { .. } | Dist::Censored { .. } | Dist::ZeroInflated { .. } => None,
    }
}

/// Refuses a distribution without the tails that are needed.
fn tails(row: &Distribution, below: bool, above: bool) -> std::result::Result<(), String> {
    if below && row.lcdf.is_none() || above && row.lccdf.is_none() {
        return Err(format!(
            "{} cannot be truncated or censored: its cumulative distribution function is not available",
            row.name
        ));
    }
    Ok(())
}
