//! Tables in Parquet files: flat columns of numbers, truth values and text, plain or by dictionary, with Snappy's compression or
//! none. A column that cannot be used is an error only for those who ask for it.

mod column;
mod levels;
mod snappy;
mod thrift;

use super::binary::{MOST_ROWS, Trouble, little_endian, unusable};
use super::file::{DataFile, Entry, Layout};
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

/// What a column holds.
fn kind(leaf: &Value<'_>) -> Result<Kind, Trouble> {
    const DECIMAL: i64 = 5;
    let converted = leaf.number(6);
    let decimal = converted == Some(DECIMAL) || leaf.field(10).is_some_and(|l| l.field(DECIMAL).is_some());
    // Unsigned integers of 8, 16, 32 and 64 bits.
    let signed = !matches!(converted, Some(11..=14));
    match leaf.number(1) {
        _ if decimal => Err(("it holds decimal numbers".into(), "write it as a real")),
        Some(0) => Ok(Kind::Truth),
        Some(1) => Ok(Kind::Integer { bytes: 4, signed }),
        Some(2) => Ok(Kind::Integer { bytes: 8, signed }),
        Some(4) => Ok(Kind::Single),
        Some(5) => Ok(Kind::Double),
        Some(6) => Ok(Kind::Text),
        _ => Err(("it holds values of a kind that is not read here".into(), "write it as numbers or text")),
    }
}

fn broken(file: &str) -> Diagnostic {
    Diagnostic::error("not-a-table", format!("{file} is not a Parquet file that can be read"))
        .place(say::file(file))
        .note("such a file begins and ends with PAR1, and its last part describes the columns")
        .help("write it again; it may have been cut off, or encrypted")
}
