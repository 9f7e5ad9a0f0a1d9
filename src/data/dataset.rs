//! All data given to a model: several files and the values of `--set`, looked up by name.

use super::array::{Array, Cells, Interner};
use super::file::{DataFile, Entry, Layout};
use super::found::{Found, Part};
use super::input::{self, Input};
use super::{arrow, csv, json, parquet, say};
use crate::source::{Diagnostic, Place};
use crate::syntax::is_name;
use std::path::{Path, PathBuf};

/// What messages call the values given with `--set`.
const COMMAND_LINE: &str = "--set";

/// The data for a model.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// In the order given. The values of `--set` come first, since they win.
    files: Vec<DataFile>,
}

impl Default for Dataset {
    fn default() -> Self {
        Self { files: vec![DataFile::new(COMMAND_LINE, Vec::new(), Layout::CommandLine)] }
    }
}

/// How a file is written.
enum Format {
    Table(Option<u8>),
    Json,
    Parquet,
    Arrow,
    Unsaid,
}

impl Dataset {
    /// Reads files: `.csv`, `.tsv`, `.tab`, `.json`, `.parquet`, `.arrow`, `.feather`, and `.txt`, `.dat` or
    /// no extension, where the content decides.
    pub fn read<P: AsRef<Path>>(paths: &[P]) -> Result<Self, Diagnostic> {
        let mut data = Self::default();
        for path in paths {
            data.add_path(path.as_ref())?;
        }
        Ok(data)
    }

    /// The same from texts, each with a file name that says the format and appears in messages.
    pub fn from_texts<N: AsRef<str>, T: AsRef<[u8]>>(texts: &[(N, T)]) -> Result<Self, Diagnostic> {
        let mut data = Self::default();
        for (name, text) in texts {
            data.add(name.as_ref(), &Input::Bytes(text.as_ref()))?;
        }
        Ok(data)
    }

    /// Gives a value as with `--set name=value`: a number, an array such as `[1, 2]`, or a text. It goes
    /// before any value of the same name in a file.
    pub fn set_scalar(&mut self, name: &str, value: &str) -> Result<(), Diagnostic> {
        let (name, value) = (name.trim(), value.trim());
        if name.is_empty() || value.is_empty() {
            return Err(Diagnostic::error("bad-set", "a value is given as --set name=value")
                .place(Place {
                    content: Some(say::shown(&format!("{name}={value}"))),
                    ..say::file(COMMAND_LINE)
                })
                .help("write for example --set sigma1=0.5"));
        }
        let entry = json::read_value(name, value).unwrap_or_else(|| text_entry(name, value));
        if let Some(first) = self.files.first_mut() {
            first.set(entry);
        }
        Ok(())
    }

    /// The names of the files, in order.
    pub fn file_names(&self) -> Vec<&str> {
        self.given().map(|f| f.name.as_str()).collect()
    }

    /// All names that can be looked up, by file.
    pub fn names(&self) -> Vec<&str> {
        self.files.iter().flat_map(DataFile::names).collect()
    }

    /// What may be wrong with the files.
    pub fn doubts(&self) -> impl Iterator<Item = &Diagnostic> {
        self.files.iter().flat_map(|f| &f.doubts)
    }

    /// Whether nothing at all was given.
    pub fn is_empty(&self) -> bool {
        self.files.iter().all(|f| f.entries.is_empty())
    }

    pub(super) fn files(&self) -> &[DataFile] {
        &self.files
    }

    /// The files that the user gave, and `--set` if used.
    pub(super) fn given(&self) -> impl Iterator<Item = &DataFile> {
        self.files.iter().filter(|f| !f.entries.is_empty())
    }

