//! Calls of functions: the model's own, the tables', and log densities by name.

use super::env::{Binding, Value};
use super::{Lowerer, Result, at};
use crate::facts::Size;
use crate::func::{self, Ty};
use crate::graph::NodeId;
use crate::model;
use crate::ops::scalar::{self, ScalarRow};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Arg, FnDecl, Ident, StmtKind};
use std::sync::Arc;

impl Lowerer<'_> {
    pub(super) fn call(&mut self, name: &Ident, args: &[Arg], span: Span) -> Result<Value> {
        if let Some(Binding::Function(f)) = self.env.get(&name.name) {
            let f = f.clone();
            return self.own_function(&f, args, span);
        }
        if let Some(method) = super::ode::method(&name.name) {
            return self.ode(method, args, span);
        }
        if let Some(row) = func::find(&name.name) {
            return self.table_function(row, args, span);
        }
        if let Some(row) = scalar::find(&name.name) {
            return self.elementwise(row, args, span);
        }
        if let Some((row, suffix)) = model::density_function(&name.name) {
            return self.density_function(row, suffix, args, span);
        }
        Err(self.unknown(&name.name, name.span))
    }

    fn own_function(&mut self, f: &Arc<FnDecl>, args: &[Arg], span: Span) -> Result<Value> {
        let names: Vec<&str> = f.params.iter().map(|p| p.name.as_str()).collect();
        let required = vec![true; names.len()];
        let values = self.arguments(&f.name.name, &names, &required, args, span)?;
        self.apply(f, values.into_iter().flatten().collect(), span)
    }

    /// The value of a function of the model at given values, as many as it takes.
    pub(super) fn apply(&mut self, f: &Arc<FnDecl>, values: Vec<Value>, span: Span) -> Result<Value> {
        if self.calls.contains(&f.name.name) {
            return Err(Diagnostic::error("recursion", format!("`{}` calls itself", f.name.name))
                .label(span, "")
                .help("a function is expanded where it is called, so it cannot call itself; use a loop"));
        }
        if values.len() != f.params.len() {
            return Err(Diagnostic::error(
                "arity",
                format!(
                    "`{}` takes {} arguments, and {} are given",
                    f.name.name,
                    f.params.len(),
                    values.len()
                ),
            )
            .label(span, "")
            .label(f.name.span, "defined here"));
        }
        self.calls.push(f.name.name.clone());
        let outside = self.env.enter_function();
        for (param, value) in f.params.iter().zip(values) {
            self.env.set(&param.name, Binding::Value(value));
        }
        let result = self.function_body(f);
        self.env.leave_function(outside);
        self.calls.pop();
        result
    }

    fn function_body(&mut self, f: &FnDecl) -> Result<Value> {
        for stmt in &f.body {
            if !matches!(stmt.kind, StmtKind::Let(_) | StmtKind::For(_) | StmtKind::If(_)) {
                return Err(Diagnostic::error(
                    "not-in-function",
                    "a function may only define and return values",
                )
                .label(stmt.span, "")
                .help("move statements about data and parameters out of the function"));
            }
        }
        self.statements(&f.body)?;
        self.expr(&f.result)
    }

    fn table_function(&mut self, row: &'static func::Function, args: &[Arg], span: Span) -> Result<Value> {
        let mut names: Vec<&str> = row.args.iter().map(|a| a.name).collect();
        let mut required: Vec<bool> = row.args.iter().map(|a| !a.optional).collect();
        if row.variadic {
            names.resize(names.len().max(args.len()), "...");
            required.resize(names.len(), false);
        }
        let values = self.arguments(row.name, &names, &required, args, span)?;
        if func::adds(row.name) {
            let given = values.iter().flatten().zip(args);
            given.into_iter().try_for_each(|(v, arg)| self.refuse_category(v, arg.value.span))?;
        }
        let types: Vec<Option<Ty>> = values.iter().map(|v| v.as_ref().map(|v| self.type_of(v))).collect();
        let ty = (row.check)(&types).map_err(|e| {
            Diagnostic::error("wrong-argument", format!("`{}`: {e}", row.name)).label(span, "")
        })?;
        let nodes: Vec<Option<NodeId>> = values.iter().map(|v| v.as_ref().map(|v| v.node)).collect();
        if let ("cumsum", [Some(of), ..]) = (row.name, &nodes[..]) {
            self.warn_walk_along(*of, span);
        }
        let node = at((row.build)(&mut self.b, &nodes), span)?;
        let from_data = values.iter().flatten().any(|v| v.from_data);
        let axes = self.result_axes(row.name, &values, node);
        Ok(Value::plain(node, ty.integer, from_data).along(axes))
    }

    fn type_of(&self, value: &Value) -> Ty {
        Ty {
            shape: self.b.dims(value.node).iter().map(|&n| Size::known(n)).collect(),
            integer: value.integer,
            value: self
                .b
                .scalar_of(value.node)
                .filter(|x| value.integer && x.abs() < 9e15)
                .map(|x| Size::integer(x as i64)),
        }
    }

    fn elementwise(&mut self, row: &'static ScalarRow, args: &[Arg], span: Span) -> Result<Value> {
        let required = vec![true; row.args.len()];
        let values = self.arguments(row.name, row.args, &required, args, span);
        let values: Vec<Value> = values?.into_iter().flatten().collect();
        // Of a choice only the condition is a number.
        let numbers = if row.name == "where" { 1 } else { values.len() };
        values
            .iter()
            .zip(args)
            .take(numbers)
            .try_for_each(|(v, arg)| self.refuse_category(v, arg.value.span))?;
        let nodes: Vec<NodeId> = values.iter().map(|v| v.node).collect();
        let node = match (row.name, &nodes[..]) {
            ("where", &[c, a, b]) => at(self.b.choose(c, a, b), span)?,
            _ => at(self.b.map(row, &nodes), span)?,
        };
        let integer = scalar::gives_integers(row, &values.iter().map(|v| v.integer).collect::<Vec<_>>());
        let axes = self.met_axes(&values.iter().collect::<Vec<_>>(), node);
        Ok(Value::plain(node, integer, values.iter().any(|v| v.from_data)).along(axes))
    }

    fn density_function(
        &mut self,
        row: &'static crate::dist::Distribution,
        suffix: &str,
        args: &[Arg],
        span: Span,
    ) -> Result<Value> {
        let mut names = vec!["x"];
        names.extend(row.args.iter().map(|a| a.name));
        let mut required = vec![true];
        required.extend(row.args.iter().map(|a| a.default.is_none()));
        let mut values = self.arguments(&format!("{}{suffix}", row.name), &names, &required, args, span)?;
        let Some(x) = values.remove(0) else {
            return Err(Diagnostic::error("arity", "a value is needed").label(span, ""));
        };
        let values = self.with_defaults(row, values);
        let nodes: Vec<NodeId> = values.iter().map(|v| v.node).collect();
        let from_data = x.from_data || values.iter().any(|v| v.from_data);
        let axis = self.categories_axis(row, &values);
        self.check_outcome_labels(&x, axis.as_ref(), args.first().map_or(span, |a| a.value.span), span)?;
        let node = match suffix {
            "_lcdf" | "_lccdf" => {
                at(crate::dist::log_tail(&mut self.b, row, suffix == "_lccdf", x.node, &nodes), span)?
                    .ok_or_else(|| {
                        let message = format!("`{}` has no cumulative distribution function here", row.name);
                        Diagnostic::error("no-cdf", message).label(span, "")
                    })?
            }
            _ => at(crate::dist::log_density(&mut self.b, row, x.node, &nodes), span)?,
        };
        let met: Vec<&Value> = std::iter::once(&x).chain(&values).filter(|_| row.event == 0).collect();
        let axes = self.met_axes(&met, node);
        Ok(Value::real(node, from_data).along(axes))
    }

    /// Arguments put in order, by position and by name. Optional ones that were not given are None.
    pub(super) fn arguments(
        &mut self,
        what: &str,
        names: &[&str],
        required: &[bool],
        args: &[Arg],
        span: Span,
    ) -> Result<Vec<Option<Value>>> {
        let mut values: Vec<Option<Value>> = vec![None; names.len()];
        for (i, arg) in args.iter().enumerate() {
            let named = arg.name.as_ref();
            let place = named.map_or(Some(i), |name| names.iter().position(|n| *n == name.name));
            let value = self.expr(&arg.value)?;
            if let Some(slot) = place.and_then(|place| values.get_mut(place)) {
                *slot = Some(value);
            }
        }
        if values.iter().zip(required).any(|(v, r)| *r && v.is_none()) {
            let message = format!("`{what}` is given too few arguments");
            return Err(Diagnostic::error("arity", message).label(span, ""));
        }
        Ok(values)
    }
}

/// The distribution behind a log density that is called as a function.
pub(super) fn density_of(name: &str) -> Option<&'static crate::dist::Distribution> {
    model::density_function(name).map(|(row, _)| row)
}
