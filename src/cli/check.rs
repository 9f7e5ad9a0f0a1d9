//! `stickler check`: names, types, shapes and supports; with data, the binding too.

use super::args::ModelArgs;
use super::{Outcome, load};
use std::process::ExitCode;

pub(super) fn run(args: &ModelArgs) -> Outcome {
    let source = load::Source::read(&args.model)?;
    let program = crate::syntax::parse(&source.text).map_err(|e| source.failure(&e))?;
    if args.data.is_empty() && args.set.is_empty() {
        let warnings = crate::model::check(&program, &source.text).map_err(|e| source.failure(&e))?;
        source.warn(&warnings);
        outln!("{}: fine", source.name);
        return Ok(ExitCode::SUCCESS);
    }
    let data = load::dataset(args, &source)?;
    let lowered = crate::lower::lower(&program, &source.text, &data).map_err(|e| source.failure(&e))?;
    source.warn(&lowered.warnings);
    outln!(
        "{}: fine with these data, {} in {}",
        source.name,
        counted(lowered.dimension, "unconstrained coordinate"),
        counted(lowered.parameters.len(), "parameter")
    );
    lowered.legend.iter().for_each(|line| outln!("{line}"));
    Ok(ExitCode::SUCCESS)
}

/// A number of things in words.
fn counted(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}