    /// Everything that has exactly this name, by file. `--set` hides the rest.
    pub(super) fn named(&self, name: &str) -> Result<Vec<Part<'_>>, Diagnostic> {
        let mut parts = Vec::new();
        for file in &self.files {
            if let Some(entry) = file.get(name) {
                parts.push(Part::new(file, entry)?);
                if matches!(file.layout, Layout::CommandLine) {
                    break;
                }
            }
        }
        Ok(parts)
    }

    /// The value of a name: a column, a key, a value of `--set`; or, where there is none of that name `X`,
    /// the columns `X_1 … X_K` (or `X.1`, `X[1]`) as a matrix. Nothing if there is no such name.
    pub fn find(&self, name: &str) -> Result<Option<Found<'_>>, Diagnostic> {
        let parts = self.named(name)?;
        match parts.as_slice() {
            [] => self.numbered(name),
            [first, rest @ ..] => match rest.iter().find(|other| !first.array.same(other.array)) {
                None => Ok(Some(Found::single(name, *first))),
                Some(other) => Err(ambiguous(name, first, other)),
            },
        }
    }

    /// The value of a name, or an error that lists the names there are.
    pub fn require(&self, name: &str) -> Result<Found<'_>, Diagnostic> {
        self.require_for(name, &format!("{name} : …"))
    }

    /// The same for a declaration, such as `dose : real[N]`, which the error completes.
    pub fn require_for(&self, name: &str, declaration: &str) -> Result<Found<'_>, Diagnostic> {
        self.find(name)?.ok_or_else(|| self.unknown(name, Some(declaration)))
    }

    /// What the data have under a name that differs in capitals and signs alone.
    pub fn nearly(&self, name: &str) -> Option<&str> {
        let same = |other: &&str| *other != name && crate::syntax::as_name(other).eq_ignore_ascii_case(name);
        self.names().into_iter().find(same)
    }

    fn add_path(&mut self, path: &Path) -> Result<(), Diagnostic> {
        let name = path.to_string_lossy();
        let metadata = std::fs::metadata(path).map_err(|e| input::cannot_open(&name, path, &e))?;
        if metadata.is_dir() {
            let error = std::io::Error::from(std::io::ErrorKind::IsADirectory);
            return Err(input::cannot_open(&name, path, &error));
        }
        if metadata.is_file() {
            return self.add(&name, &Input::Path(path));
        }
        // A pipe can be read only once, and a table may need a second look.
        let bytes = Input::Path(path).bytes(&name)?;
        self.add(&name, &Input::Bytes(&bytes))
    }

    fn add(&mut self, name: &str, input: &Input<'_>) -> Result<(), Diagnostic> {
        let file = match format(name)? {
            Format::Json => json::read(name, input)?,
            Format::Parquet => parquet::read(name, input)?,
            Format::Arrow => arrow::read(name, input)?,
            Format::Table(delimiter) => csv::read(name, input, delimiter)?,
            Format::Unsaid if looks_like_json(name, input)? => json::read(name, input)?,
            Format::Unsaid => csv::read(name, input, None)?,
        };
        self.files.push(file);
        Ok(())
    }

    /// The error for a name that is not there: that of a declaration, or one given as text.
    pub(super) fn unknown(&self, name: &str, declaration: Option<&str>) -> Diagnostic {
        let mut diagnostic =
            Diagnostic::error("unknown-column", format!("the data have no `{}`", say::shown(name)));
        if self.is_empty() {
            return diagnostic.help("give a data file after the model, or a value with --set");
        }
        for file in self.given() {
            let names: Vec<&str> = file.names().collect();
            diagnostic = diagnostic.note(format!("{} has {}", file.name, say::listed(&names)));
            let numbers = names.iter().filter(|n| n.trim().parse::<f64>().is_ok()).count();
            if file.is_table() && 2 * numbers >= names.len() {
                return diagnostic.help(format!(
                    "the first line of {} looks like data: a table begins with the names of its columns",
                    file.name
                ));
            }
            if let Some(help) = above_header(file, &names, name) {
                return diagnostic.help(help);
            }
            let among = |mark: char| names.len() == 1 && names[0].split(mark).any(|word| word.trim() == name);
            let by_tabs = matches!(format(&file.name), Ok(Format::Table(Some(_))));
            if let Some(mark) = [',', ';', '|'].into_iter().find(|mark| among(*mark)) {
                if !by_tabs {
                    return diagnostic.help(format!(
                        "the lines of {} stand in quotes as a whole, and are one cell each: remove these quotes",
                        file.name
                    ));
                }
                return diagnostic.help(format!(
                    "the cells of {0} are separated by `{mark}`, and a name that ends in .tsv says by tabs: call it .csv",
                    file.name
                ));
            }
            if among(' ') {
                return diagnostic
                    .help(format!("separate the cells of {} by commas, not by spaces", file.name));
            }
        }
        match (say::nearest_column(name, &self.names()), declaration) {
            // A declaration cannot bear such a name, so that the column is given as text.
            (Some(near), Some(declaration)) if !is_name(near) => {
                diagnostic.help(format!("if `{near}` is meant, write `{declaration} = column(\"{near}\")`"))
            }
            (Some(near), _) => diagnostic.help(format!("did you mean `{near}`?")),
            (None, Some(declaration)) => diagnostic
                .help(format!("to use a column of another name, write `{declaration} = column(\"…\")`")),
            (None, None) => diagnostic,
        }
    }
}

