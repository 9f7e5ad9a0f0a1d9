//! Statements.

use super::elements::undefined;
use super::env::{Binding, Value};
use super::{Lowerer, Result, TermKind, at};
use crate::data::Levels;
use crate::model::{MAX_ITERATIONS, condition_not_data};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{ExprKind, ForLoop, Ident, IfStmt, LetDecl, Sample, Stmt, StmtKind};
use std::sync::Arc;

/// A loop around a statement.
pub(super) struct Around {
    /// Its variable.
    pub(super) variable: String,
    /// The levels that the variable counts.
    pub(super) levels: Option<Arc<Levels>>,
}

impl Lowerer<'_> {
    pub(super) fn statements(&mut self, statements: &[Stmt]) -> Result<()> {
        self.functions(statements);
        statements.iter().try_for_each(|s| self.statement(s))
    }

    /// Functions may be called before the line that defines them.
    pub(super) fn functions(&mut self, statements: &[Stmt]) {
        for stmt in statements {
            if let StmtKind::Fn(f) = &stmt.kind {
                self.env.set_everywhere(&f.name.name, Binding::Function(Arc::new(f.clone())));
            }
        }
    }

    pub(super) fn statement(&mut self, stmt: &Stmt) -> Result<()> {
        self.b.set_span(Some(stmt.span));
        match &stmt.kind {
            StmtKind::Data(_) | StmtKind::Fn(_) => Ok(()),
            StmtKind::Param(p) => self.param(p, stmt.span),
            StmtKind::Let(l) => self.definition(l),
            StmtKind::For(f) => self.for_loop(f),
            StmtKind::If(i) => self.branch(i),
            StmtKind::Sample(s) => self.sample(s, stmt),
            StmtKind::Target(e) => {
                let value = self.expr(e)?;
                self.note_added(&value);
                let node = at(self.b.sum(value.node, None), e.span)?;
                self.term(node, kind_of(&value), stmt.span);
                Ok(())
            }
            StmtKind::Derive(d) => self.derive(d),
            StmtKind::Predict(p) => self.predict(p),
        }
    }

    fn definition(&mut self, l: &LetDecl) -> Result<()> {
        let value = self.expr(&l.value)?;
        if l.indices.is_empty() {
            return self.define(&l.name, value);
        }
        let index = l.indices.iter().map(|e| self.position(e)).collect::<Result<Vec<usize>>>()?;
        self.env.elements(&l.name.name).define(&l.name.name, index, value, l.name.span)
    }

    pub(super) fn for_loop(&mut self, f: &ForLoop) -> Result<()> {
        let (from, to) = (self.integer(&f.from)?, self.integer(&f.to)?);
        if to - from >= MAX_ITERATIONS {
            return Err(Diagnostic::error(
                "long-loop",
                format!("a loop of {} steps is too long", to - from + 1),
            )
            .label(f.var.span, "")
            .help("write it with whole arrays: operations apply to every element at once"));
        }
        self.run_loop(f, from, to)
    }

    fn run_loop(&mut self, f: &ForLoop, from: i64, to: i64) -> Result<()> {
        if self.whole_loop(f, from, to)? || self.recursive_loop(f, from, to) {
            return Ok(());
        }
        self.each_step(f, from, to)
    }

    /// Writes a loop out step by step.
    pub(super) fn each_step(&mut self, f: &ForLoop, from: i64, to: i64) -> Result<()> {
        self.within(f, |l| l.steps_in_turn(f, from, to))
    }

    /// Works inside a loop.
    pub(super) fn within<T>(&mut self, f: &ForLoop, work: impl FnOnce(&mut Self) -> T) -> T {
        let levels = match &f.to.kind {
            ExprKind::Name(size) => self.env.levels(size),
            _ => None,
        };
        self.loops.push(Around { variable: f.var.name.clone(), levels });
        let done = work(self);
        self.loops.pop();
        done
    }

    fn steps_in_turn(&mut self, f: &ForLoop, from: i64, to: i64) -> Result<()> {
        for i in from..=to {
            self.env.push();
            let node = self.b.number(i as f64);
            self.env.set(&f.var.name, Binding::Value(Value::integer(node, false)));
            let done = self.statements(&f.body);
            self.env.pop();
            done?;
        }
        Ok(())
    }

    fn branch(&mut self, i: &IfStmt) -> Result<()> {
        let condition = self.expr(&i.condition)?;
        let Some(truth) = self.b.scalar_of(condition.node) else { return Err(condition_not_data(i)) };
        self.statements(if truth != 0.0 { &i.then } else { &i.otherwise })
    }

    fn sample(&mut self, s: &Sample, stmt: &Stmt) -> Result<()> {
        if self.pending_effect(s, stmt.span)? {
            return Ok(());
        }
        let value = self.expr(&s.value)?;
        self.note_described(value.node);
        let weight = s.weight.as_ref().map(|w| self.expr(w).map(|v| (v, w.span))).transpose()?;
        if self.is_own(&s.dist) {
            let node = self.own_sum(&s.dist, &value, weight)?;
            self.term(node, kind_of(&value), stmt.span);
            return Ok(());
        }
        let dist = self.dist(&s.dist)?;
        let node = self.density_sum(&dist, &value, weight, s)?;
        self.note_prior(value.node, &dist);
        if super::param::is_walk(&dist) {
            self.warn_walk_along(value.node, s.value.span);
        }
        self.term(node, kind_of(&value), stmt.span);
        Ok(())
    }

    /// Gives a name its value, once.
    pub(super) fn define(&mut self, name: &Ident, value: Value) -> Result<()> {
        self.env.set(&name.name, Binding::Value(value));
        Ok(())
    }

    /// The value of a name, whole.
    pub(super) fn named(&mut self, name: &str, span: Span) -> Result<Value> {
        match self.env.get(name) {
            Some(Binding::Value(v)) => Ok(v.clone()),
            Some(Binding::Elements(_)) => {
                let whole = self.env.elements(name).whole(&mut self.b, name, span)?;
                Ok(self.with_counted_axes(name, whole))
            }
            Some(Binding::Function(_)) => {
                Err(Diagnostic::error("function-as-value", format!("`{name}` is a function"))
                    .label(span, "")
                    .help(format!("call it: `{name}(...)`")))
            }
            None if name == "inf" => Ok(Value::real(self.b.number(f64::INFINITY), false)),
            None if name == "true" || name == "false" => {
                Ok(Value::integer(self.b.number(f64::from(u8::from(name == "true"))), false))
            }
            None => Err(self.unknown(name, span)),
        }
    }

    /// One element of an array that is being defined element by element.
    pub(super) fn element(&mut self, name: &str, index: &[usize], span: Span) -> Result<Value> {
        let found = self.env.elements(name).get(index, &mut self.b);
        found.ok_or_else(|| undefined(name, index, span))
    }

    /// The error of a name without a meaning: one that only a branch which is not taken defines.
    pub(super) fn unknown(&self, name: &str, span: Span) -> Diagnostic {
        Diagnostic::error("unknown-name", format!("`{name}` is not defined"))
            .label(span, "")
            .help("it is defined in a branch of an `if` that is not taken: define it in the other branch too")
    }
}

/// A statement about data is part of the likelihood.
pub(super) fn kind_of(value: &Value) -> TermKind {
    if value.from_data { TermKind::Likelihood } else { TermKind::Prior }
}
