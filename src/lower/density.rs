//! Log densities of distributions as written: rows, mixtures, truncation, censoring, extra zeros.

use super::dist::Dist;
use super::env::Value;
use super::{Lowerer, Result, at};
use crate::dist::{self, Distribution, End, Support};
use crate::facts::Structure;
use crate::graph::{BuildError, Builder, NodeId};
use crate::ops::scalar;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::Sample;

type Built = std::result::Result<NodeId, BuildError>;

impl Lowerer<'_> {
    /// The term of `value ~ dist weight w`.
    pub(super) fn density_sum(
        &mut self,
        dist: &Dist,
        value: &Value,
        weight: Option<(Value, Span)>,
        s: &Sample,
    ) -> Result<NodeId> {
        self.check_value(dist, value, s.value.span)?;
        self.check_structure(dist, value, s.value.span)?;
        self.check_extent(dist, value, s.value.span)?;
        let weight = match weight {
            Some((w, span)) if self.b.constant_of(w.node).is_none() => {
                return Err(Diagnostic::error("weight-not-data", "weights must be known before the fit")
                    .label(span, ""));
            }
            Some((w, span)) => {
                self.check_positive_weights(&w, span)?;
                Some(w.node)
            }
            None => None,
        };
        at(sum(&mut self.b, dist, value.node, weight), s.dist.span)
    }

    fn check_positive_weights(&self, w: &Value, span: Span) -> Result<()> {
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
            Dist::Row { row, args, .. } => self.check_row_value(row, args, value, span),
            Dist::Mixture(parts) => {
                for (_, part) in parts {
                    if let Dist::Row { row, .. } = part {
                        self.check_integer(row, value, span)?;
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

    /// Refuses a distribution of more values than there are: a scalar is not described by a vector of means.
    pub(super) fn check_extent(&self, dist: &Dist, value: &Value, span: Span) -> Result<()> {
        let Dist::Row { row, args, span: place } = dist else { return Ok(()) };
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
                    .label(*place, format!("this describes {wanted}"));
                let scalar = self.b.dims(value.node).is_empty();
                let inside = wanted.trim_matches(['[', ']']);
                Err(match (scalar, self.b.constant_of(value.node).is_some()) {
                    (true, true) if left.parse::<f64>().is_ok() => {
                        error.help(format!("for a term for each element write `rep({left}, {inside}) ~ ...`"))
                    }
                    (true, _) => error.help(format!("give `{left}` as many elements: `{left}[{inside}]`")),
                    (false, _) => error,
                })
            }
            Err(_) => {
                let shapes: Vec<String> = args.iter().map(|&a| self.shape(self.b.dims(a))).collect();
                let message = format!("the arguments of `{}` do not fit the left side", row.name);
                let error = Diagnostic::error("shape-mismatch", message)
                    .label(span, format!("this has shape {own}"))
                    .label(*place, format!("its arguments have shapes {}", shapes.join(" and ")))
                    .note("shapes align at the last axis; an axis of size 1 is repeated");
                Err(match args.iter().find_map(|&a| self.by_group(a, value.node)) {
                    Some(indexed) => {
                        error.help(format!("for the value of each row's group write `{indexed}`"))
                    }
                    None => error,
                })
            }
        }
    }

    /// `alpha[county]` for a parameter with a number for each level of a category that has as many rows as the value.
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

    /// Refuses a parameter of another structure than the distribution describes: a Cholesky factor is no correlation matrix.
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
        let Some(numbers) = self.b.constant_of(value.node) else { return Ok(()) };
        for (i, &x) in numbers.iter().enumerate() {
            let Some(limits) = self.limits(row, args, self.b.dims(value.node), i) else { return Ok(()) };
            if limits.hold(x) {
                continue;
            }
            let which =
                if numbers.len() > 1 { format!("element {} is {x}", i + 1) } else { format!("it is {x}") };
            return Err(Diagnostic::error(
                "outside-support",
                format!("the values of `{}` lie in {limits}, and {which}", row.name),
            )
            .label(span, "")
            .help("choose a distribution whose support contains the data, or correct the data"));
        }
        Ok(())
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
        Some(Limits {
            low: end(lower, f64::NEG_INFINITY),
            high: end(upper, f64::INFINITY),
            never_low: matches!(lower, End::Past(_)),
            closed,
        })
    }
}

