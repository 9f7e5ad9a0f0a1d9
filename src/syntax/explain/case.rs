//! One statement that the grammar would not read, in the form in which the tables of known mistakes look at
//! it.

use super::Inside;
use crate::source::{Diagnostic, Span};
use crate::syntax::names::RESERVED;
use crate::syntax::scan::{Kind, Token, scan};

/// A statement and the place where reading it failed.
pub(crate) struct Case<'a> {
    source: &'a str,
    tokens: Vec<Token>,
    /// For every token, and for the end, the innermost bracket that is open just before it.
    opening: Vec<Option<usize>>,
    /// For every opening bracket, the closing one.
    closing: Vec<Option<usize>>,
    /// Index of the token that did not fit; the number of tokens if the statement ended too early.
    pub found: usize,
    /// What it stands among.
    pub inside: Inside,
    /// What separates the statement from the next: a newline, `;`, `,` or nothing.
    pub separator: &'a str,
}

impl<'a> Case<'a> {
    /// The case of a statement that failed at a byte of the source.
    pub fn new(source: &'a str, tokens: Vec<Token>, at: usize, inside: Inside, separator: &'a str) -> Self {
        let found = tokens.iter().position(|t| t.span.end > at).unwrap_or(tokens.len());
        let mut case =
            Self { source, tokens, opening: Vec::new(), closing: Vec::new(), found, inside, separator };
        case.pair_brackets();
        case
    }

    fn pair_brackets(&mut self) {
        let mut open = Vec::new();
        self.closing = vec![None; self.len()];
        for i in 0..self.len() {
            self.opening.push(open.last().copied());
            match self.text(i) {
                "(" | "[" | "{" => open.push(i),
                ")" | "]" | "}" => {
                    if let Some(partner) = open.pop() {
                        self.closing[partner] = Some(i);
                    }
                }
                _ => {}
            }
        }
        self.opening.push(open.last().copied());
    }

