//! How text is written: sentences that can be read at once, and lines that fit beside each other.

use std::path::{Path, PathBuf};

/// Most words of a sentence.
const MAX_WORDS: usize = 40;
/// Most columns of a line of code or comment, as in rustfmt.toml.
const MAX_COLUMNS: usize = 110;
/// Pages outside `docs`.
const PAGES: [&str; 3] = ["README.md", "models/README.md", "CHANGELOG.md"];
/// Folders with code.
const CODE: [&str; 5] = ["src", "crates", "tests", "benches", "examples"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a folder with this ending, by path below the root, with their text.
fn files(folder: &str, ending: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(&root().join(folder), ending, &mut found);
    let named = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path.strip_prefix(root()).unwrap().display().to_string(), text)
    };
    let mut all: Vec<(String, String)> = found.into_iter().map(named).collect();
    all.sort();
    all
}

fn collect(folder: &Path, ending: &str, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, ending, into);
        } else if path.extension().is_some_and(|e| e == ending) {
            into.push(path);
        }
    }
}

/// The paragraphs of a page with the numbers of their first lines: an item of a list is one, and headings,
/// tables, pictures and blocks of code are none.
fn paragraphs(page: &str) -> Vec<(usize, String)> {
    let (mut all, mut open): (Vec<(usize, String)>, bool) = (Vec::new(), false);
    let mut fenced = false;
    for (i, line) in page.lines().enumerate() {
        let text = line.trim();
        if text.starts_with("```") {
            fenced = !fenced;
            open = false;
            continue;
        }
        let indented = line.starts_with("    ") && !open;
        let apart = text.is_empty() || ["|", "#", "!["].iter().any(|mark| text.starts_with(mark));
        if fenced || indented || apart {
            open = false;
            continue;
        }
        let item = item(text);
        match all.last_mut() {
            Some((_, paragraph)) if open && item.is_none() => {
                paragraph.push(' ');
                paragraph.push_str(text);
            }
            _ => all.push((i + 1, item.unwrap_or(text).to_string())),
        }
        open = true;
    }
    all
}

/// What an item of a list says, if a line begins one.
fn item(line: &str) -> Option<&str> {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let after_number = (number.len() < line.len()).then(|| number.strip_prefix(". ")).flatten();
    line.strip_prefix("- ").or(line.strip_prefix("* ")).or(after_number)
}

/// The paragraph with a word in place of each piece of code and each address, which nobody reads as words.
fn readable(paragraph: &str) -> String {
    let pieces = paragraph.split('`').enumerate();
    let without_code: String = pieces.map(|(i, piece)| if i % 2 == 0 { piece } else { "code" }).collect();
    let mut out = String::new();
    let mut rest = without_code.as_str();
    while let Some(at) = rest.find("](") {
        out.push_str(&rest[..at]);
        rest = rest[at..].find(')').map_or("", |end| &rest[at + end + 1..]);
    }
    out + rest
}

/// The sentences of a paragraph, each as its words. A sentence ends with a word that ends with a full stop, a
/// question mark or an exclamation mark, whatever closes behind it.
fn sentences(paragraph: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for word in readable(paragraph).split_whitespace() {
        let has_letters = word.chars().any(char::is_alphanumeric);
        if has_letters && let Some(sentence) = all.last_mut() {
            sentence.push(word.to_string());
        }
        let closed = word.trim_end_matches(|c| ")]\"'*_".contains(c));
        if closed.ends_with(['.', '?', '!']) {
            all.push(Vec::new());
        }
    }
    all
}

