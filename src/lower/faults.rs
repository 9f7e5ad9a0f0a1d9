//! Several problems at once: after a statement that fails, those that do not need what it defines are checked
//! too.

use super::Lowerer;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{DataDecl, ExprKind, Stmt, StmtKind};
use std::collections::HashSet;

/// Most problems told at once.
const MOST: usize = 10;

/// Problems found so far, and the names that have no meaning because of them.
#[derive(Default)]
pub(super) struct Faults {
    found: Vec<Diagnostic>,
    lost: HashSet<String>,
}

impl Faults {
    /// Notes a problem, once, and the names that it leaves without a meaning.
    pub(super) fn add(&mut self, problem: Diagnostic, names: Vec<String>, source: &str) {
        // What is unknown here is unknown elsewhere too, and is told once.
        if problem.code == "unknown-name"
            && let Some(name) = marked(&problem, source)
        {
            self.lost.insert(name.to_string());
        }
        // Of what is defined wrongly, elements are missing too.
        if problem.code == "defined-twice" {
            let name = marked(&problem, source).map(str::to_string);
            self.found.retain(|d| d.code != "element-undefined" || marked(d, source) != name.as_deref());
        }
        self.lost.extend(names);
        if !self.found.iter().any(|d| d.code == problem.code && place(d) == place(&problem)) {
            self.found.push(problem);
        }
    }

    /// Notes a problem as a check without data tells it. Where that has names for all sizes, what tells them
    /// by numbers gives way.
    pub(super) fn add_by_names(&mut self, problem: Diagnostic, source: &str) {
        let by_numbers = |d: &Diagnostic| {
            matches!(d.code, "shape-mismatch" | "wrong-argument")
                && d.code == problem.code
                && place(d) == place(&problem)
                && numbers(&problem).is_subset(&numbers(d))
        };
        self.found.retain(|d| !by_numbers(d));
        self.add(problem, Vec::new(), source);
    }

    /// Notes names without a meaning, for a reason that has been told.
    pub(super) fn lose(&mut self, names: Vec<String>) {
        self.lost.extend(names);
    }

    /// Whether nothing is wrong so far.
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Whether a part of the model needs something that a problem has left without a meaning.
    fn concerns(&self, span: Span, source: &str) -> bool {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        !self.lost.is_empty() && span.text(source).split(|c| !word(c)).any(|name| self.lost.contains(name))
    }

    /// The problems that `keep` keeps, in the order of the text.
    pub(super) fn into_result(self, keep: impl Fn(&Diagnostic) -> bool) -> Result<(), Vec<Diagnostic>> {
        let mut found: Vec<Diagnostic> = self.found.into_iter().filter(|d| keep(d)).collect();
        found.sort_by_key(|d| d.labels.first().map_or(0, |l| l.span.start));
        found.truncate(MOST);
        if found.is_empty() { Ok(()) } else { Err(found) }
    }
}

impl Lowerer<'_> {
    /// Lowers each statement that needs nothing that is lost.
    pub(super) fn all_statements(&mut self, statements: &[Stmt], faults: &mut Faults) {
        self.functions(statements);
        for stmt in statements {
            let told = faults.concerns(stmt.span, self.source);
            let done = if told { Ok(()) } else { self.statement(stmt) };
            let mut names = Vec::new();
            match done {
                Ok(()) if told => {
                    defined(stmt, &mut names);
                    faults.lost.extend(names);
                }
                Ok(()) => {}
                Err(problem) => {
                    defined(stmt, &mut names);
                    faults.add(problem, names, self.source);
                }
            }
        }
    }
}

/// The numbers in what is told of a problem.
fn numbers(problem: &Diagnostic) -> HashSet<String> {
    let labels = problem.labels.iter().map(|label| &label.text);
    let told = std::iter::once(&problem.message).chain(labels).chain(&problem.notes).chain(&problem.help);
    let numbers = told.flat_map(|text| text.split(|c: char| !c.is_ascii_digit())).filter(|n| !n.is_empty());
    numbers.map(str::to_string).collect()
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
pub(super) fn declared_names(decl: &DataDecl) -> Vec<String> {
    let sizes = decl.ty.dims.iter().filter_map(|e| match &e.kind {
        ExprKind::Name(name) => Some(name.clone()),
        _ => None,
    });
    let levels = decl.ty.levels_name.iter().map(|n| n.name.clone());
    std::iter::once(decl.name.name.clone()).chain(sizes).chain(levels).collect()
}

/// Names that a statement would have defined.
fn defined(stmt: &Stmt, names: &mut Vec<String>) {
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
