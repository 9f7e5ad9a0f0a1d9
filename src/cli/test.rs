//! `stickler test`: snapshot-tests of the gradients of model files.

use super::args::TestArgs;
use super::{DATA, Failure, Outcome, load};
use crate::data::Dataset;
use crate::target::ModelTarget;
use crate::testing;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) fn run(args: &TestArgs) -> Outcome {
    if args.dir.is_file() {
        return Err(Failure::Usage(format!(
            "{0} is no folder: `test` runs all models of one; `grad {0}` and its data show the gradient of one model",
            args.dir.display()
        )));
    }
    let mut models = Vec::new();
    find(&args.dir, &mut models)
        .map_err(|e| Failure::Usage(format!("cannot read {}: {}", args.dir.display(), load::plain(&e))))?;
    models.sort();
    if models.is_empty() {
        return Err(Failure::Usage(format!(
            "there is no model file (.ppl or .model) in {}",
            args.dir.display()
        )));
    }
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for model in &models {
        match one(model, args.accept) {
            Ok(Some(what)) => {
                passed += 1;
                outln!("ok       {}{what}", model.display());
            }
            Ok(None) => {
                skipped += 1;
                outln!("skipped  {} (no data file of the same name)", model.display());
            }
            Err(why) => {
                failed += 1;
                outln!("FAILED   {}\n{}", model.display(), why.trim_end());
            }
        }
    }
    outln!("{passed} passed, {failed} failed, {skipped} skipped");
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn find(dir: &Path, models: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, models)?;
        } else if path.extension().is_some_and(|e| e == "ppl" || e == "model") {
            models.push(path);
        }
    }
    Ok(())
}

/// The data of a model: `NAME.csv` and tables for its groups, such as `NAME.counties.csv`; also of other
/// kinds.
fn beside(model: &Path) -> std::io::Result<Vec<PathBuf>> {
    let (Some(folder), Some(stem)) = (model.parent(), model.file_stem().and_then(|s| s.to_str())) else {
        return Ok(Vec::new());
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let begins = format!("{stem}.");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let is_data = path.extension().is_some_and(|e| DATA.iter().any(|known| e == *known));
        let own = path.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with(&begins));
        let other_model =
            || path.with_extension("") != model.with_extension("") && path.with_extension("ppl").exists();
        if is_data && own && !other_model() {
            files.push(path);
        }
    }
    files.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    Ok(files)
}

/// Tests one model; None if it has no data beside it.
fn one(model: &Path, accept: bool) -> Result<Option<&'static str>, String> {
    let source = load::Source::read(model).map_err(text)?;
    let data = beside(model).map_err(|e| format!("cannot read the folder of {}: {e}", model.display()))?;
    if data.is_empty() {
        return Ok(None);
    }
    let wrong = |e: &[crate::source::Diagnostic]| text(source.failure(e));
    let data = Dataset::read(&data).map_err(|e| wrong(&[e]))?;
    let target = ModelTarget::new(&source.text, &data).map_err(|e| wrong(&e))?;
    let now = testing::snapshot(&target).map_err(|e| e.to_string())?;
    let path = model.with_extension("gradient.txt");
    if accept {
        std::fs::write(&path, now).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        return Ok(Some(" (accepted)"));
    }
    match std::fs::read_to_string(&path) {
        Ok(stored) => testing::compare(&stored, &now).map(|()| Some("")).map_err(|e| e.to_string()),
        Err(_) => Err(format!("there is no snapshot {}; run with --accept to write it", path.display())),
    }
}

fn text(failure: Failure) -> String {
    match failure {
        Failure::Wrong(text) | Failure::Usage(text) => text,
    }
}
