//! A named value found in the data: its shape, and where each of its cells stands.

use super::array::{Array, Cells};
use super::file::{DataFile, Entry, Layout};
use super::say;
use crate::source::{Diagnostic, Place};

/// A value found in the data, not yet taken as numbers or categories; the methods
/// `as_…` do that.
#[derive(Clone, Debug)]
pub struct Found<'a> {
    name: String,
    shape: Vec<usize>,
    /// One array, or the columns of a matrix.
    parts: Vec<Part<'a>>,
    /// The row of the table for each row of the value, where rows were matched by label.
    rows: Option<Vec<usize>>,
    matrix: bool,
}

/// One array and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub(super) file: &'a DataFile,
    pub(super) entry: &'a Entry,
    pub(super) array: &'a Array,
}

impl<'a> Part<'a> {
    /// The entry's array; its own diagnostic if it cannot be used.
    pub(super) fn new(file: &'a DataFile, entry: &'a Entry) -> Result<Self, Diagnostic> {
        match &entry.value {
            Ok(array) => Ok(Self { file, entry, array }),
            Err(diagnostic) => Err((**diagnostic).clone()),
        }
    }

    /// Another column of the same table.
    pub(super) fn beside(&self, name: &str) -> Option<&'a Array> {
        let array = self.file.get(name)?.value.as_ref().ok()?;
        (array.shape == self.array.shape).then_some(array)
    }
}

impl<'a> Found<'a> {
    /// One column, array or scalar, called `name` in messages.
    pub(super) fn single(name: &str, part: Part<'a>) -> Self {
        Self {
            name: name.into(),
            shape: part.array.shape.clone(),
            parts: vec![part],
            rows: None,
            matrix: false,
        }
    }

    /// Columns of equal length side by side, as a matrix.
    pub(super) fn matrix(name: &str, parts: Vec<Part<'a>>) -> Self {
        let rows = parts.first().map_or(0, |p| p.array.len());
        Self { name: name.into(), shape: vec![rows, parts.len()], parts, rows: None, matrix: true }
    }

    /// The same columns with the rows in this order.
    pub(super) fn with_rows(mut self, rows: Vec<usize>) -> Self {
        if let Some(first) = self.shape.first_mut() {
            *first = rows.len();
        }
        self.rows = Some(rows);
        self
    }

