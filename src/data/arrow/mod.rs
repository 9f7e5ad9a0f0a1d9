//! Tables in Arrow files (Feather, version 2) and streams: flat columns of numbers, truth values and text,
//! plain or by dictionary, with LZ4's or zstd's compression or none. A column that cannot be used is an error
//! only for those who ask for it.

mod column;
mod flat;

use super::binary::{self, MOST_ROWS, Trouble, damaged, little_endian, unusable};
use super::compression::Compression;
use super::file::{DataFile, Entry, Layout, distinct};
use super::input::Input;
use super::say;
use crate::source::Diagnostic;
use column::{Column, Kind};
use flat::Table;
use std::borrow::Cow;
use std::collections::HashMap;

/// What a file begins with, filled to eight bytes; a stream begins with its first message.
const MAGIC: &[u8] = b"ARROW1\0\0";
/// What stands before each message.
const MESSAGE: &[u8] = b"\xFF\xFF\xFF\xFF";
/// Largest buffer that is unpacked, in bytes.
const LARGEST_BUFFER: usize = 1 << 32;

/// Reads a table.
pub fn read(file: &str, input: &Input<'_>) -> Result<DataFile, Diagnostic> {
    let bytes = input.bytes(file)?;
    let mut messages = Messages { rest: stream(&bytes).ok_or_else(|| broken(file))? };
    let schema = messages.next().filter(|m| m.kind == Message::SCHEMA).ok_or_else(|| broken(file))?;
    let mut fields: Vec<Field> = schema.header.tables(1).into_iter().map(Field::new).collect();
    let mut dictionaries = HashMap::new();
    let mut rows = 0_usize;
    for message in &mut messages {
        let done = match message.kind {
            Message::DICTIONARY => dictionary(&message, &fields, &mut dictionaries),
            Message::BATCH => batch(&message, &mut fields, &dictionaries).map(|n| rows += n),
            _ => None,
        };
        if done.is_none() || rows > MOST_ROWS {
            return Err(broken(file));
        }
    }
    if !messages.ended() || fields.is_empty() {
        return Err(broken(file));
    }
    if rows == 0 {
        return Err(Diagnostic::error("no-rows", format!("{file} has no rows")).place(say::file(file)));
    }
    distinct(file, fields.iter().map(|f| f.name.as_str()), |name| binary::column(file, name))?;
    let entry = |field: Field| Entry {
        value: field.column.map(Column::finish).map_err(|t| Box::new(unusable(file, &field.name, t))),
        name: field.name,
        line: None,
    };
    Ok(DataFile::new(file, fields.into_iter().map(entry).collect(), Layout::Rows))
}

/// The messages of a file: what stands between its first word and the description at its end, or all of a
/// stream.
fn stream(bytes: &[u8]) -> Option<&[u8]> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else { return Some(bytes) };
    let (rest, length) = rest.strip_suffix(&MAGIC[..6])?.split_last_chunk::<4>()?;
    rest.get(..rest.len().checked_sub(little_endian(length))?)
}

/// A column of the table.
struct Field {
    name: String,
    column: Result<Column, Trouble>,
    /// The number of its dictionary and the kind of its places there, if it has one.
    dictionary: Option<(usize, Kind)>,
    layout: Buffers,
}

/// How many parts a column has in each batch, so that those after it are found.
#[derive(Clone, Copy, Default)]
struct Buffers {
    nodes: usize,
    buffers: usize,
    /// Columns of views, each of which has as many more buffers as the batch says.
    views: usize,
}

impl Field {
    fn new(field: Table<'_>) -> Field {
        let kind = column::kind(field);
        let encoding = field.table(4);
        let places = encoding.map(|e| column::places(e).map(|kind| (e.number(0, 8), kind)));
        let (kind, dictionary) = match places {
            Some(Err(trouble)) => (Err(trouble), None),
            Some(Ok(places)) => (kind, Some(places)),
            None => (kind, None),
        };
        Field {
            name: field.text(0).unwrap_or_default().to_string(),
            column: kind.map(Column::new),
            dictionary,
            layout: if encoding.is_some() {
                Buffers { nodes: 1, buffers: 2, views: 0 }
            } else {
                layout(field, 0)
            },
        }
    }
}

/// The parts of a field and of those inside it.
fn layout(field: Table<'_>, depth: usize) -> Buffers {
    let (buffers, views) = match field.number(2, 1) {
        1 | 22 => (0, 0),
        4 | 5 | 19 | 20 => (3, 0),
        13 | 16 => (1, 0),
        14 => (1 + field.table(3).map_or(0, |of| of.number(0, 2)), 0),
        23 | 24 => (2, 1),
        25 | 26 => (3, 0),
        _ => (2, 0),
    };
    let inner = if depth < 64 { field.tables(5) } else { Vec::new() };
    inner.into_iter().map(|child| layout(child, depth + 1)).fold(
        Buffers { nodes: 1, buffers, views },
        |a, b| Buffers { nodes: a.nodes + b.nodes, buffers: a.buffers + b.buffers, views: a.views + b.views },
    )
}

/// One part of a file: a description and the bytes that it describes.
struct Message<'a> {
    kind: usize,
    header: Table<'a>,
    body: &'a [u8],
}

impl Message<'_> {
    const SCHEMA: usize = 1;
    const DICTIONARY: usize = 2;
    const BATCH: usize = 3;
}

