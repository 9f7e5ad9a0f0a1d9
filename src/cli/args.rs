//! The arguments of every command.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// A small modelling language and a variational-inference engine that can vouch for its answer.
#[derive(Parser)]
#[command(name = "stickler", version, about, after_help = EXIT_CODES)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

/// The exit codes, for `--help`.
pub(super) const EXIT_CODES: &str = "Exit codes: 0 fine, 1 the model or the data are wrong, 2 wrong usage.";

#[derive(Subcommand)]
pub(super) enum Command {
    /// Print the parameter layout, the log density (prior, likelihood and Jacobian apart) and its gradient
    Grad(GradArgs),
}

/// A model and its data.
#[derive(Args)]
pub(super) struct ModelArgs {
    /// The model file (.ppl or .model)
    pub(super) model: PathBuf,
    /// Data files (.csv, .tsv, .json); a name is looked up in all of them
    pub(super) data: Vec<PathBuf>,
    /// Give a scalar on the command line; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(super) set: Vec<String>,
}

#[derive(Args)]
pub(super) struct GradArgs {
    #[command(flatten)]
    pub(super) model: ModelArgs,
    /// Where: `zeros`, a seed for standard normal points, or a JSON file {"points": [[...], ...]}
    #[arg(long, default_value = "zeros", value_name = "FILE|zeros|SEED")]
    pub(super) at: String,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}
