//! From where to where integers run whose values are expressions in sizes and variables of loops, and whether
//! they are places of an axis.

use super::index::Axis;
use super::sizes::{LOOP_MARK, show};
use super::types::{LevelSet, Type, are_indices};
use super::{Elaborator, Result};
use crate::data::listed;
use crate::facts::Size;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::Expr;

impl Elaborator<'_> {
    /// The smallest value that an integer has in all steps of the loops around.
    pub(super) fn least(&self, value: &Size) -> Size {
        self.end_of(value, true)
    }

    /// The largest one.
    pub(super) fn greatest(&self, value: &Size) -> Size {
        self.end_of(value, false)
    }

    fn end_of(&self, value: &Size, least: bool) -> Size {
        let mut value = value.clone();
        for around in self.context.loops.iter().rev() {
            let Size::Linear { terms, .. } = &value else { return Size::Any };
            let Some(&k) = terms.get(&around.symbol) else { continue };
            let end = if (k > 0) == least { &around.from } else { &around.to };
            value = value.with(&|name| (name == around.symbol).then(|| end.clone()));
        }
        if value.names().any(|name| name.ends_with(LOOP_MARK)) { Size::Any } else { value }
    }

    /// Refuses places outside an axis, whatever the data are: loops are taken to have a step. Within a choice
    /// that the data make nothing is certain.
    pub(super) fn check_place(
        &mut self,
        first: &Size,
        last: &Size,
        axis: &Axis,
        span: Span,
        base: &Expr,
    ) -> Result<()> {
        if self.context.open > 0 {
            return Ok(());
        }
        let (first, last) = (self.least(first), self.greatest(last));
        if first.as_integer().is_some_and(|n| n < 1) {
            return Err(self.out_of_range(&first, axis, span, base));
        }
        let beyond = last.plus(-1, axis.size);
        if self.certain(&beyond).is_some_and(|n| n > 0) {
            return Err(self.out_of_range(&last, axis, span, base));
        }
        let within = |rest: &Size| rest.as_integer().is_some_and(|n| n <= 0);
        if self.sizes.from_data
            && !within(&beyond)
            && let Some(chance) = self.sizes.chance(&last, axis.size, within)
        {
            let problem = self.index_of_other_size(span, base);
            self.by_chance(problem, &chance);
        }
        Ok(())
    }

    /// A number that is the same whatever the data are.
    pub(super) fn certain(&self, size: &Size) -> Option<i64> {
        let by_model = |name: &&str| !self.sizes.from_data && !self.sizes.numbers.contains(*name);
        let known = |name: &str| {
            Some(name).filter(by_model).and_then(|name| self.sizes.known.get(name)).map(|&n| Size::integer(n))
        };
        size.with(&known).as_integer()
    }

    fn out_of_range(&self, place: &Size, axis: &Axis, span: Span, base: &Expr) -> Diagnostic {
        let (place, size) = (place.to_string(), axis.size.to_string());
        let labelled = axis.ty.axes()[axis.number].is_some();
        let error = Diagnostic::error("index-out-of-range", format!("index {place} is outside 1..{size}"))
            .label(span, "")
            .label(base.span, format!("this axis has size {size}"));
        match place.parse::<i64>() {
            Ok(n) if labelled => error.help(format!(
                "places count from 1; a level that is called {n} is written as text: `{}[\"{n}\"]`",
                self.text(base.span)
            )),
            Ok(n) if n < 1 => {
                error.help("indices start at 1: the first element is `x[1]`, the last of N is `x[N]`")
            }
            _ => error,
        }
    }

    /// An index beyond an axis where sizes differ, in words that hold for the data.
    fn index_of_other_size(&self, index: Span, base: &Expr) -> Diagnostic {
        let message = format!(
            "`{}` counts something else than the places of `{}`",
            self.text(index),
            self.text(base.span)
        );
        Diagnostic::error("index-of-other-size", message)
            .label(index, "")
            .label(base.span, "")
            .help("a loop over rows picks the value of a row's group by its category, `theta[group[n]]`; without a loop that is `theta[group]`")
    }

    /// Refuses an array of places, all known, one of which is outside an axis.
    pub(super) fn check_places(&mut self, ty: &Type, axis: &Axis, span: Span, base: &Expr) -> Result<()> {
        let Some(numbers) = self.numbers_of(ty) else { return Ok(()) };
        let (least, most) =
            (numbers.iter().copied().reduce(f64::min), numbers.iter().copied().reduce(f64::max));
        let (Some(least), Some(most)) = (least, most) else { return Ok(()) };
        self.check_place(&Size::integer(least as i64), &Size::integer(most as i64), axis, span, base)
    }

    /// Refuses a category that picks from an axis of something else than its levels.
    pub(super) fn check_category(&mut self, e: &Expr, ty: &Type, axis: &Axis, base: &Expr) -> Result<()> {
        let Some(levels) = ty.levels.clone() else { return Ok(()) };
        let counts = |size: &Size| self.sizes.counts.contains(&size.to_string());
        if let Some(own) = levels.size().filter(|own| own != axis.size && counts(own) && counts(axis.size)) {
            return Err(of_other_category(self.text(e.span), &own, axis.size, e.span, base.span));
        }
        let (name, of) = (self.text(e.span), axis.ty.axes()[axis.number].clone());
        if let (Some(labels), Some(of)) = (&levels.listed, of.as_ref().and_then(|of| of.listed.as_ref()))
            && let Some(strange) = labels.iter().find(|label| !of.contains(label))
        {
            return Err(not_of_axis(name, strange, of, e.span, base.span));
        }
        if let (Some(labels), None, Some(n)) = (&levels.listed, &of, axis.size.as_integer())
            && labels.len() as i64 != n
            && !are_indices(labels)
        {
            return Err(other_levels(name, &levels, n, e.span, base.span));
        }
        let as_long = ty.shape.as_deref().is_some_and(|own| matches!(own, [n] if n == axis.size));
        if as_long && of.is_none() && !self.sizes.from_data {
            self.warn_once(rows_as_levels(name, self.text(base.span), "most", e.span, base.span));
        }
        Ok(())
    }
}

