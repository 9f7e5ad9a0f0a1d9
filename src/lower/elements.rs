//! Arrays that are defined element by element: `let s[1] = ...`, `for t in 2..T { let s[t] = ... }`.

use super::axes::Axes;
use super::env::Value;
use crate::graph::{Builder, NodeId};
use crate::source::{Diagnostic, Span};
use std::collections::HashMap;

/// The elements defined so far, by index from 1.
#[derive(Clone, Debug, Default)]
pub(super) struct Elements {
    defined: HashMap<Vec<usize>, Slot>,
    /// Elements with one index that were defined together, in order and without overlap.
    runs: Vec<Run>,
    /// For every beginning of an index, the largest number that follows it.
    longest: HashMap<Vec<usize>, usize>,
    whole: Option<Value>,
}

/// Where an element is: a value of its own, or a place in an array of numbers that were defined together.
#[derive(Clone, Debug)]
struct Slot {
    value: Value,
    place: Option<usize>,
}

/// Consecutive elements as one array.
#[derive(Clone, Debug)]
struct Run {
    first: usize,
    count: usize,
    value: Value,
}

impl Run {
    fn holds(&self, i: usize) -> bool {
        i >= self.first && i - self.first < self.count
    }
}

impl Elements {
    /// Number of indices that name an element.
    pub(super) fn rank(&self) -> usize {
        self.defined.keys().next().map_or(usize::from(!self.runs.is_empty()), Vec::len)
    }

    /// Number of elements.
    pub(super) fn count(&self) -> usize {
        self.defined.len() + self.runs.iter().map(|run| run.count).sum::<usize>()
    }

    /// Whether the whole array has been asked for since the last definition.
    pub(super) fn is_ready(&self) -> bool {
        self.whole.is_some()
    }

    /// The largest number that follows the beginning of an index.
    pub(super) fn longest(&self, beginning: &[usize]) -> usize {
        self.longest.get(beginning).copied().unwrap_or(0)
    }

    pub(super) fn get(&self, index: &[usize], b: &mut Builder) -> Option<Value> {
        let (value, place) = self.find(index)?;
        let node = place.map_or(value.node, |i| b.row(value.node, i));
        Some(Value { node, axes: own_axes(value, place), ..value.clone() })
    }

    fn find(&self, index: &[usize]) -> Option<(&Value, Option<usize>)> {
        if let Some(slot) = self.defined.get(index) {
            return Some((&slot.value, slot.place));
        }
        let [i] = index else { return None };
        let after = self.runs.partition_point(|run| run.first <= *i);
        let run = self.runs[..after].last().filter(|run| run.holds(*i))?;
        Some((&run.value, Some(i - run.first)))
    }

    /// Defines elements `first`, `first + 1`, ... at once, from an array with one axis.
    pub(super) fn define_run(
        &mut self,
        name: &str,
        first: usize,
        count: usize,
        value: Value,
        span: Span,
    ) -> Result<(), Diagnostic> {
        if self.rank() > 1 {
            return Err(self.wrong_rank(name, 1, span));
        }
        let run = Run { first, count, value };
        let other = self.runs.iter().find_map(|r| {
            (r.first.max(first) < (r.first + r.count).min(first + count)).then_some(r.first.max(first))
        });
        if let Some(i) = other.or_else(|| self.defined.keys().map(|i| i[0]).find(|&i| run.holds(i))) {
            return Err(twice(name, &[i], span));
        }
        self.note(&[first + count - 1]);
        self.runs.push(run);
        self.runs.sort_by_key(|r| r.first);
        Ok(())
    }

    /// How many elements that have a value each stand before this one without a gap, at most `most`.
    pub(super) fn singles_before(&self, first: usize, most: usize) -> usize {
        (1..=most).take_while(|k| first > *k && self.defined.contains_key(&vec![first - k])).count()
    }

