//! One row of a table, from its bytes into the columns.

use super::super::number::decimal;
use super::cell::{Broken, cell};
use super::columns::{BadText, Columns};

/// What came of trying to read a row.
pub enum Step {
    /// The row ended; the next begins here, so many lines further down.
    Row {
        /// First byte of the next row.
        next: usize,
        /// Line breaks passed.
        lines: usize,
    },
    /// The row does not end within what is in hand.
    More,
}

/// A row that cannot be read.
pub struct Trouble {
    /// What is wrong.
    pub kind: Kind,
    /// The byte where.
    pub at: usize,
    /// The column, from 0.
    pub column: usize,
}

/// What can be wrong with a row.
pub enum Kind {
    /// It has this many cells.
    Cells(usize),
    /// Text follows a closing quote.
    AfterQuote,
    /// A cell is no text.
    Bad(BadText),
}

/// Reads the row that begins at `start` of some whole lines.
///
/// A cell that is a plain decimal in a column of numbers is read in one pass over its bytes; everything else
/// goes through [`cell`].
pub fn record(lines: &[u8], start: usize, delimiter: u8, columns: &mut Columns) -> Result<Step, Trouble> {
    let (mut at, mut column, mut breaks) = (start, 0, 1);
    loop {
        let end = match quick(lines, at, delimiter, columns, column) {
            Some(end) => end,
            None => {
                let taken = match cell(lines, at, delimiter) {
                    Ok(taken) => taken,
                    Err(Broken::Unclosed) => {
                        columns.take_back();
                        return Ok(Step::More);
                    }
                    Err(Broken::AfterQuote(at)) => {
                        return Err(Trouble { kind: Kind::AfterQuote, at, column });
                    }
                };
                columns.push(column, &taken.content, taken.quoted).map_err(|bad| Trouble {
                    kind: Kind::Bad(bad),
                    at,
                    column,
                })?;
                if taken.quoted {
                    breaks += count_breaks(&lines[at..taken.end]);
                }
                taken.end
            }
        };
        column += 1;
        if lines.get(end) == Some(&delimiter) {
            at = end + 1;
            continue;
        }
        if column != columns.len() {
            return Err(Trouble { kind: Kind::Cells(column), at: start, column: 0 });
        }
        columns.end_row();
        return Ok(Step::Row { next: end + 1, lines: breaks });
    }
}

/// Reads a plain decimal in a column of numbers; gives the place of the delimiter or line break after it.
#[inline]
fn quick(lines: &[u8], at: usize, delimiter: u8, columns: &mut Columns, column: usize) -> Option<usize> {
    let values = columns.numbers(column)?;
    let (value, used) = decimal(lines.get(at..)?)?;
    let end = at + used;
    let end = match *lines.get(end)? {
        b if b == delimiter || b == b'\n' => end,
        b'\r' if lines.get(end + 1) == Some(&b'\n') => end + 1,
        _ => return None,
    };
    values.push(value);
    Some(end)
}

/// How many line breaks there are.
pub fn count_breaks(bytes: &[u8]) -> usize {
    bytes.iter().filter(|b| **b == b'\n').count()
}
