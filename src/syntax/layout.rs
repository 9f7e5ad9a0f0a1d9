//! Which newlines end a statement, and which bracket belongs to which: found once, before the grammar reads
//! the text.

use super::scan::{Kind, Token};
use crate::source::{Diagnostic, Span};

/// Brackets within brackets beyond this are refused: nothing readable comes near, and every later stage
/// recurses.
pub(crate) const MAX_NESTING: usize = 100;

/// Most problems reported at once.
pub(crate) const MAX_PROBLEMS: usize = 10;

/// Words that begin a statement and can be nothing else.
pub(crate) const STARTERS: [&str; 10] =
    ["data", "param", "let", "for", "if", "fn", "derive", "predict", "target", "return"];

/// Words that continue the line before, unless what follows shows that they are names.
const CONTINUING_WORDS: [&str; 10] =
    ["else", "noncentered", "centered", "weight", "missing", "of", "levels", "offset", "multiplier", "in"];

/// Symbols after which, or before which, a line goes on.
const JOINING: [&str; 24] = [
    "~", "=", "+=", ",", ":", "..", "+", "-", "*", "/", ".*", "./", "^", ".^", "==", "!=", "<", "<=", ">",
    ">=", "&&", "||", "|", "!",
];

/// The line structure of a text.
pub(crate) struct Layout {
    /// For every token: whether it is a newline that ends a statement.
    pub ends: Vec<bool>,
    /// For every token that opens or closes a bracket, its partner.
    pub partner: Vec<Option<usize>>,
    /// For every opening brace without its closing one, the token before which the block must have ended, if
    /// known.
    pub cut: Vec<Option<usize>>,
    /// Unclosed and stray brackets, unclosed strings, nesting too deep.
    pub problems: Vec<Diagnostic>,
    /// Nested too deeply for the grammar to look at it.
    pub hopeless: bool,
}

/// Finds the line structure of the tokens of `source`.
pub(crate) fn layout(source: &str, tokens: &[Token]) -> Layout {
    let mut walk = Walk {
        source,
        tokens,
        following: following(tokens),
        open: Vec::new(),
        last: None,
        at_line_start: true,
        open_before_line: 0,
        out: Layout {
            ends: vec![false; tokens.len()],
            partner: vec![None; tokens.len()],
            cut: vec![None; tokens.len()],
            problems: Vec::new(),
            hopeless: false,
        },
    };
    for (i, token) in tokens.iter().enumerate() {
        walk.step(i);
        if walk.open.len() > MAX_NESTING {
            walk.out.problems = vec![too_deep(token.span)];
            walk.out.hopeless = true;
            return walk.out;
        }
    }
    walk.finish();
    walk.out
}

/// The text as the grammar reads it, byte for byte in place: blanks for comments and for newlines that end
/// nothing.
pub(crate) fn flatten(source: &str, tokens: &[Token], layout: &Layout) -> String {
    let mut text = vec![b' '; source.len()];
    for (token, &ends) in tokens.iter().zip(&layout.ends) {
        if ends || token.is_solid() {
            let range = token.span.start..token.span.end;
            text[range.clone()].copy_from_slice(&source.as_bytes()[range]);
        }
    }
    String::from_utf8(text).unwrap_or_default()
}

/// The error for nesting beyond what any stage handles.
pub(crate) fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::error("too-deep", "this is nested too deeply to be read")
        .label(span, "one level too many")
        .help("give the inner parts names of their own with `let`")
}

/// The error for a comment of another language.
fn other_comment(span: Span, sign: &str) -> Diagnostic {
    Diagnostic::error("other-comment", format!("{sign} is no comment here"))
        .label(span, "")
        .help("a comment begins with `#` or `//`, on each of its lines, and ends with the line")
}

