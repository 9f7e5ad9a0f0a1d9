//! Snappy's compression, taken back: literals, and copies of what came before.

use super::super::binary::little_endian;
use super::thrift::Reader;

/// The bytes that were compressed; None if they are not `length` bytes.
pub fn decompress(compressed: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut reader = Reader::new(compressed);
    if reader.varint()? != length as u64 {
        return None;
    }
    // A copy of 64 bytes takes 3: what claims to be more is not believed before it is there.
    let mut out = Vec::with_capacity(length.min(64 * compressed.len()));
    while let Some(tag) = reader.byte() {
        match tag & 3 {
            0 => {
                let long = usize::from(tag >> 2);
                let size = if long < 60 { long } else { little_endian(reader.take(long - 59)?) };
                out.extend_from_slice(reader.take(size.checked_add(1)?)?);
            }
            1 => {
                let offset = usize::from(tag >> 5) << 8 | usize::from(reader.byte()?);
                copy(&mut out, offset, usize::from(tag >> 2 & 7) + 4)?;
            }
            kind => {
                let offset = little_endian(reader.take(if kind == 2 { 2 } else { 4 })?);
                copy(&mut out, offset, usize::from(tag >> 2) + 1)?;
            }
        }
        if out.len() > length {
            return None;
        }
    }
    (out.len() == length).then_some(out)
}

/// Repeats `size` bytes that began `offset` bytes before the end; they may reach into what is being added.
fn copy(out: &mut Vec<u8>, offset: usize, size: usize) -> Option<()> {
    let start = out.len().checked_sub(offset).filter(|_| offset > 0)?;
    for i in start..start + size {
        out.push(out[i]);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_copies_come_back() {
        // "abcd", then 9 bytes from 4 back: a copy that reads what it writes.
        let compressed = [13, 3 << 2, b'a', b'b', b'c', b'd', 1 | 5 << 2, 4];
        assert_eq!(decompress(&compressed, 13).unwrap(), b"abcdabcdabcda");
        assert!(decompress(&compressed, 12).is_none());
        assert!(decompress(&[4, 1, 9], 4).is_none(), "a copy from before the beginning");
    }
}
