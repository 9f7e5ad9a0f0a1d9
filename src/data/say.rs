//! Wording that the diagnostics of this room share: lists of names, shortened contents, places.

use crate::source::{Place, nearest};
use crate::syntax::as_name;

/// Longest content shown, in characters.
const SHOWN: usize = 40;

/// Most names listed.
const LISTED: usize = 20;

/// A text made fit to show on one line.
pub fn shown(text: &str) -> String {
    let mut out: String = text.chars().take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(SHOWN).is_some() {
        out.push('…');
    }
    out
}

/// `a, b, c and 3 more`.
pub fn listed<S: AsRef<str>>(names: &[S]) -> String {
    let mut out = names.iter().take(LISTED).map(|n| shown(n.as_ref())).collect::<Vec<_>>().join(", ");
    if names.len() > LISTED {
        out.push_str(&format!(" and {} more", names.len() - LISTED));
    }
    out
}

/// `did you mean 'dose'?`, if a known name is close.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(name, known).map(|near| format!("did you mean `{near}`?"))
}

/// The column that a name stands for in all but the signs that a name cannot have, or a slip away.
pub fn nearest_column<'a>(name: &str, columns: &[&'a str]) -> Option<&'a str> {
    let same = |column: &&&str| as_name(column).eq_ignore_ascii_case(name);
    columns.iter().find(same).copied().or_else(|| nearest(name, columns.iter().copied()))
}

/// `1 row`, `3 rows`.
pub fn counted(n: usize, thing: &str) -> String {
    let (stem, plural) = match thing.strip_suffix('y') {
        Some(stem) if n != 1 => (stem, "ies"),
        _ => (thing, if n == 1 { "" } else { "s" }),
    };
    format!("{n} {stem}{plural}")
}

/// A place that is a whole file.
pub fn file(name: &str) -> Place {
    Place { file: name.to_string(), line: None, column: None, content: None }
}

/// A line of a file, with what stands there.
pub fn line(name: &str, line: usize, content: Option<&str>) -> Place {
    Place { line: Some(line), content: content.map(shown), ..file(name) }
}