/// The error of a category that indexes an axis of another category's levels.
fn of_other_category(name: &str, own: &Size, axis: &Size, e: Span, base: Span) -> Diagnostic {
    let message =
        format!("`{name}` has {own} levels, and this axis has {axis} places, for those of another category");
    Diagnostic::error("level-count", message)
        .label(e, "")
        .label(base, format!("this axis has size {axis}"))
        .help(format!("index it by a `category[...] of {axis}`, or give the axis the size `{own}`"))
}

/// The error of a listed level that a listed axis does not have.
fn not_of_axis(name: &str, label: &str, axis: &[String], e: Span, base: Span) -> Diagnostic {
    Diagnostic::error("other-labels", format!("`{name}` may be \"{label}\", and this axis has no such label"))
        .label(e, "a category picks by its label, not by its place")
        .label(base, format!("its labels are {}", listed(axis)))
        .help(format!(
            "list the levels of both alike if they are one set of things; otherwise pick by the category that the axis was \
             made for, or give this one an array of its own, sized by its own levels (`{name} : category[N] of K`, `[K]`)"
        ))
}

/// The error of a category that indexes an axis with another number of places than it has levels.
pub fn other_levels(name: &str, levels: &LevelSet, n: i64, e: Span, base: Span) -> Diagnostic {
    let labels = levels.listed.as_deref().unwrap_or_default();
    let message = format!("`{name}` has {} levels, and this axis has {n} places", labels.len());
    Diagnostic::error("level-count", message)
        .label(e, "")
        .label(base, format!("this axis has size {}", show(&[Size::integer(n)]).trim_matches(['[', ']'])))
        .note(format!("its levels are {}: the first is place 1, whatever it is called", listed(labels)))
        .help(format!(
            "give the axis the number of levels (`{name} : category[N] of J`, `[J]`), list all levels (`levels(...)`), or \
             declare `{name} : int[N]` if its numbers are places"
        ))
}

/// The warning of a category that picks from an axis with a place for each row, where one for each level is
/// meant.
pub fn rows_as_levels(g: &str, a: &str, count: &str, index: Span, base: Span) -> Diagnostic {
    let message = format!("`{a}` has a place for each row, and `{g}` picks one for each of its levels");
    Diagnostic::warning("rows-as-levels", message)
        .label(index, "")
        .label(base, format!("{count} of its places are never picked"))
        .help(format!(
            "call the number of levels by a name of its own, `{g} : category[N] of J`, and give `{a}` that size: `[J]`"
        ))
}