    /// Defines elements `first`, `first + 1`, ... at once, from an array that begins with the `before`
    /// elements before them.
    pub(super) fn define_after(
        &mut self,
        name: &str,
        first: usize,
        before: usize,
        (value, count): (Value, usize),
        span: Span,
    ) -> Result<(), Diagnostic> {
        self.define_run(name, first, count, value, span)?;
        if let Some(run) = self.runs.iter_mut().find(|run| run.first == first) {
            (run.first, run.count) = (first - before, count + before);
        }
        Ok(())
    }

    /// Defines elements at once, from an array with a number for each index.
    pub(super) fn define_together(
        &mut self,
        name: &str,
        indices: Vec<Vec<usize>>,
        value: Value,
        span: Span,
    ) -> Result<(), Diagnostic> {
        indices.into_iter().enumerate().try_for_each(|(place, index)| {
            self.define_slot(name, index, Slot { value: value.clone(), place: Some(place) }, span)
        })
    }

    pub(super) fn define(
        &mut self,
        name: &str,
        index: Vec<usize>,
        value: Value,
        span: Span,
    ) -> Result<(), Diagnostic> {
        self.define_slot(name, index, Slot { value, place: None }, span)
    }

    fn define_slot(
        &mut self,
        name: &str,
        index: Vec<usize>,
        slot: Slot,
        span: Span,
    ) -> Result<(), Diagnostic> {
        if self.rank() != 0 && self.rank() != index.len() {
            return Err(self.wrong_rank(name, index.len(), span));
        }
        if self.find(&index).is_some() {
            return Err(twice(name, &index, span));
        }
        self.note(&index);
        self.defined.insert(index, slot);
        Ok(())
    }

    /// Notes that there is an element with this index.
    fn note(&mut self, index: &[usize]) {
        self.whole = None;
        for (k, &i) in index.iter().enumerate() {
            match self.longest.get_mut(&index[..k]) {
                Some(longest) => *longest = i.max(*longest),
                None => {
                    self.longest.insert(index[..k].to_vec(), i);
                }
            }
        }
    }

    fn wrong_rank(&self, name: &str, given: usize, span: Span) -> Diagnostic {
        Diagnostic::error(
            "element-rank",
            format!("`{name}` has elements with {} indices, and here one with {given}", self.rank()),
        )
        .label(span, "")
    }

    /// The whole array, once every element up to the largest index is there.
    pub(super) fn whole(&mut self, b: &mut Builder, name: &str, span: Span) -> Result<Value, Diagnostic> {
        if let Some(whole) = &self.whole {
            return Ok(whole.clone());
        }
        let value = match &self.runs[..] {
            [run] if run.first == 1 && self.defined.keys().all(|i| run.holds(i[0])) => run.value.clone(),
            _ => self.complete(b, name, span)?,
        };
        self.whole = Some(value.clone());
        Ok(value)
    }

    fn complete(&self, b: &mut Builder, name: &str, span: Span) -> Result<Value, Diagnostic> {
        let mut extent = vec![0; self.rank()];
        for (beginning, &longest) in &self.longest {
            extent[beginning.len()] = longest.max(extent[beginning.len()]);
        }
        let total: usize = extent.iter().product();
        let indices: Vec<Vec<usize>> = (0..total).map(|flat| unflatten(flat, &extent)).collect();
        if let Some(index) = indices.iter().find(|index| self.find(index).is_none()) {
            let element = element(name, index);
            return Err(Diagnostic::error(
                "element-undefined",
                format!("`{name}` is used as a whole, but `{element}` is not defined"),
            )
            .label(span, "")
            .help(format!(
                "define every element, for example `let {element} = ...`{}",
                match self.defined.len() {
                    1 => format!("; a size is not said: for all elements at once write `let {name} = ...`"),
                    _ => String::new(),
                }
            )));
        }
        let value = self.gather(b, name, &indices, span)?;
        let mut dims = extent;
        dims.extend_from_slice(&b.dims(value.node)[1..]);
        let mut axes = vec![None; self.rank()];
        axes.extend(value.axes.iter().skip(1).cloned());
        Ok(Value { node: b.reshape(value.node, dims), ..value }.along(axes))
    }

