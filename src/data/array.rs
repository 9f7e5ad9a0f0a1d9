//! Values as they are held: one array of numbers, or of text with each distinct text stored once.

use super::number;
use std::collections::HashMap;
use std::sync::Arc;

/// The code of a missing cell among [`Cells::Text`].
pub const MISSING: u32 = u32::MAX;

/// An array of cells, row-major. A column of a table has one axis, a scalar none.
#[derive(Clone, Debug)]
pub struct Array {
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// The cells.
    pub cells: Cells,
}

/// The cells of an array.
#[derive(Clone, Debug)]
pub enum Cells {
    /// Numbers; NaN where the cell is missing (and nowhere else). A model that reads the column shares them.
    Numbers(Arc<[f64]>),
    /// Text. Numbers among text are kept as they were written.
    Text {
        /// For each cell the place of its text in `labels`, or [`MISSING`].
        codes: Vec<u32>,
        /// The distinct texts in order of appearance.
        labels: Vec<Arc<str>>,
    },
}

impl Array {
    /// How many cells there are.
    pub fn len(&self) -> usize {
        match &self.cells {
            Cells::Numbers(values) => values.len(),
            Cells::Text { codes, .. } => codes.len(),
        }
    }

    /// The text of cell `i`, or nothing if it is missing or not there.
    pub fn text(&self, i: usize) -> Option<String> {
        match &self.cells {
            Cells::Numbers(values) => values.get(i).filter(|v| !v.is_nan()).map(|v| number::display(*v)),
            Cells::Text { codes, labels } => {
                codes.get(i).and_then(|&code| labels.get(code as usize)).map(|label| label.to_string())
            }
        }
    }

    /// Whether both say the same: equal shapes and cells, however they are held.
    pub fn same(&self, other: &Array) -> bool {
        if self.shape != other.shape {
            return false;
        }
        match (&self.cells, &other.cells) {
            (Cells::Numbers(a), Cells::Numbers(b)) => {
                a.iter().zip(b.iter()).all(|(x, y)| x == y || x.is_nan() && y.is_nan())
            }
            _ => (0..self.len()).all(|i| self.text(i) == other.text(i)),
        }
    }
}

/// Gives each distinct text a code, in order of appearance.
#[derive(Debug, Default)]
pub struct Interner {
    codes: HashMap<Arc<str>, u32>,
    labels: Vec<Arc<str>>,
    last: Option<u32>,
}

impl Interner {
    /// The code of a text. Neighbouring rows often say the same, so the last one is tried first.
    pub fn code(&mut self, text: &str) -> u32 {
        if let Some(last) = self.last
            && &*self.labels[last as usize] == text
        {
            return last;
        }
        let code = match self.codes.get(text) {
            Some(&code) => code,
            None => self.add(text),
        };
        self.last = Some(code);
        code
    }

    fn add(&mut self, text: &str) -> u32 {
        let (label, code): (Arc<str>, u32) = (text.into(), self.labels.len() as u32);
        self.labels.push(label.clone());
        self.codes.insert(label, code);
        code
    }

    /// The text of a code.
    pub fn text(&self, code: u32) -> Option<&str> {
        self.labels.get(code as usize).map(|label| &**label)
    }

    /// The texts by code.
    pub fn into_labels(self) -> Vec<Arc<str>> {
        self.labels
    }
}
