//! What can be used, but may not be as it was meant.

use super::{Form, Labels, Lowerer, Parameter};
use crate::data::{Found, Levels, listed};
use crate::graph::NodeId;
use crate::model;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Expr, Ident, Program};
use std::collections::{HashMap, HashSet};

/// Whether its values have a finite volume; or a distribution by the way they are made.
fn is_bounded(p: &Parameter) -> bool {
    match &p.form {
        Form::Transformed { transform, .. } => crate::transform::is_bounded(transform),
        Form::Noncentered => true,
    }
}

impl Lowerer<'_> {
    /// Warns of a walk along the levels of a category that are sorted as text: months go from April to
    /// September.
    pub(super) fn warn_walk(&mut self, labels: &Labels, span: Span) {
        let Some(Some(walked)) = labels.last() else { return };
        let sorted =
            |(_, _, levels): &(&str, NodeId, &Levels)| levels.labels() == &walked[..] && !levels.have_order();
        let Some((name, ..)) = self.env.categories().find(sorted) else { return };
        let message = format!(
            "this goes from level to level of `{name}`, which are sorted as text: {}",
            listed(walked)
        );
        let quoted: Vec<String> = walked.iter().map(|label| format!("\"{label}\"")).collect();
        let help = format!(
            "say in which order they are meant: `{name} : category[N] levels({})`, rearranged; or number them",
            listed(&quoted)
        );
        self.warnings.push(Diagnostic::warning("walk-in-alphabet", message).label(span, "").help(help));
    }

    /// The same where what is walked along is a parameter.
    pub(super) fn warn_walk_along(&mut self, value: NodeId, span: Span) {
        let base = self.b.base_of(value);
        let of = self.parameters.iter().find(|p| p.named.node == base).map(|p| p.named.labels.clone());
        if let Some(labels) = of {
            self.warn_walk(&labels, span);
        }
    }

    /// Warns of a category that picks from an axis with a place for each row, where one for each level is
    /// meant.
    pub(super) fn warn_rows_as_levels(&mut self, index: &Expr, base: &Expr, never: usize) {
        let told = |w: &Diagnostic| w.labels.first().is_some_and(|l| l.span == index.span);
        if self.warnings.iter().any(told) {
            return;
        }
        let (g, a) = (index.span.text(self.source), base.span.text(self.source));
        self.warnings.push(model::rows_as_levels(g, a, &never.to_string(), index.span, base.span));
    }

    /// Warns of categories that share the name of their size and have no level in common.
    pub(super) fn warn_levels_apart(&mut self, name: &Ident, size: &str, columns: &[&Found]) {
        let of_each: Vec<Levels> = columns.iter().map(|column| Levels::sorted(&[column])).collect();
        let Some((first, others)) = of_each.split_first() else { return };
        let apart = |other: &Levels| other.labels().iter().all(|label| first.code(label).is_none());
        if let Some(k) = others.iter().position(apart) {
            let (one, other) = (columns[0].name(), columns[k + 1].name());
            let message = format!(
                "`{one}` and `{other}` have no level in common, and both are said to have the {size} levels"
            );
            self.warnings.push(
                Diagnostic::warning("levels-apart", message)
                    .label(name.span, "")
                    .help(format!("categories with the same levels share the name of their number, as two teams of a game do; give these a name each: `{other} : category[N] of K`")),
            );
        }
    }

    /// Warns of levels of a category that differ in capitals or spaces alone: one that is written in two ways
    /// is two.
    pub(super) fn warn_levels_alike(&mut self, name: &Ident, labels: &[String]) {
        let plain = |label: &str| label.split_whitespace().collect::<String>().to_lowercase();
        let mut seen: HashMap<String, &str> = HashMap::new();
        let mut alike: Vec<String> = Vec::new();
        for label in labels {
            match seen.get(&plain(label)) {
                Some(other) => alike.push(format!("`{other}` and `{label}`")),
                None => drop(seen.insert(plain(label), label)),
            }
        }
        let Some((first, rest)) = alike.split_first() else { return };
        let message =
            format!("{first} are two levels of `{}`, but differ in capitals or spaces alone", name.name);
        let mut warning = Diagnostic::warning("levels-alike", message).label(name.span, "");
        if !rest.is_empty() {
            warning = warning.note(format!("so do {}", rest.join(", ")));
        }
        self.warnings.push(warning.help(
            "write each level in one way in the data, or list them with `levels(...)` if they are meant",
        ));
    }

    /// Marks the parameters whose priors are flat on a range without an end.
    pub(super) fn note_improper(&mut self, program: &Program) {
        let proper: HashSet<&str> =
            model::priors(program).filter(|(_, _, d)| model::is_proper(d)).map(|(n, ..)| n).collect();
        let flat: HashSet<&str> =
            model::priors(program).map(|(name, ..)| name).filter(|n| !proper.contains(n)).collect();
        for p in self.parameters.iter_mut().filter(|p| flat.contains(p.named.name.as_str())) {
            p.improper = !is_bounded(p);
        }
        let own = model::priors(program).filter(|(_, _, d)| self.is_own(d)).map(|(name, ..)| name);
        let own: HashSet<&str> = own.collect();
        for p in self.parameters.iter_mut().filter(|p| own.contains(p.named.name.as_str())) {
            p.unproved = !is_bounded(p);
        }
    }
}
