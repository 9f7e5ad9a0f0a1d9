//! Differential equations: `ode(f, initial, t0, times, ...)`, where `f(t, y, ...)` is a function of the
//! model.

use super::env::{Binding, Value};
use super::{Lowerer, Result, at};
use crate::graph::{Builder, NodeId, Ode, OdeMethod, Tolerance};
use crate::model;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Arg, ExprKind, FnDecl};
use std::sync::Arc;

/// The names that call a solver.
pub(super) fn method(name: &str) -> Option<OdeMethod> {
    match name {
        "ode" => Some(OdeMethod::DormandPrince),
        "ode_stiff" => Some(OdeMethod::Radau),
        _ => None,
    }
}

impl Lowerer<'_> {
    pub(super) fn ode(&mut self, method: OdeMethod, args: &[Arg], span: Span) -> Result<Value> {
        let (named, placed): (Vec<&Arg>, Vec<&Arg>) = args.iter().partition(|a| a.name.is_some());
        let [f, initial, start, times, rest @ ..] = &placed[..] else { return Err(incomplete(span)) };
        let f = self.rate_function(f)?;
        let initial_value = self.expr(&initial.value)?;
        let start_value = self.expr(&start.value)?;
        let times_value = self.expr(&times.value)?;
        let known = |l: &Self, v: &Value, span: Span| {
            l.b.constant_of(v.node).cloned().ok_or_else(|| {
                Diagnostic::error(
                    "ode-times",
                    "the times of a differential equation must be known before the fit",
                )
                .label(span, "")
            })
        };
        let start = known(self, &start_value, start.value.span)?.first().copied().unwrap_or(0.0);
        let span_of_times = times.value.span;
        let times = known(self, &times_value, span_of_times)?.to_vec();
        check_times(start, &times, span_of_times)?;
        let rest = rest.iter().map(|a| self.expr(&a.value)).collect::<Result<Vec<Value>>>()?;
        let states: usize = self.b.dims(initial_value.node).iter().product();
        let free: Vec<NodeId> =
            rest.iter().map(|v| v.node).filter(|&n| self.b.constant_of(n).is_none()).collect();
        let parameters = free.iter().map(|&n| self.b.dims(n).iter().product::<usize>()).sum();
        let theta = match free.is_empty() {
            true => self.b.constant(Vec::new(), vec![0]),
            false => self.b.concat(&free, vec![parameters]),
        };
        let tolerance = self.tolerance(&named)?;
        let (graph, rate) = self.rate_graph(&f, states, &rest, span)?;
        let ode = Ode { graph, rate, states, parameters, start, times, method, tolerance };
        let flat = self.b.reshape(initial_value.node, vec![states]);
        let node = at(self.b.ode(ode, flat, theta), span)?;
        let from_data = initial_value.from_data || rest.iter().any(|v| v.from_data);
        Ok(Value::real(node, from_data))
    }

    fn rate_function(&self, arg: &Arg) -> Result<Arc<FnDecl>> {
        let ExprKind::Name(name) = &arg.value.kind else { return Err(incomplete(arg.value.span)) };
        match self.env.get(name) {
            Some(Binding::Function(f)) => Ok(f.clone()),
            Some(Binding::Value(_) | Binding::Elements(_)) | None => Err(incomplete(arg.value.span)),
        }
    }

    fn tolerance(&mut self, named: &[&Arg]) -> Result<Tolerance> {
        let mut tolerance = Tolerance::default();
        for arg in named {
            let value = self.expr(&arg.value)?;
            let number = self.b.scalar_of(value.node).unwrap_or(f64::NAN);
            match arg.name.as_ref().map(|n| n.name.as_str()) {
                Some("rel_tol") => tolerance.relative = number,
                Some("abs_tol") => tolerance.absolute = number,
                Some("max_steps") => tolerance.most_steps = number.max(1.0) as usize,
                _ => {}
            }
        }
        Ok(tolerance)
    }

    /// The right-hand side as a graph of its own: coordinate 0 is t, then the state, then what depends on
    /// parameters.
    fn rate_graph(
        &mut self,
        f: &Arc<FnDecl>,
        states: usize,
        rest: &[Value],
        span: Span,
    ) -> Result<(crate::graph::Graph, NodeId)> {
        let mut inner = Builder::new();
        let t = inner.input(0, Vec::new());
        let y = inner.input(1, vec![states]);
        let mut values = vec![Value::real(t, false), Value::real(y, false)];
        let mut offset = 1 + states;
        for v in rest {
            let dims = self.b.dims(v.node).to_vec();
            let node = match self.b.constant_of(v.node) {
                Some(numbers) => inner.constant(numbers.clone(), dims),
                None => {
                    let size: usize = dims.iter().product();
                    offset += size;
                    inner.input(offset - size, dims)
                }
            };
            values.push(Value { node, ..v.clone() });
        }
        std::mem::swap(&mut self.b, &mut inner);
        let sizes = self.env.move_sizes(&inner, &mut self.b);
        let result = self.apply(f, values, span);
        let rate = result.map(|v| (v.node, self.b.dims(v.node).iter().product::<usize>()));
        std::mem::swap(&mut self.b, &mut inner);
        self.env.restore_sizes(sizes);
        let (rate, size) = rate?;
        if size != states {
            let (rates, states) = (size.to_string(), states.to_string());
            return Err(model::wrong_rates(&f.name.name, &rates, &states, span));
        }
        Ok((inner.finish(), rate))
    }
}

/// Refuses times that do not increase, or come before the start.
fn check_times(start: f64, times: &[f64], span: Span) -> Result<()> {
    let from = std::iter::once(&start).chain(times);
    match from.zip(times).find(|(before, t)| t < before) {
        None => Ok(()),
        Some((before, t)) => Err(model::unsorted_times(*before, *t, span)),
    }
}

/// The error of a call that `model` has not let pass.
fn incomplete(span: Span) -> Diagnostic {
    Diagnostic::error("ode-arguments", "this call of a solver is not complete").label(span, "")
}
