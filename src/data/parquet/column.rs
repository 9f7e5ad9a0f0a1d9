//! One column of a Parquet file: pages of values, plain or by the places of a dictionary, put one after
//! another.

use super::super::array::{Array, Cells, Interner, MISSING};
use super::super::binary::{MOST_ROWS, Trouble, damaged, fixed, integer, little_endian, utf8};
use super::super::compression::Compression;
use super::levels::unpack;
use super::thrift::{Reader, Value};
use num_traits::ToPrimitive;

/// Largest page that is unpacked, in bytes.
const LARGEST_PAGE: usize = 1 << 30;

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// False or true.
    Truth,
    /// Integers of so many bytes.
    Integer {
        /// Bytes of each.
        bytes: usize,
        /// Whether there are negative ones.
        signed: bool,
    },
    /// Numbers with four bytes.
    Single,
    /// Numbers with eight.
    Double,
    /// Text.
    Text,
}

/// A column as it is being read.
pub struct Column<'a> {
    file: &'a [u8],
    kind: Kind,
    optional: bool,
    dictionary: Vec<f64>,
    numbers: Vec<f64>,
    codes: Vec<u32>,
    texts: Interner,
}

impl<'a> Column<'a> {
    /// An empty column of a file; if `optional`, cells may be missing.
    pub fn new(file: &'a [u8], kind: Kind, optional: bool) -> Self {
        Self {
            file,
            kind,
            optional,
            dictionary: Vec::new(),
            numbers: Vec::new(),
            codes: Vec::new(),
            texts: Interner::default(),
        }
    }

    /// Adds the part of the column that stands in one group of rows, described by its metadata.
    pub fn add(&mut self, chunk: &Value<'_>) -> Result<(), Trouble> {
        let codec = chunk.number(4).unwrap_or(0);
        let count = chunk.number(5).and_then(|n| usize::try_from(n).ok());
        let count = count.filter(|&n| n <= MOST_ROWS).ok_or_else(damaged)?;
        let pages = chunk.number(9).ok_or_else(damaged)?;
        let start = chunk.number(11).filter(|&d| d > 0 && d < pages).unwrap_or(pages);
        let mut at = usize::try_from(start).map_err(|_| damaged())?;
        self.dictionary.clear();
        let mut read = 0;
        while read < count {
            let left = count - read;
            let mut reader = Reader::new(self.file.get(at..).ok_or_else(damaged)?);
            let header = reader.message().ok_or_else(damaged)?;
            let size = |id| header.number(id).and_then(|n| usize::try_from(n).ok()).ok_or_else(damaged);
            let body = reader.take(size(3)?).ok_or_else(damaged)?;
            at += reader.used();
            read += self.page(&header, body, size(2)?, codec, left)?;
        }
        Ok(())
    }

