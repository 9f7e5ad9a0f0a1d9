//! Log densities of distributions as written: rows, mixtures, truncation, censoring, extra zeros.

use super::dist::Dist;
use super::env::Value;
use super::{Lowerer, Result, at, left_out};
use crate::dist::{self, Distribution, End, Support};
use crate::graph::{BuildError, Builder, NodeId};
use crate::model;
use crate::ops::scalar;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{DistExpr, DistKind, Sample};

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
        self.check_extent(dist, value, s.value.span)?;
        let own = value;
        let value = &at(at_limits(&mut self.b, dist, own), s.dist.span)?;
        let mut checked = self.check_value(dist, value, s.value.span);
        if checked.is_err() && self.check_value(dist, own, s.value.span).is_ok() {
            // The data are fine: it is the limit in their place that is not.
            checked = self.check_value(dist, value, limit_span(&s.dist));
        }
        let weight = match self.known_weight(weight.clone())?.and(weight) {
            Some((w, span)) => {
                self.check_weight_shape(dist, value, &w, span, s)?;
                Some(w.node)
            }
            None => None,
        };
        if let Some((dist, value, weight)) = self.with_weight(dist, value, weight) {
            // A value that counts for nothing need not be one that the distribution can give.
            checked.or_else(|_| self.check_value(&dist, &value, s.value.span))?;
            if self.b.dims(value.node) == [0] {
                return Ok(self.b.number(0.0));
            }
            return at(sum(&mut self.b, &dist, value.node, Some(weight)), s.dist.span);
        }
        checked?;
        at(sum(&mut self.b, dist, value.node, weight), s.dist.span)
    }

    /// The values whose weight is not zero, with their distribution and weights; None if all have some.
    fn with_weight(
        &mut self,
        dist: &Dist,
        value: &Value,
        weight: Option<NodeId>,
    ) -> Option<(Dist, Value, NodeId)> {
        if !dist.is_elementwise() {
            return None;
        }
        let b = &mut self.b;
        // The one value of a turn of a loop is a list of one, of which nothing may be left.
        let mut dims = b.dims(value.node).to_vec();
        if dims.is_empty() {
            dims.push(1);
        }
        let weights = b.broadcast_to(weight?, &dims);
        let places = left_out::kept(b, weights)?;
        let values = b.broadcast_to(value.node, &dims);
        let part = restrict(b, dist, &dims, &places, left_out::elements);
        let [node, weights] = [values, weights].map(|all| left_out::elements(b, all, &dims, &places));
        Some((part, Value { node, ..value.clone() }, weights))
    }

    /// Weights, which must be known before the fit and may not be negative.
    pub(super) fn known_weight(&self, weight: Option<(Value, Span)>) -> Result<Option<NodeId>> {
        let Some((w, span)) = weight else { return Ok(None) };
        if self.b.constant_of(w.node).is_none() {
            return Err(model::weight_not_data(span.text(self.source), span));
        }
        self.refuse_category(&w, span)?;
        self.check_positive_weights(&w, span)?;
        Ok(Some(w.node))
    }
}

impl Lowerer<'_> {
    /// Refuses weights that are not one for each value.
    fn check_weight_shape(
        &self,
        dist: &Dist,
        value: &Value,
        w: &Value,
        span: Span,
        s: &Sample,
    ) -> Result<()> {
        let event = dist.first_row().map_or(0, |(row, _)| row.event);
        let dims = self.b.dims(value.node);
        let values = &dims[..dims.len().saturating_sub(event)];
        let weights = self.b.dims(w.node);
        let fits = weights.len() <= values.len()
            && weights.iter().rev().zip(values.iter().rev()).all(|(w, v)| w == v || *w == 1);
        if fits {
            return Ok(());
        }
        let (weights, values) = (self.shape(weights), self.shape(values));
        let message = format!("there are {values} values here, and {weights} weights");
        Err(Diagnostic::error("shape-mismatch", message)
            .label(span, format!("these have shape {weights}"))
            .label(s.value.span, ""))
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

/// The sum over a parameter's elements; `inside` if its region is that of the prior, so that nothing need be
/// checked.
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
    let [lower, upper] = kept(b, inner, lower, upper);
    if let Dist::Row { row, args, .. } = inner
        && row.discrete
        && (lower.is_some() || upper.is_some())
        && let Some(density) = dist::log_density_between(b, row, x, args, [lower, upper])?
    {
        return Ok(density);
    }
    let density = each(b, inner, x)?;
    let mass = interval_mass(b, inner, lower, upper)?;
    b.sub(density, mass)
}

