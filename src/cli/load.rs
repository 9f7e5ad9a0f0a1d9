//! Reads model and data files for every command.

use super::Failure;
use super::args::ModelArgs;
use crate::data::Dataset;
use crate::infer;
use crate::lower::Coordinates;
use crate::source::{Diagnostic, nearest, render};
use crate::syntax::ast::{Program, StmtKind};
use crate::target::ModelTarget;
use std::path::Path;

/// A model file's name and text.
pub(super) struct Source {
    pub(super) name: String,
    pub(super) text: String,
}

impl Source {
    pub(super) fn read(path: &Path) -> Result<Source, Failure> {
        let name = path.display().to_string();
        let known = path.extension().is_some_and(|e| e == "ppl" || e == "model");
        if !known {
            let message = format!("{name} is not a model file; models end in .ppl or .model");
            let hint = match path.extension().and_then(|e| e.to_str()) {
                Some(end) if super::DATA.contains(&end) => ", and stand before the data",
                Some("stan") => {
                    "; a Stan program is written anew, `param sigma : real > 0 ~ ...` for `real<lower=0> sigma;`"
                }
                _ => "",
            };
            return Err(Failure::Usage(message + hint));
        }
        let bytes =
            std::fs::read(path).map_err(|e| Failure::Usage(format!("cannot read {name}: {}", plain(&e))))?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Source { name, text }),
            Err(error) => {
                let good = error.utf8_error().valid_up_to();
                let line = error.as_bytes()[..good].iter().filter(|&&b| b == b'\n').count() + 1;
                let wrong =
                    Diagnostic::error("invalid-utf8", format!("{name} is not UTF-8 text (line {line})"))
                        .help("save the file as UTF-8");
                Err(Failure::Wrong(render(&wrong, &name, "")))
            }
        }
    }

    /// Says on stderr what may not be as it was meant.
    pub(super) fn warn(&self, warnings: &[Diagnostic]) {
        warnings.iter().for_each(|w| eprintln!("{}", render(w, &self.name, &self.text)));
    }

    /// Renders diagnostics about this file.
    pub(super) fn failure(&self, errors: &[Diagnostic]) -> Failure {
        let all: Vec<String> = errors.iter().map(|e| render(e, &self.name, &self.text)).collect();
        Failure::Wrong(all.join("\n"))
    }
}

/// What went wrong with a file, without the operating system's number.
pub(super) fn plain(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".into(),
        std::io::ErrorKind::PermissionDenied => "permission denied".into(),
        std::io::ErrorKind::IsADirectory => "it is a folder".into(),
        std::io::ErrorKind::NotADirectory => "it is no folder".into(),
        _ => error.to_string(),
    }
}

/// A rendered error without its first word and code, which the command line puts there itself.
fn without_prefix(text: &str) -> String {
    text.split_once(": ").map_or(text, |(_, rest)| rest).trim_end().to_string()
}

/// The data files, and what `--set` gives.
pub(super) fn dataset(args: &ModelArgs, source: &Source) -> Result<Dataset, Failure> {
    let mut data = Dataset::read(&args.data).map_err(|e| match source.failure(std::slice::from_ref(&e)) {
        // What cannot be opened is a slip of the command line, not of the data.
        Failure::Wrong(text) if e.code == "unreadable-file" => Failure::Usage(without_prefix(&text)),
        failure => failure,
    })?;
    for set in &args.set {
        let Some((name, value)) = set.split_once('=') else {
            return Err(Failure::Usage(format!("--set takes NAME=VALUE, not `{set}`")));
        };
        refuse_stranger(name.trim(), source)?;
        data.set_scalar(name.trim(), value.trim()).map_err(|e| source.failure(&[e]))?;
    }
    Ok(data)
}

/// Refuses `--set` of a name that the data of the model do not mention: it would change nothing.
fn refuse_stranger(name: &str, source: &Source) -> Result<(), Failure> {
    // What is wrong with the text of the model is told when it is used.
    let Ok(program) = crate::syntax::parse(&source.text) else { return Ok(()) };
    let declared = program.statements.iter().filter(|s| matches!(s.kind, StmtKind::Data(_)));
    let word = |c: char| !(c.is_alphanumeric() || c == '_');
    let known: Vec<&str> =
        declared.flat_map(|s| s.span.text(&source.text).split(word)).filter(|w| !w.is_empty()).collect();
    if known.contains(&name) {
        return Ok(());
    }
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    };
    Err(Failure::Usage(format!("--set {name}: the model declares no data or size of that name{hint}")))
}

/// A model with everything it was made from.
pub(super) struct Loaded {
    pub(super) source: Source,
    pub(super) program: Program,
    pub(super) data: Dataset,
    pub(super) target: ModelTarget,
}

impl Loaded {
    /// The model with its data.
    pub(super) fn model(&self) -> infer::Model<'_> {
        infer::Model { program: &self.program, source: &self.source.text, data: &self.data }
    }
}

/// Reads and compiles a model.
pub(super) fn model(args: &ModelArgs) -> Result<Loaded, Failure> {
    let source = Source::read(&args.model)?;
    let data = dataset(args, &source)?;
    let program = crate::syntax::parse(&source.text).map_err(|e| source.failure(&e))?;
    let target = ModelTarget::with_coordinates(&program, &source.text, &data, Coordinates::Declared)
        .map_err(|e| source.failure(&e))?;
    Ok(Loaded { source, program, data, target })
}

/// The compiled model.
pub(super) fn target(args: &ModelArgs) -> Result<(Source, ModelTarget), Failure> {
    let source = Source::read(&args.model)?;
    let data = dataset(args, &source)?;
    let program = crate::syntax::parse(&source.text).map_err(|e| source.failure(&e))?;
    let lowered = crate::lower::lower(&program, &source.text, &data).map_err(|e| source.failure(&e))?;
    // What the model needs of the tables is in the graph by now, and compiling takes room of its own.
    drop(data);
    Ok((source, ModelTarget::from_lowered(lowered)))
}
