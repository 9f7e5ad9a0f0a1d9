//! From model text to syntax tree: the grammar reads the text, the files here build the tree from what it
//! found.

mod dist;
mod expression;
mod statement;
mod types;

#[cfg(test)]
mod tests;

use super::ast::{Ident, Program, StrLit};
use super::explain::{explain, failure};
use super::layout::{MAX_PROBLEMS, flatten, layout, too_deep};
use super::scan::scan;
use crate::source::{Checked, Diagnostic, Span};
use pest::Parser;
use pest::iterators::Pair;

/// The generated parser; private, because its rules are nobody else's business.
mod grammar {
    #![allow(missing_docs)]

    /// Reads text by the rules of `grammar/stickler.pest`.
    #[derive(pest_derive::Parser)]
    #[grammar = "../grammar/stickler.pest"]
    pub(crate) struct Grammar;
}

pub(crate) use grammar::{Grammar, Rule};

/// Longest model text in bytes. Anything larger is data in the wrong place, or the wrong file.
const MAX_LENGTH: usize = 1 << 20;

/// Greatest height of a tree. Every later stage recurses over it, on threads with small stacks too.
const MAX_HEIGHT: usize = 500;

/// Reads a model. The errors are all that could be found, at most ten, in the order of the text.
pub fn parse(source: &str) -> Checked<Program> {
    if source.len() > MAX_LENGTH {
        return Err(vec![too_long(source)]);
    }
    let tokens = scan(source);
    let layout = layout(source, &tokens);
    if layout.hopeless {
        return Err(layout.problems);
    }
    let text = flatten(source, &tokens, &layout);
    if let ([], Ok(mut pairs)) = (layout.problems.as_slice(), Grammar::parse(Rule::program, &text)) {
        let mut builder = Builder::new(&text);
        return match pairs.next().map(|pair| builder.program(pair)) {
            Some(program) if builder.problems.is_empty() => Ok(program),
            _ => Err(first_problems(builder.problems)),
        };
    }
    let mut problems = explain(source, &text, &tokens, &layout, MAX_PROBLEMS);
    problems.extend(layout.problems);
    if problems.is_empty() {
        problems.push(elsewhere(&text));
    }
    Err(first_problems(problems))
}

/// The error for a text of which every statement can be read but the whole cannot.
fn elsewhere(text: &str) -> Diagnostic {
    let at = failure(Rule::program, text).unwrap_or(0);
    Diagnostic::error("unexpected", "this does not belong here")
        .label(Span::new(at, at), "reading stopped here")
}

/// The problems in the order of the text, cut to a number that a person reads.
fn first_problems(mut problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    problems.sort_by_key(|p| p.labels.first().map(|l| l.span.start));
    problems.truncate(MAX_PROBLEMS);
    problems
}

fn too_long(source: &str) -> Diagnostic {
    let size = source.len() as f64 / (1 << 20) as f64;
    Diagnostic::error("too-long", format!("this model has {size:.1} MB of text; the limit is 1 MB"))
        .label(Span::new(0, 0), "")
        .help("put long lists of numbers in a data file; is this perhaps the data file?")
}

/// Builds the tree from the pairs that the grammar found, and notes what the grammar cannot see.
pub(crate) struct Builder<'a> {
    /// The text that was read; places in it are places in the model.
    text: &'a str,
    /// What is wrong.
    pub problems: Vec<Diagnostic>,
    /// Bound on the height of the tree above what is being built.
    height: usize,
}

impl<'a> Builder<'a> {
    /// A builder for what was read from `text`.
    pub fn new(text: &'a str) -> Self {
        Self { text, problems: Vec::new(), height: 0 }
    }

    /// Where a pair stands, without the blanks that an optional rule may have swallowed at its end.
    fn span(&self, pair: &Pair<'_, Rule>) -> Span {
        let start = pair.as_span().start();
        Span::new(start, start + pair.as_str().trim_end().len())
    }

    fn ident(&self, pair: &Pair<'_, Rule>) -> Ident {
        Ident { name: pair.as_str().to_owned(), span: self.span(pair) }
    }

    fn string(&self, pair: &Pair<'_, Rule>) -> StrLit {
        StrLit { text: unescape(pair.as_str()), span: self.span(pair) }
    }

    /// Goes `levels` down the tree; false, with the problem noted, where the tree would become too high.
    fn descend(&mut self, levels: usize, span: Span) -> bool {
        self.height += levels;
        let fits = self.height <= MAX_HEIGHT;
        if !fits {
            self.problems.push(too_deep(span));
        }
        fits
    }

    fn ascend(&mut self, levels: usize) {
        self.height -= levels;
    }
}

/// The content of a quoted string: `\"` and `\\` stand for a quote and a backslash; other backslashes for
/// themselves.
fn unescape(quoted: &str) -> String {
    let inner = quoted.strip_prefix('"').and_then(|q| q.strip_suffix('"')).unwrap_or(quoted);
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some(&next @ ('"' | '\\'))) => {
                out.push(next);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}
