//! Refuses what a distribution cannot describe: values outside its support, of another shape, kind or
//! structure.

use super::dist::Dist;
use super::env::{Binding, Value};
use super::{Lowerer, Result};
use crate::data::listed;
use crate::dist::{Distribution, Domain, End, SUM_WITHIN, Support};
use crate::facts::Structure;
use crate::graph::NodeId;
use crate::source::{Diagnostic, Span};

impl Lowerer<'_> {
    pub(super) fn check_positive_weights(&self, w: &Value, span: Span) -> Result<()> {
        let numbers = self.b.constant_of(w.node).map_or(&[][..], |c| c);
        match numbers.iter().position(|&x| !(x >= 0.0)) {
            None => Ok(()),
            Some(i) => {
                let message = format!(
                    "a weight says how often a value counts, and element {} is {}",
                    i + 1,
                    numbers[i]
                );
                Err(Diagnostic::error("data-outside-domain", message)
                    .label(span, "")
                    .help("weights are zero or positive"))
            }
        }
    }

    /// Refuses data outside the support, and reals where integers are needed.
    pub(super) fn check_value(&self, dist: &Dist, value: &Value, span: Span) -> Result<()> {
        match dist {
            Dist::Row { row, args, levels, span: place } => {
                self.check_row_value(row, args, value, span)?;
                self.check_outcome_labels(value, levels.as_ref(), span, *place)
            }
            Dist::Mixture(parts) => {
                for (_, part) in parts {
                    if let Dist::Row { row, levels, span: place, .. } = part {
                        self.check_integer(row, value, span)?;
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
            let error = place.into_iter().fold(error, |error, place| error.label(place, ""));
            let left = span.text(self.source);
            return Err(match values.is_empty() && left.contains('[') {
                true => error.help(format!("`{left}` is one number: give what stands beside it an index too, or describe the whole array")),
                false => error.help("give one for each value, or one for all of them"),
            });
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
        match self.b.common(&all) {
            Ok(wanted) if wanted == self.b.dims(value.node) => Ok(()),
            Ok(wanted) => {
                let wanted = self.shape(&wanted);
                let message = format!("`{}` describes {wanted} here, and the left side is {own}", row.name);
                let left = span.text(self.source);
                let error = Diagnostic::error("shape-mismatch", message)
                    .label(span, format!("this has shape {own}"))
                    .label(place, format!("this describes {wanted}"));
                let scalar = self.b.dims(value.node).is_empty();
                let inside = wanted.trim_matches(['[', ']']);
                Err(match (scalar, self.b.constant_of(value.node).is_some()) {
                    (true, true) if left.parse::<f64>().is_ok() => {
                        error.help(format!("for a term for each element write `rep({left}, {inside}) ~ ...`"))
                    }
                    (true, _) if left.contains('[') => error
                        .help(format!("`{left}` is one number: give the arguments an index too, as it has, or describe the whole array")),
                    (true, _) => error.help(format!("give `{left}` as many elements: `{left}[{inside}]`")),
                    (false, _) => match args.iter().find_map(|&a| self.one_column(a, value.node)) {
                        Some(help) => error.help(help),
                        None => error,
                    },
                })
            }
            Err(_) => {
                let shapes: Vec<String> = args.iter().map(|&a| self.shape(self.b.dims(a))).collect();
                let message = format!("the arguments of `{}` do not fit the left side", row.name);
                let error = Diagnostic::error("shape-mismatch", message)
                    .label(span, format!("this has shape {own}"))
                    .label(place, format!("its arguments have shapes {}", shapes.join(" and ")))
                    .note("shapes align at the last axis; an axis of size 1 is repeated");
                Err(match args.iter().find_map(|&a| self.by_group_help([a, value.node])) {
                    Some(help) => error.help(help),
                    None => error,
                })
            }
        }
    }

    /// What to write for a matrix with one column, [N, 1], beside a value [N].
    fn one_column(&self, argument: NodeId, value: NodeId) -> Option<String> {
        let (&[rows, 1], &[n]) = (self.b.dims(argument), self.b.dims(value)) else { return None };
        let is_it = |name: &&str| matches!(self.env.get(name), Some(Binding::Value(v)) if v.node == argument);
        let name = self.env.names().find(is_it).unwrap_or("s");
        (rows == n).then(|| format!("a matrix with one column is not a vector: write `{name}[:, 1]`"))
    }

    /// What to write where one of two arrays has a number for each group and the other one for each row.
    pub(super) fn by_group_help(&self, [a, b]: [NodeId; 2]) -> Option<String> {
        let indexed = self.by_group(a, b).or_else(|| self.by_group(b, a))?;
        Some(format!("for the value of each row's group write `{indexed}`"))
    }

    /// `alpha[county]` for a parameter with a number for each level of a category that has as many rows as
    /// the value.
    fn by_group(&self, argument: NodeId, value: NodeId) -> Option<String> {
        let parameter = self.parameters.iter().find(|p| p.named.node == argument)?;
        let levels = *self.b.dims(argument).first()?;
        let mut fitting: Vec<&str> = self
            .env
            .categories()
            .filter(|(_, rows, l)| l.len() == levels && self.b.dims(*rows) == self.b.dims(value))
            .map(|(name, ..)| name)
            .collect();
        fitting.sort_unstable();
        Some(format!("{}[{}]", parameter.named.name, fitting.first()?))
    }

    /// Refuses a parameter of another structure than the distribution describes: a Cholesky factor is no
    /// correlation matrix.
    pub(super) fn check_structure(&self, dist: &Dist, value: &Value, span: Span) -> Result<()> {
        let Dist::Row { row, span: place, .. } = dist else { return Ok(()) };
        let (wanted, ty) = match row.support {
            Support::Simplex => (Structure::Simplex, "simplex[K]"),
            Support::CorrMatrix => (Structure::Correlation, "corr_matrix[K]"),
            Support::CovMatrix => (Structure::Covariance, "cov_matrix[K]"),
            Support::CholeskyCorr => (Structure::CholeskyCorrelation, "cholesky_corr[K]"),
            Support::Interval(..)
            | Support::Integers(..)
            | Support::Counts
            | Support::Circle
            | Support::Anywhere => {
                return Ok(());
            }
        };
        let Some(parameter) = self.parameters.iter().find(|p| p.named.node == value.node) else {
            return Ok(());
        };
        if self.b.has_structure(value.node, wanted) {
            return Ok(());
        }
        let (name, support) = (&parameter.named.name, &parameter.support);
        let message = format!("`{}` describes `{ty}`, and `{name}` is `{support}`", row.name);
        let error = Diagnostic::error("support-mismatch", message).label(span, "").label(*place, "");
        Err(error.help(match (row.support, support.as_str()) {
            (Support::CorrMatrix, "cholesky_corr") => {
                "use `lkj_corr_cholesky`, which describes the Cholesky factor".into()
            }
            _ => format!("declare it so: `param {name} : {ty} ~ ...`"),
        }))
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

    pub(super) fn check_integer(&self, row: &Distribution, value: &Value, span: Span) -> Result<()> {
        if row.discrete && !value.integer {
            return Err(Diagnostic::error(
                "real-for-integer",
                format!("`{}` describes integers, and this is real", row.name),
            )
            .label(span, "")
            .help("declare the data `count`, `binary`, `int` or `category`"));
        }
        if row.discrete && self.b.constant_of(value.node).is_none() {
            return Err(Diagnostic::error(
                "discrete-latent",
                format!("`{}` describes data; latents are continuous here", row.name),
            )
            .label(span, "this is a parameter")
            .help("sum a discrete latent out with `mixture`"));
        }
        Ok(())
    }

    fn check_row_value(&self, row: &Distribution, args: &[NodeId], value: &Value, span: Span) -> Result<()> {
        self.check_integer(row, value, span)?;
        let of_levels = matches!(row.support, Support::Integers(End::At(1.0), _));
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
        if is_ordinal(row) && !levels.have_order() {
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
        let (counted, other) = (levels.len(), categories);
        let names = |n: usize| self.size_names.iter().any(|(size, _)| *size == n);
        if counted != other && names(counted) && names(other) {
            let (counted, other) = (self.size(counted), self.size(other));
            let message =
                format!("`{name}` has {counted} levels, and `{}` has {other} categories here", row.name);
            return Err(Diagnostic::error("level-count", message).label(span, "").always(true).help(format!(
                "give each row a number for each level: a matrix [N, {counted}], such as `x * b'` with `param b[{counted}, D]`"
            )));
        }
        let largest = || self.b.constant_of(value.node).and_then(|c| c.iter().copied().reduce(f64::max));
        let fits = match levels.are_indices() {
            true => largest().is_none_or(|x| x <= categories as f64),
            false => levels.len() == categories,
        };
        if fits {
            return Ok(());
        }
        let message = format!(
            "`{name}` has {} levels, and `{}` has {categories} categories here",
            levels.len(),
            row.name
        );
        Err(Diagnostic::error("level-count", message)
            .label(span, "")
            .always(levels.are_given() && !names(categories))
            .note(format!("its levels are {}", listed(levels.labels())))
            .help("levels are counted in their order, whatever numbers they are; list those that never occur, too: `levels(1, 2, 3)`"))
    }

    /// How many categories a distribution of categories has: cut-points lie between them.
    fn categories(&self, row: &Distribution, args: &[NodeId]) -> Option<usize> {
        let (_, &vector) = row.args.iter().zip(args).find(|(spec, _)| spec.rank == 1)?;
        self.b.dims(vector).last().map(|n| n + usize::from(is_ordinal(row)))
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
        let high = match self.categories(row, args).filter(|_| is_ordinal(row)) {
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

/// Whether a distribution is of categories in their order.
fn is_ordinal(row: &Distribution) -> bool {
    row.args.iter().any(|a| a.domain == Domain::Ordered)
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
