//! The compressions that Parquet and Arrow files come in, taken back by the packages that do it well.

use std::io::Read;

/// A compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    /// What pandas writes by default.
    Snappy,
    /// Gzip.
    Gzip,
    /// What Polars and Spark write by default.
    Zstd,
    /// LZ4, a block.
    Lz4,
    /// LZ4, a frame of blocks.
    Lz4Frame,
}

impl Compression {
    /// The bytes that were compressed; None if they are not `length` bytes. No more than these are ever held,
    /// whatever the compressed bytes claim.
    pub(super) fn decompress(self, compressed: &[u8], length: usize) -> Option<Vec<u8>> {
        match self {
            Compression::Snappy => {
                let known = snap::raw::decompress_len(compressed).is_ok_and(|n| n == length);
                known.then(|| snap::raw::Decoder::new().decompress_vec(compressed).ok())?
            }
            Compression::Lz4 => {
                let out = lz4_flex::block::decompress(compressed, length).ok()?;
                (out.len() == length).then_some(out)
            }
            Compression::Lz4Frame => all(lz4_flex::frame::FrameDecoder::new(compressed), length),
            Compression::Gzip => all(flate2::read::MultiGzDecoder::new(compressed), length),
            Compression::Zstd => all(ruzstd::decoding::StreamingDecoder::new(compressed).ok()?, length),
        }
    }
}

/// All that a reader gives, if that is so many bytes.
fn all(reader: impl Read, length: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let one_more = u64::try_from(length).ok()?.checked_add(1)?;
    let read = reader.take(one_more).read_to_end(&mut out).ok()?;
    (read == length).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_bytes_come_back_as_were_promised_or_none() {
        // Snappy: "abcd", then 9 bytes from 4 back; and a copy from before the beginning.
        let compressed = [13, 3 << 2, b'a', b'b', b'c', b'd', 1 | 5 << 2, 4];
        assert_eq!(Compression::Snappy.decompress(&compressed, 13).unwrap(), b"abcdabcdabcda");
        assert!(Compression::Snappy.decompress(&compressed, 12).is_none());
        assert!(Compression::Snappy.decompress(&[4, 1, 9], 4).is_none());
        // A gigabyte of zeros in a few kilobytes, of which 16 bytes were promised.
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        let zeros = vec![0; 1 << 20];
        (0..64).for_each(|_| std::io::Write::write_all(&mut encoder, &zeros).unwrap());
        let bomb = encoder.finish().unwrap();
        assert!(Compression::Gzip.decompress(&bomb, 16).is_none());
        assert!(Compression::Gzip.decompress(&bomb, usize::MAX).is_none());
        assert_eq!(Compression::Gzip.decompress(&bomb, 64 << 20).unwrap().len(), 64 << 20);
        for kind in [Compression::Gzip, Compression::Zstd, Compression::Lz4, Compression::Lz4Frame] {
            assert!(kind.decompress(b"no such thing", 5).is_none(), "{kind:?}");
        }
    }
}
