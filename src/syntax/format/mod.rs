//! The canonical layout of a model: two blanks a level, one blank line between groups, comments kept, `:` and
//! `~` aligned.
//!
//! It works on tokens, not on the tree: what was written stays as written, number by number, and only blanks
//! move. Line breaks within a statement stay where they are.

mod lines;
mod spacing;
#[cfg(test)]
mod tests;

use super::dump::dump;
use super::layout::{Layout, layout};
use super::parse::parse;
use super::scan::{Kind, Token, scan};
use crate::source::Checked;
use lines::{Head, Line};
use spacing::Spacing;
use std::ops::Range;

/// Longest line that a block written on one line may make.
const WIDTH: usize = 100;

/// The model in canonical layout. Its meaning is that of `source`: the result is read again, and should it
/// ever mean something else, the text is given back unchanged.
pub fn format(source: &str) -> Checked<String> {
    let program = parse(source)?;
    let formatted = lay_out(source);
    let kept = parse(&formatted).is_ok_and(|again| dump(&again) == dump(&program));
    Ok(if kept { formatted } else { source.to_owned() })
}

/// The canonical layout of a text that can be read.
pub(super) fn lay_out(source: &str) -> String {
    let tokens = scan(source);
    let layout = layout(source, &tokens);
    let spacing = Spacing::new(source, &tokens);
    let mut formatter =
        Formatter { source, tokens: &tokens, layout: &layout, spacing, lines: Vec::new(), level: 0 };
    formatter.block(0..tokens.len(), false);
    lines::join(formatter.lines)
}

struct Formatter<'a> {
    source: &'a str,
    tokens: &'a [Token],
    layout: &'a Layout,
    spacing: Spacing<'a>,
    lines: Vec<Line>,
    level: usize,
}

