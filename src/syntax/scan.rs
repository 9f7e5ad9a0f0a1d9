//! Model text cut into words, numbers, strings, symbols, newlines and comments, with their places.
//!
//! The grammar reads the text itself; these tokens serve what a grammar is poor at: deciding which newlines
//! end a statement, saying what is wrong, and laying a model out again with its comments.

use crate::source::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Word,
    /// A number.
    Number,
    /// A string with its quotes. Without its closing quote it ends at the end of the line.
    Text,
    /// An operator, a bracket, a separator, or a character that has no place in a model.
    Symbol,
    /// The end of a line.
    Newline,
    /// `# ...` or `// ...`, without the newline. Also `/* ... */`, which is refused.
    Comment,
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where.
    pub span: Span,
}

impl Token {
    /// Its text.
    pub fn text<'a>(&self, source: &'a str) -> &'a str {
        self.span.text(source)
    }

    /// Whether the grammar sees it: neither comment nor newline.
    pub fn is_solid(&self) -> bool {
        !matches!(self.kind, Kind::Newline | Kind::Comment)
    }
}

/// Symbols of two characters; every other symbol is one character.
const DOUBLE: [&str; 11] = ["..", ".*", "./", ".^", "+=", "==", "!=", "<=", ">=", "&&", "||"];

/// All tokens of the text, in order. Never fails: what is wrong is for others to say.
pub(crate) fn scan(source: &str) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(source.len() / 3);
    let mut at = 0;
    while let Some(rest) = source.get(at..).filter(|rest| !rest.is_empty()) {
        let (kind, length) = first(rest);
        if let Some(kind) = kind {
            tokens.push(Token { kind, span: Span::new(at, at + length) });
        }
        at += length;
    }
    tokens
}

/// Kind (`None` for a blank) and length in bytes of what the text begins with.
fn first(rest: &str) -> (Option<Kind>, usize) {
    let c = rest.chars().next().unwrap_or(' ');
    if c == '\n' {
        (Some(Kind::Newline), 1)
    } else if c.is_whitespace() || c == '\u{feff}' {
        (None, c.len_utf8())
    } else if c == '#' || rest.starts_with("//") {
        (Some(Kind::Comment), rest.find('\n').unwrap_or(rest.len()))
    } else if rest.starts_with("/*") {
        (Some(Kind::Comment), rest.find("*/").map_or(rest.len(), |end| end + 2))
    } else if c == '"' {
        (Some(Kind::Text), text_length(rest))
    } else if c.is_alphabetic() || c == '_' {
        (Some(Kind::Word), word_length(rest))
    } else if c.is_ascii_digit() || c == '.' && rest[1..].starts_with(|d: char| d.is_ascii_digit()) {
        (Some(Kind::Number), number_length(rest.as_bytes()))
    } else {
        let double = DOUBLE.iter().any(|d| rest.starts_with(d));
        (Some(Kind::Symbol), if double { 2 } else { c.len_utf8() })
    }
}

fn word_length(rest: &str) -> usize {
    rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len())
}

/// Length of a string, through its closing quote, or to the end of the line where there is none.
fn text_length(rest: &str) -> usize {
    let mut escaped = false;
    for (i, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return i,
            '"' if !escaped => return i + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    rest.len()
}

/// Length of a number. `1..3` begins with `1`, and so does `1.*x`; `1.` and `.5` are numbers.
fn number_length(bytes: &[u8]) -> usize {
    let mut at = digits(bytes, 0);
    let point = bytes.get(at) == Some(&b'.') && !matches!(bytes.get(at + 1), Some(b'.' | b'*' | b'/' | b'^'));
    if point {
        at = digits(bytes, at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        if bytes.get(at + 1 + sign).is_some_and(u8::is_ascii_digit) {
            at = digits(bytes, at + 1 + sign);
        }
    }
    at
}

/// The first place from `at` on that is not a digit (or, after a digit, a separating `_`).
fn digits(bytes: &[u8], at: usize) -> usize {
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    if !digit(at) {
        return at;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|b| b.is_ascii_digit() || **b == b'_').count()
}

#[cfg(test)]
mod tests {
    use super::{Kind, scan};

    fn texts(source: &str) -> Vec<&str> {
        scan(source).iter().map(|t| t.text(source)).collect()
    }

    #[test]
    fn cuts_numbers_where_ranges_and_elementwise_operators_begin() {
        for (source, expected) in [
            ("1..3", vec!["1", "..", "3"]),
            ("1.5..x", vec!["1.5", "..", "x"]),
            ("5.*x", vec!["5", ".*", "x"]),
            ("1. + .5", vec!["1.", "+", ".5"]),
            ("1e-3e", vec!["1e-3", "e"]),
            ("2e", vec!["2", "e"]),
            ("1_000", vec!["1_000"]),
        ] {
            assert_eq!(texts(source), expected, "{source}");
        }
    }

    #[test]
    fn strings_end_at_their_quote_or_at_the_line() {
        assert_eq!(texts(r#""a \" b" "c"#), [r#""a \" b""#, r#""c"#]);
        assert_eq!(texts("\"open\nx"), ["\"open", "\n", "x"]);
    }

    #[test]
    fn every_byte_is_a_blank_or_in_one_token() {
        let source = "é ~ normal(μ², 1) # ü\r\n\u{feff}“x” // y";
        let tokens = scan(source);
        assert!(tokens.windows(2).all(|w| w[0].span.end <= w[1].span.start));
        assert!(tokens.iter().all(|t| source.is_char_boundary(t.span.start) && t.span.start < t.span.end));
        assert_eq!(tokens.iter().filter(|t| t.kind == Kind::Comment).count(), 2);
    }
}
