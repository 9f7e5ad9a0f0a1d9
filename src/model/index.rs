//! Indexing: places, ranges, and gathers by integer arrays and categories.

use super::levels::unknown_label;
use super::names::Meaning;
use super::sizes::show;
use super::types::{Labels, Type};
use super::{Elaborator, Result};
use crate::facts::{Shape, Size};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, Index, UnaryOp};
use std::collections::BTreeSet;
use std::rc::Rc;

/// What an index does to its axis.
enum Pick {
    /// One place: the axis disappears. The place, where it is a number of the model.
    One(Option<i64>),
    /// Places in order: the axis stays, in full or in part.
    Range(Size, bool),
    /// Places given by an array: the axis becomes the array's axes.
    Gather(Box<Type>),
}

/// An axis that is indexed.
pub(super) struct Axis<'a> {
    pub(super) size: &'a Size,
    pub(super) number: usize,
    pub(super) ty: &'a Type,
}

impl Elaborator<'_> {
    pub(super) fn index(&mut self, base: &Expr, indices: &[Index], span: Span) -> Result<Type> {
        if let Some(ty) = self.not_yet_there(base, indices, span)? {
            return Ok(ty);
        }
        if let Some(ty) = self.element(base, indices, span)? {
            return Ok(ty);
        }
        let ty = self.expr(base)?;
        self.index_value(ty, base, indices, span)
    }

    /// Elements of an array none of which has been defined where it is read: fine in a step of a loop that
    /// comes after one that defines them, and where none is picked.
    fn not_yet_there(&mut self, base: &Expr, indices: &[Index], span: Span) -> Result<Option<Type>> {
        let ExprKind::Name(name) = &base.kind else { return Ok(None) };
        let is_defined = self.declared.by_element.contains(name) || self.declared.single.contains(name);
        if self.names.get(name).is_some() || !is_defined {
            return Ok(None);
        }
        let mut picks_none = false;
        for index in indices {
            match index {
                Index::At(e) => drop(self.expr(e)?),
                Index::Range { from, to, .. } => {
                    let (from, to) = (self.end(from.as_ref(), 1)?, self.end(to.as_ref(), 0)?);
                    let length = self.least(&to.plus(-1, &from).plus(1, &Size::known(1)));
                    picks_none |= length.as_integer().is_none_or(|n| n <= 0);
                }
                Index::All(_) => {}
            }
        }
        if self.context.open > 0 || picks_none {
            let found = self.computed(&format!("early {}", span.start), &[], None);
            return Ok(Some(Type { fixed: false, ..found }));
        }
        Ok(None)
    }

    fn end(&mut self, e: Option<&Expr>, otherwise: i64) -> Result<Size> {
        e.map_or(Ok(Size::integer(otherwise)), |e| self.integer(e))
    }

    /// `s[t - 1]`, `m[t]` where `s` and `m` are being defined element by element.
    fn element(&mut self, base: &Expr, indices: &[Index], span: Span) -> Result<Option<Type>> {
        let ExprKind::Name(name) = &base.kind else { return Ok(None) };
        let Some(Meaning::Elements(elements)) = self.names.get(name) else { return Ok(None) };
        let (rank, growing) = (elements.rank(), elements.is_growing(&self.active_loops()));
        let Some(whole) = elements.whole(&self.active_loops()) else {
            indices.iter().try_for_each(|index| self.read_index(index))?;
            return Ok(Some(self.computed(&format!("element {}", span.start), &[], None)));
        };
        let mut whole = self.with_counted_labels(name, whole);
        let identity = self.number(format!("elements {name} {}", if growing { span.start } else { 0 }));
        (whole.identity, whole.base) = (identity, identity);
        if !self.context.loops.is_empty() {
            // Other steps may have defined more, and elements that lie elsewhere.
            (whole.range, whole.reached) = (crate::facts::Range::REAL, false);
            whole.shape.iter_mut().for_each(|shape| shape[..rank].fill(Size::Any));
        }
        self.index_value(whole, base, indices, span).map(Some)
    }

    fn read_index(&mut self, index: &Index) -> Result<()> {
        match index {
            Index::At(e) => self.expr(e).map(drop),
            Index::Range { from, to, .. } => from.iter().chain(to).try_for_each(|e| self.expr(e).map(drop)),
            Index::All(_) => Ok(()),
        }
    }

    pub(super) fn index_value(
        &mut self,
        ty: Type,
        base: &Expr,
        indices: &[Index],
        span: Span,
    ) -> Result<Type> {
        let Some(shape) = ty.shape.clone() else {
            indices.iter().try_for_each(|index| self.read_index(index))?;
            return Ok(Type { integer: ty.integer, ..self.computed("part", &[&ty], None) });
        };
        if indices.len() > shape.len() {
            return Err(self.too_many_indices(base, &shape, indices.len(), span));
        }
        let mut picks = Vec::with_capacity(shape.len());
        for (number, size) in shape.iter().enumerate() {
            picks.push(match indices.get(number) {
                Some(index) => self.pick(index, &Axis { size, number, ty: &ty }, base)?,
                None => Pick::Range(size.clone(), true),
            });
        }
        let (out, labels) = self.picked(&picks, &ty.axes(), span)?;
        let written: Vec<String> = indices.iter().map(|index| self.index_text(index)).collect();
        let identity = self.number(format!("{}[{}]", ty.identity, written.join(",")));
        let kept = |axes: usize| {
            picks.iter().rev().take(axes).all(|p| matches!(p, Pick::Range(_, true))) && picks.len() >= axes
        };
        let structure = ty.structure.filter(|s| kept(s.axes()));
        let coordinates = one_coordinate(&ty, &picks);
        if let Some(node) = self.constant_part(&ty, &picks) {
            return Ok(Type { levels: ty.levels.clone(), ..self.constant(node, ty.integer) });
        }
        Ok(Type {
            shape: Some(out),
            value: None,
            labels,
            structure,
            identity,
            coordinates,
            constant: None,
            ..ty
        })
    }

    /// One number of a constant array.
    fn constant_part(&mut self, ty: &Type, picks: &[Pick]) -> Option<crate::graph::NodeId> {
        let node = ty.constant?;
        let [Pick::One(Some(place))] = picks else { return None };
        let place = usize::try_from(place - 1).ok().filter(|&k| k < self.constants.dims(node)[0])?;
        Some(self.constants.row(node, place))
    }

    /// An index as text that only equal indices have: variables of loops by what they stand for.
    fn index_text(&self, index: &Index) -> String {
        let of = |e: &Expr| self.text(e.span).to_string();
        match index {
            Index::At(e) => of(e),
            Index::Range { span, .. } | Index::All(span) => self.text(*span).to_string(),
        }
    }

    /// Shape and labels of the result. Several gathers run together; their axes stand where the first one is.
    fn picked(&mut self, picks: &[Pick], labels: &Labels, span: Span) -> Result<(Shape, Labels)> {
        let (mut out, mut kept) = (Shape::new(), Labels::new());
        let mut joint: Option<Shape> = None;
        for (pick, levels) in picks.iter().zip(labels) {
            match pick {
                Pick::One(_) => {}
                Pick::Range(size, whole) => {
                    out.push(size.clone());
                    kept.push(levels.clone().filter(|_| *whole));
                }
                Pick::Gather(by) => {
                    let own = by.shape.clone().unwrap_or_default();
                    match joint.take() {
                        None => {
                            out.extend(own.iter().cloned());
                            kept.extend(by.axes());
                            joint = Some(own);
                        }
                        Some(first) => {
                            let wrong = |_: &Self| {
                                let message = "arrays that index together must have one shape";
                                Diagnostic::error("shape-mismatch", message).label(span, "")
                            };
                            joint = self.one_shape(Some(first), by, wrong)?;
                        }
                    }
                }
            }
        }
        Ok((out, kept))
    }

    fn pick(&mut self, index: &Index, axis: &Axis, base: &Expr) -> Result<Pick> {
        match index {
            Index::At(Expr { kind: ExprKind::Str(label), span }) => self.by_label(label, *span, axis, base),
            Index::All(_) => Ok(Pick::Range(axis.size.clone(), true)),
            Index::Range { from, to, span } => self.pick_range(from.as_ref(), to.as_ref(), *span, axis, base),
            Index::At(e) => self.pick_at(e, axis, base),
        }
    }

    fn pick_range(
        &mut self,
        from: Option<&Expr>,
        to: Option<&Expr>,
        span: Span,
        axis: &Axis,
        base: &Expr,
    ) -> Result<Pick> {
        let first = from.map_or(Ok(Size::known(1)), |e| self.integer(e))?;
        let last = to.map_or(Ok(axis.size.clone()), |e| self.integer(e))?;
        if let Some(end) = to {
            self.refuse_backwards(
                &first,
                &last,
                end,
                "places count from 1 to the size of the axis: `2..N`, `2..N-1`, or `2..` to its end",
            )?;
        }
        let length = last.plus(-1, &first).plus(1, &Size::known(1));
        let empty = length.as_integer().is_some_and(|n| n <= 0);
        if !empty {
            self.check_place(&first, &last, axis, span, base)?;
        }
        let whole = first.is_one() && last == *axis.size;
        Ok(Pick::Range(if empty { Size::known(0) } else { length }, whole))
    }

    fn pick_at(&mut self, e: &Expr, axis: &Axis, base: &Expr) -> Result<Pick> {
        let ty = self.expr(e).map_err(|problem| unknown_index(problem, e))?;
        if !ty.fixed {
            return Err(Diagnostic::error("index-not-data", "an index must be known before the fit")
                .label(e.span, "this depends on a parameter, or on what is predicted")
                .help(
                    "a discrete latent is summed out instead: see `mixture`; a predicted one chooses by \
                     `where(k == 1, a, b)`",
                ));
        }
        if self.is_condition(e) {
            return Err(self.mask(e, base));
        }
        self.check_category(e, &ty, axis, base)?;
        let whole_number = self.numbers_of(&ty).is_some_and(|all| all.iter().all(|x| x.fract() == 0.0));
        if !ty.integer && !whole_number {
            return Err(Diagnostic::error("index-not-integer", "an index must be an integer")
                .label(e.span, "this is real")
                .help("declare it `int` or `category`"));
        }
        if !ty.is_scalar() {
            self.check_places(&ty, axis, e.span, base)?;
            return Ok(Pick::Gather(Box::new(ty)));
        }
        let place = ty.value.clone().unwrap_or(Size::Any);
        self.check_place(&place, &place, axis, e.span, base)?;
        Ok(Pick::One(place.as_integer()))
    }

    /// `alpha["Hennepin"]`: a label along an axis.
    fn by_label(&mut self, label: &str, span: Span, axis: &Axis, base: &Expr) -> Result<Pick> {
        let Some(levels) = axis.ty.axes()[axis.number].clone() else {
            return Err(no_labels(label, span, base.span));
        };
        match &levels.listed {
            Some(labels) if levels.place(label).is_none() => Err(unknown_label(label, labels, span)),
            _ => Ok(Pick::One(levels.place(label).map(|k| k as i64))),
        }
    }

    fn too_many_indices(&self, base: &Expr, shape: &[Size], given: usize, span: Span) -> Diagnostic {
        let name = self.text(base.span);
        let parameter = self.model.parameters.iter().any(|p| p.name.name == name);
        if shape.is_empty() {
            let message = format!("`{name}` is one number, and cannot be indexed");
            let error = Diagnostic::error("too-many-indices", message)
                .label(span, "")
                .label(base.span, "this has no axes");
            return if parameter {
                error.help(format!("for one number for each of J declare `param {name}[J] ~ ...`"))
            } else {
                error
            };
        }
        let axes = if shape.len() == 1 { "is 1 axis".into() } else { format!("are {} axes", shape.len()) };
        Diagnostic::error("too-many-indices", format!("{given} indices are given, but there {axes}"))
            .label(span, "")
            .label(base.span, format!("this has shape {}", show(shape)))
    }

    /// Whether this says yes or no, and no place, whatever its numbers are.
    fn is_condition(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Name(name) => self.declared.binaries.contains(name),
            ExprKind::Unary(op, _) => *op == UnaryOp::Not,
            ExprKind::Binary(op, ..) => op.is_comparison() || matches!(op, BinaryOp::And | BinaryOp::Or),
            _ => false,
        }
    }

    fn mask(&self, e: &Expr, base: &Expr) -> Diagnostic {
        let (mask, name) = (self.text(e.span), self.text(base.span));
        let level = match &e.kind {
            ExprKind::Binary(BinaryOp::Eq, _, right) if matches!(right.kind, ExprKind::Str(_)) => {
                format!("for the element of that level write `{name}[{}]`; ", self.text(right.span))
            }
            _ => String::new(),
        };
        mask_as_index(mask, name, &level, e.span)
    }

    /// Refuses a range that ends, by a number in the model, before it begins: `y[2..-1]` has no elements, and
    /// nobody means that.
    pub(super) fn refuse_backwards(&self, from: &Size, to: &Size, end: &Expr, help: &str) -> Result<()> {
        let number = match &end.kind {
            ExprKind::Unary(UnaryOp::Neg, inner) => matches!(inner.kind, ExprKind::Int(_)),
            kind => matches!(kind, ExprKind::Int(_)),
        };
        let Some(to) = to.as_integer().filter(|_| number) else { return Ok(()) };
        // A size in the place of the first number is taken to be one of several things.
        let backwards = match self.sizes.number(from) {
            Some(from) => to < from - 1,
            None => from.names().next().is_some() && from.is_linear() && to <= 1,
        };
        if !backwards {
            return Ok(());
        }
        let message = format!("a range counts up, and this one ends, at {to}, before it begins");
        Err(Diagnostic::error("backwards", message).label(end.span, "").help(help))
    }
}

