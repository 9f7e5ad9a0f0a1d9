//! Where a blank stands between two tokens of a statement.

use crate::syntax::scan::{Kind, Token};

/// Words after which a value begins, so that a bracket or a minus after them stands apart.
const OPENERS: [&str; 14] = [
    "data", "param", "let", "for", "in", "if", "else", "fn", "return", "target", "derive", "predict", "of",
    "missing",
];

/// Words that are openers only where a clause can begin: after a value. Elsewhere they are names.
const CLAUSES: [&str; 6] = ["weight", "offset", "multiplier", "noncentered", "centered", "of"];

/// What the tokens of a text look like to their neighbours.
pub(super) struct Spacing<'a> {
    source: &'a str,
    tokens: &'a [Token],
    /// For every token, the innermost bracket that is open just before it.
    opening: Vec<Option<usize>>,
    /// For every token, whether a value ends with it.
    ends_value: Vec<bool>,
    /// For every token, whether it is a minus or `!` before a value.
    prefix: Vec<bool>,
    /// For every token, whether it opens an index or sizes.
    index: Vec<bool>,
}

impl<'a> Spacing<'a> {
    /// Looks at all tokens once.
    pub fn new(source: &'a str, tokens: &'a [Token]) -> Self {
        let n = tokens.len();
        let mut spacing = Self {
            source,
            tokens,
            opening: vec![None; n],
            ends_value: vec![false; n],
            prefix: vec![false; n],
            index: vec![false; n],
        };
        let mut open = Vec::new();
        let mut after_value = false;
        for (i, token) in tokens.iter().enumerate().filter(|(_, t)| t.is_solid()) {
            spacing.opening[i] = open.last().copied();
            let text = token.text(source);
            spacing.prefix[i] = matches!(text, "-" | "!") && !after_value;
            spacing.index[i] = text == "[" && after_value;
            match text {
                "(" | "[" | "{" => open.push(i),
                ")" | "]" | "}" => drop(open.pop()),
                _ => {}
            }
            // `weight[1] ~ ...` on a new line is about a variable of that name.
            let indexed =
                tokens.get(i + 1).is_some_and(|t| t.span.start == token.span.end && t.text(source) == "[");
            after_value = match token.kind {
                Kind::Word => {
                    !(OPENERS.contains(&text) || after_value && CLAUSES.contains(&text) && !indexed)
                }
                Kind::Number | Kind::Text => true,
                _ => matches!(text, ")" | "]" | "'"),
            };
            spacing.ends_value[i] = after_value;
        }
        spacing
    }

    fn text(&self, i: usize) -> &'a str {
        self.tokens[i].text(self.source)
    }

    /// Whether a blank stands between token `a` and token `b`, its neighbour.
    pub fn gap(&self, a: usize, b: usize) -> bool {
        match (self.text(a), self.text(b)) {
            (_, ")" | "]" | "," | ";" | "'") | ("(" | "[", _) => false,
            (",", _) => true,
            (_, "(" | "[") if self.ends_value[a] => false,
            (_, ":") => !self.inside(b, &["(", "["]),
            (":", _) => !self.inside(a, &["["]),
            (before, _) if self.is_tight(b) => before.ends_with('.'),
            _ if self.prefix[a] || self.is_tight(a) => false,
            _ => true,
        }
    }

    fn inside(&self, i: usize, brackets: &[&str]) -> bool {
        self.opening[i].is_some_and(|open| brackets.contains(&self.text(open)))
    }

    /// Whether it is an operator without blanks around it: `^`, `..`, and arithmetic in an index such as
    /// `x[t-1]`.
    fn is_tight(&self, i: usize) -> bool {
        match self.text(i) {
            "^" | ".^" | ".." => true,
            "+" | "-" | "*" | "/" => !self.prefix[i] && self.opening[i].is_some_and(|open| self.index[open]),
            _ => false,
        }
    }
}
