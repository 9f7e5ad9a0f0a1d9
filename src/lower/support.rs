//! Refuses what a distribution cannot describe: values outside its support, of another shape, kind or
//! structure.

use super::dist::Dist;
use super::env::Value;
use super::{Lowerer, Result};
use crate::dist::{Distribution, End, SUM_WITHIN, Support};
use crate::graph::NodeId;
use crate::model;
use crate::source::{Diagnostic, Span};

impl Lowerer<'_> {
    pub(super) fn check_positive_weights(&self, w: &Value, span: Span) -> Result<()> {
        let numbers = self.b.constant_of(w.node).map_or(&[][..], |c| c);
        match numbers.iter().position(|&x| !(x >= 0.0)) {
            None => Ok(()),
            Some(i) => Err(model::negative_weight(i, numbers[i], span)),
        }
    }

    /// Refuses data outside the support.
    pub(super) fn check_value(&self, dist: &Dist, value: &Value, span: Span) -> Result<()> {
        match dist {
            Dist::Row { row, args, levels, span: place } => {
                self.check_row_value(row, args, value, span)?;
                self.check_outcome_labels(value, levels.as_ref(), span, *place)
            }
            Dist::Mixture(parts) => {
                for (_, part) in parts {
                    if let Dist::Row { levels, span: place, .. } = part {
                        self.check_outcome_labels(value, levels.as_ref(), span, *place)?;
                    }
                }
                self.check_some_part(parts, value, span)
            }
            Dist::Truncated { inner, lower, upper } => {
                self.check_cut(value, *lower, *upper, span)?;
                self.check_value(inner, value, span)
            }
            Dist::Censored { inner, .. } | Dist::ZeroInflated { inner, .. } => {
                self.check_value(inner, value, span)
            }
        }
    }

    /// Refuses a distribution of more values than there are: a scalar is not described by a vector of means,
    /// nor by one of marks or weights.
    pub(super) fn check_extent(&self, dist: &Dist, value: &Value, span: Span) -> Result<()> {
        let inside = match dist {
            Dist::Row { row, args, span: place, .. } => {
                return self.check_row_extent(row, args, *place, value, span);
            }
            Dist::Mixture(parts) => {
                parts.iter().try_for_each(|(_, part)| self.check_extent(part, value, span))?;
                parts.iter().map(|(weight, _)| ("the weight of a part", Some(*weight))).collect()
            }
            Dist::Truncated { inner, lower, upper } => {
                self.check_extent(inner, value, span)?;
                vec![("`lower`", *lower), ("`upper`", *upper)]
            }
            Dist::Censored { inner, left, right, lower, upper } => {
                self.check_extent(inner, value, span)?;
                vec![("`left`", *left), ("`right`", *right), ("`lower`", *lower), ("`upper`", *upper)]
            }
            Dist::ZeroInflated { probability, inner } => {
                self.check_extent(inner, value, span)?;
                vec![("the probability of an extra zero", Some(*probability))]
            }
        };
        let given = inside.into_iter().filter_map(|(what, node)| Some((what, node?)));
        let (row, place) = dist.first_row().unzip();
        let dims = self.b.dims(value.node);
        let values = &dims[..dims.len().saturating_sub(row.map_or(0, |row| row.event))];
        for (what, node) in given {
            let beside = self.b.dims(node);
            let mut last = beside.iter().rev().zip(values.iter().rev());
            if beside.len() <= values.len() && last.all(|(a, b)| a == b || *a == 1) {
                continue;
            }
            let (found, wanted) = (self.shape(beside), self.shape(values));
            let message = format!("{what} has shape {found}, and the left side {wanted}");
            let error =
                Diagnostic::error("shape-mismatch", message).label(span, format!("this has shape {wanted}"));
            return Err(place.into_iter().fold(error, |error, place| error.label(place, "")));
        }
        Ok(())
    }

    fn check_row_extent(
        &self,
        row: &Distribution,
        args: &[NodeId],
        place: Span,
        value: &Value,
        span: Span,
    ) -> Result<()> {
        if row.event > 0 || row.args.iter().any(|spec| spec.rank > 0) {
            return Ok(());
        }
        let mut all = vec![value.node];
        all.extend(args);
        let own = self.shape(self.b.dims(value.node));
        let message = match self.b.common(&all) {
            Ok(wanted) if wanted == self.b.dims(value.node) => return Ok(()),
            Ok(wanted) => {
                format!("`{}` describes {} here, and the left side is {own}", row.name, self.shape(&wanted))
            }
            Err(_) => format!("the arguments of `{}` do not fit the left side", row.name),
        };
        Err(Diagnostic::error("shape-mismatch", message)
            .label(span, format!("this has shape {own}"))
            .label(place, ""))
    }

    /// Refuses data outside the limits of a truncation: their density is zero.
    fn check_cut(
        &self,
        value: &Value,
        lower: Option<NodeId>,
        upper: Option<NodeId>,
        span: Span,
    ) -> Result<()> {
        let Some(numbers) = self.b.constant_of(value.node) else { return Ok(()) };
        let dims = self.b.dims(value.node);
        for (limit, below) in [(lower, true), (upper, false)] {
            let Some((limit, at)) = limit.and_then(|l| Some((self.b.constant_of(l)?, self.b.dims(l)))) else {
                continue;
            };
            let index = crate::ops::operand::Broadcast::between(at, dims);
            for (i, &x) in numbers.iter().enumerate() {
                let edge = limit.get(index.at(i)).copied().unwrap_or(x);
                if (below && x < edge) || (!below && x > edge) {
                    let message = format!("the distribution is cut at {edge}, and element {} is {x}", i + 1);
                    return Err(Diagnostic::error("outside-support", message)
                        .label(span, "")
                        .help("correct the data or the limit; what is known only to lie beyond a limit is `censored`"));
                }
            }
        }
        Ok(())
    }

    fn check_row_value(&self, row: &Distribution, args: &[NodeId], value: &Value, span: Span) -> Result<()> {
        let of_levels = model::is_of_levels(row);
        if !of_levels {
            self.refuse_category(value, span)?;
        }
        self.check_outcome(row, args, value, span)?;
        let Some(numbers) = self.b.constant_of(value.node) else { return Ok(()) };
        if row.support == Support::Simplex {
            return self.check_shares(row, numbers, value, span);
        }
        for (i, &x) in numbers.iter().enumerate() {
            let Some(limits) = self.limits(row, args, self.b.dims(value.node), i) else { return Ok(()) };
            if limits.hold(x) {
                continue;
            }
            let which =
                if numbers.len() > 1 { format!("element {} is {x}", i + 1) } else { format!("it is {x}") };
            let message = format!("the values of `{}` lie in {limits}, and {which}", row.name);
            let error = Diagnostic::error("outside-support", message).label(span, "");
            let help = match x.is_finite() {
                true if of_levels && x == 0.0 => from_one(span.text(self.source)),
                true => "choose a distribution whose support contains the data, or correct the data".into(),
                false => "correct the data: a value that is not finite has no density".into(),
            };
            return Err(self.in_file(error, span, i, x).help(help));
        }
        Ok(())
    }

    /// Refuses data that are no shares of one.
    fn check_shares(&self, row: &Distribution, numbers: &[f64], value: &Value, span: Span) -> Result<()> {
        let parts = self.b.dims(value.node).last().copied().unwrap_or(1).max(1);
        let positive = |one: &[f64]| one.iter().all(|&x| x > 0.0);
        let sums_to_one = |one: &[f64]| (one.iter().sum::<f64>() - 1.0).abs() <= SUM_WITHIN;
        let Some(i) = numbers.chunks(parts).position(|one| !positive(one) || !sums_to_one(one)) else {
            return Ok(());
        };
        let (one, name) = (&numbers[i * parts..(i + 1) * parts], span.text(self.source));
        let which = if numbers.len() > parts { format!("row {}", i + 1) } else { format!("`{name}`") };
        let (what, help) = match one.iter().position(|&x| !(x > 0.0)) {
            Some(k) => (
                format!("element {} of {which} is {}", k + 1, one[k]),
                "a share of zero has no density here: merge rare parts, or add a little to each and divide by the sum again".into(),
            ),
            None => (
                format!("{which} sums to {}", one.iter().sum::<f64>()),
                format!("divide by the sums first: `let shares = {name} / {}`, and `shares ~ {}(...)`", match numbers.len() > parts {
                    true => format!("as_column(rowsum({name}))"),
                    false => format!("sum({name})"),
                }, row.name),
            ),
        };
        let message = format!("the values of `{}` are positive and sum to 1, and {what}", row.name);
        Err(Diagnostic::error("outside-support", message).label(span, "").help(help))
    }

    /// Refuses a category as an outcome if its levels have no order where one is needed, or are not those of
    /// the distribution.
    fn check_outcome(&self, row: &Distribution, args: &[NodeId], value: &Value, span: Span) -> Result<()> {
        let Some(levels) = &value.levels else { return Ok(()) };
        let name = span.text(self.source);
        if model::is_ordinal(row) && !levels.have_order() {
            let quoted: Vec<String> = levels.labels().iter().map(|l| format!("\"{l}\"")).collect();
            let message = format!(
                "`{}` needs levels in their order, and those of `{name}` are sorted as text",
                row.name
            );
            return Err(Diagnostic::error("unordered-levels", message)
                .label(span, "")
                .note(format!("that is {}", levels.labels().join(" < ")))
                .help(format!(
                    "say in which order they are meant: `{name} : category[N] levels({})`, rearranged",
                    quoted.join(", ")
                )));
        }
        let Some(categories) = self.categories(row, args) else { return Ok(()) };
        let largest = || self.b.constant_of(value.node).and_then(|c| c.iter().copied().reduce(f64::max));
        let fits = match levels.are_indices() {
            true => largest().is_none_or(|x| x <= categories as f64),
            false => levels.len() == categories,
        };
        if fits {
            return Ok(());
        }
        Err(model::other_categories(name, levels.labels(), row, categories as i64, span))
    }

    /// How many categories a distribution of categories has: cut-points lie between them.
    fn categories(&self, row: &Distribution, args: &[NodeId]) -> Option<usize> {
        let (_, &vector) = row.args.iter().zip(args).find(|(spec, _)| spec.rank == 1)?;
        self.b.dims(vector).last().map(|n| n + usize::from(model::is_ordinal(row)))
    }

    /// Adds where an element stands in the data, if what is marked is the name of data.
    pub(super) fn in_file(&self, error: Diagnostic, span: Span, i: usize, x: f64) -> Diagnostic {
        let found = self.data.find(span.text(self.source)).ok().flatten();
        // Rows that were matched by label stand elsewhere.
        let same = |found: &crate::data::Found| {
            found.text(i).and_then(|text| text.trim().parse::<f64>().ok()).is_some_and(|y| y == x)
        };
        match found.filter(same) {
            Some(found) => error.place(found.place(i)),
            None => error,
        }
    }

    /// Refuses data that no part of a mixture can give.
    fn check_some_part(&self, parts: &[(NodeId, Dist)], value: &Value, span: Span) -> Result<()> {
        let Some(numbers) = self.b.constant_of(value.node) else { return Ok(()) };
        let possible = |part: &Dist, i: usize, x: f64| match part {
            Dist::Row { row, args, .. } => {
                self.limits(row, args, self.b.dims(value.node), i).is_none_or(|limits| limits.hold(x))
            }
            Dist::Mixture(_) | Dist::Truncated { .. } | Dist::Censored { .. } | Dist::ZeroInflated { .. } => {
                true
            }
        };
        let lost = |&(i, &x): &(usize, &f64)| !parts.iter().any(|(_, part)| possible(part, i, x));
        match numbers.iter().enumerate().find(lost) {
            None => Ok(()),
            Some((i, x)) => Err(Diagnostic::error(
                "outside-support",
                format!("no part of this mixture can give {x} (element {})", i + 1),
            )
            .label(span, "")
            .help("add a part whose support contains it, or correct the data")),
        }
    }

    /// Where the values of a row lie at element `i` of an array, as far as it is known before the fit.
    fn limits(&self, row: &Distribution, args: &[NodeId], dims: &[usize], i: usize) -> Option<Limits> {
        let (lower, upper, closed) = match row.support {
            Support::Interval(a, b) => (a, b, false),
            Support::Integers(a, b) => (a, b, true),
            Support::Counts => (End::At(0.0), End::At(f64::INFINITY), true),
            Support::Circle
            | Support::Simplex
            | Support::CorrMatrix
            | Support::CovMatrix
            | Support::CholeskyCorr
            | Support::Anywhere => return None,
        };
        let end = |e: End, unknown: f64| -> f64 {
            match e {
                End::At(x) | End::Past(x) => x,
                End::Arg(k) => self.b.constant_of(args[k]).map_or(unknown, |c| {
                    let index = crate::ops::operand::Broadcast::between(self.b.dims(args[k]), dims);
                    c.get(index.at(i)).copied().unwrap_or(unknown)
                }),
                End::Length(k) => self.b.dims(args[k]).last().map_or(unknown, |&n| n as f64),
            }
        };
        let high = match self.categories(row, args).filter(|_| model::is_ordinal(row)) {
            Some(categories) => categories as f64,
            None => end(upper, f64::INFINITY),
        };
        Some(Limits {
            low: end(lower, f64::NEG_INFINITY),
            high,
            never_low: matches!(lower, End::Past(_)),
            never_high: matches!(upper, End::Past(_)),
            closed,
        })
    }
}

/// What to do about outcomes that are counted from 0.
fn from_one(outcome: &str) -> String {
    format!(
        "categories are counted from 1: write `{outcome} + 1 ~ ...`, or declare `{outcome} : category[N]`, whose levels are \
         counted for you"
    )
}

/// The ends between which a value must lie.
struct Limits {
    low: f64,
    high: f64,
    /// Whether no value lies at the lower end.
    never_low: bool,
    /// Whether none lies at the upper end.
    never_high: bool,
    /// Whether the ends are values like others: those of integers.
    closed: bool,
}

impl Limits {
    /// At other boundaries of a continuous support the density itself decides: it may be zero, infinite or a
    /// limit.
    fn hold(&self, x: f64) -> bool {
        x.is_finite()
            && x >= self.low
            && x <= self.high
            && !(self.never_low && x == self.low)
            && !(self.never_high && x == self.high)
    }
}

impl std::fmt::Display for Limits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (open, close) = if self.closed { ("[", "]") } else { ("(", ")") };
        write!(f, "{open}{}, {}{close}", self.low, self.high)
    }
}
