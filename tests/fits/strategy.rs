//! Which attempts a model calls for, for every model of `models/`, and what a trace holds.

use insta::assert_snapshot;
use std::ops::ControlFlow;
use std::path::Path;
use stickler::data::Dataset;
use stickler::infer::{Attempt, Facts, Model, Options, fit_model, plan, strategy};
use stickler::report::strategy_text;
use stickler::target::ModelTarget;

/// A model of `models/` with the tables that have its name.
fn shipped(name: &str) -> (String, Dataset) {
    let text = std::fs::read_to_string(format!("models/{name}.ppl")).unwrap();
    let mut tables: Vec<String> = std::fs::read_dir("models")
        .unwrap()
        .map(|entry| entry.unwrap().path().display().to_string())
        .filter(|path| path.starts_with(&format!("models/{name}.")) && !path.ends_with(".ppl"))
        .filter(|path| [".csv", ".json", ".tsv"].iter().any(|end| path.ends_with(end)))
        .collect();
    tables.sort();
    (text, Dataset::read(&tables).unwrap())
}

#[test]
fn of_every_shipped_model_the_plan_is_known() {
    let mut names: Vec<String> = std::fs::read_dir("models")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "ppl"))
        .map(|path| Path::file_stem(&path).unwrap().to_str().unwrap().to_string())
        .collect();
    names.sort();
    let one = |name: &String| {
        let (text, data) = shipped(name);
        let program = stickler::syntax::parse(&text).unwrap();
        let target = ModelTarget::new(&text, &data).unwrap();
        let model = Model { program: &program, source: &text, data: &data };
        let found = strategy(&model, &target, &Options::default()).unwrap();
        format!("{name}\n{}", strategy_text(&found))
    };
    assert_snapshot!(names.iter().map(one).collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_last_attempt_that_was_preferred_is_the_answer() {
    let (text, data) = shipped("eight_schools");
    let program = stickler::syntax::parse(&text).unwrap();
    let target = ModelTarget::new(&text, &data).unwrap();
    let model = Model { program: &program, source: &text, data: &data };
    let fit = fit_model(&model, &target, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    let kept = fit.trace.iter().filter_map(|tried| tried.outcome.as_ref()).rfind(|of| of.preferred).unwrap();
    assert_eq!((kept.khat, kept.log_evidence), (fit.khat, fit.log_evidence));
    assert!(fit.trace.iter().all(|tried| tried.seconds <= fit.seconds && !tried.why.is_empty()));
}

/// No attempt comes twice, and the last ends the plan whatever it finds.
#[test]
fn plans_end() {
    for bits in 0..64 {
        for dimension in [1, 40, 200, 201, 5000] {
            let is = |k: u32| bits >> k & 1 == 1;
            let facts = Facts {
                dimension,
                additive: is(0),
                gaussian: is(0) && is(1),
                effects: is(2),
                states: is(3),
                coordinates_asked_for: is(5),
                nuts: is(4),
            };
            let attempts: Vec<Attempt> = plan(&facts).iter().map(|planned| planned.attempt).collect();
            for (k, attempt) in attempts.iter().enumerate() {
                assert!(!attempts[..k].contains(attempt), "{facts:?}: {attempts:?}");
            }
            let always = [Attempt::Quadrature, Attempt::Variational];
            assert!(always.iter().any(|attempt| attempts.contains(attempt)), "{facts:?}");
        }
    }
}
