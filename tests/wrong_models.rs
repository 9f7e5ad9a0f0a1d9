//! Every model in `tests/wrong-models` is refused, and what the user is told about it is a snapshot.

use std::path::PathBuf;
use stickler::source::{Diagnostic, render};

/// What is wrong with a model.
fn problems(source: &str) -> Vec<Diagnostic> {
    match stickler::syntax::parse(source) {
        Ok(program) => stickler::lower::check(&program, source).err().unwrap_or_default(),
        Err(problems) => problems,
    }
}

#[test]
fn wrong_models_are_explained() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/wrong-models");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        let source = std::fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let problems = problems(&source);
        assert!(!problems.is_empty(), "{name} is not refused");
        let rendered: Vec<String> = problems.iter().map(|problem| render(problem, &name, &source)).collect();
        let stem = name.trim_end_matches(".ppl");
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(stem, rendered.join("\n"));
        });
    }
}
