//! One data file in memory: its named arrays, and where in the file each cell stood.

use super::array::Array;
use super::say;
use crate::source::{Diagnostic, Place};
use std::collections::HashMap;

/// A file that has been read.
#[derive(Clone, Debug)]
pub struct DataFile {
    /// The file as the user named it.
    pub name: String,
    /// Its columns or keys, in order.
    pub entries: Vec<Entry>,
    /// What kind of file it is.
    pub layout: Layout,
    /// What may be wrong with it.
    pub doubts: Vec<Diagnostic>,
    index: HashMap<String, usize>,
}

/// A column of a table or a key of a JSON object.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name; empty for a column without one.
    pub name: String,
    /// Its value, or why it cannot be used (which matters only to those who ask for it).
    pub value: Result<Array, Box<Diagnostic>>,
    /// The line it stands on, if it stands on one.
    pub line: Option<usize>,
}

/// Kinds of source.
#[derive(Clone, Debug)]
pub enum Layout {
    /// Columns of equal length.
    Table(LineMap),
    /// Columns of equal length in a file without lines.
    Rows,
    /// Arrays of any shape.
    Json,
    /// Values given with `--set`.
    CommandLine,
}

impl DataFile {
    /// A file with these entries; names must be distinct where not empty.
    pub fn new(name: &str, entries: Vec<Entry>, layout: Layout) -> Self {
        let mut file = Self {
            name: name.to_string(),
            entries: Vec::new(),
            layout,
            doubts: Vec::new(),
            index: HashMap::new(),
        };
        for entry in entries {
            file.set(entry);
        }
        file
    }

    /// Adds an entry, in the place of one of the same name if there is one.
    pub fn set(&mut self, entry: Entry) {
        let known = self.index.get(&entry.name).copied();
        match known.and_then(|i| self.entries.get_mut(i)) {
            Some(old) => *old = entry,
            None => {
                if !entry.name.is_empty() {
                    self.index.insert(entry.name.clone(), self.entries.len());
                }
                self.entries.push(entry);
            }
        }
    }

    /// The entry of a name.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.index.get(name).and_then(|&i| self.entries.get(i))
    }

    /// The names of all entries that have one.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|e| e.name.as_str()).filter(|n| !n.is_empty())
    }

    /// Whether it is a table.
    pub fn is_table(&self) -> bool {
        match self.layout {
            Layout::Table(_) | Layout::Rows => true,
            Layout::Json | Layout::CommandLine => false,
        }
    }

    /// Where cell `i` of an entry stands, and what it says.
    pub fn place(&self, entry: &Entry, i: usize) -> Place {
        let array = entry.value.as_ref().ok();
        let content = array.and_then(|a| a.text(i)).map(|t| super::say::shown(&t));
        match &self.layout {
            Layout::Table(lines) => Place {
                file: self.name.clone(),
                line: Some(lines.line(i)),
                column: Some(entry.name.clone()),
                content,
            },
            Layout::Rows => Place {
                file: format!("{}, row {}", self.name, i + 1),
                line: None,
                column: Some(entry.name.clone()),
                content,
            },
            Layout::Json | Layout::CommandLine => {
                let path = format!("{}{}", entry.name, path(array.map_or(&[], |a| &a.shape), i));
                let content = format!("{path} = {}", content.as_deref().unwrap_or("null"));
                Place { file: self.name.clone(), line: entry.line, column: None, content: Some(content) }
            }
        }
    }

    /// The place of cell `i` in words: `line 17` of a table, `x[3, 2]` of an array.
    pub fn locate(&self, entry: &Entry, i: usize) -> String {
        match &self.layout {
            Layout::Table(lines) => format!("line {}", lines.line(i)),
            Layout::Rows => format!("row {}", i + 1),
            Layout::Json | Layout::CommandLine => {
                let shape = entry.value.as_ref().map_or(&[][..], |a| &a.shape);
                format!("{}{}", entry.name, path(shape, i))
            }
        }
    }
}

/// Refuses a table two of whose columns have one name: none is taken for the other. A column without a name
/// may have company.
pub fn distinct<'n>(
    file: &str,
    names: impl Iterator<Item = &'n str>,
    place: impl Fn(&str) -> Place,
) -> Result<(), Diagnostic> {
    let mut seen = HashMap::new();
    for (i, name) in names.enumerate().filter(|(_, name)| !name.is_empty()) {
        if let Some(first) = seen.insert(name, i) {
            let message = format!("two columns of {file} are called `{}`", say::shown(name));
            return Err(Diagnostic::error("duplicate-column", message)
                .place(place(name))
                .note(format!("they are columns {} and {}", first + 1, i + 1))
                .help("give each column a name of its own"));
        }
    }
    Ok(())
}

/// The indices, from 1, of cell `i` of an array of that shape: `[3, 2]`; nothing for a scalar.
fn path(shape: &[usize], mut i: usize) -> String {
    let mut indices = Vec::new();
    for &length in shape.iter().rev() {
        indices.push((i % length.max(1) + 1).to_string());
        i /= length.max(1);
    }
    indices.reverse();
    if indices.is_empty() { String::new() } else { format!("[{}]", indices.join(", ")) }
}

/// Which line each row of a table begins on. Rows mostly follow line by line, so only the jumps are kept.
#[derive(Clone, Debug, Default)]
pub struct LineMap {
    jumps: Vec<(usize, usize)>,
}

impl LineMap {
    /// Says that `row` (from 0, in increasing order) begins on `line`.
    #[inline]
    pub fn note(&mut self, row: usize, line: usize) {
        let expected = self.jumps.last().map(|(r, l)| l + (row - r));
        if expected != Some(line) {
            self.jumps.push((row, line));
        }
    }

    /// The line of a row.
    pub fn line(&self, row: usize) -> usize {
        let after = self.jumps.partition_point(|(r, _)| *r <= row);
        self.jumps.get(after.wrapping_sub(1)).map_or(row + 1, |(r, l)| l + (row - r))
    }
}
