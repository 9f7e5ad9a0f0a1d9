//! Indexing: places, ranges, and gathers by integer arrays and categories.

use super::axes::Axes;
use super::env::{Binding, Value};
use super::{Lowerer, Result};
use crate::data::{Levels, listed};
use crate::model;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Expr, ExprKind, Index};
use std::sync::Arc;

/// What an index does to its axis.
enum Pick {
    /// One place: the axis disappears.
    One(usize),
    /// Places in order: the axis stays.
    Range(Vec<usize>),
    /// Places given by an array of this shape: the axis becomes the array's axes.
    Gather(Vec<usize>, Vec<usize>, Axes),
}

/// Elements picked one axis after the other.
struct Places {
    indices: Vec<Vec<usize>>,
    /// The axes that they form.
    shape: Vec<usize>,
    /// Whether arrays pick them, element by element.
    joint: bool,
}

impl Places {
    /// A range of the next axis. False if arrays have picked before.
    fn range(&mut self, from: usize, to: usize) -> bool {
        let longer =
            |index: &Vec<usize>| (from..=to).map(|i| [&index[..], &[i]].concat()).collect::<Vec<_>>();
        self.indices = self.indices.iter().flat_map(longer).collect();
        self.shape.push((to + 1).saturating_sub(from));
        !self.joint
    }

    /// One place of the next axis, or one for each element of an array. False if the array fits nothing
    /// before it.
    fn at(&mut self, places: &[f64], dims: &[usize]) -> bool {
        if !dims.is_empty() && !self.joint && self.shape.is_empty() {
            self.indices = vec![self.indices[0].clone(); places.len()];
            (self.shape, self.joint) = (dims.to_vec(), true);
        } else if !(dims.is_empty() || self.joint && self.shape == dims) {
            return false;
        }
        let place = |k: usize| if dims.is_empty() { places[0] } else { places[k] };
        self.indices.iter_mut().enumerate().for_each(|(k, index)| index.push(place(k) as usize));
        true
    }
}

