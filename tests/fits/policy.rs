//! The table of thresholds in the documentation is that of the code.

use stickler::infer::Policy;

/// The rows of the table, as docs/internals/inference.md has them.
fn table() -> String {
    let row = |t: &stickler::infer::Threshold| {
        format!("| `{}` | {} | {} | {} |\n", t.name, t.value, t.limits, t.evidence)
    };
    let head = "| threshold | value | what it limits | evidence |\n|---|---|---|---|\n".to_string();
    head + &Policy::TABLE.iter().map(row).collect::<String>()
}

#[test]
fn the_documentation_has_the_table_of_thresholds() {
    let page = include_str!("../../docs/internals/inference.md");
    let (_, section) = page.split_once("## Policy").expect("a section of its own");
    assert!(
        section.contains(&table()),
        "docs/internals/inference.md should have, under `## Policy`:\n\n{}",
        table()
    );
}
