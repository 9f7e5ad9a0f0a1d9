//! What a model leaves unsaid: data that no statement is about, elements without a prior, divisors that are
//! comments.

use super::env::Value;
use super::{Coordinates, Lowerer, TermKind};
use crate::graph::NodeId;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Program, Stmt, StmtKind};
use crate::syntax::scan::{Kind, scan};
use std::collections::HashSet;

/// `7 // 2`: what divides integers elsewhere begins a comment here.
pub(super) fn divisions(program: &Program, source: &str) -> Vec<Diagnostic> {
    let tokens = scan(source);
    let declared: HashSet<&str> = program.statements.iter().flat_map(names_of).collect();
    let mut found = Vec::new();
    for pair in tokens.windows(2) {
        let (before, comment) = (&pair[0], &pair[1]);
        let Some(rest) = comment.text(source).strip_prefix("//").map(str::trim) else { continue };
        let divides = comment.kind == Kind::Comment
            && (matches!(before.kind, Kind::Word | Kind::Number) || matches!(before.text(source), ")" | "]"))
            && (rest.parse::<f64>().is_ok() || declared.contains(rest));
        if divides {
            let message = format!("`//` begins a comment: nothing is divided by `{rest}` here");
            found.push(
                Diagnostic::warning("comment-after-value", message).label(comment.span, "").help(format!(
                    "write `idiv(a, {rest})` for a division of integers, `#` before a comment"
                )),
            );
        }
    }
    found
}

/// The names that a statement declares.
fn names_of(stmt: &Stmt) -> Vec<&str> {
    match &stmt.kind {
        StmtKind::Data(all) => all.iter().map(|d| d.name.name.as_str()).collect(),
        StmtKind::Param(p) => vec![&p.name.name],
        StmtKind::Let(l) => vec![&l.name.name],
        _ => Vec::new(),
    }
}

impl Lowerer<'_> {
    /// Warns where no statement is about the data: then what comes out are the priors.
    pub(super) fn warn_without_likelihood(&mut self, program: &Program) {
        let is_array = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Data(all) if all.iter().any(|d| !d.ty.dims.is_empty()));
        let Some(stmt) = program.statements.iter().find(|stmt| is_array(stmt)) else { return };
        if self.terms.iter().any(|term| term.kind == TermKind::Likelihood) {
            return;
        }
        self.warnings.push(
            Diagnostic::warning("no-likelihood", "no `~` and no `target +=` is about the data: the answer is that of the priors alone")
                .label(stmt.span, "")
                .help("say how an outcome is distributed, such as `y ~ normal(mu, sigma)`; a `let` of log densities adds nothing by itself"),
        );
    }

    /// Keeps what a `~` describes.
    pub(super) fn note_described(&mut self, value: NodeId) {
        match self.inside {
            Some(_) => self.described_in_steps = true,
            None => self.described.push(value),
        }
    }

    /// Keeps what is added to the log density beside data: it may be a prior of all that it depends on.
    pub(super) fn note_added(&mut self, value: &Value) {
        if !value.from_data {
            self.note_described(value.node);
        }
    }

    /// Warns of elements that no `~` describes, where others of the same parameter are described: nobody said
    /// that they are flat.
    pub(super) fn warn_partly_described(&mut self, program: &Program) {
        let without = |stmt: &Stmt| match &stmt.kind {
            StmtKind::Param(p) if p.prior.is_none() => Some((p.name.name.clone(), p.name.span)),
            _ => None,
        };
        let names: Vec<(String, Span)> = program.statements.iter().filter_map(without).collect();
        if self.described_in_steps || self.probing || self.coordinates != Coordinates::Declared {
            return;
        }
        for (name, span) in names {
            let Some(p) = self.parameters.iter().find(|p| p.named.name == name) else { continue };
            let (offset, node) = (p.offset, p.named.node);
            let left = self.b.untouched(&self.described, (offset..offset + p.size).collect());
            let Some(first) = left.first().filter(|_| p.size == self.b.graph().node(node).len()) else {
                continue;
            };
            let mut rest = first - offset;
            let mut index: Vec<String> = Vec::new();
            for size in self.b.dims(node).iter().rev() {
                index.insert(0, (rest % size + 1).to_string());
                rest /= size;
            }
            let more = match left.len() {
                1 => String::new(),
                2 => ", nor has another".to_string(),
                n => format!(", nor have {} others", n - 1),
            };
            let element = format!("{name}[{}]", index.join(", "));
            self.warnings.push(
                Diagnostic::warning("element-without-prior", format!("`{element}` has no prior{more}: it is taken as flat"))
                    .label(span, "other elements have one")
                    .help(format!("give it one, such as `{element} ~ normal(0, 1)`; or write `{element} ~ flat()` if every value is as likely")),
            );
        }
    }
}
