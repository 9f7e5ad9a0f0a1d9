//! One cell of a delimited line: where it ends and what it says once quotes and spaces are off.

use std::borrow::Cow;

/// A cell.
pub struct Cell<'a> {
    /// Its content without quotes and without spaces around it.
    pub content: Cow<'a, [u8]>,
    /// Whether it was written in quotes.
    pub quoted: bool,
    /// The place of the delimiter or line break that ends it.
    pub end: usize,
}

/// Why a cell could not be taken.
pub enum Broken {
    /// Its closing quote lies beyond what is in hand.
    Unclosed,
    /// Something stands at this place, between a closing quote and the next delimiter.
    AfterQuote(usize),
}

/// The cell that begins at `start` of some whole lines.
pub fn cell(lines: &[u8], start: usize, delimiter: u8) -> Result<Cell<'_>, Broken> {
    let mut first = start;
    while lines.get(first).is_some_and(|b| is_space(*b) && *b != delimiter) {
        first += 1;
    }
    if lines.get(first) == Some(&b'"') {
        return quoted(lines, first + 1, delimiter);
    }
    let rest = lines.get(start..).unwrap_or(&[]);
    let length = rest.iter().position(|b| *b == delimiter || *b == b'\n').unwrap_or(rest.len());
    Ok(Cell { content: Cow::Borrowed(rest[..length].trim_ascii()), quoted: false, end: start + length })
}

/// The cell whose opening quote stands just before `start`. Two quotes inside stand for one.
fn quoted(lines: &[u8], start: usize, delimiter: u8) -> Result<Cell<'_>, Broken> {
    let mut joined: Option<Vec<u8>> = None;
    let mut from = start;
    loop {
        let rest = lines.get(from..).unwrap_or(&[]);
        let quote = from + rest.iter().position(|b| *b == b'"').ok_or(Broken::Unclosed)?;
        let piece = &lines[from..quote];
        if lines.get(quote + 1) == Some(&b'"') {
            let text = joined.get_or_insert_default();
            text.extend_from_slice(piece);
            text.push(b'"');
            from = quote + 2;
            continue;
        }
        let content = match joined {
            None => Cow::Borrowed(piece.trim_ascii()),
            Some(mut text) => {
                text.extend_from_slice(piece);
                Cow::Owned(text.trim_ascii().to_vec())
            }
        };
        let end = after_quote(lines, quote + 1, delimiter)?;
        return Ok(Cell { content, quoted: true, end });
    }
}

fn after_quote(lines: &[u8], mut at: usize, delimiter: u8) -> Result<usize, Broken> {
    loop {
        match lines.get(at) {
            None => return Err(Broken::Unclosed),
            Some(&b) if b == delimiter || b == b'\n' => return Ok(at),
            Some(&b) if is_space(b) => at += 1,
            Some(_) => return Err(Broken::AfterQuote(at)),
        }
    }
}

fn is_space(byte: u8) -> bool {
    byte == b' ' || byte == b'\t' || byte == b'\r'
}
