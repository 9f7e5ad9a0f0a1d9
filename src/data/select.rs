//! Several columns as one matrix: `columns("age", "sex*")`, and `X` for `X_1 … X_K`.

use super::dataset::{Dataset, ambiguous};
use super::file::DataFile;
use super::found::{Found, Part};
use super::{glob, say};
use crate::source::Diagnostic;
use std::collections::{HashMap, HashSet};

/// How the columns of a matrix `X` may be numbered: what stands before and after the number.
const NUMBERINGS: [(&str, &str); 3] = [("_", ""), (".", ""), ("[", "]")];

impl Dataset {
    /// The value declared `name : … = columns(patterns)`: a matrix with a column for each match, in the order
    /// of the patterns, and in file order within one. A column that an earlier pattern took is not taken
    /// again by a glob.
    pub fn columns<S: AsRef<str>>(&self, name: &str, patterns: &[S]) -> Result<Found<'_>, Diagnostic> {
        let mut parts: Vec<Part<'_>> = Vec::new();
        let mut taken = HashSet::new();
        for pattern in patterns {
            let pattern = pattern.as_ref();
            for part in self.matching(pattern)? {
                let repeated = !taken.insert(part.entry.name.as_str());
                if repeated && !glob::is_glob(pattern) {
                    return Err(Diagnostic::error(
                        "repeated-column",
                        format!("column `{pattern}` is listed twice"),
                    )
                    .place(Found::single(pattern, part).whole_place())
                    .help("list each column once; a glob leaves out what is already listed"));
                }
                if !repeated {
                    parts.push(part);
                }
            }
        }
        equal_lengths(name, &parts)?;
        Ok(Found::matrix(name, parts))
    }

    /// The value declared `name : … = column("Kid score")`: one column, whatever it is called in the data.
    pub fn column(&self, name: &str, pattern: &str) -> Result<Found<'_>, Diagnostic> {
        let parts = self.matching(pattern)?;
        match parts.as_slice() {
            [part] => Ok(Found::single(name, *part)),
            _ => {
                let names: Vec<&str> = parts.iter().map(|p| p.entry.name.as_str()).collect();
                let message = format!("`{pattern}` stands for one column, but {} match", names.len());
                Err(Diagnostic::error("several-columns", message)
                    .place(say::file(parts.first().map_or("", |p| &p.file.name)))
                    .note(format!("they are {}", say::listed(&names)))
                    .help("name one of them, or write columns(…) for a matrix of them all"))
            }
        }
    }

    /// The columns that a pattern stands for; never none.
    fn matching(&self, pattern: &str) -> Result<Vec<Part<'_>>, Diagnostic> {
        let exact = self.named(pattern)?;
        if let Some(first) = exact.first() {
            return match exact.iter().find(|p| !p.array.same(first.array)) {
                None => Ok(vec![*first]),
                Some(other) => Err(ambiguous(pattern, first, other)),
            };
        }
        if !glob::is_glob(pattern) {
            return Err(self.unknown(pattern, None));
        }
        let mut parts: Vec<Part<'_>> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for file in self.files() {
            for entry in file.entries.iter().filter(|e| !e.name.is_empty() && glob::matches(pattern, &e.name))
            {
                let part = Part::new(file, entry)?;
                match places.get(entry.name.as_str()).map(|&k| parts[k]) {
                    None => {
                        places.insert(&entry.name, parts.len());
                        parts.push(part);
                    }
                    Some(known) if known.array.same(part.array) => {}
                    Some(known) => return Err(ambiguous(&entry.name, &known, &part)),
                }
            }
        }
        if parts.is_empty() { Err(self.no_match(pattern)) } else { Ok(parts) }
    }

    fn no_match(&self, pattern: &str) -> Diagnostic {
        let mut diagnostic =
            Diagnostic::error("no-matching-column", format!("no column matches `{pattern}`"));
        for file in self.given() {
            let names: Vec<&str> = file.names().collect();
            diagnostic = diagnostic.note(format!("{} has {}", file.name, say::listed(&names)));
        }
        diagnostic.help("* stands for any characters and ? for one; capitals count")
    }

    /// The columns `X_1 … X_K` of one file as a matrix, where `X_1` is there.
    pub(super) fn numbered(&self, name: &str) -> Result<Option<Found<'_>>, Diagnostic> {
        let mut found: Option<Found<'_>> = None;
        for file in self.files() {
            for (before, after) in NUMBERINGS {
                let Some(parts) = numbered_in(file, &format!("{name}{before}"), after)? else { continue };
                let matrix = Found::matrix(name, parts);
                equal_lengths(name, matrix.parts())?;
                match &found {
                    None => found = Some(matrix),
                    Some(known) if same(known, &matrix) => {}
                    Some(known) => return Err(ambiguous(name, &known.parts()[0], &matrix.parts()[0])),
                }
            }
        }
        Ok(found)
    }
}

