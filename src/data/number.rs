//! What a cell says: a number, nothing, or text; with an exact fast path for plain decimals.

/// The largest integer that no other integer rounds to as a double: 2^53 − 1.
pub const EXACT: f64 = 9_007_199_254_740_991.0;

/// Cells that stand for a value that is not there. Compared as written: `none` and `-` are text.
pub const MISSING_MARKERS: [&str; 10] = ["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "<NA>", "."];

/// What a cell says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// A finite number or an infinity.
    Number(f64),
    /// A marker of a missing value.
    Missing,
    /// Anything else, and numbers that a double cannot hold: kept as written, so that nothing is lost.
    Text,
}

/// Why a text is not a number that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotNumber {
    /// It is not a number at all.
    Text,
    /// It is a decimal beyond the largest double.
    Overflow,
}

/// Reads a cell without spaces around it.
pub fn read_cell(cell: &[u8]) -> Reading {
    if let Some((value, used)) = decimal(cell)
        && used == cell.len()
    {
        return Reading::Number(value);
    }
    match std::str::from_utf8(cell) {
        Ok(text) if is_missing(text) => Reading::Missing,
        // A decimal that got here is one that a double cannot hold: text.
        Ok(text) if !is_decimal(cell) => parse(text).map_or(Reading::Text, Reading::Number),
        _ => Reading::Text,
    }
}

/// Whether a cell is one of [`MISSING_MARKERS`].
pub fn is_missing(text: &str) -> bool {
    text.len() <= 4 && MISSING_MARKERS.contains(&text)
}

/// The number that a text without spaces around it says, infinities included.
pub fn parse(text: &str) -> Result<f64, NotNumber> {
    if is_decimal(text.as_bytes()) {
        let value: f64 = text.parse().map_err(|_| NotNumber::Text)?;
        return if value.is_finite() { Ok(value) } else { Err(NotNumber::Overflow) };
    }
    let (sign, word) = match text.as_bytes().first() {
        Some(b'-') => (-1.0, &text[1..]),
        Some(b'+') => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    let infinite = word.eq_ignore_ascii_case("inf") || word.eq_ignore_ascii_case("infinity");
    if infinite { Ok(sign * f64::INFINITY) } else { Err(NotNumber::Text) }
}

/// A number as people write it: `3`, `0.1`, `1e300`, `Inf`.
pub fn display(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "Inf".into() } else { "-Inf".into() };
    }
    let size = value.abs();
    if size != 0.0 && !(1e-5..1e16).contains(&size) { format!("{value:e}") } else { format!("{value}") }
}

/// The decimal at the start of `bytes` and its length; nothing if there is none or a double cannot hold it:
/// beyond the largest double, or an integer beyond [`EXACT`].
///
/// Clinger's case is done here: a significand below 2^53 and a power of ten of at most 10^22 are both exact
/// doubles, so their product or quotient is the correctly rounded value. Other decimals are left to the
/// standard library.
#[inline]
pub fn decimal(bytes: &[u8]) -> Option<(f64, usize)> {
    let negative = *bytes.first()? == b'-';
    let mut at = usize::from(negative || bytes[0] == b'+');
    let mut significand = 0u64;
    let mut digits = take_digits(bytes, &mut at, &mut significand);
    let (mut exponent, mut plain) = (0i32, true);
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        let fraction = take_digits(bytes, &mut at, &mut significand);
        digits += fraction;
        (exponent, plain) = (-(fraction.min(1000) as i32), false);
    }
    if digits == 0 {
        return None;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        exponent += take_exponent(bytes, &mut at)?;
        plain = false;
    }
    // Nineteen digits cannot overflow the 64-bit significand.
    if digits <= 19
        && significand <= EXACT as u64
        && let Some(power) = POWERS.get(exponent.unsigned_abs() as usize)
    {
        let size = if exponent < 0 { significand as f64 / power } else { significand as f64 * power };
        return Some((if negative { -size } else { size }, at));
    }
    let value: f64 = std::str::from_utf8(&bytes[..at]).ok()?.parse().ok()?;
    (value.is_finite() && !(plain && value.abs() > EXACT)).then_some((value, at))
}

