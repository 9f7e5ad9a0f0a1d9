//! A moving window of whole lines over a file, so that a table is read without holding its text.

use std::io::{self, Read};

/// Bytes first asked for; doubled while one record does not fit.
const CHUNK: usize = 1 << 18;

/// Whole lines of a file, from where reading stands.
pub struct Window<'a> {
    reader: Box<dyn Read + 'a>,
    buffer: Vec<u8>,
    /// The first byte not yet consumed.
    start: usize,
    /// One past the last line break in hand.
    complete: usize,
    ended: bool,
    /// Whether the last line had no break of its own.
    open: bool,
}

impl<'a> Window<'a> {
    /// A window over a reader, empty until [`Window::more`] is called.
    pub fn new(reader: Box<dyn Read + 'a>) -> Self {
        Self { reader, buffer: Vec::new(), start: 0, complete: 0, ended: false, open: false }
    }

    /// The whole lines in hand; the last byte, if any, is a line break.
    pub fn lines(&self) -> &[u8] {
        &self.buffer[self.start..self.complete]
    }

    /// Whether the file has been read to its end, which is in the middle of a line.
    pub fn ends_open(&self) -> bool {
        self.open
    }

    /// Steps over bytes that have been dealt with.
    pub fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.complete);
    }

    /// Reads on until at least one more line is in hand; false at the end of the file.
    ///
    /// What is left unconsumed stays in front. Each call at least doubles it, so that retrying a record that
    /// did not fit costs in total no more than a constant times its length. A last line without a break is
    /// given one.
    pub fn more(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        self.buffer.drain(..self.start);
        self.complete -= self.start;
        self.start = 0;
        loop {
            let old = self.buffer.len();
            let wanted = CHUNK.max(old);
            (&mut self.reader).take(wanted as u64).read_to_end(&mut self.buffer)?;
            if self.buffer.len() < old + wanted {
                self.ended = true;
                if self.buffer.last().is_some_and(|b| *b != b'\n') {
                    self.buffer.push(b'\n');
                    self.open = true;
                }
            }
            if let Some(last) = self.buffer[old..].iter().rposition(|b| *b == b'\n') {
                self.complete = old + last + 1;
                return Ok(true);
            }
            if self.ended {
                return Ok(false);
            }
        }
    }
}
