//! Arrays that are defined element by element: `let s[1] = ...`, `for t in 2..T { let s[t] = ... }`.

use super::env::Value;
use crate::graph::Builder;
use crate::source::{Diagnostic, Span};
use std::collections::HashMap;

/// The elements defined so far, by index from 1.
#[derive(Clone, Debug, Default)]
pub(super) struct Elements {
    defined: HashMap<Vec<usize>, Value>,
    /// Elements with one index that were defined together, in order and without overlap.
    runs: Vec<Run>,
    whole: Option<Value>,
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

    pub(super) fn get(&self, index: &[usize], b: &mut Builder) -> Option<Value> {
        if let Some(value) = self.defined.get(index) {
            return Some(value.clone());
        }
        let [i] = index else { return None };
        let run = self.runs.iter().find(|run| run.holds(*i))?;
        Some(Value { node: b.row(run.value.node, i - run.first), ..run.value.clone() })
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
        if first == 0 {
            return Err(
                Diagnostic::error("index-out-of-range", "indices start at 1, and this is 0").label(span, "")
            );
        }
        let run = Run { first, count, value };
        let other = self.runs.iter().find_map(|r| {
            (r.first.max(first) < (r.first + r.count).min(first + count)).then_some(r.first.max(first))
        });
        if let Some(i) = other.or_else(|| self.defined.keys().map(|i| i[0]).find(|&i| run.holds(i))) {
            return Err(twice(name, &[i], span));
        }
        self.whole = None;
        self.runs.push(run);
        self.runs.sort_by_key(|r| r.first);
        Ok(())
    }

    fn wrong_rank(&self, name: &str, given: usize, span: Span) -> Diagnostic {
        Diagnostic::error(
            "element-rank",
            format!("`{name}` has elements with {} indices, and here one with {given}", self.rank()),
        )
        .label(span, "")
    }

    pub(super) fn define(
        &mut self,
        name: &str,
        index: Vec<usize>,
        value: Value,
        span: Span,
    ) -> Result<(), Diagnostic> {
        if self.rank() != 0 && self.rank() != index.len() {
            return Err(self.wrong_rank(name, index.len(), span));
        }
        self.whole = None;
        let in_run = index.len() == 1 && self.runs.iter().any(|run| run.holds(index[0]));
        if self.defined.insert(index.clone(), value).is_some() || in_run {
            return Err(twice(name, &index, span));
        }
        Ok(())
    }

    /// The whole array, once every element up to the largest index is there.
    pub(super) fn whole(&mut self, b: &mut Builder, name: &str, span: Span) -> Result<Value, Diagnostic> {
        if let Some(whole) = &self.whole {
            return Ok(whole.clone());
        }
        let rank = self.rank();
        let ends = self.runs.iter().map(|run| run.first + run.count - 1);
        let extent: Vec<usize> = (0..rank)
            .map(|k| self.defined.keys().map(|i| i[k]).chain(ends.clone()).max().unwrap_or(0))
            .collect();
        let total: usize = extent.iter().product();
        let mut nodes = Vec::with_capacity(total);
        let mut value: Option<(Value, Vec<usize>)> = None;
        let mut flat = 0;
        while flat < total {
            let index = unflatten(flat, &extent);
            let run = self.runs.iter().find(|run| rank == 1 && run.first == index[0]);
            flat += run.map_or(1, |run| run.count);
            let Some(v) = run.map(|run| &run.value).or_else(|| self.defined.get(&index)) else {
                return Err(Diagnostic::error(
                    "element-undefined",
                    format!("{} is used as a whole, but {} is not defined", name, element(name, &index)),
                )
                .label(span, "")
                .help(format!(
                    "define every element, for example `let {} = ...` before the loop",
                    element(name, &index)
                )));
            };
            let own = b.dims(v.node)[usize::from(run.is_some())..].to_vec();
            let (first, shape) = value.get_or_insert_with(|| (v.clone(), own.clone()));
            if *shape != own {
                return Err(Diagnostic::error(
                    "shape-mismatch",
                    format!("the elements of `{name}` differ in shape: {shape:?} and {own:?}"),
                )
                .label(span, ""));
            }
            first.integer &= v.integer;
            first.from_data |= v.from_data;
            nodes.push(v.node);
        }
        let Some((mut value, shape)) = value else {
            return Err(
                Diagnostic::error("element-undefined", format!("`{name}` has no elements")).label(span, "")
            );
        };
        let mut dims = extent;
        dims.extend(shape);
        value.node = b.concat(&nodes, dims);
        self.whole = Some(value.clone());
        Ok(value)
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
    Diagnostic::error("defined-twice", format!("{} is defined twice", element(name, index)))
        .label(span, "")
        .help("each element is defined once; give the second one another name")
}

/// `s[2, 3]`
pub(super) fn element(name: &str, index: &[usize]) -> String {
    let inside: Vec<String> = index.iter().map(usize::to_string).collect();
    format!("`{name}[{}]`", inside.join(", "))
}
