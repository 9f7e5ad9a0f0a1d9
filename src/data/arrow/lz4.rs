//! LZ4's compression, taken back: frames of blocks, each of literals and copies of what came before.

use super::super::binary::little_endian;

const MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

/// The bytes that were compressed to a frame; None if they are not `length` bytes.
pub fn decompress(frame: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut rest = frame.strip_prefix(&MAGIC)?;
    let flags = *take(&mut rest, 2)?.first()?;
    let has = |bit: u8| usize::from(flags >> bit & 1);
    // The length of the content, the name of a dictionary, and a checksum of this header.
    take(&mut rest, 8 * has(3) + 4 * has(0) + 1)?;
    // A byte makes at most 255: what claims to be more is not believed before it is there.
    let mut out = Vec::with_capacity(length.min(255 * frame.len()));
    loop {
        let head = little_endian(take(&mut rest, 4)?);
        let size = head & 0x7fff_ffff;
        if size == 0 {
            return (out.len() == length).then_some(out);
        }
        let stored = take(&mut rest, size)?;
        match head == size {
            true => block(stored, length, &mut out)?,
            false => out.extend_from_slice(stored),
        }
        take(&mut rest, 4 * has(4))?;
        if out.len() > length {
            return None;
        }
    }
}

/// Adds the content of a block, which may copy from the blocks before it.
fn block(mut rest: &[u8], most: usize, out: &mut Vec<u8>) -> Option<()> {
    loop {
        let token = usize::from(take(&mut rest, 1)?[0]);
        let literals = extended(token >> 4, &mut rest)?;
        out.extend_from_slice(take(&mut rest, literals)?);
        if rest.is_empty() {
            return Some(());
        }
        let offset = little_endian(take(&mut rest, 2)?);
        let size = extended(token & 15, &mut rest)?.checked_add(4)?;
        let start = out.len().checked_sub(offset).filter(|_| offset > 0)?;
        if out.len().checked_add(size)? > most {
            return None;
        }
        for i in start..start + size {
            out.push(out[i]);
        }
    }
}

/// A length of which four bits stand in the token: 15 there means that bytes follow, the last of them below
/// 255.
fn extended(bits: usize, rest: &mut &[u8]) -> Option<usize> {
    let mut length = bits;
    let mut more = bits == 15;
    while more {
        let byte = take(rest, 1)?[0];
        length = length.checked_add(usize::from(byte))?;
        more = byte == 255;
    }
    Some(length)
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(count)?;
    *rest = tail;
    Some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_copies_come_back() {
        // A frame without checksums: 4 literals, 9 bytes from 4 back, then 1 literal; then a stored block.
        let mut frame = MAGIC.to_vec();
        frame.extend([0x60, 0x40, 0, 10, 0, 0, 0, 0x45, b'a', b'b', b'c', b'd', 4, 0, 0x10, b'!']);
        frame.extend([2, 0, 0, 0x80, b'x', b'y', 0, 0, 0, 0]);
        frame[7] = 9;
        assert_eq!(decompress(&frame, 16).unwrap(), b"abcdabcdabcda!xy");
        assert!(decompress(&frame, 15).is_none());
        assert!(decompress(&frame[..frame.len() - 1], 16).is_none());
    }
}
