//! The first line of a table: which delimiter, which names, and what the file is if it is no table at all.

use super::super::file::distinct;
use super::super::number::{Reading, read_cell};
use super::super::say;
use super::cell::{Broken, cell};
use crate::source::Diagnostic;

/// The delimiters tried, in order of preference when a header holds as many of each.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// The names of the columns, and where the header ends.
pub struct Header {
    /// A name for each column; empty where none is given.
    pub names: Vec<String>,
    /// What separates the cells.
    pub delimiter: u8,
    /// First byte of the first row.
    pub end: usize,
}

/// The header at the start of some whole lines; nothing if it does not end within them.
pub fn header(file: &str, lines: &[u8], delimiter: Option<u8>) -> Result<Option<Header>, Diagnostic> {
    let delimiter = delimiter.unwrap_or_else(|| likely_delimiter(lines));
    let (mut names, mut at) = (Vec::new(), 0);
    loop {
        let taken = match cell(lines, at, delimiter) {
            Ok(taken) => taken,
            Err(Broken::Unclosed) => return Ok(None),
            Err(Broken::AfterQuote(_)) => return Err(super::after_quote(file, 1, None)),
        };
        names.push(name(file, &taken.content, names.len())?);
        if lines.get(taken.end) != Some(&delimiter) {
            check(file, &names)?;
            return Ok(Some(Header { names, delimiter, end: taken.end + 1 }));
        }
        at = taken.end + 1;
    }
}

/// The delimiter that the first line holds most of, outside quotes.
fn likely_delimiter(lines: &[u8]) -> u8 {
    let (mut counts, mut inside) = ([0usize; DELIMITERS.len()], false);
    for byte in lines {
        match byte {
            b'"' => inside = !inside,
            b'\n' if !inside => break,
            _ if !inside => {
                if let Some(i) = DELIMITERS.iter().position(|d| d == byte) {
                    counts[i] += 1;
                }
            }
            _ => {}
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    counts.iter().position(|c| *c == most).map_or(b',', |i| DELIMITERS[i])
}

fn name(file: &str, content: &[u8], column: usize) -> Result<String, Diagnostic> {
    if let Some(at) = content.iter().position(|b| *b == 0) {
        return Err(super::nul(file, 1, column, at));
    }
    let text = std::str::from_utf8(content).map_err(|e| super::utf8(file, 1, e.valid_up_to()))?;
    if text.contains('\r') {
        return Err(Diagnostic::error(
            "line-endings",
            format!("the lines of {file} end in a bare carriage return"),
        )
        .place(say::line(file, 1, Some(text)))
        .note("so all of it is one line, as in files of very old computers")
        .help("save it again with Unix or Windows line endings"));
    }
    Ok(text.to_string())
}

fn check(file: &str, names: &[String]) -> Result<(), Diagnostic> {
    distinct(file, names.iter().map(String::as_str), |name| say::line(file, 1, Some(name)))?;
    let numbers = names.iter().filter(|n| matches!(read_cell(n.as_bytes()), Reading::Number(_))).count();
    if numbers > 0 && names.iter().all(|n| !matches!(read_cell(n.as_bytes()), Reading::Text)) {
        return Err(Diagnostic::error(
            "no-header",
            format!("the first line of {file} holds numbers, not names"),
        )
        .place(say::line(file, 1, Some(&names.join(","))))
        .note("columns are found by name, so a table begins with a line of names")
        .help("add a first line such as `x,y`"));
    }
    Ok(())
}

/// What a file that is no text begins with, and what to do about it.
const SIGNATURES: [(&[u8], &str, &str); 10] = [
    (b"\xFF\xFE", "it is text in UTF-16", "save it as UTF-8 (in a spreadsheet: `CSV UTF-8`)"),
    (b"\xFE\xFF", "it is text in UTF-16", "save it as UTF-8 (in a spreadsheet: `CSV UTF-8`)"),
    (b"PK\x03\x04", "it is a spreadsheet or a zip archive", "save the sheet as CSV"),
    (b"\x1F\x8B", "it is compressed with gzip", "uncompress it first (gunzip)"),
    (b"PAR1", "it is a Parquet file", "give it a name that ends in .parquet"),
    (b"ARROW1", "it is an Arrow file", "give it a name that ends in .arrow or .feather"),
    (b"<!DOCTYPE", "it is a web page", "download the data themselves, not the page that shows them"),
    (b"<!doctype", "it is a web page", "download the data themselves, not the page that shows them"),
    (b"<html", "it is a web page", "download the data themselves, not the page that shows them"),
    (b"\x89HDF", "it is an HDF5 file", "write the table as CSV"),
];

/// Refuses a file that begins like a well-known kind of file that is not a table of text.
pub fn refuse_binary(file: &str, start: &[u8]) -> Result<(), Diagnostic> {
    match SIGNATURES.iter().find(|(signature, _, _)| start.starts_with(signature)) {
        None => Ok(()),
        Some((_, what, remedy)) => {
            Err(Diagnostic::error("not-a-table", format!("{file} is not a table of plain text: {what}"))
                .place(say::file(file))
                .help(*remedy))
        }
    }
}
