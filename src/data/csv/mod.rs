//! Tables as delimited text (CSV, TSV and their kin), read as a stream straight into columns.
//!
//! Accepted: a header line; commas, tabs, semicolons or bars between cells (by extension or by what the
//! header holds); RFC 4180 quotes, with line breaks and doubled quotes inside; a byte-order mark; LF or CRLF;
//! a last line with or without a break, unless that cuts a number in two ([`ending`]); blank lines (skipped,
//! but a missing cell inside a table of one column). Spaces around a cell do not count. Which cells are
//! missing is said by [`MISSING_MARKERS`](super::MISSING_MARKERS).

mod cell;
mod columns;
mod ending;
mod header;
mod record;
mod window;

use super::file::{DataFile, Entry, Layout, LineMap};
use super::input::Input;
use super::say;
use crate::source::{Diagnostic, Place};
use columns::{BadText, Builder, Columns};
use ending::{Ending, ending};
use header::Header;
pub use header::refuse_binary;
use record::{Kind, Step, Trouble};
use window::Window;

/// Reads a table. Without a delimiter, the header shows which it is.
pub fn read(file: &str, input: &Input<'_>, delimiter: Option<u8>) -> Result<DataFile, Diagnostic> {
    let mut first = Pass::begin(file, input, delimiter)?;
    let fresh = first.header.names.iter().map(|_| Builder::Numbers(Vec::new())).collect();
    let (columns, lines) = first.run(fresh, input.size())?;
    let mut builders = columns.into_builders();
    if builders.iter().any(|b| matches!(b, Builder::Again)) {
        let plan = builders
            .iter()
            .map(|b| if matches!(b, Builder::Again) { Builder::text() } else { Builder::Skip });
        let (again, _) = Pass::begin(file, input, delimiter)?.run(plan.collect(), None)?;
        for (builder, text) in builders.iter_mut().zip(again.into_builders()) {
            if matches!(builder, Builder::Again) {
                *builder = text;
            }
        }
    }
    let entries = first.header.names.into_iter().zip(builders);
    let entries = entries.filter_map(|(name, builder)| {
        builder.finish().map(|array| Entry { name, value: Ok(array), line: Some(1) })
    });
    let mut entries: Vec<Entry> = entries.collect();
    let doubt = first.tail.and_then(|tail| {
        let rows = entries.last()?.value.as_ref().map_or(0, super::array::Array::len);
        judged(file, &tail, lines.line(rows.saturating_sub(1)), entries.last_mut()?)
    });
    let mut table = DataFile::new(file, entries, Layout::Table(lines));
    table.doubts.extend(doubt);
    Ok(table)
}

/// Judges the last cell of a table without a last end of line: half a number makes its column unusable.
fn judged(file: &str, tail: &str, line: usize, entry: &mut Entry) -> Option<Diagnostic> {
    match ending(file, &entry.name, line, entry.value.as_ref().ok()?, tail) {
        Ending::Complete => None,
        Ending::Doubtful(doubt) => Some(doubt),
        Ending::Cut(error) => {
            entry.value = Err(Box::new(error));
            None
        }
    }
}

/// One reading of a table from beginning to end.
struct Pass<'a> {
    file: &'a str,
    window: Window<'a>,
    header: Header,
    line: usize,
    /// The last cell as written, where the last line has no end.
    tail: Option<String>,
}

impl<'a> Pass<'a> {
    /// Opens the table and reads its header.
    fn begin(file: &'a str, input: &'a Input<'_>, delimiter: Option<u8>) -> Result<Self, Diagnostic> {
        let mut window = Window::new(input.open(file)?);
        let mut some = window.more().map_err(|e| super::input::unreadable(file, &e))?;
        header::refuse_binary(file, window.lines())?;
        let lines = window.lines();
        let skip = if lines.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        let blank = lines[skip..].iter().take_while(|b| b.is_ascii_whitespace()).count();
        match lines.get(skip + blank) {
            None => return Err(empty(file)),
            Some(b'{') => return Err(json(file)),
            Some(_) => {}
        }
        let leading = last_break(&lines[skip..skip + blank]);
        let line = 1 + record::count_breaks(&lines[skip..skip + leading]);
        window.consume(skip + leading);
        while some {
            if let Some(header) = header::header(file, window.lines(), delimiter)? {
                let line = line + record::count_breaks(&window.lines()[..header.end]);
                window.consume(header.end);
                return Ok(Self { file, window, header, line, tail: None });
            }
            some = window.more().map_err(|e| super::input::unreadable(file, &e))?;
        }
        Err(unclosed(file, line))
    }