/// For every token, the next one that is neither comment nor newline.
fn following(tokens: &[Token]) -> Vec<Option<usize>> {
    let mut next = None;
    let mut out = vec![None; tokens.len()];
    for (i, token) in tokens.iter().enumerate().rev() {
        out[i] = next;
        if token.is_solid() {
            next = Some(i);
        }
    }
    out
}

/// An open bracket.
#[derive(Clone, Copy)]
struct Open {
    /// Its token.
    token: usize,
    /// Whether it stands after `in`: `in (0, 1]` may mix its brackets.
    interval: bool,
    /// Whether it stands after `data`: no statement begins in that block.
    data: bool,
}

/// The walk over the tokens: open brackets and the last token that is neither comment nor newline.
struct Walk<'a> {
    source: &'a str,
    tokens: &'a [Token],
    following: Vec<Option<usize>>,
    open: Vec<Open>,
    last: Option<usize>,
    at_line_start: bool,
    /// How many brackets were open where the line began.
    open_before_line: usize,
    out: Layout,
}

impl Walk<'_> {
    fn text(&self, i: usize) -> &str {
        self.tokens.get(i).map_or("", |t| t.text(self.source))
    }

    /// Notes a problem, unless there are more than anybody reads.
    fn report(&mut self, problem: Diagnostic) {
        if self.out.problems.len() < MAX_PROBLEMS {
            self.out.problems.push(problem);
        }
    }

    fn step(&mut self, i: usize) {
        let token = self.tokens[i];
        match token.kind {
            Kind::Newline => {
                self.out.ends[i] = self.ends_statement(i);
                self.at_line_start = true;
                self.open_before_line = self.open.len();
                return;
            }
            Kind::Comment => {
                if self.text(i).starts_with("/*") {
                    self.report(other_comment(token.span, "`/* ... */`"));
                }
                return;
            }
            Kind::Word if self.at_line_start && self.starts_statement(i) => {
                self.close_round();
                self.close_data(i);
            }
            Kind::Text => self.check_quote(token),
            Kind::Symbol => match self.text(i) {
                "(" | "[" | "{" => {
                    let before = self.last.map_or("", |last| self.text(last));
                    self.open.push(Open { token: i, interval: before == "in", data: before == "data" });
                }
                ")" | "]" | "}" => self.close(i),
                "-" if self.at_line_start && self.source[token.span.end..].starts_with('-') => {
                    self.report(other_comment(token.span, "`--`"));
                }
                _ => {}
            },
            Kind::Word | Kind::Number => {}
        }
        self.last = Some(i);
        self.at_line_start = false;
    }

    /// Whether the innermost open bracket is round or square: newlines are blanks there.
    fn inside_round(&self) -> bool {
        self.open.last().is_some_and(|o| self.text(o.token) != "{")
    }

    fn ends_statement(&self, newline: usize) -> bool {
        if self.inside_round() {
            return false;
        }
        let Some(next) = self.following[newline] else { return true };
        if self.starts_statement(next) || self.declares(next) {
            return true;
        }
        let after_joining = self.last.is_some_and(|last| match self.tokens[last].kind {
            Kind::Symbol => JOINING.contains(&self.text(last)),
            Kind::Word => matches!(self.text(last), "in" | "else"),
            _ => false,
        });
        !(after_joining || self.continues_line(next))
    }

    /// Whether a declaration of data begins here: between braces nothing else has a colon after a word.
    fn declares(&self, i: usize) -> bool {
        self.tokens[i].kind == Kind::Word && self.following[i].is_some_and(|n| self.text(n) == ":")
    }

    /// Whether a line that begins with this token continues the one before.
    fn continues_line(&self, i: usize) -> bool {
        match self.tokens[i].kind {
            Kind::Symbol => self.text(i) == "{" || self.text(i) != "!" && JOINING.contains(&self.text(i)),
            Kind::Word if CONTINUING_WORDS.contains(&self.text(i)) => {
                // `weight : real[N]`, `offset ~ normal(0, 1)` and `weight[1] ~ ...` are about variables of
                // that name.
                let next = self.following[i];
                let glued = self.tokens.get(i + 1).is_some_and(|t| t.span.start == self.tokens[i].span.end);
                !next.is_some_and(|n| match self.text(n) {
                    ":" | "~" | "=" | "+=" => true,
                    "[" => glued,
                    _ => false,
                })
            }
            _ => false,
        }
    }

    /// Whether this word can only begin a statement.
    fn starts_statement(&self, i: usize) -> bool {
        STARTERS.contains(&self.text(i))
            && !self.following[i].is_some_and(|n| matches!(self.text(n), "=" | "," | ")" | "]" | ":"))
    }

    fn check_quote(&mut self, token: Token) {
        let content = token.text(self.source).strip_prefix('"').and_then(|t| t.strip_suffix('"'));
        let closed = |content: &str| content.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 0;
        if !content.is_some_and(closed) {
            // What closes the brackets of this line is in the string now.
            self.open.truncate(self.open_before_line);
            self.report(
                Diagnostic::error("unclosed-string", "this text has no closing quote")
                    .label(token.span, "opened here")
                    .help("close it with `\"` on the same line"),
            );
        }
    }

    /// Reports the innermost `(` or `[` that is open where a statement or a block must end, and forgets all
    /// such.
    fn close_round(&mut self) {
        if let Some(innermost) = self.open.last().copied().filter(|_| self.inside_round()) {
            let problem = self.unclosed(innermost.token);
            self.report(problem);
        }
        while self.inside_round() {
            self.open.pop();
        }
    }

    /// Reports a block of data that is open where a statement begins, and forgets it.
    fn close_data(&mut self, i: usize) {
        if let Some(open) = self.open.pop_if(|open| open.data) {
            let problem = self.unclosed(open.token);
            self.report(problem);
            self.out.cut[open.token] = Some(i);
        }
    }

    fn close(&mut self, i: usize) {
        let bracket = self.text(i);
        if bracket == "}" && self.open.iter().any(|o| self.text(o.token) == "{") {
            self.close_round();
        }
        let Some(&opening) = self.open.last() else { return self.stray(i) };
        let opened = self.text(opening.token);
        let bracket = self.text(i);
        if (bracket == "}") != (opened == "{") {
            return self.stray(i);
        }
        if bracket != closing(opened) && !opening.interval {
            let problem =
                Diagnostic::error("mismatched-bracket", format!("`{opened}` is closed by `{bracket}`"))
                    .label(self.tokens[i].span, format!("expected `{}`", closing(opened)))
                    .label(self.tokens[opening.token].span, "opened here");
            self.report(problem);
        }
        self.open.pop();
        self.out.partner[i] = Some(opening.token);
        self.out.partner[opening.token] = Some(i);
    }

    fn stray(&mut self, i: usize) {
        let bracket = self.text(i);
        let opening = match bracket {
            ")" => "(",
            "]" => "[",
            _ => "{",
        };
        let problem = Diagnostic::error("stray-bracket", format!("this `{bracket}` closes nothing"))
            .label(self.tokens[i].span, format!("no `{opening}` is open here"))
            .help(format!("remove it, or add the `{opening}` that it should close"));
        self.report(problem);
    }

    fn unclosed(&self, opening: usize) -> Diagnostic {
        let opened = self.text(opening);
        Diagnostic::error("unclosed-bracket", format!("this `{opened}` is never closed"))
            .label(self.tokens[opening].span, "opened here")
            .help(format!("add the missing `{}`", closing(opened)))
    }

    fn finish(&mut self) {
        self.close_round();
        if let Some(open) = self.open.last() {
            let problem = self.unclosed(open.token);
            self.report(problem);
        }
    }
}

fn closing(opening: &str) -> &'static str {
    match opening {
        "(" => ")",
        "[" => "]",
        _ => "}",
    }
}
