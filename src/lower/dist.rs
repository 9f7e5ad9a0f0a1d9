//! Distributions as written, with their arguments as nodes.

use super::env::Value;
use super::{Lowerer, Result};
use crate::data::Levels;
use crate::dist::{self, Distribution, Domain, End, Support};
use crate::graph::{Graph, NodeId, Op};
use crate::model;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Arg, DistExpr, DistKind, Expr, Ident};
use std::collections::HashSet;
use std::sync::Arc;

/// A distribution with its arguments.
#[derive(Debug)]
pub enum Dist {
    /// A row of the table.
    Row {
        /// The row.
        row: &'static Distribution,
        /// Its arguments.
        args: Vec<NodeId>,
        /// Where it was written.
        span: Span,
        /// What its categories are called, where the axis of its probabilities has labels.
        levels: Option<Arc<Levels>>,
    },
    /// A sum of weighted densities.
    Mixture(Vec<(NodeId, Dist)>),
    /// Cut to an interval and normalised.
    Truncated {
        /// What is cut.
        inner: Box<Dist>,
        /// From below.
        lower: Option<NodeId>,
        /// From above.
        upper: Option<NodeId>,
    },
    /// Known only to lie beyond some values.
    Censored {
        /// What is censored.
        inner: Box<Dist>,
        /// For each element whether only 'at most' is known.
        left: Option<NodeId>,
        /// For each element whether only 'at least' is known.
        right: Option<NodeId>,
        /// Values at or below this are known only to be so.
        lower: Option<NodeId>,
        /// Values at or above this are known only to be so.
        upper: Option<NodeId>,
    },
    /// Zero with some probability.
    ZeroInflated {
        /// That probability.
        probability: NodeId,
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

    /// Whether it describes each element by itself, with numbers or one of each array that is as long.
    pub fn is_elementwise(&self) -> bool {
        match self {
            Dist::Row { row, .. } => row.event == 0 && row.args.iter().all(|a| a.rank == 0),
            Dist::Mixture(parts) => parts.iter().all(|(_, part)| part.is_elementwise()),
            Dist::Truncated { inner, .. }
            | Dist::Censored { inner, .. }
            | Dist::ZeroInflated { inner, .. } => inner.is_elementwise(),
        }
    }

    /// The nodes that it needs.
    pub fn nodes(&self, into: &mut Vec<NodeId>) {
        match self {
            Dist::Row { args, .. } => into.extend(args),
            Dist::Mixture(parts) => parts.iter().for_each(|(weight, part)| {
                into.push(*weight);
                part.nodes(into);
            }),
            Dist::Truncated { inner, lower, upper } => {
                into.extend(lower.iter().chain(upper));
                inner.nodes(into);
            }
            Dist::Censored { inner, left, right, lower, upper } => {
                into.extend([left, right, lower, upper].into_iter().flatten());
                inner.nodes(into);
            }
            Dist::ZeroInflated { probability, inner } => {
                into.push(*probability);
                inner.nodes(into);
            }
        }
    }
}

impl Lowerer<'_> {
    pub(super) fn dist(&mut self, d: &DistExpr) -> Result<Dist> {
        match &d.kind {
            DistKind::Call { name, args } => self.dist_call(name, args, d.span),
            DistKind::Mixture(parts) => {
                let built = parts.iter().map(|(w, d)| Ok((self.expr(w)?.node, self.dist(d)?)));
                let built: Vec<(NodeId, Dist)> = built.collect::<Result<_>>()?;
                self.check_weights(&built, parts)?;
                for ((weight, _), (e, _)) in built.iter().zip(parts) {
                    self.check_probability(*weight, e, ["mixture-weights", "a weight of a mixture"])?;
                }
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
                left: self.marks(left)?,
                right: self.marks(right)?,
                lower: self.detection(lower, "lower", "left")?,
                upper: self.detection(upper, "upper", "right")?,
            }),
            DistKind::ZeroInflated { probability, inner } => {
                let rest = self.dist(inner)?;
                let node = self.expr(probability)?.node;
                self.check_probability(
                    node,
                    probability,
                    ["zero-inflated", "the probability of an extra zero"],
                )?;
                Ok(Dist::ZeroInflated { probability: node, inner: Box::new(rest) })
            }
        }
    }

    /// Marks of censored values: 0 or 1 each.
    fn marks(&mut self, e: &Option<Expr>) -> Result<Option<NodeId>> {
        let Some(e) = e else { return Ok(None) };
        let value = self.expr(e)?;
        self.refuse_category(&value, e.span)?;
        if let Some(numbers) = self.b.constant_of(value.node)
            && let Some(i) = numbers.iter().position(|&x| x != 0.0 && x != 1.0)
        {
            let code = if value.from_data { "data-outside-domain" } else { "argument-domain" };
            return Err(model::not_a_mark(i, numbers[i], code, e.span));
        }
        Ok(Some(value.node))
    }

    /// A limit of detection, which marks of censored values are not: these go by another name.
    fn detection(&mut self, e: &Option<Expr>, name: &str, marks: &str) -> Result<Option<NodeId>> {
        let Some(e) = e else { return Ok(None) };
        let value = self.expr(e)?;
        let numbers = self.b.constant_of(value.node).map_or(&[][..], |c| c);
        let all_marks = numbers.contains(&0.0) && numbers.iter().all(|&x| x == 0.0 || x == 1.0);
        if value.integer && all_marks && numbers.len() > 1 {
            let written = e.span.text(self.source);
            let message = format!("`{name}` is a limit of detection, and `{written}` is only ever 0 or 1");
            return Err(Diagnostic::error("marks-as-limit", message)
                .label(e.span, "")
                .help(format!(
                    "if 1 marks the censored values, write `{marks} = {written}`; a limit that happens to be 0 or 1 is declared `real`"
                )));
        }
        Ok(Some(value.node))
    }

    fn optional(&mut self, e: &Option<Expr>) -> Result<Option<NodeId>> {
        e.as_ref().map(|e| self.expr(e).map(|v| v.node)).transpose()
    }

    fn dist_call(&mut self, name: &Ident, args: &[Arg], span: Span) -> Result<Dist> {
        let Some(row) = dist::find(&name.name) else { return Err(self.unknown(&name.name, name.span)) };
        let names: Vec<&str> = row.args.iter().map(|a| a.name).collect();
        let required: Vec<bool> = row.args.iter().map(|a| a.default.is_none()).collect();
        let values = self.arguments(row.name, &names, &required, args, span)?;
        for (k, value) in values.iter().enumerate() {
            if let Some(value) = value {
                let place = argument_span(args, row, k).unwrap_or(span);
                self.check_domain(row, k, value, place)?;
            }
        }
        if let Support::Interval(End::Arg(a), End::Arg(b)) = row.support
            && let (Some(Some(low)), Some(Some(high))) = (values.get(a), values.get(b))
            && let (Some(x), Some(y)) = (self.b.scalar_of(low.node), self.b.scalar_of(high.node))
            && x >= y
        {
            return Err(model::empty_support(row.name, x, y, span));
        }
        let values = self.with_defaults(row, values);
        let levels = self.categories_axis(row, &values);
        Ok(Dist::Row { row, args: values.iter().map(|v| v.node).collect(), span, levels })
    }

    /// What the categories of a distribution over them are called, where the axis of its probabilities has
    /// labels.
    pub(super) fn categories_axis(&self, row: &Distribution, values: &[Value]) -> Option<Arc<Levels>> {
        let of_levels = matches!(row.support, Support::Integers(End::At(1.0), _));
        let (_, vector) = row.args.iter().zip(values).find(|(spec, _)| of_levels && spec.rank == 1)?;
        self.axes_of(vector).pop().flatten()
    }

    pub(super) fn with_defaults(&mut self, row: &Distribution, values: Vec<Option<Value>>) -> Vec<Value> {
        let defaults = row.args.iter().map(|a| a.default.unwrap_or(f64::NAN));
        let pairs: Vec<_> = values.into_iter().zip(defaults).collect();
        pairs.into_iter().map(|(v, d)| v.unwrap_or_else(|| Value::real(self.b.number(d), false))).collect()
    }

    /// Refuses constants outside an argument's domain, and what can move outside it.
    fn check_domain(&mut self, row: &Distribution, k: usize, value: &Value, span: Span) -> Result<()> {
        let spec = &row.args[k];
        self.refuse_category(value, span)?;
        let Some(numbers) = self.b.constant_of(value.node).cloned() else {
            if let Some((i, x)) = never_finite(self.b.graph(), value.node).filter(|_| spec.rank == 0) {
                let error = model::never_finite(row, spec, (i, x), span);
                return Err(self.with_infinity(error, span));
            }
            if !self.is_drawn(value.node) && matches!(spec.domain, Domain::Count | Domain::Data) {
                return Err(model::argument_not_data(row, spec, span));
            }
            return self.check_reach(row, spec, value, span);
        };
        let (fits, _) = model::requirement(spec.domain);
        let code = if value.from_data { "data-outside-domain" } else { "argument-domain" };
        let shares = self.b.dims(value.node).last().copied().unwrap_or(1).max(1);
        let sum = |one: &[f64]| one.iter().sum::<f64>();
        if spec.domain == Domain::Simplex
            && let Some(one) = numbers.chunks(shares).find(|one| (sum(one) - 1.0).abs() > 1e-8)
        {
            return Err(model::sum_is_not_one(row, spec, sum(one), code, span));
        }
        match numbers.iter().position(|&x| !fits(x)) {
            None => Ok(()),
            Some(i) => {
                let error = model::outside_domain(row, spec, (i, &numbers), code, span);
                Err(self.in_file(error, span, i, numbers[i]))
            }
        }
    }
}