/// The ends between which a value must lie.
struct Limits {
    low: f64,
    high: f64,
    /// Whether the density is zero at the lower end.
    never_low: bool,
    /// Whether the ends are values like others: those of integers.
    closed: bool,
}

impl Limits {
    /// A boundary of a continuous support has density zero, infinity or a limit; the density itself decides.
    fn hold(&self, x: f64) -> bool {
        x.is_finite() && x >= self.low && x <= self.high && !(self.never_low && x == self.low)
    }
}

impl std::fmt::Display for Limits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (open, close) = if self.closed { ("[", "]") } else { ("(", ")") };
        write!(f, "{open}{}, {}{close}", self.low, self.high)
    }
}

/// The sum over all elements.
pub(super) fn sum(b: &mut Builder, dist: &Dist, x: NodeId, weight: Option<NodeId>) -> Built {
    match dist {
        Dist::Row { row, args, .. } => dist::log_density_sum(b, row, x, args, weight),
        Dist::Censored { inner, left, right, lower, upper } => {
            let (below, above) = censored_sets(b, x, [*left, *right, *lower, *upper])?;
            censored_sum(b, inner, x, &below, &above, weight)
        }
        Dist::Mixture(_) | Dist::Truncated { .. } | Dist::ZeroInflated { .. } => {
            let mut each = each(b, dist, x)?;
            if let Some(w) = weight {
                each = dist::weighted(b, each, w)?;
            }
            b.sum(each, None)
        }
    }
}

/// The sum over a parameter's elements; `inside` if its region is that of the prior, so that nothing need be checked.
pub(super) fn prior(b: &mut Builder, dist: &Dist, x: NodeId, inside: bool) -> Built {
    match dist {
        Dist::Truncated { inner, lower, upper } if inside => {
            let each = renormalised(b, inner, *lower, *upper, x)?;
            b.sum(each, None)
        }
        other => sum(b, other, x, None),
    }
}

/// The density of what is left between two limits, for an x between them.
fn renormalised(
    b: &mut Builder,
    inner: &Dist,
    lower: Option<NodeId>,
    upper: Option<NodeId>,
    x: NodeId,
) -> Built {
    let density = each(b, inner, x)?;
    let mass = interval_mass(b, inner, lower, upper)?;
    b.sub(density, mass)
}

/// Element by element.
pub(super) fn each(b: &mut Builder, dist: &Dist, x: NodeId) -> Built {
    match dist {
        Dist::Row { row, args, .. } => dist::log_density(b, row, x, args),
        Dist::Mixture(parts) => mixture(b, parts, x),
        Dist::Truncated { inner, lower, upper } => {
            let density = renormalised(b, inner, *lower, *upper, x)?;
            match dist::within(b, x, *lower, *upper)? {
                Some(check) => b.add2(density, check),
                None => Ok(density),
            }
        }
        Dist::Censored { inner, left, right, lower, upper } => {
            let (below, above) = censored_sets(b, x, [*left, *right, *lower, *upper])?;
            let exact = each(b, inner, x)?;
            let dims = b.dims(exact).to_vec();
            let at_most = cumulative(b, inner, x, Tail::AtMost)?;
            let at_least = cumulative(b, inner, x, Tail::AtLeast)?;
            let (below, above) = (indicator(b, &below, &dims), indicator(b, &above, &dims));
            let value = b.map(&scalar::WHERE, &[below, at_most, exact])?;
            b.map(&scalar::WHERE, &[above, at_least, value])
        }
        Dist::ZeroInflated { probability, inner } => zero_inflated(b, *probability, inner, x),
    }
}