    /// Reads all rows into columns.
    fn run(&mut self, builders: Vec<Builder>, size: Option<u64>) -> Result<(Columns, LineMap), Diagnostic> {
        let mut columns = Columns::new(builders);
        let (mut map, mut blanks, mut seen) = (LineMap::default(), 0, 0);
        loop {
            let used = self.rows(&mut columns, &mut map, &mut blanks)?;
            if self.window.ends_open() && used > 0 {
                self.tail = Some(last_cell(&self.window.lines()[..used], self.header.delimiter));
            }
            self.window.consume(used);
            if seen == 0 && used > 0 {
                let rows = size.map_or(0.0, |size| 1.03 * size as f64 * columns.rows() as f64 / used as f64);
                columns.expect_rows(rows as usize);
            }
            seen += used;
            if !self.window.more().map_err(|e| super::input::unreadable(self.file, &e))? {
                break;
            }
        }
        if !self.window.lines().is_empty() {
            return Err(unclosed(self.file, self.line));
        }
        if columns.rows() == 0 {
            return Err(no_rows(self.file, &self.header.names));
        }
        Ok((columns, map))
    }

    /// Reads the rows in hand; gives the bytes they took.
    fn rows(
        &mut self,
        columns: &mut Columns,
        map: &mut LineMap,
        blanks: &mut usize,
    ) -> Result<usize, Diagnostic> {
        let (lines, delimiter, mut at) = (self.window.lines(), self.header.delimiter, 0);
        while at < lines.len() {
            if let Some(next) = blank_line(lines, at, delimiter) {
                (at, self.line, *blanks) = (next, self.line + 1, *blanks + 1);
                continue;
            }
            let before = std::mem::take(blanks);
            if columns.len() == 1 {
                for line in self.line - before..self.line {
                    map.note(columns.rows(), line);
                    let _ = columns.push(0, b"", false);
                    columns.end_row();
                }
            }
            map.note(columns.rows(), self.line);
            match record::record(lines, at, delimiter, columns) {
                Ok(Step::Row { next, lines }) => (at, self.line) = (next, self.line + lines),
                Ok(Step::More) => break,
                Err(trouble) => return Err(self.explain(lines, at, trouble, columns.rows() == 0)),
            }
        }
        Ok(at)
    }

    fn explain(&self, lines: &[u8], row: usize, trouble: Trouble, first: bool) -> Diagnostic {
        let line = self.line + record::count_breaks(lines.get(row..trouble.at).unwrap_or(&[]));
        let name = self.header.names.get(trouble.column).map(String::as_str);
        match trouble.kind {
            Kind::Cells(found) => {
                let end = lines[row..].iter().position(|b| *b == b'\n').unwrap_or(0);
                let text = String::from_utf8_lossy(&lines[row..(row + end).min(row + 400)]).into_owned();
                // A row name before each row would be in the next one too.
                let next = lines.get(row + end + 1..).and_then(|rest| rest.split(|b| *b == b'\n').next());
                let fits = |next: &[u8]| {
                    next.iter().filter(|b| **b == self.header.delimiter).count() + 1
                        == self.header.names.len()
                };
                let first = first && !next.is_some_and(fits);
                ragged(self.file, line, &self.header.names, found, text.trim_end(), first)
            }
            Kind::AfterQuote => after_quote(self.file, line, name),
            Kind::Bad(BadText::Utf8(byte)) => {
                let start = lines[..trouble.at].iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
                utf8(self.file, line, trouble.at - start + byte)
            }
            Kind::Bad(BadText::Nul(byte)) => nul(self.file, line, trouble.column, byte),
        }
    }
}