impl Formatter<'_> {
    fn text(&self, i: usize) -> &str {
        self.tokens.get(i).map_or("", |t| t.text(self.source))
    }

    fn is(&self, i: usize, kind: Kind) -> bool {
        self.tokens.get(i).is_some_and(|t| t.kind == kind)
    }

    /// Statements, comments and blank lines between them.
    fn block(&mut self, range: Range<usize>, in_data: bool) {
        let first_line = self.lines.len();
        let mut newlines = usize::from(range.start == 0);
        let mut i = range.start;
        while i < range.end {
            let blank = newlines > 1 && self.lines.len() > first_line;
            if self.is(i, Kind::Newline) {
                newlines += 1;
                i += 1;
            } else if self.is(i, Kind::Comment) {
                self.comment(i, newlines == 0, self.level, blank);
                newlines = 0;
                i += 1;
            } else if self.separates(i, in_data) {
                i += 1;
            } else {
                self.lines.push(Line { blank, ..Line::new(self.level) });
                i = self.statement(i..range.end, in_data);
                newlines = 0;
            }
        }
    }

    fn separates(&self, i: usize, in_data: bool) -> bool {
        self.text(i) == ";" || in_data && self.text(i) == ","
    }

    /// A comment behind the last line, or on a line of its own.
    fn comment(&mut self, i: usize, trailing: bool, level: usize, blank: bool) {
        let text = self.text(i).trim_end().to_owned();
        match self.lines.last_mut().filter(|line| trailing && line.comment.is_none()) {
            Some(line) => line.comment = Some(text),
            None => self.lines.push(Line { blank, comment: Some(text), ..Line::new(level) }),
        }
    }

    /// One statement, onto the line just begun; returns where it ends.
    fn statement(&mut self, range: Range<usize>, in_data: bool) -> usize {
        let (mut open, mut last, mut broken) = (0_usize, None, false);
        let head = self.text(range.start).to_owned();
        let mut i = range.start;
        while i < range.end {
            let at_end = open == 0 && (self.layout.ends[i] || self.separates(i, in_data));
            if at_end {
                return i;
            }
            match self.tokens[i].kind {
                Kind::Newline => broken = true,
                Kind::Comment => {
                    self.comment(i, !broken, self.level + 1, false);
                    broken = true;
                }
                _ if self.text(i) == "{" => {
                    i = self.braces(i, head == "data");
                    last = Some(i);
                    if !self.goes_on(i + 1..range.end) {
                        return i + 1;
                    }
                    broken = false;
                }
                _ => {
                    self.break_line(i, open, broken);
                    self.align_here(i, last, open, in_data, &head);
                    self.push(i, last);
                    match self.text(i) {
                        "(" | "[" => open += 1,
                        ")" | "]" => open = open.saturating_sub(1),
                        _ => {}
                    }
                    (last, broken) = (Some(i), false);
                }
            }
            i += 1;
        }
        range.end
    }

    /// Whether `else` or a second block follows.
    fn goes_on(&self, rest: Range<usize>) -> bool {
        rest.take_while(|&i| !self.layout.ends[i])
            .find(|&i| self.tokens[i].is_solid())
            .is_some_and(|i| matches!(self.text(i), "else" | "{"))
    }

    /// Begins a continuation line where the text had a line break, or where a comment forces one.
    fn break_line(&mut self, i: usize, open: usize, broken: bool) {
        let forced = self.lines.last().is_some_and(|line| line.comment.is_some());
        let wanted = broken && self.text(i) != "else";
        if !(forced || wanted) {
            return;
        }
        let closers = (i..self.tokens.len()).take_while(|&j| matches!(self.text(j), ")" | "]")).count();
        let depth = if closers > 0 { open.saturating_sub(closers) } else { open.max(1) };
        let depth = if self.text(i) == "else" { 0 } else { depth };
        self.lines.push(Line::new(self.level + depth));
    }

    /// Marks the place where declarations below each other are aligned: before the first `:` or `~`.
    fn align_here(&mut self, i: usize, last: Option<usize>, open: usize, in_data: bool, head: &str) {
        let Some(line) = self.lines.last_mut() else { return };
        let declares = in_data || matches!(head, "param" | "data");
        let sign = matches!(self.tokens[i].text(self.source), ":" | "~");
        if declares && sign && open == 0 && last.is_some() && line.head.is_none() && !line.continues {
            let kind = if in_data { "datum" } else { "declaration" };
            line.head = Some(Head { kind, width: line.text.chars().count() });
            line.continues = true;
        }
    }

    fn push(&mut self, i: usize, last: Option<usize>) {
        let gap = last.is_some_and(|last| self.spacing.gap(last, i));
        let text = self.text(i).to_owned();
        if let Some(line) = self.lines.last_mut() {
            if gap && !line.text.is_empty() {
                line.text.push(' ');
            }
            line.text.push_str(&text);
        }
    }

    /// A block from its opening brace on; returns its closing brace.
    fn braces(&mut self, open: usize, in_data: bool) -> usize {
        let close = self.layout.partner[open].unwrap_or(open);
        if self.lines.last().is_some_and(|line| line.comment.is_some()) {
            self.lines.push(Line::new(self.level));
        }
        let inline = self.inline(open + 1..close, in_data);
        let Some(line) = self.lines.last_mut() else { return close };
        if !line.text.is_empty() {
            line.text.push(' ');
        }
        match inline.filter(|inline| 2 * self.level + line.text.chars().count() + inline.len() <= WIDTH) {
            Some(inline) => line.text.push_str(&inline),
            None => {
                line.text.push('{');
                self.level += 1;
                self.block(open + 1..close, in_data);
                self.level -= 1;
                self.lines.push(Line { text: "}".to_owned(), ..Line::new(self.level) });
            }
        }
        close
    }

    /// The block on one line, if it was written so.
    fn inline(&mut self, content: Range<usize>, in_data: bool) -> Option<String> {
        if !self.tokens[content.clone()].iter().all(Token::is_solid) {
            return None;
        }
        let outer = std::mem::take(&mut self.lines);
        let level = std::mem::take(&mut self.level);
        self.block(content, in_data);
        let inner = std::mem::replace(&mut self.lines, outer);
        self.level = level;
        let statements: Vec<String> = inner.into_iter().map(|line| line.text).collect();
        Some(match statements.join("; ").as_str() {
            "" => "{}".to_owned(),
            text => format!("{{ {text} }}"),
        })
    }
}
