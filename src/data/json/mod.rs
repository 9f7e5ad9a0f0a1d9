//! Data as a JSON object of scalars and regular nested arrays, read as a stream.
//!
//! Accepted: numbers, strings, `true` and `false` (kept as text), `null` (missing); the strings `"Inf"`,
//! `"-Inf"`, `"Infinity"` as numbers and `"NaN"` as missing, and the same without quotes, as several programs
//! write them. A value that cannot be used (an object, an array that is not regular) is an error only for
//! those who ask for it.

mod nest;
mod source;
mod string;

use super::file::{DataFile, Entry, Layout};
use super::input::{Input, unreadable};
use super::say;
use crate::source::Diagnostic;
use nest::{Nest, Problem, ProblemKind};
use source::Source;
use std::collections::HashMap;

/// Arrays and objects inside each other beyond this are refused, so that no file can exhaust the stack.
const DEEPEST: usize = 64;

/// Reads an object of arrays.
pub fn read(file: &str, input: &Input<'_>) -> Result<DataFile, Diagnostic> {
    let source = Source::new(input.open(file)?);
    super::csv::refuse_binary(file, source.start())?;
    let mut parser = Parser { file, source, depth: 0 };
    let result = parser.document();
    match parser.source.failure() {
        Some(error) => Err(unreadable(file, &error)),
        None => result.map(|entries| DataFile::new(file, entries, Layout::Json)),
    }
}

/// Reads one value, as after `--set name=`; nothing if the text is no JSON value.
pub fn read_value(name: &str, text: &str) -> Option<Entry> {
    let mut parser =
        Parser { file: "the command line", source: Source::new(Box::new(text.as_bytes())), depth: 0 };
    let entry = parser.entry(name.to_string()).ok()?;
    parser.source.skip_space().is_none().then_some(Entry { line: None, ..entry })
}

struct Parser<'a> {
    file: &'a str,
    source: Source<'a>,
    depth: usize,
}