fn mixture(b: &mut Builder, parts: &[(NodeId, Dist)], x: NodeId) -> Built {
    let mut terms = Vec::with_capacity(parts.len());
    for (weight, dist) in parts {
        let density = each(b, dist, x)?;
        let log_weight = b.unary(&scalar::LOG, *weight);
        terms.push(b.add2(log_weight, density)?);
    }
    if let [first, second] = terms[..] {
        return b.map(&scalar::LOG_ADD_EXP, &[first, second]);
    }
    let dims = b.common(&terms)?;
    let terms: Vec<NodeId> = terms.iter().map(|&t| b.broadcast_to(t, &dims)).collect();
    let all = b.stack(&terms);
    b.log_sum_exp(all, Some(0))
}

#[derive(Clone, Copy)]
enum Tail {
    /// log P(X ≤ x)
    AtMost,
    /// log P(X ≥ x)
    AtLeast,
}

/// log P(X ≤ x) or log P(X ≥ x).
fn cumulative(b: &mut Builder, dist: &Dist, x: NodeId, tail: Tail) -> Built {
    let Dist::Row { row, args, .. } = dist else {
        return Err(BuildError("only a plain distribution can be truncated or censored".into()));
    };
    // P(X ≥ x) = P(X > x - 1) for integers.
    let x = match (tail, row.discrete) {
        (Tail::AtLeast, true) => {
            let one = b.number(1.0);
            b.sub(x, one)?
        }
        (Tail::AtLeast, false) | (Tail::AtMost, _) => x,
    };
    let above = matches!(tail, Tail::AtLeast);
    dist::log_tail(b, row, above, x, args)?.ok_or_else(|| {
        BuildError(format!(
            "{} cannot be truncated or censored: its cumulative distribution function is not available",
            row.name
        ))
    })
}

/// log P(lower ≤ X ≤ upper).
fn interval_mass(b: &mut Builder, dist: &Dist, lower: Option<NodeId>, upper: Option<NodeId>) -> Built {
    let discrete = matches!(dist, Dist::Row { row, .. } if row.discrete);
    match (lower, upper) {
        (None, None) => Ok(b.number(0.0)),
        (Some(lower), None) => cumulative(b, dist, lower, Tail::AtLeast),
        (None, Some(upper)) => cumulative(b, dist, upper, Tail::AtMost),
        (Some(lower), Some(upper)) => {
            let up_to = cumulative(b, dist, upper, Tail::AtMost)?;
            let before = if discrete {
                let one = b.number(1.0);
                b.sub(lower, one)?
            } else {
                lower
            };
            let below = cumulative(b, dist, before, Tail::AtMost)?;
            b.map(&scalar::LOG_DIFF_EXP, &[up_to, below])
        }
    }
}

/// Flat positions of the elements known only to lie below, and above. Order of marks: left, right, lower, upper.
fn censored_sets(b: &mut Builder, x: NodeId, marks: [Option<NodeId>; 4]) -> Result2 {
    let dims = b.dims(x).to_vec();
    let count: usize = dims.iter().product();
    let Some(values) = b.constant_of(x).cloned() else {
        return Err(BuildError("only data can be censored".into()));
    };
    let mut read = |mark: Option<NodeId>, name: &str| -> std::result::Result<Option<Vec<f64>>, BuildError> {
        let Some(mark) = mark else { return Ok(None) };
        let spread = b.broadcast_to(mark, &dims);
        b.constant_of(spread)
            .map(|c| Some(c.to_vec()))
            .ok_or_else(|| BuildError(format!("`{name}` of `censored` must be known before the fit")))
    };
    let [left, right, lower, upper] = marks;
    let (left, right) = (read(left, "left")?, read(right, "right")?);
    let (lower, upper) = (read(lower, "lower")?, read(upper, "upper")?);
    let below = |i: usize| {
        left.as_ref().is_some_and(|m| m[i] != 0.0)
            || lower.as_ref().is_some_and(|limit| values[i] <= limit[i])
    };
    let above = |i: usize| {
        right.as_ref().is_some_and(|m| m[i] != 0.0)
            || upper.as_ref().is_some_and(|limit| values[i] >= limit[i])
    };
    Ok(((0..count).filter(|&i| below(i)).collect(), (0..count).filter(|&i| above(i)).collect()))
}