impl Lowerer<'_> {
    pub(super) fn index(&mut self, base: &Expr, indices: &[Index], span: Span) -> Result<Value> {
        if let Some(value) = self.element_index(base, indices, span)? {
            return Ok(value);
        }
        if let Some(value) = self.element_part(base, indices, span)? {
            return Ok(value);
        }
        if let Some(value) = self.nothing_yet(base, indices)? {
            return Ok(value);
        }
        let value = self.expr(base)?;
        self.index_value(value, base, indices, span)
    }

    /// `z[1..0]` of an array whose first element is yet to be defined: nothing is read, so nothing need be
    /// there.
    fn nothing_yet(&mut self, base: &Expr, indices: &[Index]) -> Result<Option<Value>> {
        let ExprKind::Name(name) = &base.kind else { return Ok(None) };
        if self.env.get(name).is_some() || !self.defining.iter().any(|defined| defined == name) {
            return Ok(None);
        }
        let mut shape = Vec::new();
        for index in indices {
            match index {
                Index::At(_) => {}
                Index::Range { from: Some(from), to: Some(to), .. } => {
                    let length = self.integer(to)? - self.integer(from)? + 1;
                    shape.push(usize::try_from(length).unwrap_or(0));
                }
                Index::Range { .. } | Index::All(_) => return Ok(None),
            }
        }
        let empty = shape.contains(&0);
        Ok(empty.then(|| Value::real(self.b.constant(Vec::new(), shape), false)))
    }

    /// `s[t - 1]` where `s` is being defined element by element.
    fn element_index(&mut self, base: &Expr, indices: &[Index], span: Span) -> Result<Option<Value>> {
        let ExprKind::Name(name) = &base.kind else { return Ok(None) };
        let rank = match self.env.get(name) {
            Some(Binding::Elements(elements)) => elements.rank(),
            Some(Binding::Value(_) | Binding::Function(_)) | None => return Ok(None),
        };
        if indices.len() < rank {
            return Ok(None);
        }
        let mut place = Vec::with_capacity(rank);
        for index in &indices[..rank] {
            let Index::At(e) = index else { return Ok(None) };
            let value = self.expr(e)?;
            if self.b.scalar_of(value.node).is_none() {
                return Ok(None);
            }
            let by_label = self.element_by_label(name, place.len(), (e, &value), base.span)?;
            place.push(match by_label.as_deref() {
                Some(&[at]) => at as usize,
                _ => self.position(e)?,
            });
        }
        let value = self.element(name, &place, span)?;
        if indices.len() == rank {
            return Ok(Some(value));
        }
        self.index_value(value, base, &indices[rank..], span).map(Some)
    }

    /// `s[t-2..t-1]`, `m[t]`, `m[i, j]` with arrays `i`, `j`, where the array is being defined element by
    /// element: only what is picked must be there. None where it is better to take the array as a whole.
    fn element_part(&mut self, base: &Expr, indices: &[Index], span: Span) -> Result<Option<Value>> {
        let ExprKind::Name(name) = &base.kind else { return Ok(None) };
        let (rank, count) = match self.env.get(name) {
            Some(Binding::Elements(elements)) if !elements.is_ready() => (elements.rank(), elements.count()),
            _ => return Ok(None),
        };
        let Some(Places { indices: places, shape, .. }) =
            self.element_places(name, rank, indices, base.span)?
        else {
            return Ok(None);
        };
        if places.is_empty() && indices.len() == rank {
            return Ok(Some(Value::real(self.b.constant(Vec::new(), shape), false)));
        }
        if places.is_empty() {
            return Ok(None);
        }
        let elements = self.env.elements(name);
        // Most of what there is: the whole is worth making, if it can be made.
        let part = match 2 * places.len() > count {
            true => match elements.whole(&mut self.b, name, base.span) {
                Ok(_) => return Ok(None),
                Err(_) => elements.gather(&mut self.b, name, &places, span)?,
            },
            false => elements.gather(&mut self.b, name, &places, span)?,
        };
        let mut dims = shape.clone();
        dims.extend_from_slice(&self.b.dims(part.node)[1..]);
        let part = Value { node: self.b.reshape(part.node, dims), ..part };
        if indices.len() <= rank {
            return Ok(Some(part));
        }
        let kept = shape.iter().map(|_| Index::All(span));
        let rest: Vec<Index> = kept.chain(indices[rank..].iter().cloned()).collect();
        self.index_value(part, base, &rest, span).map(Some)
    }

    /// The places at which a category picks elements that a loop over the levels of a category defines.
    fn element_by_label(
        &self,
        name: &str,
        axis: usize,
        (e, value): (&Expr, &Value),
        base: Span,
    ) -> Result<Option<Vec<f64>>> {
        let size = self.counted.get(name).and_then(|sizes| sizes.get(axis)?.as_ref());
        let counted = size.and_then(|size| self.env.levels(size));
        let (Some(levels), Some(of), Some(places)) = (&value.levels, counted, self.b.constant_of(value.node))
        else {
            return Ok(None);
        };
        self.places_by_label((e, levels), &of, places, base).map(Some)
    }

    /// The indices of the elements that are picked, and the shape in which. None if arrays stand among
    /// ranges.
    fn element_places(
        &mut self,
        name: &str,
        rank: usize,
        indices: &[Index],
        base: Span,
    ) -> Result<Option<Places>> {
        let mut picked = Places { indices: vec![Vec::with_capacity(rank)], shape: Vec::new(), joint: false };
        for axis in 0..rank {
            let elements = self.env.elements(name);
            let last = picked.indices.iter().map(|beginning| elements.longest(beginning)).max().unwrap_or(0);
            let fits = match indices.get(axis) {
                None | Some(Index::All(_)) => picked.range(1, last),
                Some(Index::Range { from, to, .. }) => {
                    let from = from.as_ref().map_or(Ok(1), |e| self.position(e))?;
                    let to = to.as_ref().map_or(Ok(last as i64), |e| self.integer(e))?;
                    picked.range(from, to.max(0) as usize)
                }
                Some(Index::At(e)) => {
                    let value = self.expr(e)?;
                    let by_label = self.element_by_label(name, axis, (e, &value), base)?;
                    let numbers = by_label.or_else(|| self.b.constant_of(value.node).map(|c| c.to_vec()));
                    match numbers {
                        Some(numbers) if value.integer && numbers.iter().all(|&i| i >= 1.0) => {
                            picked.at(&numbers, self.b.dims(value.node))
                        }
                        _ => false,
                    }
                }
            };
            if !fits {
                return Ok(None);
            }
        }
        Ok(Some(picked))
    }

    pub(super) fn index_value(
        &mut self,
        value: Value,
        base: &Expr,
        indices: &[Index],
        span: Span,
    ) -> Result<Value> {
        let (dims, labelled) = (self.b.dims(value.node).to_vec(), self.axes_of(&value));
        if indices.len() > dims.len() {
            return Err(self.too_many_indices(base, &dims, indices.len(), span));
        }
        let mut picks = Vec::with_capacity(dims.len());
        for (axis, &n) in dims.iter().enumerate() {
            picks.push(match indices.get(axis) {
                Some(index) => self.pick(index, (axis, n, &labelled), base)?,
                None => Pick::Range((0..n).collect()),
            });
        }
        let (table, out) = table(&picks, &dims).ok_or_else(|| {
            Diagnostic::error("shape-mismatch", "arrays that index together must have one shape")
                .label(span, "")
        })?;
        let axes = picked_axes(&picks, &labelled);
        let node = self.b.take(value.node, table, out);
        Ok(Value { node, ..value }.along(axes))
    }

    fn too_many_indices(&self, base: &Expr, dims: &[usize], given: usize, span: Span) -> Diagnostic {
        let name = base.span.text(self.source);
        let parameter = self.parameters.iter().any(|p| p.named.name == name);
        if dims.is_empty() {
            let error = Diagnostic::error(
                "too-many-indices",
                format!("`{name}` is one number, and cannot be indexed"),
            )
            .label(span, "")
            .label(base.span, "this has no axes");
            return if parameter {
                error.help(format!("for one number for each of J declare `param {name}[J] ~ ...`"))
            } else {
                error
            };
        }
        let axes = if dims.len() == 1 { "is 1 axis".into() } else { format!("are {} axes", dims.len()) };
        Diagnostic::error("too-many-indices", format!("{given} indices are given, but there {axes}"))
            .label(span, "")
            .label(base.span, format!("this has shape {}", self.shape(dims)))
    }

    fn pick(
        &mut self,
        index: &Index,
        (axis, n, labelled): (usize, usize, &Axes),
        base: &Expr,
    ) -> Result<Pick> {
        match index {
            Index::At(Expr { kind: ExprKind::Str(label), span }) => {
                by_label(label, *span, labelled[axis].as_ref(), base.span)
            }
            Index::All(_) => Ok(Pick::Range((0..n).collect())),
            Index::Range { from, to, span } => {
                let from = from.as_ref().map_or(Ok(1), |e| self.integer(e))?;
                let to = to.as_ref().map_or(Ok(n as i64), |e| self.integer(e))?;
                if from <= to && (from < 1 || to > n as i64) {
                    let place = if from < 1 { from } else { to };
                    return Err(self.out_of_range(place, n, *span, base));
                }
                Ok(Pick::Range((from..=to).filter_map(|i| usize::try_from(i - 1).ok()).collect()))
            }
            Index::At(e) => {
                let value = self.expr(e)?;
                let Some(places) = self.b.constant_of(value.node).cloned() else {
                    return Err(Diagnostic::error("index-not-data", "an index must be known before the fit")
                        .label(e.span, "this depends on a parameter, or on what is predicted")
                        .help(
                            "a discrete latent is summed out instead: see `mixture`; a predicted one chooses by \
                             `where(k == 1, a, b)`",
                        ));
                };
                if is_mask(&places, n) && value.integer {
                    let (mask, name) = (e.span.text(self.source), base.span.text(self.source));
                    return Err(model::mask_as_index(mask, name, "", e.span));
                }
                let places = match (&value.levels, &labelled[axis]) {
                    (Some(levels), Some(of)) => self.places_by_label((e, levels), of, &places, base.span)?,
                    (Some(levels), None) if !levels.are_indices() && levels.len() != n => {
                        return Err(self.other_levels(e, base, levels, n));
                    }
                    _ => places.to_vec(),
                };
                if let Some(levels) = value.levels.as_ref().filter(|l| places.len() == n && l.len() < n) {
                    self.warn_rows_as_levels(e, base, n - levels.len());
                }
                let mut positions = Vec::with_capacity(places.len());
                for &p in places.iter() {
                    if p.fract() != 0.0 || !value.integer {
                        return Err(Diagnostic::error("index-not-integer", "an index must be an integer")
                            .label(e.span, if value.integer { "" } else { "this is real" })
                            .help("declare it `int` or `category`"));
                    }
                    if p < 1.0 || p > n as f64 {
                        return Err(self.out_of_range(p as i64, n, e.span, base));
                    }
                    positions.push(p as usize - 1);
                }
                let shape = self.b.dims(value.node).to_vec();
                Ok(match shape.is_empty() {
                    true => Pick::One(positions[0]),
                    false => Pick::Gather(positions, shape, self.axes_of(&value)),
                })
            }
        }
    }
}

