//! Distributions as written, with their arguments as nodes.

use super::env::Value;
use super::{Lowerer, Result};
use crate::data::Levels;
use crate::dist::{self, Distribution, Domain, End, Support};
use crate::graph::{Graph, NodeId, Op};
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
                left: self.marks(left)?,
                right: self.marks(right)?,
                lower: self.detection(lower, "lower", "left")?,
                upper: self.detection(upper, "upper", "right")?,
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

    /// Refuses a mixture of densities of real numbers with probabilities of integers: they have no common
    /// scale.
    fn check_kinds(&self, built: &[(NodeId, Dist)], span: Span) -> Result<()> {
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
    fn marks(&mut self, e: &Option<Expr>) -> Result<Option<NodeId>> {
        let Some(e) = e else { return Ok(None) };
        let value = self.expr(e)?;
        self.refuse_category(&value, e.span)?;
        if let Some(numbers) = self.b.constant_of(value.node)
            && let Some(i) = numbers.iter().position(|&x| x != 0.0 && x != 1.0)
        {
            let message = format!(
                "1 marks a censored value and 0 an exact one, and element {} is {}",
                i + 1,
                numbers[i]
            );
            let code = if value.from_data { "data-outside-domain" } else { "argument-domain" };
            return Err(Diagnostic::error(code, message).label(e.span, "").help(
                "compare, as in `right = status == 2`; a limit of detection is `upper = c` or `lower = c`",
            ));
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
        let Some(row) = dist::find(&name.name) else {
            let error = Diagnostic::error(
                "unknown-distribution",
                format!("there is no distribution `{}`", name.name),
            )
            .label(name.span, "");
            if let Some(ours) = dist::other_name(&name.name) {
                return Err(error.help(ours));
            }
            if self.own_density(&name.name).is_some() {
                return Err(error.help(format!(
                    "your `{0}_lpdf` describes what stands before `~` in a statement of its own, `y ~ {0}(...)`: it can be \
                     neither drawn from nor a part of another distribution",
                    name.name
                )));
            }
            let function =
                crate::func::find(&name.name).is_some() || crate::ops::scalar::find(&name.name).is_some();
            let longer = dist::TABLE.iter().filter(|d| d.name.starts_with(name.name.as_str()));
            let longer = longer.min_by_key(|d| d.name.len());
            match (function, longer) {
                (true, Some(d)) => {
                    return Err(
                        error.help(format!("`{}` is a function; did you mean `{}`?", name.name, d.name))
                    );
                }
                (true, None) => {
                    return Err(error.help(format!(
                        "`{}` is a function: `let x = {}(...)` defines a value",
                        name.name, name.name
                    )));
                }
                (false, _) => {}
            }
            return Err(match crate::source::nearest(&name.name, dist::TABLE.iter().map(|d| d.name)) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help("`stickler list distributions` shows them all"),
            });
        };
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
            && let (Some(x), Some(y)) = (self.b.scalar_of(low.node), self.b.scalar_of(high.node))
            && x >= y
        {
            let message = format!("`{}` between {x} and {y} describes nothing", row.name);
            return Err(Diagnostic::error("empty-interval", message)
                .label(span, "")
                .help("the lower end comes first")
                .always(!low.from_data && !high.from_data));
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
        let dims = self.b.dims(value.node);
        if spec.rank == 2 && dims.len() < 2 {
            let message = format!(
                "`{}` of `{}` must be a matrix, and this is {}",
                spec.name,
                row.name,
                self.shape(dims)
            );
            return Err(Diagnostic::error("shape-mismatch", message).label(span, "").help(
                "a matrix with standard deviations `s` and no correlations is `diag_matrix(s^2)`, its Cholesky factor \
                 `diag_matrix(s)`; elements that are independent are `normal(mu, s)`",
            ));
        }
        let Some(numbers) = self.b.constant_of(value.node).cloned() else {
            let drawn = self.is_drawn(value.node);
            if spec.domain == Domain::Count && drawn && !value.integer {
                let message = format!("`{}` of `{}` must be a count (0, 1, 2, ...)", spec.name, row.name);
                return Err(Diagnostic::error("argument-domain", message)
                    .label(span, "this is predicted, and real")
                    .help("predict it from a distribution of counts, such as `poisson`"));
            }
            if let Some((i, x)) = never_finite(self.b.graph(), value.node).filter(|_| spec.rank == 0) {
                let message = format!(
                    "`{}` of `{}` is {x} (element {}), whatever the parameters are",
                    spec.name,
                    row.name,
                    i + 1
                );
                let error = Diagnostic::error("data-outside-domain", message)
                    .label(span, "a part that depends on no parameter is not finite")
                    .always(!value.from_data);
                return Err(self
                    .with_infinity(error, span)
                    .help("correct the data, or choose another value there: `where(e > 0, log(e), 0)`"));
            }
            if !drawn && matches!(spec.domain, Domain::Count | Domain::Data) {
                return Err(Diagnostic::error(
                    "argument-not-data",
                    format!("`{}` of `{}` must be known before the fit", spec.name, row.name),
                )
                .label(span, "this depends on a parameter")
                .note(format!("the arguments are {}", call_of(row))));
            }
            return self.check_reach(row, spec, value, span);
        };
        let (fits, wanted): (fn(f64) -> bool, &str) = match spec.domain {
            Domain::Positive => (|x| x > 0.0, "positive"),
            Domain::NonNegative => (|x| x >= 0.0, "zero or positive"),
            Domain::Unit => (|x| (0.0..=1.0).contains(&x), "between 0 and 1"),
            Domain::Count => (|x| x >= 0.0 && x.fract() == 0.0, "a count (0, 1, 2, ...)"),
            Domain::Simplex => (|x| x >= 0.0, "zero or positive"),
            Domain::Real | Domain::Data | Domain::Ordered | Domain::Covariance | Domain::CholeskyFactor => {
                (f64::is_finite, "a finite number")
            }
        };
        let shares = self.b.dims(value.node).last().copied().unwrap_or(1).max(1);
        let sum = |one: &[f64]| one.iter().sum::<f64>();
        if spec.domain == Domain::Simplex
            && let Some(one) = numbers.chunks(shares).find(|one| (sum(one) - 1.0).abs() > 1e-8)
        {
            let code = if value.from_data { "data-outside-domain" } else { "argument-domain" };
            let message =
                format!("`{}` of `{}` must sum to 1, and its sum is {}", spec.name, row.name, sum(one));
            return Err(Diagnostic::error(code, message).label(span, "").help("divide it by its sum"));
        }
        match numbers.iter().position(|&x| !fits(x)) {
            None => Ok(()),
            Some(i) => {
                let which = if numbers.len() > 1 { format!(" (element {})", i + 1) } else { String::new() };
                let code = if value.from_data { "data-outside-domain" } else { "argument-domain" };
                let error = Diagnostic::error(
                    code,
                    format!(
                        "`{}` of `{}` must be {wanted}, and is {}{which}",
                        spec.name, row.name, numbers[i]
                    ),
                )
                .label(span, "");
                let error = self.in_file(error, span, i, numbers[i]);
                Err(match row.name == "uniform" && numbers[i].is_infinite() {
                    true => error.help(
                        "a prior without an end is `flat()`, with the other end as a bound (`param s : real > 0 ~ flat()`); one that says \
                         what is likely, `normal` or `half_normal`, is better",
                    ),
                    false => error,
                })
            }
        }
    }
}

impl Lowerer<'_> {
    /// Adds the order of the arguments to the error of one, if another would do in its place.
    fn in_order(
        &mut self,
        error: Diagnostic,
        row: &Distribution,
        k: usize,
        values: &[Option<Value>],
    ) -> Diagnostic {
        let range = row.args[k].domain.range().filter(|_| error.code == "argument-domain");
        let fits = |v: &Value| range.is_some_and(|range| self.b.range(v.node).within(range));
        let others = values.iter().enumerate().filter(|(other, _)| *other != k);
        match others.filter_map(|(_, value)| value.as_ref()).any(fits) {
            true => error.note(format!("the arguments are {}", call_of(row))),
            false => error,
        }
    }

    /// Adds the call with the last argument first, as `student_t(4, mu, sigma)` for `student_t(mu, sigma,
    /// 4)`, if the first leaves its domain and all fit then.
    fn rotated(
        &mut self,
        error: Diagnostic,
        row: &Distribution,
        k: usize,
        values: &[Option<Value>],
        args: &[Arg],
    ) -> Diagnostic {
        let by_place = args.len() == row.args.len() && args.iter().all(|a| a.name.is_none());
        let Some(last) = args.len().checked_sub(1).filter(|&last| last > 0) else { return error };
        if k != 0 || !by_place || !matches!(error.code, "argument-domain" | "argument-not-data") {
            return error;
        }
        let fits = |(to, spec): (usize, &dist::ArgSpec)| {
            let value = values[if to == 0 { last } else { to - 1 }].as_ref();
            let known = matches!(spec.domain, Domain::Count | Domain::Data);
            let within = |value: &Value| {
                (!known || self.b.constant_of(value.node).is_some())
                    && spec.domain.range().is_none_or(|r| self.b.range(value.node).within(r))
            };
            value.is_some_and(within)
        };
        if !row.args.iter().enumerate().all(fits) {
            return error;
        }
        let mut texts: Vec<&str> = args.iter().map(|a| a.value.span.text(self.source)).collect();
        texts.rotate_right(1);
        let call = format!("`{}` comes first: write `{}({})`", row.args[0].name, row.name, texts.join(", "));
        let help = match &error.help {
            Some(other) => format!("{call}; or {other}"),
            None => call,
        };
        error.help(help)
    }

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

/// How a distribution is called: `binomial(N, theta)`.
fn call_of(row: &Distribution) -> String {
    let names: Vec<&str> = row.args.iter().map(|a| a.name).collect();
    format!("`{}({})`", row.name, names.join(", "))
}

fn argument_span(args: &[Arg], row: &Distribution, k: usize) -> Option<Span> {
    let named = args.iter().find(|a| a.name.as_ref().is_some_and(|n| n.name == row.args[k].name));
    named.or_else(|| args.get(k).filter(|a| a.name.is_none())).map(|a| a.value.span)
}
