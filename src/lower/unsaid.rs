//! What a model leaves unsaid: data that no statement is about, elements without a prior, divisors that are
//! comments.

use super::env::Value;
use super::{Coordinates, Lowerer};
use crate::graph::NodeId;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Program, Stmt, StmtKind};

impl Lowerer<'_> {
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
        if self.described_in_steps || self.coordinates != Coordinates::Declared {
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
