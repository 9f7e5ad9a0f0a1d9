//! The one place that turns a diagnostic into text for a person.

use super::{Diagnostic, Label, Place, Severity};
use std::fmt::Write;

/// Longest line of model text that is shown; longer ones are cut around the mark.
const SHOWN: usize = 100;

/// The diagnostic as text, with the lines of `source` (called `name`) that it marks.
pub fn render(diagnostic: &Diagnostic, name: &str, source: &str) -> String {
    let mut out = String::new();
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let _ = writeln!(out, "{severity}[{}]: {}", diagnostic.code, diagnostic.message);
    let width = diagnostic.labels.iter().map(|l| digits(l.span.line_column(source).0)).max().unwrap_or(1);
    for label in &diagnostic.labels {
        render_label(&mut out, label, name, source, width);
    }
    for place in &diagnostic.places {
        render_place(&mut out, place, width);
    }
    let pad = " ".repeat(width);
    for note in &diagnostic.notes {
        let _ = writeln!(out, "{pad} = note: {}", indent(note, width + 9));
    }
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(out, "{pad} = help: {}", indent(help, width + 9));
    }
    out
}

fn digits(n: usize) -> usize {
    n.to_string().len()
}

fn indent(text: &str, by: usize) -> String {
    text.replace('\n', &format!("\n{}", " ".repeat(by)))
}

fn render_label(out: &mut String, label: &Label, name: &str, source: &str, width: usize) {
    let (line, column) = label.span.line_column(source);
    let text: Vec<char> = source.lines().nth(line - 1).unwrap_or("").replace('\t', " ").chars().collect();
    let marked = label.span.text(source).lines().next().unwrap_or("").chars().count();
    let from = if column > SHOWN { column - SHOWN / 2 } else { 0 };
    let shown: String = text.iter().skip(from).take(SHOWN).collect();
    let before = column - 1 - from.min(column - 1);
    let carets = marked.clamp(1, SHOWN.saturating_sub(before).max(1));
    let pad = " ".repeat(width);
    let _ = writeln!(out, "{pad}--> {name}:{line}:{column}");
    let _ = writeln!(out, "{pad} |");
    let _ = writeln!(out, "{line:>width$} | {}", shown.trim_end());
    let marks = format!("{}{}", " ".repeat(before), "^".repeat(carets));
    let _ = writeln!(out, "{pad} | {}", format!("{marks} {}", label.text).trim_end());
}

fn render_place(out: &mut String, place: &Place, width: usize) {
    let mut text = place.file.clone();
    if let Some(line) = place.line {
        let _ = write!(text, ", line {line}");
    }
    if let Some(column) = &place.column {
        let _ = write!(text, ", column {column}");
    }
    if let Some(content) = &place.content {
        let _ = write!(text, ": {content}");
    }
    let _ = writeln!(out, "{}--> {text}", " ".repeat(width));
}