type Result2 = std::result::Result<(Vec<usize>, Vec<usize>), BuildError>;

/// Each group of elements by its own function, so that none is computed where it does not apply.
fn censored_sum(
    b: &mut Builder,
    inner: &Dist,
    x: NodeId,
    below: &[usize],
    above: &[usize],
    weight: Option<NodeId>,
) -> Built {
    let dims = b.dims(x).to_vec();
    let count: usize = dims.iter().product();
    let mut known = vec![true; count];
    below.iter().chain(above).for_each(|&i| known[i] = false);
    let exact: Vec<usize> = (0..count).filter(|&i| known[i]).collect();
    let mut total = b.number(0.0);
    for (places, tail) in [(&exact[..], None), (below, Some(Tail::AtMost)), (above, Some(Tail::AtLeast))] {
        if places.is_empty() {
            continue;
        }
        let part = restrict(b, inner, &dims, places)?;
        let x = select(b, x, &dims, places);
        let weight = weight.map(|w| select(b, w, &dims, places));
        let term = match tail {
            None => sum(b, &part, x, weight)?,
            Some(tail) => {
                let mut each = cumulative(b, &part, x, tail)?;
                if let Some(w) = weight {
                    each = b.mul(each, w)?;
                }
                b.sum(each, None)?
            }
        };
        total = b.add2(total, term)?;
    }
    Ok(total)
}

/// The distribution of the listed elements alone.
fn restrict(
    b: &mut Builder,
    dist: &Dist,
    dims: &[usize],
    places: &[usize],
) -> std::result::Result<Dist, BuildError> {
    match dist {
        Dist::Row { row, args, span } => {
            let args = args.iter().map(|&a| select(b, a, dims, places)).collect();
            Ok(Dist::Row { row, args, span: *span })
        }
        Dist::Mixture(_) | Dist::Truncated { .. } | Dist::Censored { .. } | Dist::ZeroInflated { .. } => {
            Err(BuildError("only a plain distribution can be censored".into()))
        }
    }
}

/// The listed elements of an array that broadcasts to `dims`; a scalar stays one.
fn select(b: &mut Builder, a: NodeId, dims: &[usize], places: &[usize]) -> NodeId {
    if b.dims(a).is_empty() {
        return a;
    }
    let spread = b.broadcast_to(a, dims);
    b.take(spread, places.iter().map(|&p| p as u32).collect(), vec![places.len()])
}

fn indicator(b: &mut Builder, places: &[usize], dims: &[usize]) -> NodeId {
    let mut marks = vec![0.0; dims.iter().product()];
    places.iter().for_each(|&p| marks[p] = 1.0);
    b.constant(marks, dims.to_vec())
}

/// log(p + (1 - p) f(0)) at zero, log(1 - p) + log f(x) elsewhere.
fn zero_inflated(b: &mut Builder, probability: NodeId, inner: &Dist, x: NodeId) -> Built {
    let density = each(b, inner, x)?;
    let rest = b.unary(&scalar::LOG1M, probability);
    let counted = b.add2(rest, density)?;
    let extra = b.unary(&scalar::LOG, probability);
    let zero = b.number(0.0);
    let is_zero = b.map(&scalar::EQ, &[x, zero])?;
    let either = b.map(&scalar::LOG_ADD_EXP, &[extra, counted])?;
    b.map(&scalar::WHERE, &[is_zero, either, counted])
}