impl Lowerer<'_> {
    /// Adds the cell of a data file that is infinite, if an expression names such data.
    fn with_infinity(&self, error: Diagnostic, span: Span) -> Diagnostic {
        let words = span.text(self.source).split(|c: char| !(c.is_alphanumeric() || c == '_'));
        for found in words.filter(|w| !w.is_empty()).filter_map(|word| self.data.find(word).ok().flatten()) {
            let infinite = |i: &usize| {
                found.text(*i).is_some_and(|t| t.trim().parse::<f64>().is_ok_and(f64::is_infinite))
            };
            if let Some(i) = (0..found.len()).find(infinite) {
                return error.place(found.place(i));
            }
        }
        error
    }
}

/// An element of a sum or product that data make infinite or no number, and what they make it.
fn never_finite(graph: &Graph, id: NodeId) -> Option<(usize, f64)> {
    let (mut left, mut seen) = (vec![id], HashSet::new());
    while let Some(id) = left.pop() {
        let node = graph.node(id);
        let numbers = node.constant().map_or(&[][..], |c| c);
        if let Some(i) = numbers.iter().position(|x| !x.is_finite()) {
            return Some((i, numbers[i]));
        }
        if matches!(&node.op, Op::Map(row) if ["add", "sub", "mul", "neg"].contains(&row.name)) {
            left.extend(node.args.iter().filter(|a| seen.insert(**a)));
        }
    }
    None
}

fn argument_span(args: &[Arg], row: &Distribution, k: usize) -> Option<Span> {
    let named = args.iter().find(|a| a.name.as_ref().is_some_and(|n| n.name == row.args[k].name));
    named.or_else(|| args.get(k).filter(|a| a.name.is_none())).map(|a| a.value.span)
}