/// The start of the next line, if this one holds only spaces.
fn blank_line(lines: &[u8], at: usize, delimiter: u8) -> Option<usize> {
    let mut end = at;
    while let Some(b) = lines.get(end)
        && matches!(b, b' ' | b'\r' | b'\t')
        && *b != delimiter
    {
        end += 1;
    }
    (lines.get(end) == Some(&b'\n')).then_some(end + 1)
}

/// The last cell of some whole lines, as written.
fn last_cell(lines: &[u8], delimiter: u8) -> String {
    let line = lines.strip_suffix(b"\n").unwrap_or(lines);
    let start = line.iter().rposition(|b| *b == delimiter || *b == b'\n').map_or(0, |i| i + 1);
    String::from_utf8_lossy(line[start..].trim_ascii()).into_owned()
}

/// The byte after the last line break.
fn last_break(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1)
}

fn empty(file: &str) -> Diagnostic {
    Diagnostic::error("empty-file", format!("{file} is empty"))
        .place(say::file(file))
        .help("a table begins with a line of column names, followed by one line for each row")
}

fn json(file: &str) -> Diagnostic {
    Diagnostic::error("not-a-table", format!("{file} is not a table: it begins like JSON"))
        .place(say::line(file, 1, Some("{")))
        .help("give it a name that ends in .json")
}

fn no_rows(file: &str, names: &[String]) -> Diagnostic {
    Diagnostic::error("no-rows", format!("{file} has a header but no rows"))
        .place(say::line(file, 1, Some(&names.join(","))))
        .help("add at least one row below the names")
}

fn unclosed(file: &str, line: usize) -> Diagnostic {
    Diagnostic::error("unclosed-quote", format!("a quote in {file} is opened and never closed"))
        .place(say::line(file, line, None))
        .note("everything up to the end of the file is taken to be inside the quotes")
        .help("close the quote in the row that begins here; inside quotes, write a quote twice: \"\"")
}

fn after_quote(file: &str, line: usize, column: Option<&str>) -> Diagnostic {
    let place = Place { column: column.map(String::from), ..say::line(file, line, None) };
    Diagnostic::error("text-after-quote", format!("text follows a closing quote in line {line} of {file}"))
        .place(place)
        .help("a quoted cell ends at its closing quote; inside quotes, write a quote twice: \"\"")
}

fn utf8(file: &str, line: usize, byte: usize) -> Diagnostic {
    Diagnostic::error("invalid-utf8", format!("line {line} of {file} is not UTF-8 text at byte {}", byte + 1))
        .place(say::line(file, line, None))
        .help("save the file as UTF-8; it may be Latin-1 or Windows-1252 (iconv -f latin1 -t utf8)")
}

fn nul(file: &str, line: usize, column: usize, byte: usize) -> Diagnostic {
    let message = format!("a cell in line {line} of {file} holds a NUL byte");
    Diagnostic::error("nul-byte", message)
        .place(Place { column: Some((column + 1).to_string()), ..say::line(file, line, None) })
        .note(format!("it is byte {} of the cell; text files have none", byte + 1))
        .help("the file may be damaged, binary, or in UTF-16: save it as CSV in UTF-8")
}

fn ragged(file: &str, line: usize, names: &[String], found: usize, text: &str, first: bool) -> Diagnostic {
    let expected = say::counted(names.len(), "column");
    let message =
        format!("line {line} of {file} has {}, but the header has {expected}", say::counted(found, "cell"));
    let diagnostic = Diagnostic::error("ragged-row", message)
        .place(say::line(file, line, Some(text)))
        .note(format!("the columns are {}", say::listed(names)));
    let preamble = names.first().is_some_and(|name| name.starts_with('#') || name.starts_with("sep="));
    if preamble {
        diagnostic.help("the first line holds the names of the columns: remove what stands above them")
    } else if found == names.len() + 1 && text.ends_with([',', ';', '\t', '|']) {
        diagnostic.help("each row ends in a delimiter, and so has one more cell than the header: remove it, or end the header so too")
    } else if first && found == names.len() + 1 {
        diagnostic.help("if each row begins with a row name, give that column a name in the header too")
    } else if found < names.len() {
        diagnostic.help("a missing value is written as an empty cell or NA, with its delimiter")
    } else {
        diagnostic.help("a text that contains the delimiter is written in quotes")
    }
}
