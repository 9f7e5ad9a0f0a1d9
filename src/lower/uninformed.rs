//! Slips that leave an answer where it was before the data: data that nothing reads, parameters that no data
//! can inform.

use super::{Coordinates, Lowerer, TermKind, bind};
use crate::graph::NodeId;
use crate::source::Diagnostic;
use crate::syntax::ast::Program;
use crate::syntax::scan::{Kind, scan};
use std::collections::HashSet;

impl Lowerer<'_> {
    /// Warns of data that are declared and never named again.
    pub(super) fn warn_unread_data(&mut self, program: &Program) {
        let tokens = scan(self.source);
        let words = || tokens.iter().filter(|t| t.kind == Kind::Word);
        for data in bind::data_declarations(program) {
            let name = &data.name;
            let is_read = words().any(|t| t.text(self.source) == name.name && t.span != name.span);
            if is_read {
                continue;
            }
            let message = format!("nothing reads `{}`", name.name);
            self.warnings.push(
                Diagnostic::warning("unread-data", message)
                    .label(name.span, "named here and nowhere else")
                    .help("use it, such as by a term `b * x` of a predictor, or leave it out of `data`"),
            );
        }
    }

    /// Warns of parameters that no statement about data depends on, by themselves or by others that they have
    /// a prior with.
    pub(super) fn warn_uninformed(&mut self) {
        if self.coordinates != Coordinates::Declared || self.described_in_steps {
            return;
        }
        let graph = self.b.graph();
        let mut likelihoods: Vec<NodeId> = Vec::new();
        let mut priors: Vec<HashSet<usize>> = Vec::new();
        for term in &self.terms {
            match term.kind {
                TermKind::Likelihood => likelihoods.push(term.node),
                TermKind::Prior => priors.push(graph.inputs_below(&[term.node])),
                TermKind::Jacobian => {}
            }
        }
        let mut informed = graph.inputs_below(&likelihoods);
        if informed.is_empty() {
            return;
        }
        // What shares a prior with a parameter that data inform is informed by way of it.
        while let Some(k) = priors.iter().position(|p| !p.is_disjoint(&informed)) {
            informed.extend(priors.swap_remove(k));
        }
        let held: HashSet<usize> = priors.into_iter().flatten().collect();
        let is_alone = |offset: &usize| held.contains(offset) && !informed.contains(offset);
        for p in self.parameters.iter().filter(|p| p.size > 0 && is_alone(&p.offset)) {
            let name = &p.named.name;
            let Some((_, span)) = self.declared.iter().find(|(declared, _)| declared == name) else {
                continue;
            };
            self.warnings.push(
                Diagnostic::warning("uninformed", format!("no data can inform `{name}`: its posterior is its prior"))
                    .label(*span, "no statement about data depends on it")
                    .help(format!(
                        "use `{name}` in what describes the data, such as by a forgotten term of a predictor, or leave it out"
                    )),
            );
        }
    }
}