/// `alpha["Hennepin"]`: the place of a label along an axis.
fn by_label(label: &str, span: Span, axis: Option<&Arc<Levels>>, base: Span) -> Result<Pick> {
    let Some(levels) = axis else { return Err(model::no_labels(label, span, base)) };
    match levels.code(label) {
        Some(place) => Ok(Pick::One(place - 1)),
        None => Err(model::unknown_label(label, levels.labels(), span)),
    }
}

/// Whether these are 1 or 0 for each of n elements, which picks nothing.
fn is_mask(places: &[f64], n: usize) -> bool {
    n > 1 && places.len() == n && places.contains(&0.0) && places.iter().all(|&p| p == 0.0 || p == 1.0)
}

impl Lowerer<'_> {
    /// The error of a category that indexes an axis with another number of places than it has levels.
    fn other_levels(&self, e: &Expr, base: &Expr, levels: &Levels, n: usize) -> Diagnostic {
        let name = e.span.text(self.source);
        let message = format!("`{name}` has {} levels, and this axis has {n} places", levels.len());
        Diagnostic::error("level-count", message)
            .label(e.span, "")
            .label(base.span, format!("this axis has size {n}"))
            .note(format!("its levels are {}: the first is place 1, whatever it is called", listed(levels.labels())))
            .help(format!(
                "give the axis the number of levels (`{name} : category[N] of J`, `[J]`), list all levels (`levels(...)`), or \
                 declare `{name} : int[N]` if its numbers are places"
            ))
    }
}