    /// The name it was asked for by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Lengths of its axes; none for a scalar.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// How many cells it has.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The file it comes from, as the user named it.
    pub fn file(&self) -> &'a str {
        self.parts.first().map_or("", |p| p.file.name.as_str())
    }

    /// Whether it comes from a table, where each row is one line, and not from arrays or the command line.
    pub fn in_table(&self) -> bool {
        self.parts.first().is_some_and(|p| p.file.is_table())
    }

    /// The names of the columns that make up a matrix; nothing for anything else.
    pub fn column_names(&self) -> Option<Vec<&'a str>> {
        self.matrix.then(|| self.parts.iter().map(|p| p.entry.name.as_str()).collect())
    }

    /// Whether some cell is text (numbers that a double cannot hold count as text).
    pub fn has_text(&self) -> bool {
        self.parts.iter().any(|p| matches!(p.array.cells, Cells::Text { .. }))
    }

    /// Whether every cell is a whole number and none is missing.
    pub fn all_integers(&self) -> bool {
        let whole = |p: &Part<'_>| match &p.array.cells {
            Cells::Numbers(values) => values.iter().all(|v| v.fract() == 0.0),
            Cells::Text { .. } => false,
        };
        self.parts.iter().all(whole)
    }

    /// The same cells as an array of another shape with as many cells, such as one number as an array of
    /// length 1.
    pub fn reshaped(&self, shape: &[usize]) -> Option<Found<'a>> {
        (shape.iter().product::<usize>() == self.len())
            .then(|| Found { shape: shape.to_vec(), ..self.clone() })
    }

    /// What it is and where it comes from, for messages: "column `y` of schools.csv, 8 rows".
    pub fn describe(&self) -> String {
        let Some(part) = self.parts.first() else { return format!("`{}`", self.name) };
        let (file, rows) = (&part.file.name, say::counted(self.shape.first().copied().unwrap_or(1), "row"));
        match (&part.file.layout, self.matrix) {
            (_, true) => format!("columns {} of {file}, {rows}", self.list_columns()),
            (Layout::Table(_) | Layout::Rows, false) => {
                format!("column `{}` of {file}, {rows}", part.entry.name)
            }
            (Layout::Json, false) => format!("`{}` in {file}, {}", part.entry.name, extent(&self.shape)),
            (Layout::CommandLine, false) => {
                format!("`{}` from --set, {}", part.entry.name, extent(&self.shape))
            }
        }
    }

    fn list_columns(&self) -> String {
        let names: Vec<&str> = self.parts.iter().map(|p| p.entry.name.as_str()).collect();
        match names.as_slice() {
            [first, .., last] if names.len() > 4 => format!("`{first}` … `{last}`"),
            _ => names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "),
        }
    }

    /// Where cell `i` (row-major) stands, and what it says.
    pub fn place(&self, i: usize) -> Place {
        match self.cell(i) {
            Some((part, cell)) => part.file.place(part.entry, cell),
            None => say::file(self.file()),
        }
    }

    /// Cell `i` in words: `line 17` of a table, `x[3, 2]` of an array.
    pub fn locate(&self, i: usize) -> String {
        match self.cell(i) {
            Some((part, cell)) => part.file.locate(part.entry, cell),
            None => self.name.clone(),
        }
    }

    /// Whether `--set` gives it.
    pub(super) fn was_set(&self) -> bool {
        self.parts.first().is_some_and(|part| matches!(part.file.layout, Layout::CommandLine))
    }

    /// Whether nothing stands in the whole row of cell `i`, in a table of several columns.
    pub(super) fn in_empty_row(&self, i: usize) -> bool {
        let Some((part, cell)) = self.cell(i).filter(|(part, _)| part.file.is_table()) else { return false };
        let empty = |entry: &Entry| entry.value.as_ref().is_ok_and(|a| a.text(cell).is_none());
        part.file.entries.len() > 1 && part.file.entries.iter().all(empty)
    }

    /// The text of cell `i`; nothing if it is missing.
    pub fn text(&self, i: usize) -> Option<String> {
        self.cell(i).and_then(|(part, cell)| part.array.text(cell))
    }

    /// The place of the whole value.
    pub(super) fn whole_place(&self) -> Place {
        let Some(part) = self.parts.first() else { return say::file(&self.name) };
        let column = (part.file.is_table() && !self.matrix).then(|| part.entry.name.clone());
        Place { column, ..say::file(&part.file.name) }
    }

    pub(super) fn parts(&self) -> &[Part<'a>] {
        &self.parts
    }

    pub(super) fn rows(&self) -> Option<&[usize]> {
        self.rows.as_deref()
    }

    /// The cell of a part, counted within the part, that is element `i`.
    fn cell(&self, i: usize) -> Option<(&Part<'a>, usize)> {
        let width = self.parts.len().max(1);
        let row = i / width;
        let row = match &self.rows {
            Some(rows) => *rows.get(row)?,
            None => row,
        };
        self.parts.get(i % width).map(|part| (part, row))
    }

    /// The element that is cell `cell` of part `part`, the inverse of the above. Nothing if matching left it
    /// out.
    pub(super) fn element(&self, part: usize, cell: usize) -> Option<usize> {
        let row = match &self.rows {
            Some(rows) => rows.iter().position(|r| *r == cell)?,
            None => cell,
        };
        Some(row * self.parts.len() + part)
    }
}

/// A shape in words.
fn extent(shape: &[usize]) -> String {
    match shape {
        [] => "one value".to_string(),
        [n] => say::counted(*n, "element"),
        _ => shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" × "),
    }
}
