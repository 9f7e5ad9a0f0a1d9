//! A table whose last line has no end of line: complete, as many editors write it, or cut off inside its last
//! cell.

use super::super::array::{Array, Cells};
use super::super::number;
use super::super::say;
use crate::source::{Diagnostic, Place};

/// How infinity begins and ends in other programs' tables.
const INFINITE: [&str; 4] = ["Inf", "-Inf", "inf", "-inf"];

/// What the last cell of a table without a last end of line says about the table.
pub enum Ending {
    /// Nothing is wrong.
    Complete,
    /// It is half a number.
    Cut(Diagnostic),
    /// It may be half a label.
    Doubtful(Diagnostic),
}

/// Judges the last cell, as written, of the last column of a table that ends in the middle of a line.
pub fn ending(file: &str, name: &str, line: usize, column: &Array, cell: &str) -> Ending {
    let place = || Place {
        column: Some(name.into()),
        content: Some(say::shown(cell)),
        ..say::line(file, line, None)
    };
    let cut = |what: &str| {
        let message = format!(
            "{file} ends in the middle of line {line}, and its last cell `{}` {what}",
            say::shown(cell)
        );
        (message, "the file may have been cut off: get the whole of it; if it is complete, end its last line")
    };
    if is_half_a_number(column, cell) {
        let (message, help) = cut("is no whole number or decimal");
        return Ending::Cut(Diagnostic::error("cut-off", message).place(place()).help(help));
    }
    match longer_label(column, cell) {
        None => Ending::Complete,
        Some(longer) => {
            let (message, help) = cut(&format!("begins like `{}`", say::shown(longer)));
            Ending::Doubtful(Diagnostic::warning("cut-off", message).place(place()).help(help))
        }
    }
}

/// Whether a cell ends where a number goes on, at its point, exponent or sign, or is the beginning of a word
/// that stands
/// for one or for nothing, in a column whose other cells are all numbers.
fn is_half_a_number(column: &Array, cell: &str) -> bool {
    match &column.cells {
        Cells::Numbers(_) => cell.ends_with('.') && !number::is_missing(cell),
        Cells::Text { codes, labels } => {
            let goes_on = number::parse(&format!("{cell}0")).is_ok()
                || number::MISSING_MARKERS.iter().chain(&INFINITE).any(|word| word.starts_with(cell));
            let others_are_numbers = labels.iter().all(|l| **l == *cell || number::parse(l).is_ok());
            codes.len() > 1
                && goes_on
                && number::parse(cell).is_err()
                && occurs_once(column, cell)
                && others_are_numbers
        }
    }
}

/// A label of the column that this cell, whose text no other row has, is the beginning of.
fn longer_label<'a>(column: &'a Array, cell: &str) -> Option<&'a str> {
    let Cells::Text { labels, .. } = &column.cells else { return None };
    let longer = labels.iter().find(|l| l.len() > cell.len() && l.starts_with(cell) && !cell.is_empty());
    longer.filter(|_| occurs_once(column, cell)).map(|l| &**l)
}

fn occurs_once(column: &Array, cell: &str) -> bool {
    let Cells::Text { codes, labels } = &column.cells else { return false };
    let own = labels.iter().position(|l| **l == *cell);
    own.is_some_and(|own| codes.iter().filter(|code| **code as usize == own).count() == 1)
}
