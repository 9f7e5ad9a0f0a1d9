//! Lines of a formatted model: alignment of declarations and of comments below each other, and the text as a
//! whole.

/// Lines longer than this do not push the comments of their neighbours to the right.
const COMMENT_COLUMN: usize = 72;

/// A line to be written.
pub(super) struct Line {
    /// Indentation, in steps of two blanks.
    pub level: usize,
    /// What stands on it, without the comment.
    pub text: String,
    /// The comment at its end, or alone on it.
    pub comment: Option<String>,
    /// Whether a blank line stands before it.
    pub blank: bool,
    /// Where it is aligned with its neighbours.
    pub head: Option<Head>,
    /// Whether its head has been passed.
    pub continues: bool,
}

/// The part of a declaration before its first `:` or `~`.
pub(super) struct Head {
    /// What is declared; only declarations of one kind are aligned with each other.
    pub kind: &'static str,
    /// Its width.
    pub width: usize,
}

impl Line {
    /// An empty line.
    pub fn new(level: usize) -> Self {
        Self { level, text: String::new(), comment: None, blank: false, head: None, continues: false }
    }

    fn is_comment(&self) -> bool {
        self.text.is_empty()
    }

    fn width(&self) -> usize {
        2 * self.level + self.text.chars().count()
    }
}

/// The text of all lines, aligned.
pub(super) fn join(mut lines: Vec<Line>) -> String {
    align_heads(&mut lines);
    let columns = comment_columns(&lines);
    let mut out = String::new();
    for (line, column) in lines.iter().zip(columns) {
        if line.blank {
            out.push('\n');
        }
        let mut text = format!("{}{}", "  ".repeat(line.level), line.text);
        if let Some(comment) = &line.comment {
            let pad = if line.is_comment() { 0 } else { column.saturating_sub(line.width()).max(2) };
            text.push_str(&" ".repeat(pad));
            text.push_str(comment);
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    out
}

/// Pads the heads of declarations that stand below each other, comments between them aside.
fn align_heads(lines: &mut [Line]) {
    let mut start = 0;
    while start < lines.len() {
        let end = group_end(lines, start);
        let width =
            lines[start..end].iter().filter_map(|l| l.head.as_ref()).map(|h| h.width).max().unwrap_or(0);
        for line in &mut lines[start..end] {
            if let Some(head) = &line.head {
                let at = line.text.char_indices().nth(head.width).map_or(line.text.len(), |(at, _)| at);
                line.text.insert_str(at, &" ".repeat(width - head.width));
            }
        }
        start = end;
    }
}

/// One past the last line that is aligned with the line at `start`.
fn group_end(lines: &[Line], start: usize) -> usize {
    let Some(first) = &lines[start].head else { return start + 1 };
    let level = lines[start].level;
    let belongs = |line: &Line| {
        !line.blank
            && line.level == level
            && (line.is_comment() || line.head.as_ref().is_some_and(|head| head.kind == first.kind))
    };
    lines[start + 1..].iter().position(|line| !belongs(line)).map_or(lines.len(), |n| start + 1 + n)
}

/// For every line, the column of its comment: the same for neighbours.
fn comment_columns(lines: &[Line]) -> Vec<usize> {
    let mut columns = vec![0; lines.len()];
    let has_comment = |line: &Line| line.comment.is_some() && !line.is_comment();
    let mut start = 0;
    while start < lines.len() {
        let run = lines[start..].iter().skip(1).take_while(|line| has_comment(line) && !line.blank).count();
        let end = start + 1 + if has_comment(&lines[start]) { run } else { 0 };
        let widths = lines[start..end].iter().map(Line::width).filter(|width| *width <= COMMENT_COLUMN);
        let column = widths.max().unwrap_or(0) + 2;
        columns[start..end].fill(column);
        start = end;
    }
    columns
}
