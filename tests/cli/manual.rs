//! Every example of the manual runs, and the reference names everything there is.

use stickler::data::Dataset;
use stickler::infer::{Finding, Severity};
use stickler::source::render;
use stickler::target::{ModelTarget, Target};

const MANUAL: &str = include_str!("../../docs/language.md");
const REFERENCE: &str = include_str!("../../docs/reference.md");
const FIT: &str = include_str!("../../docs/fit.md");

/// A fenced block: the line of its opening fence, its language and its text.
struct Block {
    line: usize,
    language: String,
    text: String,
}

/// The fenced blocks of a page, in order.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (i, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), open.as_mut()) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(language), None) => {
                open = Some(Block { line: i + 1, language: language.trim().into(), text: String::new() });
            }
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fenced block is not closed");
    blocks
}

/// Each model with its data, or what is wrong with the page.
fn examples(page: &str) -> Vec<(Block, Block)> {
    let mut pairs = Vec::new();
    let mut all = blocks(page).into_iter();
    while let Some(model) = all.next() {
        if model.language != "ppl" {
            continue;
        }
        match all.next() {
            Some(data) if data.language == "csv" || data.language == "json" => pairs.push((model, data)),
            _ => panic!("the model in line {} of the manual is not followed by its data", model.line),
        }
    }
    pairs
}

/// What is wrong with an example.
fn problem(model: &Block, data: &Block) -> Option<String> {
    let name = format!("data.{}", data.language);
    let dataset = match Dataset::from_texts(&[(name.as_str(), data.text.as_str())]) {
        Ok(dataset) => dataset,
        Err(error) => return Some(render(&error, "model.ppl", &model.text)),
    };
    match ModelTarget::new(&model.text, &dataset) {
        Ok(target) => {
            let density = target.split(&vec![0.0; target.dimension()]).total();
            density.is_nan().then(|| "the log density at zeros is not a number\n".into())
        }
        Err(errors) => Some(errors.iter().map(|e| render(e, "model.ppl", &model.text)).collect()),
    }
}

#[test]
fn every_example_of_the_manual_runs() {
    let examples = examples(MANUAL);
    assert!(examples.len() > 15, "only {} examples were found", examples.len());
    let problems: Vec<String> = examples
        .iter()
        .filter_map(|(model, data)| {
            problem(model, data).map(|p| format!("docs/language.md, line {}:\n{p}", model.line))
        })
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Whether the reference lists a call of `name`, or the bare name between backticks.
fn is_listed(name: &str) -> bool {
    REFERENCE.contains(&format!("`{name}(")) || REFERENCE.contains(&format!("`{name}`"))
}

/// The rows of findings of a page: code, severity, meaning, and what to do, where that is said.
fn rows_of_findings(page: &'static str) -> Vec<Vec<&'static str>> {
    let section =
        page.split("## All findings").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap_or("");
    let cells =
        |row: &'static str| -> Vec<&str> { row.trim_matches('|').split(" | ").map(str::trim).collect() };
    section.lines().filter(|line| line.starts_with("| `")).map(cells).collect()
}

#[test]
fn the_table_of_findings_is_that_of_the_code() {
    let rows = rows_of_findings(FIT);
    for kind in Finding::KINDS {
        let code = format!("`{}`", kind.code);
        let row =
            rows.iter().find(|row| row[0] == code).unwrap_or_else(|| panic!("docs/fit.md has no {code}"));
        assert_eq!(row[1..3], [kind.severity.name(), kind.meaning], "docs/fit.md on {code}");
        // What calls for something says for what; a note calls for nothing.
        let to_do = row.get(3).is_some_and(|text| !text.is_empty());
        assert_eq!(to_do, kind.severity != Severity::Note, "docs/fit.md on {code}: what to do");
    }
    assert_eq!(rows.len(), Finding::KINDS.len(), "docs/fit.md has findings that do not exist");
}

/// What the program prints, run where the models are.
fn stickler(arguments: &str) -> String {
    let program = std::process::Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(arguments.split(' '))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    String::from_utf8(program.stdout).unwrap()
}

#[test]
fn the_strategy_on_the_page_is_what_is_printed() {
    let command = "dump --stage strategy models/eight_schools.ppl models/eight_schools.csv";
    let shown = FIT.split(&format!("    $ stickler {command}\n")).nth(1).unwrap_or("");
    let block: String =
        shown.lines().map_while(|l| l.strip_prefix("    ")).map(|l| format!("{l}\n")).collect();
    assert_eq!(block, stickler(command), "docs/fit.md");
}

#[test]
fn the_page_on_fits_names_every_key_of_the_json() {
    let section = FIT.split("## The JSON").nth(1).unwrap_or("");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let mut named: Vec<&str> = rows.flat_map(|keys| keys.split('`').skip(1).step_by(2)).collect();
    let printed = stickler("fit --json models/eight_schools.ppl models/eight_schools.csv");
    let json: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let mut keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    named.sort_unstable();
    assert_eq!(named, keys, "docs/fit.md, 'The JSON', and what --json prints");
}

/// The names of all files and folders below `src/infer`, folders with a slash behind.
fn rooms_of_inference(folder: &std::path::Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name().display().to_string());
        if path.is_dir() {
            names.extend(rooms_of_inference(&path));
            names.push(format!("{name}/"));
        } else {
            names.push(name);
        }
    }
    names
}

#[test]
fn the_page_on_inference_has_a_section_for_each_folder() {
    let page = include_str!("../../docs/internals/inference.md");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/infer");
    for entry in std::fs::read_dir(&root).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        let folder = format!("`{}/`", entry.file_name().display());
        let has_section = page.lines().any(|line| line.starts_with("## ") && line.contains(&folder));
        assert!(has_section, "docs/internals/inference.md has no section for {folder}");
    }
    let there = rooms_of_inference(&root);
    for code in page.split('`').skip(1).step_by(2).filter(|code| code.ends_with(".rs") || code.ends_with('/'))
    {
        let last = code.trim_end_matches('/').rsplit('/').next().unwrap_or(code);
        let name = if code.ends_with('/') { format!("{last}/") } else { last.to_string() };
        assert!(there.contains(&name), "docs/internals/inference.md speaks of {code}, which is not there");
    }
}

#[test]
fn the_reference_names_everything() {
    let distributions = stickler::dist::TABLE.iter().map(|row| row.name);
    let functions = stickler::func::TABLE.iter().copied().flatten().map(|row| row.name);
    let elementwise = stickler::ops::scalar::TABLE.iter().copied().flatten().map(|row| row.name);
    let transforms = stickler::transform::TABLE.iter().map(|row| row.name);
    let absent: Vec<&str> = distributions
        .chain(functions)
        .chain(elementwise)
        .chain(transforms)
        .filter(|name| !is_listed(name))
        .collect();
    assert!(absent.is_empty(), "docs/reference.md does not name {}", absent.join(", "));
}
