//! Why a text is not a model, said one statement at a time in words that teach.
//!
//! The grammar only says that it failed and where. Here the text is cut into statements, each is read by
//! itself, and for each that fails the rows of the tables below are asked in order; the first that knows the
//! mistake explains it.

mod case;
mod clauses;
mod expected;
mod habits;
mod marks;
mod notation;
mod operators;
mod phrases;
mod slips;
mod stan;

use super::layout::Layout;
use super::parse::{Grammar, Rule};
use super::scan::Token;
use crate::source::Diagnostic;
use case::Case;
use pest::Parser;
use pest::error::InputLocation;
use std::ops::Range;

/// A mistake that is known: what it looks like, and what to say.
type Row = fn(&Case<'_>) -> Option<Diagnostic>;

/// Known mistakes, most telling first.
const TABLES: [&[Row]; 8] = [
    operators::CHARACTERS,
    stan::ROWS,
    notation::ROWS,
    marks::ROWS,
    phrases::ROWS,
    habits::ROWS,
    operators::ROWS,
    slips::ROWS,
];

/// Known mistakes in declarations of data, where words such as `for` can only be meant as names.
const DATA_TABLES: [&[Row]; 7] = [
    operators::CHARACTERS,
    stan::ROWS,
    notation::ROWS,
    marks::ROWS,
    phrases::ROWS,
    operators::ROWS,
    slips::ROWS,
];

/// Where a statement stands, which decides what it can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inside {
    /// Among statements, at the top or in a block.
    Statements,
    /// Among declarations of data.
    Data,
}

/// What the grammar will not read in the text: one problem for each statement that fails, up to `limit`.
/// Statements that hold one of the brackets or strings already complained of are passed over.
pub(super) fn explain(
    source: &str,
    text: &str,
    tokens: &[Token],
    layout: &Layout,
    limit: usize,
) -> Vec<Diagnostic> {
    let mut explainer = Explainer { source, text, tokens, layout, limit, problems: Vec::new() };
    explainer.statements(0..tokens.len(), Inside::Statements);
    explainer.problems
}

/// Where the grammar stops when it reads the text by the rule, if it does not read it whole.
pub(super) fn failure(rule: Rule, text: &str) -> Option<usize> {
    Grammar::parse(rule, text).err().map(|error| match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    })
}

/// A statement: its tokens, and the blocks in it.
struct Statement {
    tokens: Range<usize>,
    blocks: Vec<Block>,
}

impl Statement {
    /// Ends this statement before token `end`, and begins a new one at token `next`.
    fn end_at(&mut self, end: usize, next: usize) -> Statement {
        let rest = Statement { tokens: next..self.tokens.end, blocks: Vec::new() };
        let mut ended = std::mem::replace(self, rest);
        ended.tokens.end = end;
        ended
    }
}

/// A block: its opening brace, and what stands in it.
struct Block {
    open: usize,
    content: Range<usize>,
}

struct Explainer<'a> {
    source: &'a str,
    text: &'a str,
    tokens: &'a [Token],
    layout: &'a Layout,
    limit: usize,
    problems: Vec<Diagnostic>,
}

impl<'a> Explainer<'a> {
    fn statements(&mut self, range: Range<usize>, inside: Inside) {
        for statement in self.split(range, inside) {
            if self.problems.len() >= self.limit {
                return;
            }
            self.statement(&statement, inside);
        }
    }

    fn statement(&mut self, statement: &Statement, inside: Inside) {
        let tokens = self.solid(statement);
        let (Some(first), Some(last)) = (tokens.first().copied(), tokens.last()) else { return };
        let text = self.without_blocks(statement, first.span.start, last.span.end);
        let rule = match inside {
            Inside::Statements => Rule::one,
            Inside::Data => Rule::one_datum,
        };
        let marked =
            |p: &Diagnostic| p.labels.iter().any(|l| tokens.iter().any(|t| t.span.start == l.span.start));
        if let Some(at) = failure(rule, &text).filter(|_| !self.layout.problems.iter().any(marked)) {
            let case =
                Case::new(self.source, tokens, first.span.start + at, inside, self.separator(statement));
            self.problems.push(describe(&case));
            if stan::is_foreign_block(&case) || notation::is_braced_list(&case) {
                return;
            }
        }
        let within = if first.text(self.source).eq_ignore_ascii_case("data") {
            Inside::Data
        } else {
            Inside::Statements
        };
        for block in &statement.blocks {
            self.statements(block.content.clone(), within);
        }
    }

