//! What the places along the axes of a value stand for: labels are kept through operations, and a category
//! picks by label.

use super::env::Value;
use super::{Labels, Lowerer, Result};
use crate::data::{Found, Levels, listed};
use crate::graph::NodeId;
use crate::model::name_of;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Expr, ExprKind};
use std::sync::Arc;

/// For each axis the levels that its places stand for, where that is known; empty where nothing is.
pub(super) type Axes = Vec<Option<Arc<Levels>>>;

/// Labels for the output: levels that are the numbers 1 to J need none.
pub(super) fn labels(axes: &[Option<Arc<Levels>>], rank: usize) -> Labels {
    let label = |levels: &Arc<Levels>| (!levels.are_indices()).then(|| levels.labels().into());
    (0..rank).map(|k| axes.get(k).and_then(Option::as_ref).and_then(label)).collect()
}

impl Lowerer<'_> {
    /// What a value's axes stand for, one entry an axis: what does not fit its shape is not known.
    pub(super) fn axes_of(&self, value: &Value) -> Axes {
        let dims = self.b.dims(value.node);
        if value.axes.len() != dims.len() {
            return vec![None; dims.len()];
        }
        let fits = |(axis, n): (&Option<Arc<Levels>>, &usize)| axis.clone().filter(|l| l.len() == *n);
        value.axes.iter().zip(dims).map(fits).collect()
    }

    /// What axes stand for whose sizes are written so.
    pub(super) fn counted_axes<'e>(&self, sizes: impl IntoIterator<Item = &'e Expr>) -> Axes {
        sizes.into_iter().map(|e| self.env.levels(name_of(e)?)).collect()
    }

    /// The axes of an array that is defined element by element, as the loops that define it count them.
    pub(super) fn with_counted_axes(&self, name: &str, value: Value) -> Value {
        let Some(sizes) = self.counted.get(name) else { return value };
        let mut axes = self.axes_of(&value);
        for (axis, size) in axes.iter_mut().zip(sizes) {
            *axis = size.as_ref().and_then(|size| self.env.levels(size));
        }
        Value { axes, ..value }
    }

    /// The axes of what comes of values that meet element by element: places that have two meanings have
    /// none.
    pub(super) fn met_axes(&self, values: &[&Value], node: NodeId) -> Axes {
        let rank = self.b.dims(node).len();
        let mut met: Axes = vec![None; rank];
        let mut open = vec![true; rank];
        for value in values {
            let axes = self.axes_of(value);
            let Some(before) = rank.checked_sub(axes.len()) else { continue };
            for (k, axis) in axes.into_iter().enumerate() {
                let Some(levels) = axis else { continue };
                match &met[before + k] {
                    Some(other) if other.labels() != levels.labels() => {
                        (met[before + k], open[before + k]) = (None, false);
                    }
                    None if open[before + k] && self.b.dims(node)[before + k] == levels.len() => {
                        met[before + k] = Some(levels);
                    }
                    Some(_) | None => {}
                }
            }
        }
        met
    }

    /// The axes of a matrix product: those that it does not sum over.
    pub(super) fn product_axes(&self, a: &Value, b: &Value) -> Axes {
        let (mut left, mut right) = (self.axes_of(a), self.axes_of(b));
        left.pop();
        match right.len() {
            2 => left.extend(right.pop()),
            _ => right.clear(),
        }
        left
    }

    /// The axes of a function's value: an axis as long as just one axis of its arguments that has levels is
    /// that axis.
    pub(super) fn result_axes(&self, function: &str, values: &[Option<Value>], node: NodeId) -> Axes {
        if crate::func::reorders(function) {
            return Axes::new();
        }
        let given: Vec<Axes> = values.iter().flatten().map(|v| self.axes_of(v)).collect();
        let dims = self.b.dims(node);
        let axis = |k: usize| {
            let own = given.iter().find(|axes| axes.len() == dims.len()).and_then(|axes| axes[k].clone());
            if let Some(own) = own.filter(|levels| levels.len() == dims[k]) {
                return Some(own);
            }
            let mut as_long = given.iter().flatten().flatten().filter(|levels| levels.len() == dims[k]);
            let first = as_long.next()?;
            as_long.all(|other| other.labels() == first.labels()).then(|| first.clone())
        };
        (0..dims.len()).map(axis).collect()
    }

    /// The places, from 1, at which an axis has the labels of a category's levels. What is no label of the
    /// axis is an
    /// error: a level is never taken for another one because both come first.
    pub(super) fn places_by_label(
        &self,
        (e, levels): (&Expr, &Levels),
        axis: &Levels,
        places: &[f64],
        base: Span,
    ) -> Result<Vec<f64>> {
        let as_they_are = levels.labels() == axis.labels() || levels.are_indices() && axis.are_indices();
        if as_they_are {
            return Ok(places.to_vec());
        }
        let label = |place: f64| levels.labels().get((place as usize).wrapping_sub(1));
        let by_label = |(i, &place): (usize, &f64)| {
            let code = label(place).and_then(|label| axis.code(label));
            code.map(|code| code as f64).ok_or_else(|| {
                let named = label(place).map_or("", String::as_str);
                self.not_of_axis(e, named, axis, i, base)
            })
        };
        places.iter().enumerate().map(by_label).collect()
    }

    fn not_of_axis(&self, e: &Expr, label: &str, axis: &Levels, i: usize, base: Span) -> Diagnostic {
        let written = e.span.text(self.source);
        let column = self.column_of(e);
        let row = column.map_or(String::new(), |found| format!(" at {}", found.locate(i)));
        let size = self.env.size_of_levels(axis);
        let of = size.map_or(String::new(), |size| format!(", the levels that `{size}` counts,"));
        let message = format!("`{written}` is \"{label}\"{row}, and this axis has no such label");
        let error = Diagnostic::error("other-labels", message)
            .label(e.span, "a category picks by its label, not by its place")
            .label(base, format!("its labels{of} are {}", listed(axis.labels())));
        let name = name_of(e).unwrap_or("g");
        let share = match size {
            Some(size) => format!(
                "if both are one set of things, as the two teams of a game are, let them share it: \
                 `{name} : category[N] of {size}`"
            ),
            None => "list the levels of both alike: `levels(...)`".to_string(),
        };
        let error = error.help(format!(
            "{share}; otherwise pick by the category that the axis was made for, or give this one an array of its \
             own, sized by its own levels (`{name} : category[N] of K`, `[K]`)"
        ));
        match column {
            Some(found) => error.place(found.place(i)),
            None => error,
        }
    }

    /// The column that a name of a category stands for.
    fn column_of(&self, e: &Expr) -> Option<&Found<'_>> {
        let name = name_of(e).filter(|_| self.calls.is_empty())?;
        self.category_columns.iter().find(|(known, _)| known == name).map(|(_, found)| found)
    }

    /// Refuses a category as an outcome whose levels stand at other places among those of the probabilities.
    pub(super) fn check_outcome_labels(
        &self,
        value: &Value,
        axis: Option<&Arc<Levels>>,
        span: Span,
        of: Span,
    ) -> Result<()> {
        let (Some(levels), Some(axis)) = (&value.levels, axis) else { return Ok(()) };
        let Some(places) = self.b.constant_of(value.node) else { return Ok(()) };
        let e = Expr { kind: ExprKind::Name(span.text(self.source).to_string()), span };
        let by_label = self.places_by_label((&e, levels), axis, places, of)?;
        let Some(i) = by_label.iter().zip(places.iter()).position(|(a, b)| a != b) else { return Ok(()) };
        let label = &levels.labels()[places[i] as usize - 1];
        let message = format!(
            "\"{label}\" is level {} of `{}`, and the probabilities have it at place {}",
            places[i],
            span.text(self.source),
            by_label[i]
        );
        Err(Diagnostic::error("other-labels", message)
            .label(span, format!("its levels are {}", listed(levels.labels())))
            .label(of, format!("the labels here are {}", listed(axis.labels())))
            .help(
                "declare both with the same levels in one order: `category[N] of K` for each, or the same \
                 `levels(...)`",
            ))
    }
}
