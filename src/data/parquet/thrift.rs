//! Thrift's compact protocol, in which Parquet writes everything but the values: read into a tree.

/// Deepest nesting that is followed, so that no file can exhaust the stack.
const DEEPEST: usize = 32;

/// A value.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// A number; true is 1.
    Number(i64),
    /// Bytes.
    Bytes(&'a [u8]),
    /// Several values.
    List(Vec<Value<'a>>),
    /// Values by the number of their field.
    Struct(Vec<(i64, Value<'a>)>),
    /// Something that no reader of tables needs.
    Other,
}

impl<'a> Value<'a> {
    /// A field of a struct.
    pub fn field(&self, id: i64) -> Option<&Value<'a>> {
        match self {
            Value::Struct(fields) => fields.iter().find(|(known, _)| *known == id).map(|(_, value)| value),
            _ => None,
        }
    }

    /// A field that is a number.
    pub fn number(&self, id: i64) -> Option<i64> {
        match self.field(id)? {
            Value::Number(n) => Some(*n),
            _ => None,
        }
    }

    /// A field that is a list; empty if there is none.
    pub fn list(&self, id: i64) -> &[Value<'a>] {
        match self.field(id) {
            Some(Value::List(items)) => items,
            _ => &[],
        }
    }

    /// A text.
    pub fn text(&self) -> Option<&'a str> {
        match self {
            Value::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }
}

/// Reads from the front of some bytes; None where they end too early or make no sense.
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// A reader from the first byte on.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many bytes were read.
    pub fn used(&self) -> usize {
        self.at
    }

    /// One byte.
    pub fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// The next bytes.
    pub fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(n)?)?;
        self.at += n;
        Some(taken)
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        self.at = self.bytes.len();
        rest
    }

    /// An unsigned number of seven bits a byte.
    pub fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(value);
            }
        }
        None
    }

    /// A struct, as which every message begins.
    pub fn message(&mut self) -> Option<Value<'a>> {
        self.structure(0)
    }

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn structure(&mut self, depth: usize) -> Option<Value<'a>> {
        let (mut fields, mut id) = (Vec::new(), 0_i64);
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(Value::Struct(fields));
            }
            id = if head >> 4 == 0 { self.zigzag()? } else { id.checked_add(i64::from(head >> 4))? };
            let value = match head & 15 {
                1 => Value::Number(1),
                2 => Value::Number(0),
                kind => self.value(kind, depth)?,
            };
            fields.push((id, value));
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<Value<'a>> {
        if depth > DEEPEST {
            return None;
        }
        Some(match kind {
            // In a list a truth value has a byte of its own.
            1..=3 => Value::Number(i64::from(self.byte()?)),
            4..=6 => Value::Number(self.zigzag()?),
            7 => {
                self.take(8)?;
                Value::Other
            }
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                Value::Bytes(self.take(length)?)
            }
            9 | 10 => self.items(depth)?,
            11 => {
                let count = self.varint()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                for _ in 0..count {
                    self.value(kinds >> 4, depth + 1)?;
                    self.value(kinds & 15, depth + 1)?;
                }
                Value::Other
            }
            12 => self.structure(depth + 1)?,
            _ => return None,
        })
    }

    fn items(&mut self, depth: usize) -> Option<Value<'a>> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        // Each item takes a byte at least, so that a count that lies ends with the bytes.
        let items = (0..count).map(|_| self.value(head & 15, depth + 1));
        items.collect::<Option<Vec<_>>>().map(Value::List)
    }
}