/// The messages of a file, one after another.
struct Messages<'a> {
    rest: &'a [u8],
}

impl Messages<'_> {
    /// Whether the mark of the end was reached; a stream may simply stop.
    fn ended(&self) -> bool {
        self.rest.is_empty() || self.rest.starts_with(b"\xFF\xFF\xFF\xFF\0\0\0\0")
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Message<'a>;

    fn next(&mut self) -> Option<Message<'a>> {
        let rest = self.rest.strip_prefix(MESSAGE)?;
        let (length, rest) = rest.split_at_checked(4)?;
        let length = Some(little_endian(length)).filter(|&n| n > 0)?;
        let (described, rest) = rest.split_at_checked(length)?;
        let message = Table::root(described)?;
        let (body, rest) = rest.split_at_checked(message.number(3, 8))?;
        self.rest = rest;
        Some(Message { kind: message.number(1, 1), header: message.table(2)?, body })
    }
}

/// Reads the values of a dictionary; None if the message makes no sense.
fn dictionary(
    message: &Message<'_>,
    fields: &[Field],
    known: &mut HashMap<usize, Result<Column, Trouble>>,
) -> Option<()> {
    let number = message.header.number(0, 8);
    let batch = message.header.table(1)?;
    let owner = fields.iter().find(|f| f.dictionary.is_some_and(|(n, _)| n == number))?;
    // A column that cannot be used has a dictionary that nobody asks for.
    let Ok(column) = &owner.column else { return Some(()) };
    let values = known.entry(number).or_insert_with(|| Ok(Column::new(column.kind())));
    let adds_to_it = message.header.number(2, 1) != 0;
    let rows = batch.number(0, 8);
    let count = column.kind().buffers();
    let buffers = batch.numbers::<2>(2).get(..count).map(|places| unpacked(message.body, batch, places));
    if let (Ok(values), Some(buffers)) = (&mut *values, buffers) {
        if !adds_to_it {
            values.clear();
        }
        if let Err(trouble) = buffers.and_then(|b| values.add(rows.min(MOST_ROWS), &b)) {
            known.insert(number, Err(trouble));
        }
    }
    Some(())
}

/// Adds a batch of rows to all columns; gives how many they are.
fn batch(
    message: &Message<'_>,
    fields: &mut [Field],
    dictionaries: &HashMap<usize, Result<Column, Trouble>>,
) -> Option<usize> {
    let (nodes, places) = (message.header.numbers::<2>(1), message.header.numbers::<2>(2));
    let views = message.header.numbers::<1>(4);
    let rows = Some(message.header.number(0, 8)).filter(|&n| n <= MOST_ROWS)?;
    let (mut node, mut place, mut view) = (0, 0_usize, 0);
    for field in fields {
        let own = nodes.get(node)?[0];
        let more: usize = views.get(view..view + field.layout.views)?.iter().map(|[n]| *n).sum();
        let end = place.checked_add(field.layout.buffers)?.checked_add(more)?;
        let buffers = places.get(place..end)?;
        (node, place, view) = (node + field.layout.nodes, end, view + field.layout.views);
        let Ok(column) = &mut field.column else { continue };
        let added = match own == rows {
            false => Err(damaged()),
            true => {
                unpacked(message.body, message.header, buffers).and_then(|buffers| match field.dictionary {
                    None => column.add(rows, &buffers),
                    Some((number, kind)) => match dictionaries.get(&number) {
                        Some(Ok(values)) => column.add_places(rows, &buffers, kind, values),
                        Some(Err(trouble)) => Err(trouble.clone()),
                        None => Err(damaged()),
                    },
                })
            }
        };
        if let Err(trouble) = added {
            field.column = Err(trouble);
        }
    }
    Some(rows)
}

/// The bytes of the buffers at these places of a body.
fn unpacked<'a>(
    body: &'a [u8],
    batch: Table<'_>,
    places: &[[usize; 2]],
) -> Result<Vec<Cow<'a, [u8]>>, Trouble> {
    let compression = batch.table(3);
    let one = |&[from, length]: &[usize; 2]| {
        let end = from.checked_add(length).ok_or_else(damaged)?;
        let bytes = body.get(from..end).ok_or_else(damaged)?;
        match (compression, bytes.split_at_checked(8)) {
            (None, _) | (_, None) => Ok(Cow::Borrowed(bytes)),
            (Some(_), Some((head, rest))) if head == [0xff; 8] => Ok(Cow::Borrowed(rest)),
            (Some(codec), Some((head, rest))) => {
                let compression = match codec.number(0, 1) {
                    0 => Compression::Lz4Frame,
                    1 => Compression::Zstd,
                    _ => return Err(damaged()),
                };
                let size = Some(little_endian(head)).filter(|&n| n <= LARGEST_BUFFER).ok_or_else(damaged)?;
                compression.decompress(rest, size).map(Cow::Owned).ok_or_else(damaged)
            }
        }
    };
    places.iter().map(one).collect()
}

fn broken(file: &str) -> Diagnostic {
    Diagnostic::error("not-a-table", format!("{file} is not an Arrow file that can be read"))
        .place(say::file(file))
        .note(
            "such a file begins with ARROW1 and then describes its columns; Feather's first version did not",
        )
        .help("write it again, with a recent version of Arrow; it may have been cut off")
}
