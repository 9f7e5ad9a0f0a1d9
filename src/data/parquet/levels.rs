//! Small integers as Parquet packs them: runs of one number, and groups of eight with a few bits each.

use super::super::binary::little_endian;
use super::thrift::Reader;

/// `count` numbers of `width` bits; None if there are fewer.
pub fn unpack(bytes: &[u8], width: u32, count: usize) -> Option<Vec<u32>> {
    if width > 32 {
        return None;
    }
    let mut reader = Reader::new(bytes);
    let mut out: Vec<u32> = Vec::new();
    while out.len() < count {
        let head = usize::try_from(reader.varint()?).ok()?;
        let left = count - out.len();
        if head & 1 == 0 {
            let value = little_endian(reader.take(width.div_ceil(8) as usize)?) as u32;
            out.resize(out.len() + left.min(head >> 1), value);
        } else {
            let groups = head >> 1;
            let packed = reader.take(groups.checked_mul(width as usize)?)?;
            let number = |i: usize| bits(packed, i * width as usize, width);
            out.extend((0..left.min(groups.saturating_mul(8))).map(number));
        }
    }
    Some(out)
}

/// `width` bits from a place on, the lowest first.
fn bits(packed: &[u8], from: usize, width: u32) -> u32 {
    let mut value = 0_u64;
    let (first, shift) = (from / 8, from % 8);
    for (k, byte) in packed.iter().skip(first).take(5).enumerate() {
        value |= u64::from(*byte) << (8 * k);
    }
    (value >> shift & ((1_u64 << width) - 1)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_groups_are_told_apart() {
        // Three times 5, then 0..=7 with three bits each: the example of the format's own description.
        let packed = [6, 5, 3, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        assert_eq!(unpack(&packed, 3, 11).unwrap(), [5, 5, 5, 0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(unpack(&packed, 3, 12).is_none());
    }
}
