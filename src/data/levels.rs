//! Categories: the levels of a column, their order, and the code of each cell.

use super::array::{Array, Cells};
use super::bind::FILL;
use super::found::Found;
use super::number;
use super::say;
use crate::source::Diagnostic;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The levels of a category in order; the first has code 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Levels {
    labels: Vec<String>,
    by_label: HashMap<String, usize>,
    by_number: HashMap<u64, usize>,
    /// Whether the model gives their order.
    given: bool,
}

impl Levels {
    /// The levels that occur in some columns that share them: sorted as numbers if all are, and as text
    /// otherwise.
    pub fn sorted(columns: &[&Found<'_>]) -> Levels {
        let arrays = || columns.iter().flat_map(|f| f.parts()).map(|p| p.array);
        let labels: BTreeSet<String> = arrays().flat_map(distinct).collect();
        let mut labels: Vec<String> = labels.into_iter().collect();
        // Equal numbers that are written differently stay in the order of their text.
        if let Ok(numbers) = labels.iter().map(|l| number::parse(l)).collect::<Result<Vec<_>, _>>() {
            let mut pairs: Vec<(f64, String)> = numbers.into_iter().zip(labels).collect();
            pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
            labels = pairs.into_iter().map(|(_, label)| label).collect();
        }
        Self::of(labels)
    }

    /// Levels in an order that the model gives: `levels("low", "mid", "high")`.
    pub fn given<S: AsRef<str>>(labels: &[S]) -> Result<Levels, Diagnostic> {
        let levels = Self::of(labels.iter().map(|l| l.as_ref().to_string()).collect());
        let levels = Levels { given: true, ..levels };
        match labels.iter().find(|l| labels.iter().filter(|m| m.as_ref() == l.as_ref()).count() > 1) {
            None => Ok(levels),
            Some(twice) => {
                let message = format!("the level `{}` is listed twice", say::shown(twice.as_ref()));
                Err(Diagnostic::error("duplicate-level", message).help("list each level once"))
            }
        }
    }

    /// The levels when the data say how many there are (`size`, called `size_name`): 1 to that number for
    /// integers, whether or not each occurs; for text, those that occur, which must be as many.
    pub fn counted(columns: &[&Found<'_>], size: usize, size_name: &str) -> Result<Levels, Diagnostic> {
        let occurring = Self::sorted(columns);
        if !occurring.labels.iter().all(|l| number::parse(l).is_ok_and(|v| v.fract() == 0.0)) {
            if occurring.len() == size {
                return Ok(occurring);
            }
            let found = columns.first().copied();
            let name = found.map_or("", |f| f.name());
            let message = format!(
                "`{size_name}` is {size}, but `{name}` has {}",
                say::counted(occurring.len(), "level")
            );
            let diagnostic = Diagnostic::error("level-count", message)
                .note(format!("they are {}", say::listed(&occurring.labels)))
                .help(format!("leave `{size_name}` out of the data: it follows from the levels"));
            return Err(found.iter().fold(diagnostic, |d, f| d.place(f.whole_place())));
        }
        let levels = Self::of((1..=size).map(|k| k.to_string()).collect());
        for column in columns {
            if let Some(i) = column.first_outside(&levels) {
                return Err(column.outside_range(i, size, size_name));
            }
        }
        Ok(levels)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The labels in order, for output.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// The code of a label, from 1: the level of that text, or else the level of that number.
    pub fn code(&self, label: &str) -> Option<usize> {
        self.by_label.get(label).copied().or_else(|| self.code_of_number(number::parse(label).ok()?))
    }

    /// Whether the model lists them, so that they are the same whatever the data are.
    pub fn are_given(&self) -> bool {
        self.given
    }

    /// Whether their order means something: it was given, or the labels are numbers.
    pub fn have_order(&self) -> bool {
        self.given || self.labels.iter().all(|l| number::parse(l).is_ok())
    }

    /// Whether the labels are the numbers 1 to J, so that codes and values are the same.
    pub fn are_indices(&self) -> bool {
        self.labels.iter().enumerate().all(|(i, l)| *l == (i + 1).to_string())
    }

    /// The levels at these places, from 0, in this order.
    pub fn part(self: &Arc<Levels>, places: &[usize]) -> Arc<Levels> {
        if places.iter().copied().eq(0..self.len()) {
            return self.clone();
        }
        let labels = places.iter().filter_map(|&i| self.labels.get(i).cloned()).collect();
        Arc::new(Levels { given: self.given, ..Self::of(labels) })
    }

    fn code_of_number(&self, value: f64) -> Option<usize> {
        self.by_number.get(&bits(value)).copied()
    }

    fn of(labels: Vec<String>) -> Levels {
        let mut levels = Levels { labels, ..Levels::default() };
        for (i, label) in levels.labels.iter().enumerate() {
            levels.by_label.entry(label.clone()).or_insert(i + 1);
            if let Ok(value) = number::parse(label) {
                levels.by_number.entry(bits(value)).or_insert(i + 1);
            }
        }
        levels
    }
}

/// The bits of a number, the same for both zeros.
fn bits(value: f64) -> u64 {
    (value + 0.0).to_bits()
}

/// The distinct texts of an array, missing cells left out.
fn distinct(array: &Array) -> Vec<String> {
    match &array.cells {
        Cells::Numbers(values) => {
            let mut values: Vec<f64> =
                values.iter().copied().filter(|v| !v.is_nan()).map(|v| v + 0.0).collect();
            values.sort_by(f64::total_cmp);
            values.dedup();
            values.into_iter().map(number::display).collect()
        }
        Cells::Text { labels, .. } => labels.iter().map(|l| l.to_string()).collect(),
    }
}

impl Found<'_> {
    /// The code of each cell, from 1, among some levels. A missing cell or a value that is no level is an
    /// error.
    pub fn as_category(&self, levels: &Levels) -> Result<Vec<usize>, Diagnostic> {
        let cells = self.level_cells(levels);
        self.refuse_missing(
            cells.iter().enumerate().map(|(i, c)| c.is_none() && self.text(i).is_none()),
            FILL,
        )?;
        match cells.iter().position(Option::is_none) {
            Some(i) => Err(self.unknown_level(i, levels)),
            None => Ok(cells.into_iter().flatten().collect()),
        }
    }

    /// The code of each cell; nothing where it is missing or no level.
    fn level_cells(&self, levels: &Levels) -> Vec<Option<usize>> {
        let columns: Vec<Vec<Option<usize>>> = self.parts().iter().map(|p| codes(p.array, levels)).collect();
        let rows = if columns.is_empty() { 0 } else { self.len() / columns.len() };
        let at = |row: usize| self.rows().map_or(Some(row), |order| order.get(row).copied());
        let cells = (0..rows).flat_map(|row| columns.iter().map(move |c| c.get(at(row)?).copied().flatten()));
        cells.collect()
    }

    fn first_outside(&self, levels: &Levels) -> Option<usize> {
        let cells = self.level_cells(levels);
        (0..cells.len()).find(|i| cells[*i].is_none() && self.text(*i).is_some())
    }

    fn unknown_level(&self, i: usize, levels: &Levels) -> Diagnostic {
        let text = self.text(i).unwrap_or_default();
        let message =
            format!("`{}` at {} is no level of `{}`", say::shown(&text), self.locate(i), self.name());
        let diagnostic = Diagnostic::error("unknown-level", message)
            .place(self.place(i))
            .note(format!("the levels are {}", say::listed(levels.labels())));
        match say::did_you_mean(&text, levels.labels().iter().map(String::as_str)) {
            Some(hint) => diagnostic.help(hint),
            None => diagnostic.help("correct the cell, or add the level to levels(…)"),
        }
    }

    fn outside_range(&self, i: usize, size: usize, size_name: &str) -> Diagnostic {
        let text = say::shown(&self.text(i).unwrap_or_default());
        let message =
            format!("`{}` is {text} at {}, but its levels are 1 to {size}", self.name(), self.locate(i));
        let diagnostic = Diagnostic::error("level-out-of-range", message)
            .place(self.place(i))
            .note(format!("the data say that `{size_name}` is {size}"));
        if text == "0" {
            return diagnostic.help("levels are numbered from 1: add 1 to each");
        }
        diagnostic.help(format!(
            "correct the value, or leave `{size_name}` out of the data: then the levels are those that occur"
        ))
    }
}

/// The code of each cell of an array; nothing where it is missing or no level.
fn codes(array: &Array, levels: &Levels) -> Vec<Option<usize>> {
    match &array.cells {
        Cells::Numbers(values) => values.iter().map(|v| levels.code_of_number(*v)).collect(),
        Cells::Text { codes, labels } => {
            let known: Vec<Option<usize>> = labels.iter().map(|l| levels.code(l)).collect();
            codes.iter().map(|c| known.get(*c as usize).copied().flatten()).collect()
        }
    }
}
