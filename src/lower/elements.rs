//! Arrays that are defined element by element: `let s[1] = ...`, `for t in 2..T { let s[t] = ... }`.

use super::env::Value;
use crate::graph::Builder;
use crate::source::{Diagnostic, Span};
use std::collections::HashMap;

/// The elements defined so far, by index from 1.
#[derive(Clone, Debug, Default)]
pub(super) struct Elements {
    defined: HashMap<Vec<usize>, Value>,
    whole: Option<Value>,
}

impl Elements {
    /// Number of indices that name an element.
    pub(super) fn rank(&self) -> usize {
        self.defined.keys().next().map_or(0, Vec::len)
    }

    pub(super) fn get(&self, index: &[usize]) -> Option<&Value> {
        self.defined.get(index)
    }

    pub(super) fn define(
        &mut self,
        name: &str,
        index: Vec<usize>,
        value: Value,
        span: Span,
    ) -> Result<(), Diagnostic> {
        if self.rank() != 0 && self.rank() != index.len() {
            return Err(Diagnostic::error(
                "element-rank",
                format!(
                    "`{name}` has elements with {} indices, and here one with {}",
                    self.rank(),
                    index.len()
                ),
            )
            .label(span, ""));
        }
        self.whole = None;
        if self.defined.insert(index.clone(), value).is_some() {
            return Err(Diagnostic::error(
                "defined-twice",
                format!("{} is defined twice", element(name, &index)),
            )
            .label(span, "")
            .help("each element is defined once; give the second one another name"));
        }
        Ok(())
    }

    /// The whole array, once every element up to the largest index is there.
    pub(super) fn whole(&mut self, b: &mut Builder, name: &str, span: Span) -> Result<Value, Diagnostic> {
        if let Some(whole) = &self.whole {
            return Ok(whole.clone());
        }
        let rank = self.rank();
        let extent: Vec<usize> =
            (0..rank).map(|k| self.defined.keys().map(|i| i[k]).max().unwrap_or(0)).collect();
        let total: usize = extent.iter().product();
        let mut nodes = Vec::with_capacity(total);
        let mut value: Option<Value> = None;
        for flat in 0..total {
            let index = unflatten(flat, &extent);
            let Some(v) = self.defined.get(&index) else {
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
            let first = value.get_or_insert_with(|| v.clone());
            if b.dims(first.node) != b.dims(v.node) {
                return Err(Diagnostic::error(
                    "shape-mismatch",
                    format!(
                        "the elements of `{name}` differ in shape: {:?} and {:?}",
                        b.dims(first.node),
                        b.dims(v.node)
                    ),
                )
                .label(span, ""));
            }
            first.integer &= v.integer;
            first.from_data |= v.from_data;
            nodes.push(v.node);
        }
        let Some(mut value) = value else {
            return Err(
                Diagnostic::error("element-undefined", format!("`{name}` has no elements")).label(span, "")
            );
        };
        let mut dims = extent;
        dims.extend(b.dims(value.node));
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

/// `s[2, 3]`
pub(super) fn element(name: &str, index: &[usize]) -> String {
    let inside: Vec<String> = index.iter().map(usize::to_string).collect();
    format!("`{name}[{}]`", inside.join(", "))
}
