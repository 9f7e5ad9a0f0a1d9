//! Tables in Parquet files: flat columns of numbers, truth values and text, plain or by dictionary,
//! with the compressions that are in use (`compression`). A column that cannot be used is an error only for
//! those who ask for it.

mod column;
mod levels;
mod thrift;

use super::binary::{self, MOST_ROWS, Trouble, little_endian, unusable};
use super::file::{DataFile, Entry, Layout, distinct};
use super::input::Input;
use super::say;
use crate::source::Diagnostic;
use column::{Column, Kind};
use thrift::{Reader, Value};

/// What a file begins and ends with.
const MAGIC: &[u8] = b"PAR1";

/// Reads a table.
pub fn read(file: &str, input: &Input<'_>) -> Result<DataFile, Diagnostic> {
    let bytes = input.bytes(file)?;
    let metadata = footer(&bytes).and_then(|footer| Reader::new(footer).message());
    let Some(metadata) = metadata else { return Err(broken(file)) };
    let rows = metadata.number(3).and_then(|n| usize::try_from(n).ok()).filter(|&n| n <= MOST_ROWS);
    let Some(rows) = rows else { return Err(broken(file)) };
    if rows == 0 {
        return Err(Diagnostic::error("no-rows", format!("{file} has no rows")).place(say::file(file)));
    }
    let Some((_, leaves)) = metadata.list(2).split_first() else { return Err(broken(file)) };
    let mut entries = Vec::new();
    let mut at = 0;
    while let Some(leaf) = leaves.get(at) {
        let name = leaf.field(4).and_then(Value::text).unwrap_or_default().to_string();
        let value = match leaf.number(5).filter(|&children| children > 0) {
            Some(_) => Err(("it holds lists or structures".to_string(), "write one number or text a row")),
            None => whole(&bytes, &metadata, leaf, &name).map(Column::finish),
        };
        let value = value.and_then(|array| match array.len() == rows {
            true => Ok(array),
            false => Err(("it has another number of rows than the file".into(), "write the file again")),
        });
        let value = value.map_err(|trouble| Box::new(unusable(file, &name, trouble)));
        entries.push(Entry { name, value, line: None });
        at += 1 + inside(&leaves[at + 1..], leaf.number(5).unwrap_or(0));
    }
    if entries.is_empty() {
        return Err(broken(file));
    }
    distinct(file, entries.iter().map(|e| e.name.as_str()), |name| binary::column(file, name))?;
    Ok(DataFile::new(file, entries, Layout::Rows))
}

/// The description of the table at the end of a file.
fn footer(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.len().checked_sub(8)?;
    let length = little_endian(bytes.get(end..end + 4)?);
    let fits = bytes.starts_with(MAGIC) && bytes.ends_with(MAGIC);
    bytes.get(end.checked_sub(length)?..end).filter(|_| fits)
}

/// How many elements of the schema stand inside one with so many children.
fn inside(rest: &[Value<'_>], mut children: i64) -> usize {
    let mut taken = 0;
    while children > 0
        && let Some(element) = rest.get(taken)
    {
        children = children.saturating_add(element.number(5).unwrap_or(0)) - 1;
        taken += 1;
    }
    taken
}

/// All parts of a column, one for each group of rows.
fn whole<'a>(
    bytes: &'a [u8],
    metadata: &Value<'_>,
    leaf: &Value<'_>,
    name: &str,
) -> Result<Column<'a>, Trouble> {
    let optional = match leaf.number(3) {
        Some(0) => false,
        Some(1) => true,
        _ => return Err(("it repeats".into(), "write one number or text a row")),
    };
    let mut column = Column::new(bytes, kind(leaf)?, optional);
    for group in metadata.list(4) {
        let described = |chunk: &&Value<'_>| {
            let path = chunk.field(3).map_or(&[][..], |meta| meta.list(3));
            matches!(path, [one] if one.text() == Some(name))
        };
        let chunk = group.list(1).iter().find(described).and_then(|chunk| chunk.field(3));
        let missing = || ("it is not there in every group of rows".to_string(), "write the file again");
        column.add(chunk.ok_or_else(missing)?)?;
    }
    Ok(column)
}

/// What a column holds: by its physical type, and by what one of the two notations of its meaning says of it.
fn kind(leaf: &Value<'_>) -> Result<Kind, Trouble> {
    let meaning = match leaf.field(10).map_or(Meaning::Plain, logical) {
        Meaning::Plain => converted(leaf.number(6)),
        said => said,
    };
    match (leaf.number(1), meaning) {
        (_, Meaning::Decimal) => Err(binary::decimal()),
        (_, Meaning::Time(what)) => Err(binary::time(what)),
        (Some(0), _) => Ok(Kind::Truth),
        (Some(1), _) => Ok(Kind::Integer { bytes: 4, signed: meaning != Meaning::Unsigned }),
        (Some(2), _) => Ok(Kind::Integer { bytes: 8, signed: meaning != Meaning::Unsigned }),
        (Some(3), _) => Err(binary::time("points in time")),
        (Some(4), _) => Ok(Kind::Single),
        (Some(5), _) => Ok(Kind::Double),
        (Some(6), _) => Ok(Kind::Text),
        _ => Err(("it holds values of a kind that is not read here".into(), "write it as numbers or text")),
    }
}

/// What the values of a column mean beyond what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// What they are.
    Plain,
    /// Integers without a sign.
    Unsigned,
    /// Digits to be scaled.
    Decimal,
    /// Dates, times or lengths of time, in words.
    Time(&'static str),
}

/// The newer notation: one field, by whose number the meaning is known.
fn logical(of: &Value<'_>) -> Meaning {
    const INTEGER: i64 = 10;
    const SIGNED: i64 = 2;
    let unsigned = of.field(INTEGER).is_some_and(|integer| integer.number(SIGNED) == Some(0));
    let known = [
        (5, Meaning::Decimal),
        (6, Meaning::Time("dates")),
        (7, Meaning::Time("times of day")),
        (8, Meaning::Time("points in time")),
    ];
    match known.iter().find(|(id, _)| of.field(*id).is_some()) {
        Some((_, meaning)) => *meaning,
        None if unsigned => Meaning::Unsigned,
        None => Meaning::Plain,
    }
}

/// The older notation: a number.
fn converted(meaning: Option<i64>) -> Meaning {
    match meaning {
        Some(5) => Meaning::Decimal,
        Some(6) => Meaning::Time("dates"),
        Some(7 | 8) => Meaning::Time("times of day"),
        Some(9 | 10) => Meaning::Time("points in time"),
        Some(11..=14) => Meaning::Unsigned,
        Some(21) => Meaning::Time("lengths of time"),
        _ => Meaning::Plain,
    }
}

fn broken(file: &str) -> Diagnostic {
    Diagnostic::error("not-a-table", format!("{file} is not a Parquet file that can be read"))
        .place(say::file(file))
        .note("such a file begins and ends with PAR1, and its last part describes the columns")
        .help("write it again; it may have been cut off, or encrypted")
}