/// What to do where the first line of a table is none of names, and the name wanted stands below it.
fn above_header(file: &DataFile, names: &[&str], name: &str) -> Option<String> {
    let &[only] = names else { return None };
    if file.is_table() && only.starts_with("sep=") {
        return Some(format!(
            "the first line of {}, `{}`, is meant for a spreadsheet: remove it, so that the names of the columns come first",
            file.name,
            say::shown(only)
        ));
    }
    let below =
        |entry: &&Entry| entry.value.as_ref().is_ok_and(|a| a.text(0).is_some_and(|t| t.trim() == name));
    let entry = file.entries.iter().find(below).filter(|_| file.is_table())?;
    Some(format!(
        "the names of the columns stand in {} of {}: remove what stands above them",
        file.locate(entry, 0),
        file.name
    ))
}

/// A name with two meanings.
pub(super) fn ambiguous(name: &str, first: &Part<'_>, other: &Part<'_>) -> Diagnostic {
    let message = format!(
        "`{}` stands in {} and in {} with different content",
        say::shown(name),
        first.file.name,
        other.file.name
    );
    let describe = |p: &Part<'_>| Found::single(name, *p).describe();
    Diagnostic::error("ambiguous-name", message)
        .place(Found::single(name, *first).whole_place())
        .place(Found::single(name, *other).whole_place())
        .note(format!("one is {}; the other is {}", describe(first), describe(other)))
        .help("rename one of them, or leave it out")
}

fn text_entry(name: &str, value: &str) -> Entry {
    let mut texts = Interner::default();
    let codes = vec![texts.code(value)];
    let cells = Cells::Text { codes, labels: texts.into_labels() };
    Entry { name: name.to_string(), value: Ok(Array { shape: Vec::new(), cells }), line: None }
}

fn format(name: &str) -> Result<Format, Diagnostic> {
    let extension = PathBuf::from(name).extension().map(|e| e.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("csv") => Ok(Format::Table(None)),
        Some("tsv" | "tab") => Ok(Format::Table(Some(b'\t'))),
        Some("json") => Ok(Format::Json),
        Some("parquet" | "pq") => Ok(Format::Parquet),
        Some("arrow" | "feather" | "ipc" | "arrows") => Ok(Format::Arrow),
        None | Some("txt" | "dat") => Ok(Format::Unsaid),
        Some(other) => {
            Err(Diagnostic::error("unknown-format", format!("{name} is in a format that cannot be read"))
                .place(say::file(name))
                .note(format!("its name ends in .{}", say::shown(other)))
                .help("give a table as .csv, .tsv, .parquet or .arrow, or named arrays as .json"))
        }
    }
}

fn looks_like_json(name: &str, input: &Input<'_>) -> Result<bool, Diagnostic> {
    let mut start = Vec::new();
    let mut reader = std::io::Read::take(input.open(name)?, 4096);
    std::io::Read::read_to_end(&mut reader, &mut start).map_err(|e| input::unreadable(name, &e))?;
    Ok(start.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{'))
}
