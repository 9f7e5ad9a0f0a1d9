//! What fits only because two sizes of different names are the same number in the data.

use super::Elaborator;
use super::problems::plain;
use super::sizes::Chance;
use crate::source::{Diagnostic, Severity};

impl Elaborator<'_> {
    /// Notes a problem that the numbers of the data hide: an error where one of the two sizes counts the
    /// levels of a category, whose order is not that of the rows, and a warning elsewhere.
    pub(super) fn by_chance(&mut self, problem: Diagnostic, chance: &Chance) {
        let counts = |name: &String| self.sizes.counts.contains(name);
        let severity =
            if counts(&chance.a) || counts(&chance.b) { Severity::Error } else { Severity::Warning };
        let where_from = if self.sizes.from_data { "in these data" } else { "here" };
        let note = format!(
            "`{}` and `{}` are both {} {where_from}, but they are not one size",
            chance.a, chance.b, chance.number
        );
        let told = plain(Diagnostic { severity, ..problem.note(note) });
        match severity {
            Severity::Error => self.problems.add(told, Vec::new(), self.source),
            Severity::Warning => self.warn_once(told),
        }
    }

    /// Keeps a warning, once for each place.
    pub(super) fn warn_once(&mut self, warning: Diagnostic) {
        let place = |w: &Diagnostic| w.labels.first().map(|l| l.span);
        let known = &self.model.warnings;
        if !known.iter().any(|w| w.code == warning.code && place(w) == place(&warning)) {
            self.model.warnings.push(plain(warning));
        }
    }
}