impl Parser<'_> {
    fn document(&mut self) -> Result<Vec<Entry>, Diagnostic> {
        match self.source.skip_space() {
            None => {
                return Err(Diagnostic::error("empty-file", format!("{} is empty", self.file))
                    .place(say::file(self.file))
                    .help("write an object such as {\"N\": 3, \"y\": [1.5, 2, 0.5]}"));
            }
            Some(b'{') => self.source.next(),
            Some(_) => {
                return Err(Diagnostic::error(
                    "not-an-object",
                    format!("{} does not hold an object", self.file),
                )
                .place(say::line(self.file, self.source.line(), None))
                .note("data are found by name, so the file holds one object with a key for each name")
                .help("write {\"y\": [1.5, 2, 0.5], \"x\": [0, 1, 2]}: one array for each column"));
            }
        };
        let entries = self.members()?;
        match self.source.skip_space() {
            None => Ok(entries),
            Some(byte) => {
                let error = self.unexpected(Some(byte), "the end of the file after the closing }");
                Err(match byte {
                    b'{' => error.help(
                        "one object holds all data, an array for each name: {\"y\": [1.5, 2], \"x\": [0, 1]}; rows can stand in a \
                         .csv",
                    ),
                    _ => error,
                })
            }
        }
    }

    /// The members of an object whose brace has been taken.
    fn members(&mut self) -> Result<Vec<Entry>, Diagnostic> {
        let (mut entries, mut seen) = (Vec::new(), HashMap::new());
        if self.source.skip_space() == Some(b'}') {
            self.source.next();
            return Ok(entries);
        }
        loop {
            let line = self.source.skip_space().map_or(0, |_| self.source.line());
            let name = self.key()?;
            if let Some(first) = seen.insert(name.clone(), line) {
                let message = format!("the key `{}` stands twice in {}", say::shown(&name), self.file);
                return Err(Diagnostic::error("duplicate-key", message)
                    .place(say::line(self.file, first, None))
                    .place(say::line(self.file, line, None))
                    .help("give each array a name of its own"));
            }
            entries.push(self.entry(name)?);
            if !self.comma_or(b'}', "the next key")? {
                return Ok(entries);
            }
        }
    }

    fn key(&mut self) -> Result<String, Diagnostic> {
        match self.source.skip_space() {
            Some(b'"') => {}
            other => return Err(self.unexpected(other, "a key in double quotes")),
        }
        let key = self.string()?;
        match self.source.skip_space() {
            Some(b':') => self.source.next(),
            other => {
                return Err(
                    self.unexpected(other, &format!("a colon after the key \"{}\"", say::shown(&key)))
                );
            }
        };
        Ok(key)
    }

    fn entry(&mut self, name: String) -> Result<Entry, Diagnostic> {
        self.source.skip_space();
        let first = self.source.line();
        let mut nest = Nest::default();
        self.value(&mut nest)?;
        let line = (self.source.line() == first).then_some(first);
        let value = nest.finish().map_err(|problem| Box::new(irregular(self.file, &name, line, problem)));
        Ok(Entry { name, value, line })
    }

    fn value(&mut self, nest: &mut Nest) -> Result<(), Diagnostic> {
        match self.source.skip_space() {
            Some(b'[') => self.array(nest),
            Some(b'{') => {
                nest.complain(ProblemKind::Object);
                self.source.next();
                self.deeper()?;
                self.members()?;
                self.depth -= 1;
                Ok(())
            }
            Some(b'"') => {
                let text = self.string()?;
                nest.string(&text);
                Ok(())
            }
            Some(_) => self.bare(nest),
            None => Err(self.unexpected(None, "a value")),
        }
    }

    fn array(&mut self, nest: &mut Nest) -> Result<(), Diagnostic> {
        self.source.next();
        self.deeper()?;
        nest.open();
        if self.source.skip_space() == Some(b']') {
            self.source.next();
        } else {
            loop {
                nest.element();
                self.value(nest)?;
                if !self.comma_or(b']', "the next element")? {
                    break;
                }
            }
        }
        nest.close();
        self.depth -= 1;
        Ok(())
    }

    /// A number or a word without quotes.
    fn bare(&mut self, nest: &mut Nest) -> Result<(), Diagnostic> {
        if let Some(value) = self.source.decimal() {
            nest.value(value);
            return Ok(());
        }
        let mut word = Vec::new();
        while let Some(byte) = self.source.peek()
            && (byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_'))
        {
            word.push(byte);
            self.source.next();
        }
        let word = word.as_slice();
        match word {
            b"true" => nest.label("true"),
            b"false" => nest.label("false"),
            b"null" | b"NaN" | b"NA" => nest.missing(),
            _ if word.first().is_some_and(u8::is_ascii_digit) || is_signed(word) => nest.number(word),
            b"Inf" | b"Infinity" => nest.number(word),
            b"" => {
                let next = self.source.peek();
                return Err(self.unexpected(next, "a value"));
            }
            _ => {
                let text = String::from_utf8_lossy(word).into_owned();
                return Err(self
                    .wrong(&format!("`{}` is not a value", say::shown(&text)))
                    .help("put text in double quotes"));
            }
        }
        Ok(())
    }

    /// Takes a comma (true) or the closing bracket (false).
    fn comma_or(&mut self, close: u8, next: &str) -> Result<bool, Diagnostic> {
        match self.source.skip_space() {
            Some(b',') => {
                self.source.next();
                if self.source.skip_space() == Some(close) {
                    let text = format!("a comma stands before the closing {}", char::from(close));
                    return Err(self.wrong(&text).help("remove the comma after the last element"));
                }
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.source.next();
                Ok(false)
            }
            other => Err(self.unexpected(other, &format!("a comma and {next}, or {}", char::from(close)))),
        }
    }

    fn string(&mut self) -> Result<String, Diagnostic> {
        let (line, byte) = (self.source.line(), self.source.byte());
        string::string(&mut self.source).map_err(|bad| {
            let place = say::line(self.file, line, None);
            match bad {
                string::Bad::Unclosed => self.syntax("a string is opened and never closed").place(place),
                string::Bad::Utf8 => {
                    let message = format!("line {line} of {} is not UTF-8 text", self.file);
                    Diagnostic::error("invalid-utf8", message)
                        .place(place)
                        .note(format!("it is in the string that begins at byte {byte}"))
                        .help("save the file as UTF-8; it may be Latin-1 (iconv -f latin1 -t utf8)")
                }
                string::Bad::Escape => self
                    .syntax("a backslash in a string is followed by something unknown")
                    .place(place)
                    .help("write \\\\ for a backslash and \\\" for a quote"),
            }
        })
    }

    fn deeper(&mut self) -> Result<(), Diagnostic> {
        self.depth += 1;
        if self.depth <= DEEPEST {
            return Ok(());
        }
        Err(Diagnostic::error(
            "deep-nesting",
            format!("{} nests more than {DEEPEST} brackets deep", self.file),
        )
        .place(say::line(self.file, self.source.line(), None))
        .help("an array has as many brackets as it has sizes: [[1, 2], [3, 4]] is a matrix"))
    }

    fn unexpected(&self, found: Option<u8>, expected: &str) -> Diagnostic {
        match found {
            None => self
                .wrong(&format!("it ends where {expected} should follow"))
                .help("the file may be cut off: close what was opened"),
            Some(b'\'') => self
                .wrong(&format!("expected {expected}, found a single quote"))
                .help("keys and texts stand in double quotes"),
            Some(b) if b.is_ascii_graphic() => {
                self.wrong(&format!("expected {expected}, found `{}`", char::from(b)))
            }
            Some(_) => self.wrong(&format!("expected {expected}, found something unreadable")),
        }
    }

    fn wrong(&self, what: &str) -> Diagnostic {
        self.syntax(what).place(say::line(self.file, self.source.line(), None))
    }

    fn syntax(&self, what: &str) -> Diagnostic {
        Diagnostic::error("json-syntax", format!("{} is not valid JSON: {what}", self.file))
    }
}

fn is_signed(word: &[u8]) -> bool {
    matches!(word.first(), Some(b'-' | b'+' | b'.')) && word.len() > 1
}

fn irregular(file: &str, name: &str, line: Option<usize>, problem: Problem) -> Diagnostic {
    let indices: Vec<String> = problem.path.iter().map(usize::to_string).collect();
    let path = if indices.is_empty() { name.to_string() } else { format!("{name}[{}]", indices.join(", ")) };
    let place = crate::source::Place { line, content: Some(path.clone()), ..say::file(file) };
    match problem.kind {
        ProblemKind::Length { expected, found } => Diagnostic::error(
            "ragged-array",
            format!("`{path}` has {}, but those before it have {expected}", say::counted(found, "element")),
        )
        .place(place)
        .help("rows of an array have equal lengths; give a ragged array as one long array and one of lengths or groups"),
        ProblemKind::Array | ProblemKind::Value => {
            let (is, others) = match problem.kind {
                ProblemKind::Array => ("an array", "single values"),
                _ => ("a single value", "arrays"),
            };
            Diagnostic::error("ragged-array", format!("`{path}` is {is}, but those before it are {others}"))
                .place(place)
                .help("all elements of an array are single values, or all are arrays of equal length")
        }
        ProblemKind::Object => {
            Diagnostic::error("nested-object", format!("`{path}` is an object, not a value or an array"))
                .place(place)
                .help("give each of its members as a key of its own at the top of the file")
        }
    }
}