/// The error of what is 1 or 0 for each element in the place of an index.
pub fn mask_as_index(mask: &str, name: &str, level: &str, span: Span) -> Diagnostic {
    Diagnostic::error("mask-as-index", format!("`{mask}` is 1 or 0 for each element, and an index is a place"))
        .label(span, "")
        .help(format!(
            "{level}to leave elements out of a statement give them no weight: `{name} ~ ... weight {mask}`; to choose between \
             values element by element write `where({mask}, a, b)`"
        ))
}

/// The error of a label where an axis has none.
pub fn no_labels(label: &str, span: Span, base: Span) -> Diagnostic {
    Diagnostic::error("no-labels", format!("this axis has no labels, so \"{label}\" is none of them"))
        .label(span, "")
        .label(base, "")
        .help("an axis has labels if its size counts the levels of a category: `param a[J]` with `category[N] of J`")
}

/// A name that is not defined, as that of an index.
fn unknown_index(problem: Diagnostic, e: &Expr) -> Diagnostic {
    let ExprKind::Name(name) = &e.kind else { return problem };
    let guess = problem.help.as_deref().is_some_and(|help| help.starts_with("did you mean"));
    if problem.code != "unknown-name" || guess {
        return problem;
    }
    problem.help(match name.chars().count() {
        1 => format!("an index is the variable of a loop, `for {name} in 1..N {{ ... }}`; without an index a statement is about all elements"),
        _ => format!("declare it among the data: `{name} : category[N] of J` if it names groups, `{name} : int[N]` if it holds places"),
    })
}

/// The coordinates of one element of a parameter whose elements move one by one.
fn one_coordinate(ty: &Type, picks: &[Pick]) -> Rc<BTreeSet<super::types::Coordinate>> {
    let places: Option<Vec<String>> = picks
        .iter()
        .map(|pick| match pick {
            Pick::One(Some(place)) => Some(place.to_string()),
            Pick::One(None) | Pick::Range(..) | Pick::Gather(_) => None,
        })
        .collect();
    let one = ty.structure.is_none() && ty.identity == ty.base;
    let mut own = ty.coordinates.iter();
    match (places, own.next(), own.next()) {
        (Some(places), Some((parameter, None)), None) if one && ty.reached => {
            Rc::new(BTreeSet::from([(*parameter, Some(places.join(",")))]))
        }
        _ => ty.coordinates.clone(),
    }
}