/// The columns of a file named by the numbers 1 to K between `before` and `after`, in the order of the
/// numbers.
fn numbered_in<'a>(
    file: &'a DataFile,
    before: &str,
    after: &str,
) -> Result<Option<Vec<Part<'a>>>, Diagnostic> {
    let number = |name: &str| name.strip_prefix(before)?.strip_suffix(after)?.parse::<usize>().ok();
    let mut columns: Vec<_> = file.entries.iter().filter_map(|e| Some((number(&e.name)?, e))).collect();
    columns.sort_by_key(|(k, _)| *k);
    columns.retain(|(k, _)| *k > 0);
    if columns.first().is_none_or(|(k, _)| *k != 1) {
        return Ok(None);
    }
    if let Some((expected, (found, _))) = (1..).zip(&columns).find(|(expected, (found, _))| expected != found)
    {
        let last = columns.last().map_or(0, |(k, _)| *k);
        let wrong = if *found < expected { "stands twice" } else { "is missing" };
        let which = expected.min(*found);
        let message = format!(
            "column `{before}{which}{after}` {wrong} among `{before}1{after}` … `{before}{last}{after}`"
        );
        return Err(Diagnostic::error("column-gap", message)
            .place(say::line(&file.name, 1, None))
            .note("columns that differ in a number at the end are taken together as one matrix")
            .help("number them 1, 2, 3 … without gaps, or list them with columns(…)"));
    }
    columns.into_iter().map(|(_, entry)| Part::new(file, entry)).collect::<Result<Vec<_>, _>>().map(Some)
}

fn same(a: &Found<'_>, b: &Found<'_>) -> bool {
    a.parts().len() == b.parts().len() && a.parts().iter().zip(b.parts()).all(|(p, q)| p.array.same(q.array))
}

fn as_found<'a>(part: &Part<'a>) -> Found<'a> {
    Found::single(&part.entry.name, *part)
}

/// Refuses columns that cannot stand side by side.
fn equal_lengths(name: &str, parts: &[Part<'_>]) -> Result<(), Diagnostic> {
    let Some(first) = parts.first() else {
        return Err(Diagnostic::error("no-columns", format!("`{name}` is made of no columns"))
            .help("name at least one: columns(\"age\", \"sex*\")"));
    };
    for part in parts {
        if (part.file.is_table() || first.file.is_table()) && !std::ptr::eq(part.file, first.file) {
            let (a, b) = (as_found(first), as_found(part));
            return Err(Diagnostic::error(
                "two-tables",
                format!("the columns of `{name}` come from two files"),
            )
            .place(a.whole_place())
            .place(b.whole_place())
            .note("nothing says that their rows belong together")
            .help("put them in one table, or declare a matrix for each file"));
        }
        if part.array.shape.len() != 1 {
            let message =
                format!("`{}` is not a column: it is {}", part.entry.name, as_found(part).describe());
            return Err(Diagnostic::error("not-a-column", message)
                .place(as_found(part).whole_place())
                .help("columns(…) puts arrays of one size side by side; ask for a matrix by its own name"));
        }
        if part.array.len() != first.array.len() {
            let (a, b) = (as_found(first), as_found(part));
            return Err(Diagnostic::error(
                "unequal-columns",
                format!("the columns of `{name}` have different lengths"),
            )
            .place(a.whole_place())
            .place(b.whole_place())
            .note(format!("one is {}; another is {}", a.describe(), b.describe()))
            .help("columns of one matrix come from one table"));
        }
    }
    Ok(())
}
