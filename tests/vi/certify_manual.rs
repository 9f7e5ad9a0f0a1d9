//! The examples of docs/certify.md say what the program says. Set STICKLER_WRITE_DOCS to write them anew.

use crate::certificates;

use certificates::model;
use stickler::certify::certify;
use stickler::infer::certified::plans;
use stickler::report::certificate::Context;

/// The page with the output of every example put in its place: a model, its table, and what `certify` prints.
fn rewritten(page: &str) -> (String, usize) {
    let mut out = String::new();
    let (mut source, mut csv, mut examples) = (String::new(), String::new(), 0);
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        out += line;
        out.push('\n');
        let Some(language) = line.strip_prefix("```").filter(|l| !l.is_empty()) else { continue };
        let block: String = lines.by_ref().take_while(|l| *l != "```").map(|l| format!("{l}\n")).collect();
        match language {
            "ppl" => source.clone_from(&block),
            "csv" => csv.clone_from(&block),
            _ => {}
        }
        if language == "text" {
            examples += 1;
            out += &printed(&source, &csv);
        } else {
            out += &block;
        }
        out += "```\n";
    }
    (out, examples)
}

fn printed(source: &str, csv: &str) -> String {
    let target = model(source, csv);
    let certificate = certify(target.lowered());
    let plans = plans(&target, &certificate, 0.01);
    Context { source, certificate: &certificate, plans: &plans, epsilon: 0.01 }.text()
}

#[test]
fn the_examples_are_true() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/certify.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (fresh, examples) = rewritten(&page);
    assert_eq!(examples, 2);
    if std::env::var("STICKLER_WRITE_DOCS").is_ok() {
        std::fs::write(path, &fresh).unwrap();
        return;
    }
    for (i, (old, new)) in page.lines().zip(fresh.lines()).enumerate() {
        assert_eq!(old, new, "line {} of docs/certify.md is not what the program prints", i + 1);
    }
    assert_eq!(page.lines().count(), fresh.lines().count());
}
