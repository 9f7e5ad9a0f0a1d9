//! Several problems at once: after a statement that is wrong, those that do not need what it defines are
//! elaborated too.

use super::sizes::LOOP_MARK;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{DataDecl, ExprKind, Stmt, StmtKind};
use std::collections::HashSet;

/// Most problems told at once.
const MAX_PROBLEMS_TOLD: usize = 10;

/// Problems found so far, and the names that have no meaning because of them.
#[derive(Default)]
pub struct Problems {
    found: Vec<Diagnostic>,
    lost: HashSet<String>,
}

impl Problems {
    /// Notes a problem, once, and the names that it leaves without a meaning.
    pub fn add(&mut self, problem: Diagnostic, names: Vec<String>, source: &str) {
        // What is unknown here is unknown elsewhere too, and is told once.
        if problem.code == "unknown-name"
            && let Some(name) = marked(&problem, source)
        {
            self.lost.insert(name.to_string());
        }
        self.lost.extend(names);
        if !self.found.iter().any(|d| d.code == problem.code && place(d) == place(&problem)) {
            self.found.push(plain(problem));
        }
    }

    /// Notes names without a meaning, for a reason that has been told.
    pub fn lose(&mut self, names: Vec<String>) {
        self.lost.extend(names);
    }

    /// Whether nothing is wrong so far.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Whether a part of the model needs something that a problem has left without a meaning.
    pub fn concerns(&self, span: Span, source: &str) -> bool {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        !self.lost.is_empty() && span.text(source).split(|c| !word(c)).any(|name| self.lost.contains(name))
    }

    /// The problems in the order of the text; nothing where there are none.
    pub fn into_result(self) -> Result<(), Vec<Diagnostic>> {
        let mut found = self.found;
        found.sort_by_key(|d| d.labels.first().map_or(0, |l| l.span.start));
        found.truncate(MAX_PROBLEMS_TOLD);
        if found.is_empty() { Ok(()) } else { Err(found) }
    }
}

/// A diagnostic without the marks of variables of loops.
pub fn plain(mut problem: Diagnostic) -> Diagnostic {
    let strip = |text: &mut String| {
        if text.contains(LOOP_MARK) {
            *text = text.replace(LOOP_MARK, "");
        }
    };
    strip(&mut problem.message);
    problem.labels.iter_mut().for_each(|label| strip(&mut label.text));
    problem.notes.iter_mut().for_each(strip);
    problem.help.iter_mut().for_each(strip);
    problem
}

/// Where what a problem marks first begins.
fn place(problem: &Diagnostic) -> Option<usize> {
    problem.labels.first().map(|label| label.span.start)
}

/// The text that a problem marks first.
fn marked<'a>(problem: &Diagnostic, source: &'a str) -> Option<&'a str> {
    problem.labels.first().map(|label| label.span.text(source))
}

/// Names that a declaration of data would have given a meaning.
pub fn declared_names(decl: &DataDecl) -> Vec<String> {
    let sizes = decl.ty.dims.iter().filter_map(|e| match &e.kind {
        ExprKind::Name(name) => Some(name.clone()),
        _ => None,
    });
    let levels = decl.ty.levels_name.iter().map(|n| n.name.clone());
    std::iter::once(decl.name.name.clone()).chain(sizes).chain(levels).collect()
}

/// Names that a statement would have defined.
pub fn defined(stmt: &Stmt, names: &mut Vec<String>) {
    match &stmt.kind {
        StmtKind::Param(p) => names.push(p.name.name.clone()),
        StmtKind::Let(l) => names.push(l.name.name.clone()),
        StmtKind::Derive(d) => names.push(d.name.name.clone()),
        StmtKind::Predict(p) => names.push(p.name.name.clone()),
        StmtKind::For(f) => f.body.iter().for_each(|s| defined(s, names)),
        StmtKind::If(i) => i.then.iter().chain(&i.otherwise).for_each(|s| defined(s, names)),
        StmtKind::Data(_) | StmtKind::Fn(_) | StmtKind::Sample(_) | StmtKind::Target(_) => {}
    }
}
