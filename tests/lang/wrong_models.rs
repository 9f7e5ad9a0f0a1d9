//! Every model in `tests/wrong-models` is refused, every one in `tests/doubtful-models` accepted with a
//! warning, and what the user is told about it is a snapshot.

use std::path::PathBuf;
use stickler::source::{Diagnostic, Severity, render};

/// What is wrong with a model.
fn problems(source: &str) -> Vec<Diagnostic> {
    match stickler::syntax::parse(source) {
        Ok(program) => stickler::lower::check(&program, source).err().unwrap_or_default(),
        Err(problems) => problems,
    }
}

/// The models of a folder beside this file, by name, in order.
fn models(folder: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let name = |file: &PathBuf| file.file_name().unwrap().to_string_lossy().into_owned();
    files.iter().map(|file| (name(file), std::fs::read_to_string(file).unwrap())).collect()
}

#[test]
fn doubtful_models_are_accepted_with_a_warning() {
    for (name, source) in models("doubtful-models") {
        let program = stickler::syntax::parse(&source).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let warnings = stickler::lower::check(&program, &source).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        assert!(warnings.iter().all(|w| w.severity == Severity::Warning) && !warnings.is_empty(), "{name}");
        snapshot(&name, &warnings, &source);
    }
}

/// Compares what is told of a model with what is stored.
fn snapshot(name: &str, told: &[Diagnostic], source: &str) {
    let rendered: Vec<String> = told.iter().map(|problem| render(problem, name, source)).collect();
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name.trim_end_matches(".ppl"), rendered.join("\n"));
    });
}

#[test]
fn wrong_models_are_explained() {
    for (name, source) in models("wrong-models") {
        let problems = problems(&source);
        assert!(!problems.is_empty(), "{name} is not refused");
        snapshot(&name, &problems, &source);
    }
}

#[test]
fn a_size_that_the_model_fixes_is_no_error() {
    let source =
        "data { K : int; y : real[N] }\nparam m : ordered[K] ~ normal([0, 3, 5], 1)\ny ~ normal(m[1], 1)";
    assert!(problems(source).is_empty(), "{:?}", problems(source));
    assert!(!problems(&source.replace("[0, 3, 5]", "y")).is_empty());
}
