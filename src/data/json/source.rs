//! The bytes of a JSON text one by one, with the line they stand on, without holding the text.

use super::super::number;
use std::io::{self, Read};

const CHUNK: usize = 1 << 16;

/// A stream of bytes with one byte of foresight.
pub struct Source<'a> {
    reader: Box<dyn Read + 'a>,
    buffer: Vec<u8>,
    at: usize,
    line: usize,
    byte: usize,
    failure: Option<io::Error>,
}

impl<'a> Source<'a> {
    /// The bytes of a reader, after a byte-order mark if there is one.
    pub fn new(reader: Box<dyn Read + 'a>) -> Self {
        let mut source = Self { reader, buffer: Vec::new(), at: 0, line: 1, byte: 1, failure: None };
        source.refill();
        if source.buffer.starts_with(b"\xEF\xBB\xBF") {
            source.at = 3;
        }
        source
    }

    /// The first bytes, for recognising what kind of file it is.
    pub fn start(&self) -> &[u8] {
        &self.buffer
    }

    /// The line of the next byte, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The place of the next byte in its line, from 1.
    pub fn byte(&self) -> usize {
        self.byte
    }

    /// The error that ended the stream early, if one did.
    pub fn failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// The next byte; nothing at the end.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        if self.at == self.buffer.len() {
            self.refill();
        }
        self.buffer.get(self.at).copied()
    }

    /// Takes the next byte.
    #[inline]
    pub fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        self.byte += 1;
        if byte == b'\n' {
            (self.line, self.byte) = (self.line + 1, 1);
        }
        Some(byte)
    }

    /// Takes a plain decimal if one comes next and ends within what is in hand.
    #[inline]
    pub fn decimal(&mut self) -> Option<f64> {
        let rest = self.buffer.get(self.at..)?;
        let (value, used) = number::decimal(rest)?;
        if !matches!(rest.get(used), Some(b',' | b']' | b'}' | b' ' | b'\n' | b'\r')) {
            return None;
        }
        self.at += used;
        self.byte += used;
        Some(value)
    }

    /// The next byte that is not a space or a line break, not yet taken.
    #[inline]
    pub fn skip_space(&mut self) -> Option<u8> {
        while let Some(byte) = self.peek() {
            if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                return Some(byte);
            }
            self.next();
        }
        None
    }

    fn refill(&mut self) {
        if self.failure.is_some() {
            return;
        }
        self.buffer.clear();
        self.at = 0;
        if let Err(error) = (&mut self.reader).take(CHUNK as u64).read_to_end(&mut self.buffer) {
            self.failure = Some(error);
        }
    }
}