impl Lowerer<'_> {
    fn out_of_range(&self, i: i64, n: usize, span: Span, base: &Expr) -> Diagnostic {
        let size = n;
        let error = Diagnostic::error("index-out-of-range", format!("index {i} is outside 1..{size}"))
            .label(span, "")
            .label(base.span, format!("this axis has size {size}"));
        if self.is_label(i, n, base) {
            error.help(format!(
                "the level that is called {i} is written as text: `{}[\"{i}\"]`",
                base.span.text(self.source)
            ))
        } else if i < 1 {
            error.help("indices start at 1: the first element is `x[1]`, the last of N is `x[N]`")
        } else {
            error
        }
    }

    /// Whether an axis of so many places has a level that is called like this number.
    fn is_label(&self, i: i64, n: usize, base: &Expr) -> bool {
        let ExprKind::Name(name) = &base.kind else { return false };
        let parameter = self.parameters.iter().find(|p| p.named.name == *name);
        let mut axes = parameter.iter().flat_map(|p| p.named.labels.iter().flatten());
        axes.any(|labels| labels.len() == n && labels.contains(&i.to_string()))
    }
}

/// What the axes of the result stand for: of part of an axis the labels of that part.
fn picked_axes(picks: &[Pick], labelled: &[Option<Arc<Levels>>]) -> Axes {
    let mut axes = Axes::new();
    let mut gathered = false;
    for (pick, levels) in picks.iter().zip(labelled) {
        match pick {
            Pick::One(_) => {}
            Pick::Range(places) => axes.push(levels.as_ref().map(|levels| levels.part(places))),
            Pick::Gather(_, _, own) if !gathered => {
                axes.extend(own.iter().cloned());
                gathered = true;
            }
            Pick::Gather(..) => {}
        }
    }
    axes
}

/// Flat positions and shape of the result. Several gathers run together; their axes stand where the first one
/// is.
fn table(picks: &[Pick], dims: &[usize]) -> Option<(Vec<u32>, Vec<usize>)> {
    let mut strides = vec![1usize; dims.len()];
    for k in (0..dims.len().saturating_sub(1)).rev() {
        strides[k] = strides[k + 1] * dims[k + 1];
    }
    // The shape of the gathers, and where among the axes they stand.
    let mut joint: Option<(&Vec<usize>, usize)> = None;
    // Offsets along each axis of the result.
    let mut axes: Vec<Vec<usize>> = Vec::new();
    let mut out = Vec::new();
    let mut start = 0;
    for (k, pick) in picks.iter().enumerate() {
        match pick {
            Pick::One(p) => start += p * strides[k],
            Pick::Range(places) => {
                axes.push(places.iter().map(|p| p * strides[k]).collect());
                out.push(places.len());
            }
            Pick::Gather(places, shape, _) => match joint {
                None => {
                    joint = Some((shape, axes.len()));
                    axes.push(places.iter().map(|p| p * strides[k]).collect());
                    out.extend(shape);
                }
                Some((first, at)) if first == shape => {
                    axes[at].iter_mut().zip(places).for_each(|(a, p)| *a += p * strides[k]);
                }
                Some(_) => return None,
            },
        }
    }
    let mut table = vec![start as u32];
    for axis in &axes {
        table = table.iter().flat_map(|&t| axis.iter().map(move |&a| t + a as u32)).collect();
    }
    Some((table, out))
}
