//! What tables in binary files have in common: numbers as bytes, limits, and columns that cannot be used.

use super::say;
use crate::source::{Diagnostic, Place};

/// Most rows that are read.
pub const MOST_ROWS: usize = 200_000_000;
/// Beyond this, neighbouring integers are one number here.
const EXACT: i64 = 1 << 53;

/// Why a column cannot be used: a phrase, and what to do.
pub type Trouble = (String, &'static str);

/// The trouble with a column whose bytes cannot be what they claim to be.
pub fn damaged() -> Trouble {
    ("its bytes make no sense".into(), "write the file again; it may have been cut off")
}

/// The error for a column that cannot be used.
pub fn unusable(file: &str, name: &str, (why, help): Trouble) -> Diagnostic {
    Diagnostic::error(
        "unusable-column",
        format!("column `{}` of {file} cannot be used: {why}", say::shown(name)),
    )
    .place(column(file, name))
    .help(help)
}

/// The trouble with a column of dates, times or lengths of time: what number stands for one depends on its
/// unit and origin.
pub fn time(what: &str) -> Trouble {
    (
        format!("it holds {what}, and a model reads numbers"),
        "write it as a number with a meaning: the days since some day, the hours since the start, or the year",
    )
}

/// The trouble with a column of decimal numbers, whose digits are integers to be scaled.
pub fn decimal() -> Trouble {
    (
        "it holds decimal numbers".into(),
        "write it as a real: in pandas `astype(\"float64\")`, in SQL a cast to double",
    )
}

/// Where a column of a file without lines stands.
pub fn column(file: &str, name: &str) -> Place {
    Place { column: Some(name.to_string()), ..say::file(file) }
}

/// Up to eight bytes as a number.
pub fn little_endian(bytes: &[u8]) -> usize {
    bytes.iter().rev().fold(0, |n, b| n << 8 | usize::from(*b))
}

/// As many bytes as wanted, exactly.
pub fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Trouble> {
    bytes.try_into().map_err(|_| damaged())
}

/// An integer of up to eight bytes.
pub fn integer(bytes: &[u8], signed: bool) -> Result<f64, Trouble> {
    let spare =
        64_u32.checked_sub(8 * bytes.len() as u32).filter(|_| !bytes.is_empty()).ok_or_else(damaged)?;
    let raw = little_endian(bytes) as u64;
    let value = match signed {
        true => i128::from((raw << spare).cast_signed() >> spare),
        false => i128::from(raw),
    };
    if value.abs() >= i128::from(EXACT) {
        return Err((
            format!("it holds the integer {value}, and integers are exact up to 2^53 - 1"),
            "write identifiers as text, and quantities as reals",
        ));
    }
    Ok(value as f64)
}

/// A text.
pub fn utf8(bytes: &[u8]) -> Result<&str, Trouble> {
    std::str::from_utf8(bytes)
        .map_err(|_| ("it holds text that is not UTF-8".to_string(), "write it as UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_keep_their_sign_and_their_limits() {
        assert_eq!(integer(&[0xff], true), Ok(-1.0));
        assert_eq!(integer(&[0xff], false), Ok(255.0));
        assert_eq!(integer(&(-70_000_i32).to_le_bytes(), true), Ok(-70_000.0));
        assert_eq!(integer(&(EXACT - 1).to_le_bytes(), true), Ok(9_007_199_254_740_991.0));
        for beyond in [EXACT.to_le_bytes(), i64::MIN.to_le_bytes()] {
            assert!(integer(&beyond, true).is_err());
        }
        assert_eq!(integer(&3_000_000_000_u32.to_le_bytes(), false), Ok(3e9));
        let (why, _) = integer(&u64::MAX.to_le_bytes(), false).unwrap_err();
        assert!(why.contains("18446744073709551615"), "{why}");
    }
}
