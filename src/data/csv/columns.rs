//! Columns while a table is being read: numbers as long as they last, text from the first cell that is not
//! one.

use super::super::array::{Array, Cells, Interner, MISSING};
use super::super::number::{Reading, is_missing, read_cell};

/// The columns read so far.
pub struct Columns {
    builders: Vec<Builder>,
    rows: usize,
}

/// How a column is being read.
#[derive(Debug)]
pub enum Builder {
    /// All cells so far are numbers or missing (NaN).
    Numbers(Vec<f64>),
    /// Text.
    Text {
        /// Code of each cell.
        codes: Vec<u32>,
        /// The texts.
        texts: Interner,
    },
    /// Text after numbers whose spelling is gone: to be read again as text from the beginning.
    Again,
    /// Not wanted.
    Skip,
}

/// A cell that no table of text may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadText {
    /// Not UTF-8 from this byte of the cell on.
    Utf8(usize),
    /// A NUL at this byte of the cell.
    Nul(usize),
}

impl Builder {
    /// A column of text, empty.
    pub fn text() -> Self {
        Builder::Text { codes: Vec::new(), texts: Interner::default() }
    }
}

impl Columns {
    /// Columns to be filled, each in the way given.
    pub fn new(builders: Vec<Builder>) -> Self {
        Self { builders, rows: 0 }
    }

    /// How many columns there are.
    pub fn len(&self) -> usize {
        self.builders.len()
    }

    /// How many rows are finished.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The numbers of a column that has only numbers so far.
    #[inline]
    pub fn numbers(&mut self, column: usize) -> Option<&mut Vec<f64>> {
        match self.builders.get_mut(column) {
            Some(Builder::Numbers(values)) => Some(values),
            _ => None,
        }
    }

    /// Adds a cell to a column. In quotes, a marker such as `NA` is text (an empty cell is missing all the
    /// same).
    pub fn push(&mut self, column: usize, cell: &[u8], quoted: bool) -> Result<(), BadText> {
        let Some(builder) = self.builders.get_mut(column) else { return Ok(()) };
        match builder {
            Builder::Numbers(values) => match read_cell(cell) {
                Reading::Number(value) => values.push(value),
                Reading::Missing if !quoted || cell.is_empty() => values.push(f64::NAN),
                Reading::Missing | Reading::Text => *builder = begin_text(values, text(cell)?),
            },
            Builder::Text { codes, texts } => {
                let text = text(cell)?;
                let missing = is_missing(text) && (!quoted || text.is_empty());
                codes.push(if missing { MISSING } else { texts.code(text) });
            }
            Builder::Again | Builder::Skip => {
                text(cell)?;
            }
        }
        Ok(())
    }

    /// Ends a row.
    #[inline]
    pub fn end_row(&mut self) {
        self.rows += 1;
    }

    /// Takes back the cells of a row that was not finished.
    pub fn take_back(&mut self) {
        for builder in &mut self.builders {
            match builder {
                Builder::Numbers(values) => values.truncate(self.rows),
                Builder::Text { codes, .. } => codes.truncate(self.rows),
                Builder::Again | Builder::Skip => {}
            }
        }
    }

    /// Makes room for this many rows in all.
    pub fn expect_rows(&mut self, rows: usize) {
        for builder in &mut self.builders {
            match builder {
                Builder::Numbers(values) => values.reserve_exact(rows.saturating_sub(values.len())),
                Builder::Text { codes, .. } => codes.reserve_exact(rows.saturating_sub(codes.len())),
                Builder::Again | Builder::Skip => {}
            }
        }
    }

    /// The builders, to be finished one by one.
    pub fn into_builders(self) -> Vec<Builder> {
        self.builders
    }
}

impl Builder {
    /// The finished column; nothing if it was not read.
    pub fn finish(self) -> Option<Array> {
        let cells = match self {
            Builder::Numbers(values) => Cells::Numbers(values.into()),
            Builder::Text { mut codes, texts } => {
                codes.shrink_to_fit();
                Cells::Text { codes, labels: texts.into_labels() }
            }
            Builder::Again | Builder::Skip => return None,
        };
        let length = match &cells {
            Cells::Numbers(values) => values.len(),
            Cells::Text { codes, .. } => codes.len(),
        };
        Some(Array { shape: vec![length], cells })
    }
}

/// The column once a text has come: if all cells before were missing nothing is lost.
fn begin_text(before: &[f64], first: &str) -> Builder {
    if before.iter().any(|v| !v.is_nan()) {
        return Builder::Again;
    }
    let mut texts = Interner::default();
    let mut codes = vec![MISSING; before.len()];
    codes.push(texts.code(first));
    Builder::Text { codes, texts }
}

fn text(cell: &[u8]) -> Result<&str, BadText> {
    if let Some(at) = cell.iter().position(|b| *b == 0) {
        return Err(BadText::Nul(at));
    }
    std::str::from_utf8(cell).map_err(|e| BadText::Utf8(e.valid_up_to()))
}
