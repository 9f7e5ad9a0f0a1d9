//! Strings of a JSON text, with their escapes.

use super::source::Source;

/// Why a string cannot be read.
pub enum Bad {
    /// It does not end.
    Unclosed,
    /// It is not UTF-8.
    Utf8,
    /// An unknown escape.
    Escape,
}

/// The string whose opening quote comes next.
pub fn string(source: &mut Source<'_>) -> Result<String, Bad> {
    source.next();
    let mut bytes = Vec::new();
    loop {
        match source.next().ok_or(Bad::Unclosed)? {
            b'"' => return String::from_utf8(bytes).map_err(|_| Bad::Utf8),
            b'\\' => {
                let character = escape(source)?;
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            byte => bytes.push(byte),
        }
    }
}

fn escape(source: &mut Source<'_>) -> Result<char, Bad> {
    Ok(match source.next().ok_or(Bad::Unclosed)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        byte @ (b'"' | b'\\' | b'/') => char::from(byte),
        b'u' => unicode(source)?,
        _ => return Err(Bad::Escape),
    })
}

/// Four hexadecimal digits, or two such escapes that together name one character beyond 16 bits.
fn unicode(source: &mut Source<'_>) -> Result<char, Bad> {
    let first = hex4(source)?;
    if !(0xD800..0xDC00).contains(&first) {
        return char::from_u32(first).ok_or(Bad::Escape);
    }
    if source.next() != Some(b'\\') || source.next() != Some(b'u') {
        return Err(Bad::Escape);
    }
    let second = hex4(source)?;
    if !(0xDC00..0xE000).contains(&second) {
        return Err(Bad::Escape);
    }
    char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)).ok_or(Bad::Escape)
}

fn hex4(source: &mut Source<'_>) -> Result<u32, Bad> {
    let mut value = 0;
    for _ in 0..4 {
        let digit = source.next().and_then(|b| char::from(b).to_digit(16)).ok_or(Bad::Escape)?;
        value = value * 16 + digit;
    }
    Ok(value)
}