    /// The text of a statement with blanks for what its blocks hold: they are read by themselves.
    fn without_blocks(&self, statement: &Statement, start: usize, end: usize) -> String {
        let mut text = self.text.get(start..end).unwrap_or_default().as_bytes().to_vec();
        for token in statement.blocks.iter().flat_map(|b| &self.tokens[b.content.clone()]) {
            let (from, to) = (token.span.start.max(start), token.span.end.min(end));
            if from < to {
                text[from - start..to - start].fill(b' ');
            }
        }
        String::from_utf8(text).unwrap_or_default()
    }

    /// The tokens of the statement that the grammar sees, without what its blocks hold.
    fn solid(&self, statement: &Statement) -> Vec<Token> {
        let mut tokens = Vec::new();
        let mut i = statement.tokens.start;
        for block in &statement.blocks {
            tokens.extend_from_slice(&self.tokens[i..=block.open]);
            i = block.content.end;
        }
        tokens.extend_from_slice(&self.tokens[i..statement.tokens.end]);
        tokens.retain(Token::is_solid);
        tokens
    }

    /// What stands after the statement.
    fn separator(&self, statement: &Statement) -> &'a str {
        self.tokens.get(statement.tokens.end).map_or("", |t| t.text(self.source))
    }

    /// The statements in a range of tokens.
    fn split(&self, range: Range<usize>, inside: Inside) -> Vec<Statement> {
        let mut statements = Vec::new();
        let mut current = Statement { tokens: range.clone(), blocks: Vec::new() };
        let mut i = range.start;
        while i < range.end {
            let text = self.tokens[i].text(self.source);
            if self.layout.ends[i]
                || text == ";"
                || text == "," && inside == Inside::Data && !self.in_angle(i)
            {
                statements.push(current.end_at(i, i + 1));
            } else if text == "{" {
                let (end, next) = self.block_end(i, range.end);
                current.blocks.push(Block { open: i, content: i + 1..end });
                if !self.goes_on(next..range.end) {
                    statements.push(current.end_at(next, next));
                }
                i = next - 1;
            } else if let Some(close) = self.layout.partner[i].filter(|close| *close > i) {
                i = close;
            }
            i += 1;
        }
        statements.push(current);
        statements
    }

    /// Where the content of the block ends, and where what follows the block begins.
    fn block_end(&self, open: usize, limit: usize) -> (usize, usize) {
        match (self.layout.partner[open], self.layout.cut[open]) {
            (Some(close), _) => (close.min(limit), (close + 1).min(limit)),
            (None, Some(end)) => (end, end),
            (None, None) => (limit, limit),
        }
    }

    /// Whether a comma stands in Stan's `<lower=0, upper=1>`.
    fn in_angle(&self, comma: usize) -> bool {
        let next = |i: usize| self.tokens.get(comma + i).map_or("", |t| t.text(self.source));
        stan::is_bound_name(next(1)) && next(2) == "="
    }

    /// Whether what follows a block belongs to the same statement.
    fn goes_on(&self, rest: Range<usize>) -> bool {
        rest.take_while(|&i| !self.layout.ends[i])
            .find(|&i| self.tokens[i].is_solid())
            .is_some_and(|i| matches!(self.tokens[i].text(self.source), "else" | "{"))
    }
}

/// What the first row that knows the mistake says of it, or what was expected where the grammar stopped.
fn describe(case: &Case<'_>) -> Diagnostic {
    let tables: &[&[Row]] = match case.inside {
        Inside::Statements => &TABLES,
        Inside::Data => &DATA_TABLES,
    };
    let known = tables.iter().flat_map(|table| table.iter()).find_map(|row| row(case));
    known.unwrap_or_else(|| expected::expected(case))
}
