//! FlatBuffers, read in place: tables whose fields are found through a list of offsets. Nothing is trusted to
//! be there.

use super::super::binary::little_endian;

/// A table of fields by number.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Table<'a> {
    /// The table that a buffer begins with a pointer to.
    pub fn root(bytes: &'a [u8]) -> Option<Self> {
        Table { bytes, at: 0 }.pointed(0)
    }

    /// `size` bytes from a place on, as a number.
    fn number_at(self, at: usize, size: usize) -> Option<usize> {
        self.bytes.get(at..at.checked_add(size)?).map(little_endian)
    }

    /// The table that the pointer at a place leads to.
    fn pointed(self, at: usize) -> Option<Self> {
        let to = at.checked_add(self.number_at(at, 4)?)?;
        Some(Table { at: to, ..self })
    }

    /// Where a field stands; None if it has its default.
    fn place(self, field: usize) -> Option<usize> {
        let back = self.number_at(self.at, 4)? as u32;
        let list = i64::try_from(self.at).ok()?.checked_sub(i64::from(back.cast_signed()))?;
        let list = usize::try_from(list).ok()?;
        let offset = (4 + 2 * field + 2 <= self.number_at(list, 2)?)
            .then(|| self.number_at(list.checked_add(4 + 2 * field)?, 2))??;
        (offset > 0).then(|| self.at.checked_add(offset))?
    }

    /// A number of `size` bytes without sign; 0 if it is not there.
    pub fn number(self, field: usize, size: usize) -> usize {
        self.place(field).and_then(|at| self.number_at(at, size)).unwrap_or(0)
    }

    /// A table.
    pub fn table(self, field: usize) -> Option<Self> {
        self.pointed(self.place(field)?)
    }

    /// Where the elements of a list begin, and how many there are; none if it is not there.
    fn list(self, field: usize, size: usize) -> Option<(usize, usize)> {
        let start = self.pointed(self.place(field)?)?.at;
        let count = self.number_at(start, 4)?;
        let first = start.checked_add(4)?;
        let end = first.checked_add(count.checked_mul(size)?)?;
        (end <= self.bytes.len()).then_some((first, count))
    }

    /// A text.
    pub fn text(self, field: usize) -> Option<&'a str> {
        let (first, count) = self.list(field, 1)?;
        std::str::from_utf8(self.bytes.get(first..first + count)?).ok()
    }

    /// The tables of a list.
    pub fn tables(self, field: usize) -> Vec<Self> {
        let (first, count) = self.list(field, 4).unwrap_or((0, 0));
        (0..count).filter_map(|i| self.pointed(first + 4 * i)).collect()
    }

    /// A list of structures of numbers with eight bytes each.
    pub fn numbers<const N: usize>(self, field: usize) -> Vec<[usize; N]> {
        let (first, count) = self.list(field, 8 * N).unwrap_or((0, 0));
        let number = |at: usize| self.number_at(at, 8).unwrap_or(0);
        (0..count).map(|i| std::array::from_fn(|k| number(first + 8 * (N * i + k)))).collect()
    }
}
