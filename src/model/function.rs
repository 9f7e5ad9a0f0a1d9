//! Functions of the model's own: what a call gives, read once for each kind of arguments.

use super::loops::Around;
use super::names::Meaning;
use super::types::Type;
use super::{Elaborator, Result};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Arg, DistExpr, DistKind, FnDecl, StmtKind};
use std::rc::Rc;

/// Endings of functions that are log densities.
pub const DENSITY_ENDINGS: [&str; 2] = ["_lpdf", "_lpmf"];

/// Most calls that one call may expand to, through the functions that it calls: each is written out where it
/// stands, and a graph has a node or more for each. That is sixteen levels of functions of which each calls
/// the next one twice.
const MAX_EXPANDED_CALLS: u64 = 1 << 16;

impl Elaborator<'_> {
    pub(super) fn own_function(&mut self, f: &Rc<FnDecl>, args: &[Arg], span: Span) -> Result<Type> {
        let names: Vec<&str> = f.params.iter().map(|p| p.name.as_str()).collect();
        let required = vec![true; names.len()];
        let values = self.arguments(&f.name.name, &names, &required, args, span)?;
        self.apply(f, values.into_iter().flatten().collect(), span)
    }

    /// The value of a function of the model at given values, as many as it takes.
    pub(super) fn apply(&mut self, f: &Rc<FnDecl>, values: Vec<Type>, span: Span) -> Result<Type> {
        let name = &f.name.name;
        if self.context.calls.contains(name) {
            return Err(Diagnostic::error("recursion", format!("`{name}` calls itself"))
                .label(span, "")
                .help("a function is expanded where it is called, so it cannot call itself; use a loop"));
        }
        if values.len() != f.params.len() {
            let message =
                format!("`{name}` takes {} arguments, and {} are given", f.params.len(), values.len());
            return Err(Diagnostic::error("arity", message)
                .label(span, "")
                .label(f.name.span, "defined here"));
        }
        let identities: Vec<String> = values.iter().map(|v| v.identity.to_string()).collect();
        let call = format!("{name}({}) {}", identities.join(","), self.context.open > 0);
        if let Some((ty, expanded)) = self.applied.get(&call).cloned() {
            self.expand(expanded, f, span)?;
            return Ok(ty);
        }
        let before = std::mem::replace(&mut self.context.expanded, 1);
        let found = self.body(f, values);
        let expanded = std::mem::replace(&mut self.context.expanded, before);
        let ty = found?;
        self.applied.insert(call, (ty.clone(), expanded));
        self.expand(expanded, f, span)?;
        Ok(ty)
    }

    /// Counts the calls that a call expands to, and refuses more than a graph could hold.
    fn expand(&mut self, calls: u64, f: &FnDecl, span: Span) -> Result<()> {
        self.context.expanded = self.context.expanded.saturating_add(calls);
        if self.context.calls.is_empty() {
            self.context.expanded = 0;
        }
        if calls <= MAX_EXPANDED_CALLS {
            return Ok(());
        }
        let message = format!(
            "`{}` calls functions that call others, and expands to more than {MAX_EXPANDED_CALLS} calls",
            f.name.name
        );
        Err(Diagnostic::error("too-many-calls", message)
            .label(span, "")
            .label(f.name.span, "defined here")
            .help("a function is written out wherever it is called: give its value a name, `let a = f(x)`, and use that twice"))
    }

    fn body(&mut self, f: &FnDecl, values: Vec<Type>) -> Result<Type> {
        self.context.calls.push(f.name.name.clone());
        let outside = self.names.enter_function();
        let loops: Vec<Around> = std::mem::take(&mut self.context.loops);
        let open = self.context.open;
        for (param, value) in f.params.iter().zip(values) {
            // An argument is a value like others: the loops that it may count are not those of the body.
            self.names.set(&param.name, Meaning::Value(value));
        }
        let result = self.statements_of(f);
        self.context.open = open;
        self.context.loops = loops;
        self.names.leave_function(outside);
        self.context.calls.pop();
        result
    }

    fn statements_of(&mut self, f: &FnDecl) -> Result<Type> {
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

    /// The model's function that is the log density of a distribution of this name.
    pub(super) fn own_density(&self, name: &str) -> Option<Rc<FnDecl>> {
        DENSITY_ENDINGS.iter().find_map(|ending| self.names.function(&format!("{name}{ending}")))
    }

    /// Whether a distribution is one of the model's own.
    pub(super) fn is_own(&self, d: &DistExpr) -> bool {
        match &d.kind {
            DistKind::Call { name, .. } => {
                crate::dist::find(&name.name).is_none() && self.own_density(&name.name).is_some()
            }
            DistKind::Mixture(_)
            | DistKind::Truncated { .. }
            | DistKind::Censored { .. }
            | DistKind::ZeroInflated { .. } => false,
        }
    }

    /// The log density of a value under a distribution of the model's own.
    pub(super) fn own_sum(
        &mut self,
        d: &DistExpr,
        value: &Type,
        weight: Option<&(Type, Span)>,
    ) -> Result<Type> {
        let unknown = |name: &str, span: Span| {
            let message = format!("there is no distribution `{name}`");
            Diagnostic::error("unknown-distribution", message).label(span, "")
        };
        let DistKind::Call { name, args } = &d.kind else { return Err(unknown("mixture", d.span)) };
        let Some(f) = self.own_density(&name.name) else { return Err(unknown(&name.name, name.span)) };
        let names: Vec<&str> = f.params.iter().skip(1).map(|p| p.name.as_str()).collect();
        let rest = self.arguments(&name.name, &names, &vec![true; names.len()], args, d.span)?;
        let all = std::iter::once(value.clone()).chain(rest.into_iter().flatten()).collect();
        let each = self.apply(&f, all, d.span)?;
        if let (Some(found), Some(values)) = (each.rank(), value.rank())
            && found > values
        {
            let (found, values) = (self.shown(&each), self.shown(value));
            let message = format!(
                "`{}` gives log densities of shape {found}, and the left side has shape {values}",
                name.name
            );
            return Err(Diagnostic::error("shape-mismatch", message)
                .label(d.span, "each value would count several times")
                .help("give the arguments an index as the left side has, or describe the whole array"));
        }
        self.check_weight(weight)?;
        if let Some((w, _)) = weight {
            self.meet(&[&each, w], |l| {
                let message = format!("the shapes {} and {} do not fit together", l.shown(&each), l.shown(w));
                Diagnostic::error("shape-mismatch", message).label(d.span, "")
            })?;
        }
        Ok(each)
    }
}