#[inline]
fn take_digits(bytes: &[u8], at: &mut usize, significand: &mut u64) -> usize {
    let start = *at;
    while let Some(digit) = bytes.get(*at).map(|b| b.wrapping_sub(b'0'))
        && digit < 10
    {
        *significand = significand.wrapping_mul(10).wrapping_add(u64::from(digit));
        *at += 1;
    }
    *at - start
}

fn take_exponent(bytes: &[u8], at: &mut usize) -> Option<i32> {
    *at += 1;
    let negative = bytes.get(*at) == Some(&b'-');
    if let Some(b'-' | b'+') = bytes.get(*at) {
        *at += 1;
    }
    let mut size = 0u64;
    let digits = take_digits(bytes, at, &mut size);
    if digits == 0 {
        return None;
    }
    // Beyond nine digits the number may have wrapped; any size that large gives zero or infinity.
    let size = if digits > 9 { 1_000_000_000 } else { size as i32 };
    Some(if negative { -size } else { size })
}

const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Whether all of it is `[+-]digits[.digits][e[+-]digits]` with at least one digit before the exponent.
fn is_decimal(cell: &[u8]) -> bool {
    let mut at = usize::from(matches!(cell.first(), Some(b'-' | b'+')));
    let mut digits = skip_digits(cell, &mut at);
    if cell.get(at) == Some(&b'.') {
        at += 1;
        digits += skip_digits(cell, &mut at);
    }
    if digits == 0 {
        return false;
    }
    if let Some(b'e' | b'E') = cell.get(at) {
        at += 1;
        at += usize::from(matches!(cell.get(at), Some(b'-' | b'+')));
        if skip_digits(cell, &mut at) == 0 {
            return false;
        }
    }
    at == cell.len()
}

fn skip_digits(cell: &[u8], at: &mut usize) -> usize {
    let start = *at;
    while cell.get(*at).is_some_and(u8::is_ascii_digit) {
        *at += 1;
    }
    *at - start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_path_agrees_with_the_standard_library() {
        // A linear congruential walk over significands, exponents and ways to write them.
        let mut state = 0x2545_F491_4F6C_DD1Du64;
        let mut next = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> 11
        };
        for _ in 0..200_000 {
            let (a, b, e) = (next() % 10u64.pow((next() % 10) as u32), next() % 1_000_000_000, next() % 60);
            for text in [
                format!("{a}.{b}"),
                format!("-{a}.{b}e{e}"),
                format!("{a}e-{e}"),
                format!(".{b}"),
                format!("{a}."),
                format!("+{a}"),
            ] {
                let expected: f64 = text.parse().unwrap();
                assert_eq!(read_cell(text.as_bytes()), Reading::Number(expected), "{text}");
            }
        }
    }

    #[test]
    fn cells_are_numbers_markers_or_text() {
        for (cell, expected) in [
            ("Inf", Reading::Number(f64::INFINITY)),
            ("-infinity", Reading::Number(f64::NEG_INFINITY)),
            ("NA", Reading::Missing),
            ("", Reading::Missing),
            (".", Reading::Missing),
            ("nan", Reading::Missing),
            ("none", Reading::Text),
            ("1e400", Reading::Text),
            ("99999999999999999999", Reading::Text),
            ("9007199254740991", Reading::Number(EXACT)),
            ("9007199254740992", Reading::Text),
            ("9007199254740993", Reading::Text),
            ("1e20", Reading::Number(1e20)),
            ("0x1F", Reading::Text),
            ("1_000", Reading::Text),
            ("1,5", Reading::Text),
            ("-", Reading::Text),
            ("e5", Reading::Text),
            ("1e", Reading::Text),
            ("1e+", Reading::Text),
            ("1e-99999", Reading::Number(0.0)),
            ("0.12345678901234567890123", Reading::Number(0.12345678901234568)),
        ] {
            assert_eq!(read_cell(cell.as_bytes()), expected, "{cell}");
        }
        assert!(matches!(read_cell(b"-0"), Reading::Number(z) if z.is_sign_negative()));
    }
}
