//! Indexing: places, ranges, and gathers by integer arrays and categories.

use super::axes::Axes;
use super::env::{Binding, Value};
use super::{Lowerer, Result};
use crate::data::{Levels, listed};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, Index, UnaryOp};
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
            Index::At(Expr { kind: ExprKind::Str(label), span }) => self.labelled(label, *span, axis, base),
            Index::All(_) => Ok(Pick::Range((0..n).collect())),
            Index::Range { from, to, span } => {
                let known = from.as_ref().is_some_and(|e| self.is_of_model(e));
                let from = from.as_ref().map_or(Ok(1), |e| self.integer(e))?;
                let end = to.as_ref();
                let to = end.map_or(Ok(n as i64), |e| self.integer(e))?;
                if let Some(end) = end {
                    self.refuse_backwards(
                        from,
                        to,
                        end,
                        "places count from 1 to the size of the axis: `2..N`, `2..N-1`, or `2..` to its end",
                    )?;
                }
                if from <= to && (from < 1 || to > n as i64) {
                    let place = if from < 1 { from } else { to };
                    return Err(self.out_of_range(place, n, *span, base).always(from < 1 && known));
                }
                Ok(Pick::Range((from..=to).filter_map(|i| usize::try_from(i - 1).ok()).collect()))
            }
            Index::At(e) => {
                let value = self.expr(e).map_err(|problem| unknown_index(problem, e))?;
                let Some(places) = self.b.constant_of(value.node).cloned() else {
                    return Err(Diagnostic::error("index-not-data", "an index must be known before the fit")
                        .label(e.span, "this depends on a parameter, or on what is predicted")
                        .help(
                            "a discrete latent is summed out instead: see `mixture`; a predicted one chooses by \
                             `where(k == 1, a, b)`",
                        ));
                };
                let condition = self.is_condition(e);
                if condition || is_mask(&places, n) && value.integer {
                    return Err(self.mask(e, base).always(condition));
                }
                if let Some(levels) = value.levels.as_ref().filter(|l| self.other_count(l.len(), n)) {
                    return Err(self.of_other_category(e, base, levels.len(), n));
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
                        // The first step of a loop is always taken; how many follow, the data say.
                        let known = p < 1.0 && positions.is_empty() && self.is_of_model(e);
                        return Err(self.out_of_range(p as i64, n, e.span, base).always(known));
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

impl Lowerer<'_> {
    /// `alpha["Hennepin"]`: the place of a label along an axis of a parameter.
    fn labelled(&self, label: &str, span: Span, axis: usize, base: &Expr) -> Result<Pick> {
        let parameter = match &base.kind {
            ExprKind::Name(name) => self.parameters.iter().find(|p| p.named.name == *name),
            _ => None,
        };
        // Without data nobody knows the labels.
        if self.probing && parameter.is_some() {
            return Ok(Pick::One(0));
        }
        let Some(labels) = parameter.and_then(|p| p.named.labels.get(axis).cloned().flatten()) else {
            return Err(Diagnostic::error("no-labels", format!("this axis has no labels, so \"{label}\" is none of them"))
                .label(span, "")
                .label(base.span, "")
                .help("an axis of a parameter has labels if its size counts the levels of a category: `param a[J]` with `category[N] of J`"));
        };
        if let Some(place) = labels.iter().position(|l| l == label) {
            return Ok(Pick::One(place));
        }
        let error = Diagnostic::error("unknown-level", format!("\"{label}\" is not a label of this axis"))
            .label(span, "")
            .note(format!("its labels are {}", listed(&labels)));
        Err(match crate::source::nearest(label, labels.iter().map(String::as_str)) {
            Some(near) => error.help(format!("did you mean \"{near}\"?")),
            None => error,
        })
    }
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

/// Whether these are 1 or 0 for each of n elements, which picks nothing.
fn is_mask(places: &[f64], n: usize) -> bool {
    n > 1 && places.len() == n && places.contains(&0.0) && places.iter().all(|&p| p == 0.0 || p == 1.0)
}

impl Lowerer<'_> {
    /// Whether this says yes or no, and no place, whatever its numbers are.
    fn is_condition(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Name(name) => self.binaries.contains(name),
            ExprKind::Unary(op, _) => *op == UnaryOp::Not,
            ExprKind::Binary(op, ..) => op.is_comparison() || matches!(op, BinaryOp::And | BinaryOp::Or),
            _ => false,
        }
    }

    /// Refuses a range that ends, by a number in the model, before it begins: `y[2..-1]` has no elements, and
    /// nobody means that.
    pub(super) fn refuse_backwards(&self, from: i64, to: i64, end: &Expr, help: &str) -> Result<()> {
        let number = match &end.kind {
            ExprKind::Unary(UnaryOp::Neg, inner) => matches!(inner.kind, ExprKind::Int(_)),
            kind => matches!(kind, ExprKind::Int(_)),
        };
        if !number || to >= from - 1 {
            return Ok(());
        }
        Err(Diagnostic::error(
            "backwards",
            format!("a range counts up, and this one ends, at {to}, before it begins"),
        )
        .label(end.span, "")
        .help(help))
    }

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

    fn mask(&self, e: &Expr, base: &Expr) -> Diagnostic {
        let (mask, name) = (e.span.text(self.source), base.span.text(self.source));
        let level = match &e.kind {
            ExprKind::Binary(BinaryOp::Eq, _, right) if matches!(right.kind, ExprKind::Str(_)) => {
                format!("for the element of that level write `{name}[{}]`; ", right.span.text(self.source))
            }
            _ => String::new(),
        };
        Diagnostic::error("mask-as-index", format!("`{mask}` is 1 or 0 for each element, and an index is a place"))
            .label(e.span, "")
            .help(format!(
                "{level}to leave elements out of a statement give them no weight: `{name} ~ ... weight {mask}`; to choose between \
                 values element by element write `where({mask}, a, b)`"
            ))
    }
}

impl Lowerer<'_> {
    fn out_of_range(&self, i: i64, n: usize, span: Span, base: &Expr) -> Diagnostic {
        let size = self.size(n);
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

    /// Whether an integer is the same whatever the data are. Loops begin where they are written to begin.
    fn is_of_model(&mut self, e: &Expr) -> bool {
        self.loops.iter().all(|l| l.begins) && self.expr(e).is_ok_and(|v| !v.from_data)
    }

    /// Whether two sizes, invented, count the levels of two categories.
    fn other_count(&self, levels: usize, n: usize) -> bool {
        let counts = |n: usize| {
            let name = self.size_names.iter().find(|(size, _)| *size == n).map(|(_, name)| name);
            name.is_some_and(|name| self.level_counts.contains(name))
        };
        self.probing && levels != n && counts(levels) && counts(n)
    }

    fn of_other_category(&self, e: &Expr, base: &Expr, levels: usize, n: usize) -> Diagnostic {
        let (name, levels, n) = (e.span.text(self.source), self.size(levels), self.size(n));
        let message = format!(
            "`{name}` has {levels} levels, and this axis has {n} places, for those of another category"
        );
        Diagnostic::error("level-count", message)
            .label(e.span, "")
            .label(base.span, format!("this axis has size {n}"))
            .help(format!("index it by a `category[...] of {n}`, or give the axis the size `{levels}`"))
            .always(true)
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
    let mut joint: Option<(&Vec<usize>, usize)> = None; // shape of the gathers, and where among the axes they stand
    let mut axes: Vec<Vec<usize>> = Vec::new(); // offsets along each axis of the result
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