#[test]
fn no_sentence_is_longer_than_can_be_read_at_once() {
    let mut pages = files("docs", "md");
    pages.extend(PAGES.map(|page| (page.to_string(), std::fs::read_to_string(root().join(page)).unwrap())));
    let mut long = Vec::new();
    for (path, page) in &pages {
        for (line, paragraph) in paragraphs(page) {
            let too_long = sentences(&paragraph).into_iter().filter(|words| words.len() > MAX_WORDS);
            long.extend(too_long.map(|words| {
                let begin = words[..8].join(" ");
                format!("{path}:{line}: a sentence of {} words: {begin} ...", words.len())
            }));
        }
    }
    assert!(long.is_empty(), "at most {MAX_WORDS} words are read at once:\n{}", long.join("\n"));
}

#[test]
fn sentences_are_told_apart() {
    let page = "# A heading that is no sentence\n\nOne `a. b. c` two. Three [four](five.six.md)\nfive (six!) Seven.\n\n\
                - An item. \n- Another?\n1. A third\n\n    code is skipped\n\n| a | table |\n\n```\nthis too\n```\n";
    let lengths: Vec<usize> = paragraphs(page)
        .iter()
        .flat_map(|(_, paragraph)| sentences(paragraph))
        .map(|words| words.len())
        .filter(|n| *n > 0)
        .collect();
    assert_eq!(lengths, [3, 4, 1, 2, 1, 2]);
}

/// Code without what its string literals hold, line by line: a literal may be as long as what it says, for no
/// formatter can break it. Comments stay.
fn without_literals(code: &str) -> String {
    let mut out = String::new();
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let taken = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(end) = literal_end(rest, out.chars().last()) {
            out.push('"');
            out.extend(rest[..end].chars().filter(|c| *c == '\n'));
            out.push('"');
            rest = &rest[end..];
            continue;
        } else {
            char_end(rest).unwrap_or(c.len_utf8())
        };
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    out
}

/// Where a string literal ends, if code begins with one; what stands before decides whether an r does.
fn literal_end(code: &str, before: Option<char>) -> Option<usize> {
    if let Some(text) = code.strip_prefix('"') {
        let mut escaped = false;
        let closes = |c: char| {
            let end = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            end
        };
        return Some(1 + text.find(closes).map_or(text.len(), |at| at + 1));
    }
    let in_name = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let hashes = code.strip_prefix('r').filter(|_| !in_name)?;
    let text = hashes.trim_start_matches('#');
    let count = hashes.len() - text.len();
    let text = text.strip_prefix('"')?;
    let closing = format!("\"{}", "#".repeat(count));
    let begin = code.len() - text.len();
    Some(begin + text.find(&closing).map_or(text.len(), |at| at + closing.len()))
}

/// Where a character between single quotes ends, if code begins with one: it may be a double quote.
fn char_end(code: &str) -> Option<usize> {
    let text = code.strip_prefix('\'')?;
    if let Some(escaped) = text.strip_prefix('\\') {
        return escaped.char_indices().skip(1).find(|(_, c)| *c == '\'').map(|(at, _)| at + 3);
    }
    let mut chars = text.chars();
    let first = chars.next()?;
    (chars.next() == Some('\'')).then(|| first.len_utf8() + 2)
}

#[test]
fn no_line_is_wider_than_others_are_read() {
    let mut wide = Vec::new();
    for (path, code) in CODE.iter().flat_map(|folder| files(folder, "rs")) {
        for (i, line) in without_literals(&code).lines().enumerate() {
            let columns = line.chars().count();
            if columns > MAX_COLUMNS {
                wide.push(format!("{path}:{}: {columns} columns", i + 1));
            }
        }
    }
    assert!(wide.is_empty(), "at most {MAX_COLUMNS} columns, but for literals:\n{}", wide.join("\n"));
}

#[test]
fn literals_are_told_from_code() {
    let code = "let a = \"x\\\"y\"; // \"kept\"\nlet b = r#\"q\"z\"#; let c = '\"'; let d = 'a'; let e: &'a str = \"\\\n  f\";\n";
    let expected =
        "let a = \"\"; // \"kept\"\nlet b = \"\"; let c = '\"'; let d = 'a'; let e: &'a str = \"\n\";\n";
    assert_eq!(without_literals(code), expected);
}