/// The limits that cut anything off; those of counts as the first and the last count that is kept.
fn kept(b: &mut Builder, dist: &Dist, lower: Option<NodeId>, upper: Option<NodeId>) -> [Option<NodeId>; 2] {
    let discrete = matches!(dist, Dist::Row { row, .. } if row.discrete);
    // No count is below 0 anyway.
    let starts = |row: &Distribution| matches!(row.support, Support::Integers(End::At(0.0), _));
    let counts = matches!(dist, Dist::Row { row, .. } if starts(row));
    let cuts = |b: &Builder, id: NodeId| b.constant_of(id).is_none_or(|c| c.iter().any(|x| !(*x <= 0.0)));
    let lower = lower.filter(|&lower| !counts || cuts(b, lower));
    let whole = |b: &mut Builder, limit: NodeId, row| if discrete { b.unary(row, limit) } else { limit };
    let lower = lower.map(|limit| whole(b, limit, &scalar::CEIL));
    [lower, upper.map(|limit| whole(b, limit, &scalar::FLOOR))]
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

/// log P(lower ≤ X ≤ upper), for limits that are whole numbers where X is one.
fn interval_mass(b: &mut Builder, dist: &Dist, lower: Option<NodeId>, upper: Option<NodeId>) -> Built {
    let discrete = matches!(dist, Dist::Row { row, .. } if row.discrete);
    match (lower, upper) {
        (None, None) => Ok(b.number(0.0)),
        (Some(lower), None) => cumulative(b, dist, lower, Tail::AtLeast),
        (None, Some(upper)) => cumulative(b, dist, upper, Tail::AtMost),
        (Some(lower), Some(upper)) => {
            let one = b.number(1.0);
            let before = if discrete { b.sub(lower, one)? } else { lower };
            let after = if discrete { b.add2(upper, one)? } else { upper };
            let up_to = cumulative(b, dist, upper, Tail::AtMost)?;
            let below = cumulative(b, dist, before, Tail::AtMost)?;
            let from = cumulative(b, dist, lower, Tail::AtLeast)?;
            let above = cumulative(b, dist, after, Tail::AtLeast)?;
            b.map(&dist::LOG_BETWEEN, &[up_to, below, from, above])
        }
    }
}

/// Where the limit of a censoring stands; the whole of it if there are two.
fn limit_span(d: &DistExpr) -> Span {
    match &d.kind {
        DistKind::Censored { lower: Some(limit), upper: None, .. }
        | DistKind::Censored { lower: None, upper: Some(limit), .. } => limit.span,
        DistKind::Censored { .. }
        | DistKind::Call { .. }
        | DistKind::Mixture(_)
        | DistKind::Truncated { .. }
        | DistKind::ZeroInflated { .. } => d.span,
    }
}

/// Values beyond the limits of a censoring as the limits: a cell may hold anything there, a zero for what was
/// not detected, say.
fn at_limits(b: &mut Builder, dist: &Dist, value: &Value) -> std::result::Result<Value, BuildError> {
    let Dist::Censored { inner, lower, upper, .. } = dist else { return Ok(value.clone()) };
    if b.constant_of(value.node).is_none() {
        return Ok(value.clone());
    }
    let (mut node, dims) = (value.node, b.dims(value.node).to_vec());
    // The last integer up to a lower limit, the first from an upper one on.
    let discrete = matches!(&**inner, Dist::Row { row, .. } if row.discrete);
    for (limit, row, whole) in [(lower, &scalar::FMAX, &scalar::FLOOR), (upper, &scalar::FMIN, &scalar::CEIL)]
    {
        // A limit that is not known is refused later.
        if let Some(limit) = limit.as_ref().filter(|limit| b.constant_of(**limit).is_some()) {
            let limit = if discrete { &b.unary(whole, *limit) } else { limit };
            let spread = b.broadcast_to(*limit, &dims);
            node = b.map(row, &[node, spread])?;
        }
    }
    Ok(Value { node, ..value.clone() })
}

/// Flat positions of the elements known only to lie below, and above. Order of marks: left, right, lower,
/// upper.
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
    if !matches!(inner, Dist::Row { .. }) {
        return Err(BuildError("only a plain distribution can be censored".into()));
    }
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
        let part = restrict(b, inner, &dims, places, select);
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

/// What lists elements of an array that broadcasts to these dims.
type Select = fn(&mut Builder, NodeId, &[usize], &[usize]) -> NodeId;

/// The distribution of the listed elements alone.
fn restrict(b: &mut Builder, dist: &Dist, dims: &[usize], places: &[usize], select: Select) -> Dist {
    let some = |b: &mut Builder, of: &Option<NodeId>| of.map(|of| select(b, of, dims, places));
    let within = |b: &mut Builder, of: &Dist| Box::new(restrict(b, of, dims, places, select));
    match dist {
        Dist::Row { row, args, span, levels } => {
            let args = args.iter().map(|&a| select(b, a, dims, places)).collect();
            Dist::Row { row, args, span: *span, levels: levels.clone() }
        }
        Dist::Mixture(parts) => {
            let part = |(weight, part): &(NodeId, Dist)| {
                (select(b, *weight, dims, places), restrict(b, part, dims, places, select))
            };
            Dist::Mixture(parts.iter().map(part).collect())
        }
        Dist::Truncated { inner, lower, upper } => {
            let [lower, upper] = [lower, upper].map(|limit| some(b, limit));
            Dist::Truncated { inner: within(b, inner), lower, upper }
        }
        Dist::Censored { inner, left, right, lower, upper } => {
            let [left, right, lower, upper] = [left, right, lower, upper].map(|mark| some(b, mark));
            Dist::Censored { inner: within(b, inner), left, right, lower, upper }
        }
        Dist::ZeroInflated { probability, inner } => {
            let probability = select(b, *probability, dims, places);
            Dist::ZeroInflated { probability, inner: within(b, inner) }
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