    /// The elements with these indices, along the first axis.
    pub(super) fn gather(
        &self,
        b: &mut Builder,
        name: &str,
        indices: &[Vec<usize>],
        span: Span,
    ) -> Result<Value, Diagnostic> {
        let mut parts = Parts::default();
        let mut table: Vec<u32> = Vec::with_capacity(indices.len());
        let mut first: Option<(Value, Vec<usize>)> = None;
        for index in indices {
            let Some((value, place)) = self.find(index) else { return Err(undefined(name, index, span)) };
            let own = if place.is_some() { &b.dims(value.node)[1..] } else { b.dims(value.node) };
            let like = || Value { axes: own_axes(value, place), ..value.clone() };
            let (all, shape) = first.get_or_insert_with(|| (like(), own.to_vec()));
            if shape != own {
                return Err(Diagnostic::error(
                    "shape-mismatch",
                    format!("the elements of `{name}` differ in shape: {shape:?} and {own:?}"),
                )
                .label(span, ""));
            }
            all.integer &= value.integer;
            all.from_data |= value.from_data;
            let size: usize = own.iter().product();
            let whole = b.dims(value.node).iter().product();
            let at = parts.place(value.node, whole) + place.unwrap_or(0) * size;
            table.extend((at..at + size).map(|i| i as u32));
        }
        let Some((value, shape)) = first else {
            return Err(Diagnostic::error("element-undefined", format!("`{name}` has no elements here"))
                .label(span, ""));
        };
        let joined = b.concat(&parts.nodes, vec![parts.length]);
        let mut dims = vec![indices.len()];
        dims.extend(shape);
        let mut axes = vec![None];
        axes.extend(value.axes.iter().cloned());
        Ok(Value { node: b.take(joined, table, dims), ..value }.along(axes))
    }
}

/// What the axes of one element stand for: of those that were defined together the first axis counts them.
fn own_axes(value: &Value, place: Option<usize>) -> Axes {
    value.axes.iter().skip(usize::from(place.is_some())).cloned().collect()
}

/// Arrays one after another, each once.
#[derive(Default)]
struct Parts {
    nodes: Vec<NodeId>,
    starts: HashMap<NodeId, usize>,
    length: usize,
}

impl Parts {
    /// Where an array of this size begins.
    fn place(&mut self, node: NodeId, size: usize) -> usize {
        if let Some(&start) = self.starts.get(&node) {
            return start;
        }
        let start = self.length;
        self.starts.insert(node, start);
        self.nodes.push(node);
        self.length += size;
        start
    }
}

fn unflatten(flat: usize, extent: &[usize]) -> Vec<usize> {
    let mut rest = flat;
    let mut index = vec![0; extent.len()];
    for k in (0..extent.len()).rev() {
        index[k] = rest % extent[k] + 1;
        rest /= extent[k];
    }
    index
}

fn twice(name: &str, index: &[usize], span: Span) -> Diagnostic {
    Diagnostic::error("defined-twice", format!("`{}` is defined twice", element(name, index)))
        .label(span, "")
        .help("each element is defined once; give the second one another name")
}

/// The error of an element that is read and not there.
pub(super) fn undefined(name: &str, index: &[usize], span: Span) -> Diagnostic {
    Diagnostic::error("element-undefined", format!("`{}` is read before it is defined", element(name, index)))
        .label(span, "")
        .help("define the first elements before the loop, and read only earlier ones inside it")
}

/// `s[2, 3]`
fn element(name: &str, index: &[usize]) -> String {
    let inside: Vec<String> = index.iter().map(usize::to_string).collect();
    format!("{name}[{}]", inside.join(", "))
}
