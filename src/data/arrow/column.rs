//! One column of an Arrow file: from the buffers of each batch of rows to cells, one batch after another.

use super::super::array::{Array, Cells, Interner, MISSING};
use super::super::binary::{Trouble, damaged, decimal, fixed, integer, little_endian, time, utf8};
use super::flat::Table;
use num_traits::ToPrimitive;
use std::borrow::Cow;

/// What the values of a column are, and so which buffers they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing but missing cells.
    Nothing,
    /// False or true.
    Truth,
    /// Integers.
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
    /// Text, found by places of so many bytes.
    Text {
        /// Bytes of each place.
        places: usize,
    },
}

impl Kind {
    /// How many buffers a batch has for such a column.
    pub fn buffers(self) -> usize {
        match self {
            Kind::Nothing => 0,
            Kind::Text { .. } => 3,
            Kind::Truth | Kind::Integer { .. } | Kind::Single | Kind::Double => 2,
        }
    }
}

/// What a field of the schema holds, or why it cannot be used.
pub fn kind(field: Table<'_>) -> Result<Kind, Trouble> {
    let of = field.table(3).ok_or_else(damaged)?;
    let other = |what: &str| Err((format!("it holds {what}"), "write it as numbers or text"));
    match field.number(2, 1) {
        1 => Ok(Kind::Nothing),
        2 => integers(of),
        3 => match of.number(0, 2) {
            1 => Ok(Kind::Single),
            2 => Ok(Kind::Double),
            _ => other("numbers of two bytes"),
        },
        5 => Ok(Kind::Text { places: 4 }),
        20 => Ok(Kind::Text { places: 8 }),
        6 => Ok(Kind::Truth),
        7 => Err(decimal()),
        8 => Err(time("dates")),
        9 => Err(time("times of day")),
        10 => Err(time("points in time")),
        11 | 18 => Err(time("lengths of time")),
        12..=14 | 16 | 17 | 21 | 25 | 26 => {
            Err(("it holds lists or structures".into(), "write one number or text a row"))
        }
        24 => Err((
            "its text is in a layout that is not read here (views)".into(),
            "write it as `string` or `large_string`; in polars, `compat_level=CompatLevel.oldest()`",
        )),
        _ => other("values of a kind that is not read here"),
    }
}

/// The integers that a type describes.
fn integers(of: Table<'_>) -> Result<Kind, Trouble> {
    match of.number(0, 4) {
        bits @ (8 | 16 | 32 | 64) => Ok(Kind::Integer { bytes: bits / 8, signed: of.number(1, 1) != 0 }),
        _ => Err(damaged()),
    }
}

/// The numbers of a column's places in its dictionary, where it has one.
pub fn places(encoding: Table<'_>) -> Result<Kind, Trouble> {
    encoding.table(1).map_or(Ok(Kind::Integer { bytes: 4, signed: true }), integers)
}

/// A column as it is being read.
pub struct Column {
    kind: Kind,
    numbers: Vec<f64>,
    codes: Vec<u32>,
    texts: Interner,
}

impl Column {
    /// An empty column.
    pub fn new(kind: Kind) -> Self {
        Self { kind, numbers: Vec::new(), codes: Vec::new(), texts: Interner::default() }
    }

    /// What its values are.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Text { .. })
    }

    /// Forgets its cells, not what a text is called.
    pub fn clear(&mut self) {
        self.numbers.clear();
        self.codes.clear();
    }

    /// Adds the `rows` cells of a batch from its buffers: which cells are there, then the values.
    pub fn add(&mut self, rows: usize, buffers: &[Cow<'_, [u8]>]) -> Result<(), Trouble> {
        let there = Present::new(buffers, rows)?;
        let buffer = |k: usize| buffers.get(k).map(|b| &**b).ok_or_else(damaged);
        match self.kind {
            Kind::Nothing => self.numbers.resize(self.numbers.len() + rows, f64::NAN),
            Kind::Text { places } => {
                let (ends, text) = (buffer(1)?, buffer(2)?);
                let end = |i: usize| ends.get(places * i..places * (i + 1)).map(little_endian);
                for i in 0..rows {
                    let code = match there.at(i) {
                        false => MISSING,
                        true => {
                            let (from, to) = end(i).zip(end(i + 1)).ok_or_else(damaged)?;
                            self.texts.code(utf8(text.get(from..to).ok_or_else(damaged)?)?)
                        }
                    };
                    self.codes.push(code);
                }
            }
            _ => {
                let values = buffer(1)?;
                self.numbers.reserve(rows.min(8 * values.len()));
                for i in 0..rows {
                    let value = if there.at(i) { self.number(values, i)? } else { f64::NAN };
                    self.numbers.push(value);
                }
            }
        }
        Ok(())
    }

    /// Adds the `rows` cells of a batch from the places of a dictionary.
    pub fn add_places(
        &mut self,
        rows: usize,
        buffers: &[Cow<'_, [u8]>],
        of: Kind,
        dictionary: &Column,
    ) -> Result<(), Trouble> {
        let mut places = Column::new(of);
        places.add(rows, buffers)?;
        for place in places.numbers {
            let value = |all: usize| place.to_usize().filter(|at| *at < all);
            match (place.is_nan(), self.is_text()) {
                (true, true) => self.codes.push(MISSING),
                (true, false) => self.numbers.push(f64::NAN),
                (false, true) => {
                    let at = value(dictionary.codes.len()).ok_or_else(damaged)?;
                    let text = dictionary.texts.text(dictionary.codes[at]);
                    self.codes.push(text.map_or(MISSING, |text| self.texts.code(text)));
                }
                (false, false) => {
                    self.numbers
                        .push(dictionary.numbers[value(dictionary.numbers.len()).ok_or_else(damaged)?]);
                }
            }
        }
        Ok(())
    }

    fn number(&self, values: &[u8], i: usize) -> Result<f64, Trouble> {
        let part = |size: usize| values.get(size * i..size * (i + 1)).ok_or_else(damaged);
        match self.kind {
            Kind::Truth => values.get(i / 8).map(|b| f64::from(b >> (i % 8) & 1)).ok_or_else(damaged),
            Kind::Integer { bytes, signed } => integer(part(bytes)?, signed),
            Kind::Single => Ok(f64::from(f32::from_le_bytes(fixed(part(4)?)?))),
            Kind::Double => Ok(f64::from_le_bytes(fixed(part(8)?)?)),
            Kind::Nothing | Kind::Text { .. } => Err(damaged()),
        }
    }

    /// The finished column.
    pub fn finish(self) -> Array {
        match self.is_text() {
            true => Array {
                shape: vec![self.codes.len()],
                cells: Cells::Text { codes: self.codes, labels: self.texts.into_labels() },
            },
            false => Array { shape: vec![self.numbers.len()], cells: Cells::Numbers(self.numbers.into()) },
        }
    }
}

/// Which cells of a batch are there: a bit for each, or all.
struct Present<'a>(&'a [u8]);

impl<'a> Present<'a> {
    fn new(buffers: &'a [Cow<'_, [u8]>], rows: usize) -> Result<Self, Trouble> {
        match buffers.first().map_or(&[][..], |b| &**b) {
            [] => Ok(Present(&[])),
            bits if bits.len() >= rows.div_ceil(8) => Ok(Present(bits)),
            _ => Err(damaged()),
        }
    }

    fn at(&self, i: usize) -> bool {
        self.0.is_empty() || self.0[i / 8] >> (i % 8) & 1 == 1
    }
}