    /// Adds a page of at most `most` cells; gives the number of its cells.
    fn page(
        &mut self,
        header: &Value<'_>,
        body: &[u8],
        size: usize,
        codec: i64,
        most: usize,
    ) -> Result<usize, Trouble> {
        let count = |header: &Value<'_>| {
            let count = header.number(1).and_then(|n| usize::try_from(n).ok());
            count.filter(|&n| n <= most).ok_or_else(damaged)
        };
        match (header.number(1), header.field(5), header.field(7), header.field(8)) {
            (Some(2), _, Some(dictionary), _) => {
                let body = unpacked(body, size, codec)?;
                self.dictionary = self.plain(&body, count(dictionary)?)?;
                Ok(0)
            }
            (Some(0), Some(data), _, _) => {
                let (body, cells) = (unpacked(body, size, codec)?, count(data)?);
                let mut reader = Reader::new(&body);
                let levels = if self.optional {
                    let length = little_endian(reader.take(4).ok_or_else(damaged)?);
                    Some(reader.take(length).ok_or_else(damaged)?)
                } else {
                    None
                };
                self.cells(cells, levels, reader.rest(), data.number(2).unwrap_or(0))?;
                Ok(cells.max(1))
            }
            (Some(3), _, _, Some(data)) => {
                let length = |id| usize::try_from(data.number(id).unwrap_or(0)).map_err(|_| damaged());
                let (repeats, levels, cells) = (length(6)?, length(5)?, count(data)?);
                let mut reader = Reader::new(body);
                reader.take(repeats).ok_or_else(damaged)?;
                let levels_bytes = reader.take(levels).ok_or_else(damaged)?;
                let packed = data.number(7) != Some(0);
                let rest = size.checked_sub(repeats + levels).ok_or_else(damaged)?;
                let values = unpacked(reader.rest(), rest, if packed { codec } else { 0 })?;
                let levels = self.optional.then_some(levels_bytes);
                self.cells(cells, levels, &values, data.number(4).unwrap_or(0))?;
                Ok(cells.max(1))
            }
            (Some(1), ..) => Ok(0),
            _ => Err(damaged()),
        }
    }

    /// Adds cells: where a level is 0 the cell is missing, elsewhere it has the next value.
    fn cells(
        &mut self,
        count: usize,
        levels: Option<&[u8]>,
        values: &[u8],
        encoding: i64,
    ) -> Result<(), Trouble> {
        let there = match levels {
            Some(levels) => Some(unpack(levels, 1, count).ok_or_else(damaged)?),
            None => None,
        };
        let present = there.as_ref().map_or(count, |all| all.iter().filter(|l| **l == 1).count());
        let values = self.values(values, present, encoding)?;
        let mut next = values.into_iter();
        for i in 0..count {
            let here = there.as_ref().is_none_or(|all| all[i] == 1);
            let value = if here { Some(next.next().ok_or_else(damaged)?) } else { None };
            match self.kind {
                Kind::Text => {
                    let code = value.map_or(Some(MISSING), |code| code.to_u32());
                    self.codes.push(code.ok_or_else(damaged)?);
                }
                _ => self.numbers.push(value.unwrap_or(f64::NAN)),
            }
        }
        Ok(())
    }

    fn values(&mut self, bytes: &[u8], count: usize, encoding: i64) -> Result<Vec<f64>, Trouble> {
        match encoding {
            0 => self.plain(bytes, count),
            2 | 8 => {
                let Some((&width, packed)) = bytes.split_first() else {
                    return if count == 0 { Ok(Vec::new()) } else { Err(damaged()) };
                };
                let places = unpack(packed, u32::from(width), count).ok_or_else(damaged)?;
                let value = |p: u32| self.dictionary.get(p as usize).copied().ok_or_else(damaged);
                places.into_iter().map(value).collect()
            }
            3 if self.kind == Kind::Truth => {
                let packed = bytes.get(4..).ok_or_else(damaged)?;
                Ok(unpack(packed, 1, count).ok_or_else(damaged)?.into_iter().map(f64::from).collect())
            }
            _ => Err((
                "its values are encoded in a way that is not read here".into(),
                "write it with plain or dictionary encoding, as pandas and R's arrow do by default",
            )),
        }
    }

    /// Values one after another; text as codes.
    fn plain(&mut self, bytes: &[u8], count: usize) -> Result<Vec<f64>, Trouble> {
        let mut reader = Reader::new(bytes);
        let mut number = |n: usize| reader.take(n).ok_or_else(damaged);
        match self.kind {
            Kind::Truth => {
                let bit =
                    |i: usize| bytes.get(i / 8).map(|b| f64::from(b >> (i % 8) & 1)).ok_or_else(damaged);
                (0..count).map(bit).collect()
            }
            Kind::Integer { bytes: size, signed } => {
                (0..count).map(|_| integer(number(size)?, signed)).collect()
            }
            Kind::Single => {
                (0..count).map(|_| Ok(f64::from(f32::from_le_bytes(fixed(number(4)?)?)))).collect()
            }
            Kind::Double => (0..count).map(|_| Ok(f64::from_le_bytes(fixed(number(8)?)?))).collect(),
            Kind::Text => (0..count)
                .map(|_| {
                    let length = little_endian(number(4)?);
                    Ok(f64::from(self.texts.code(utf8(number(length)?)?)))
                })
                .collect(),
        }
    }

    /// The finished column.
    pub fn finish(self) -> Array {
        match self.kind {
            Kind::Text => Array {
                shape: vec![self.codes.len()],
                cells: Cells::Text { codes: self.codes, labels: self.texts.into_labels() },
            },
            _ => Array { shape: vec![self.numbers.len()], cells: Cells::Numbers(self.numbers.into()) },
        }
    }
}

/// The bytes of a page.
fn unpacked(body: &[u8], size: usize, codec: i64) -> Result<Vec<u8>, Trouble> {
    if size > LARGEST_PAGE {
        return Err(damaged());
    }
    let compression = match codec {
        0 => return Ok(body.to_vec()),
        1 => Compression::Snappy,
        2 => Compression::Gzip,
        6 => Compression::Zstd,
        7 => Compression::Lz4,
        other => {
            let name = match other {
                3 => "LZO",
                4 => "Brotli",
                5 => "Hadoop's LZ4",
                _ => "something unknown",
            };
            return Err((
                format!("it is compressed with {name}, which is not read here"),
                "write the file with `compression = \"zstd\"`, or with none",
            ));
        }
    };
    compression.decompress(body, size).ok_or_else(damaged)
}