    /// How many tokens it has.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Text of a token; empty beyond the end.
    pub fn text(&self, i: usize) -> &'a str {
        self.tokens.get(i).map_or("", |t| t.text(self.source))
    }

    /// Text of the token that did not fit; empty at the end of the statement.
    pub fn found_text(&self) -> &'a str {
        self.text(self.found)
    }

    /// Text of the token before `i`; empty at the beginning.
    pub fn before(&self, i: usize) -> &'a str {
        i.checked_sub(1).map_or("", |i| self.text(i))
    }

    /// Whether the tokens from `i` on read like this.
    pub fn reads(&self, i: usize, texts: &[&str]) -> bool {
        texts.iter().enumerate().all(|(k, text)| self.text(i + k) == *text)
    }

    /// Whether the token is a number.
    pub fn is_number(&self, i: usize) -> bool {
        self.tokens.get(i).is_some_and(|t| t.kind == Kind::Number)
    }

    /// Whether the token is a word that may be a name.
    pub fn is_name(&self, i: usize) -> bool {
        self.is_word(i) && !RESERVED.contains(&self.text(i))
    }

    /// Whether the token is a word.
    pub fn is_word(&self, i: usize) -> bool {
        self.tokens.get(i).is_some_and(|t| t.kind == Kind::Word)
    }

    /// Whether the model declares this name as data.
    pub fn is_data(&self, name: &str) -> bool {
        self.data_type(name).is_some()
    }

    /// Whether the model declares this name as data with a size.
    pub fn is_column(&self, name: &str) -> bool {
        self.data_type(name).is_some_and(|(_, sizes)| sizes == "[")
    }

    /// The type of the data that the model declares by this name, and what follows it.
    fn data_type(&self, name: &str) -> Option<(&'a str, &'a str)> {
        let tokens = scan(self.source);
        let text = |t: &Token| t.text(self.source);
        tokens.split(|t| text(t) == "data").skip(1).find_map(|declared| {
            let close = if declared.first().is_some_and(|t| text(t) == "{") { "}" } else { "\n" };
            let end = declared.iter().position(|t| text(t) == close).unwrap_or(declared.len());
            let at = |i: usize| declared[..end].get(i).map_or("", text);
            (0..end).find(|&i| at(i) == name && at(i + 1) == ":").map(|i| (at(i + 2), at(i + 3)))
        })
    }

    /// Whether a value may end with this token.
    pub fn ends_value(&self, i: usize) -> bool {
        let Some(token) = self.tokens.get(i) else { return false };
        match token.kind {
            Kind::Word => self.is_name(i) || matches!(self.text(i), "true" | "false"),
            Kind::Number | Kind::Text => true,
            Kind::Symbol => matches!(self.text(i), ")" | "]" | "'"),
            Kind::Newline | Kind::Comment => false,
        }
    }

    /// Whether a value may begin with this token.
    pub fn begins_value(&self, i: usize) -> bool {
        let Some(token) = self.tokens.get(i) else { return false };
        match token.kind {
            Kind::Word => self.is_name(i) || matches!(self.text(i), "true" | "false"),
            Kind::Number | Kind::Text => true,
            Kind::Symbol => matches!(self.text(i), "(" | "[" | "-" | "!"),
            Kind::Newline | Kind::Comment => false,
        }
    }

    /// Whether a new line begins with token `i`.
    pub fn begins_line(&self, i: usize) -> bool {
        let (Some(before), Some(token)) =
            (i.checked_sub(1).and_then(|b| self.tokens.get(b)), self.tokens.get(i))
        else {
            return false;
        };
        self.source.get(before.span.end..token.span.start).is_some_and(|between| between.contains('\n'))
    }

    /// Whether no blank stands between token `i` and the next.
    pub fn glued(&self, i: usize) -> bool {
        let pair = self.tokens.get(i).zip(self.tokens.get(i + 1));
        pair.is_some_and(|(a, b)| a.span.end == b.span.start)
    }

    /// The first place at which a condition holds.
    pub fn find(&self, holds: impl Fn(usize) -> bool) -> Option<usize> {
        (0..self.len()).find(|&i| holds(i))
    }

    /// Place of the closing bracket that belongs to the opening one at `open`.
    pub fn closing(&self, open: usize) -> Option<usize> {
        self.closing.get(open).copied().flatten()
    }

    /// The innermost bracket that is open just before token `i`.
    pub fn opening(&self, i: usize) -> Option<usize> {
        self.opening.get(i).copied().flatten()
    }

    /// Where the value that ends before token `i` begins: a name, number, bracket or call with its indices.
    pub fn value_before(&self, i: usize) -> usize {
        let mut at = i;
        while at > 0 {
            match self.text(at - 1) {
                ")" | "]" => match self.opening(at - 1) {
                    Some(open) => at = open,
                    None => return at,
                },
                "'" => at -= 1,
                _ => return if self.ends_value(at - 1) { at - 1 } else { at },
            }
            let callee = at > 0 && (self.ends_value(at - 1) && self.text(at) != "'");
            if !callee && self.text(at) != "'" {
                return at;
            }
        }
        at
    }

    /// One past the end of the value that begins at token `i`.
    pub fn value_after(&self, i: usize) -> usize {
        let mut at = i;
        while matches!(self.text(at), "-" | "!") {
            at += 1;
        }
        if !matches!(self.text(at), "(" | "[") {
            at += 1;
        }
        loop {
            match self.text(at) {
                "(" | "[" => at = self.closing(at).map_or(self.len(), |close| close + 1),
                "'" => at += 1,
                _ => return at.min(self.len()),
            }
        }
    }

    /// Where a token stands; just past the last one beyond the end.
    pub fn span(&self, i: usize) -> Span {
        let end = self.tokens.last().map_or(0, |t| t.span.end);
        self.tokens.get(i).map_or(Span::new(end, end), |t| t.span)
    }

    /// Where the tokens from `from` up to, not including, `to` stand.
    pub fn over(&self, from: usize, to: usize) -> Span {
        if from < to { self.span(from).to(self.span(to - 1)) } else { self.span(from) }
    }

    /// What was written there, on one line.
    pub fn written(&self, from: usize, to: usize) -> String {
        let mut text = String::new();
        for i in from..to.min(self.len()) {
            if i > from && !self.glued(i - 1) {
                text.push(' ');
            }
            text.push_str(self.text(i));
        }
        text
    }

    /// The texts between commas, from token `from` up to `to`, brackets kept together.
    pub fn entries(&self, from: usize, to: usize) -> Vec<String> {
        let mut out = Vec::new();
        let (mut start, mut i) = (from, from);
        while i < to {
            match self.text(i) {
                "," => {
                    out.push(self.written(start, i));
                    start = i + 1;
                }
                "(" | "[" => i = self.closing(i).unwrap_or(to),
                _ => {}
            }
            i += 1;
        }
        out.push(self.written(start, to));
        out
    }

    /// The statement with the tokens `from..to` replaced, on one line: what to write instead.
    pub fn with(&self, from: usize, to: usize, instead: &str) -> String {
        let (head, tail) = (self.written(0, from), self.written(to, self.len()));
        let gap_before = if from > 0 && self.glued(from - 1) { "" } else { " " };
        let gap_after = if to > 0 && self.glued(to - 1) { "" } else { " " };
        format!("{head}{gap_before}{instead}{gap_after}{tail}").trim().to_owned()
    }

    /// An error about the tokens from `from` up to, not including, `to`.
    pub fn error(
        &self,
        code: &'static str,
        message: impl Into<String>,
        marked: (usize, usize),
        label: &str,
    ) -> Diagnostic {
        Diagnostic::error(code, message).label(self.over(marked.0, marked.1), label)
    }
}

/// 'write `...`', cut where it would be too long to read.
pub(super) fn write(text: &str) -> String {
    format!("write `{}`", short(text, 120))
}

/// Text cut to a length.
pub(super) fn short(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return text.to_owned();
    }
    let cut: String = text.chars().take(length - 3).collect();
    format!("{cut}...")
}
