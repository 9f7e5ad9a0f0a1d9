//! `stickler fmt`: the canonical layout of a model file.

use super::args::FmtArgs;
use super::{Failure, Outcome, load};
use std::process::ExitCode;

pub(super) fn run(args: &FmtArgs) -> Outcome {
    let mut untidy = Vec::new();
    for path in &args.models {
        let source = load::Source::read(path)?;
        let tidy = crate::syntax::format(&source.text).map_err(|e| source.failure(&e))?;
        if tidy == source.text {
            continue;
        }
        if args.check {
            untidy.push(source.name);
        } else {
            std::fs::write(path, tidy)
                .map_err(|e| Failure::Usage(format!("cannot write {}: {e}", source.name)))?;
        }
    }
    if untidy.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    Err(Failure::Wrong(format!(
        "not in canonical layout: {}\nrun `stickler fmt` on them\n",
        untidy.join(", ")
    )))
}
