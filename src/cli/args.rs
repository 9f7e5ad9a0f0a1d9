//! The arguments of every command.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// A small modelling language and a variational-inference engine that can vouch for its answer.
#[derive(Parser)]
#[command(name = "stickler", version, about, after_help = EXIT_CODES)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

/// The exit codes, for `--help`.
pub(super) const EXIT_CODES: &str =
    "Exit codes: 0 fine, 1 the model or the data are wrong, 2 wrong usage, 3 (fit) an answer with a warning.";

#[derive(Subcommand)]
pub(super) enum Command {
    /// Fit a model, and say how far the answer can be trusted
    Fit(FitArgs),
    /// Print the methods of `fit --method`, one line each
    Methods,
    /// Check a model: names, types, shapes, supports; with data, the binding too
    Check(ModelArgs),
    /// Print the parameter layout, the log density (prior, likelihood and Jacobian apart) and its gradient
    Grad(GradArgs),
    /// Snapshot-test the gradients of all model files in a folder, each with the data file of the same name
    Test(TestArgs),
    /// Print a stage between text and plan
    Dump(DumpArgs),
    /// Put model files in canonical layout
    Fmt(FmtArgs),
    /// Print the catalogue of distributions, functions, transforms or constraints
    List(ListArgs),
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

/// What a fit can fall back on.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Fallback {
    /// The no-U-turn sampler, four chains
    Nuts,
}

#[derive(Args)]
pub(super) struct FitArgs {
    #[command(flatten)]
    pub(super) model: ModelArgs,
    /// One of `stickler methods`, instead of what suits the model
    #[arg(long)]
    pub(super) method: Option<String>,
    /// The factor of the covariance: triangular, symmetric, diagonal
    #[arg(long)]
    pub(super) factor: Option<String>,
    /// The gradient estimator: energy, entropy, stl
    #[arg(long)]
    pub(super) estimator: Option<String>,
    /// The step rule, with its number if it takes one: `constant=0.01`
    #[arg(long)]
    pub(super) step: Option<String>,
    /// Number of steps
    #[arg(long)]
    pub(super) steps: Option<usize>,
    /// Draws a step
    #[arg(long)]
    pub(super) batch: Option<usize>,
    /// The average of the iterates
    #[arg(long)]
    pub(super) average: Option<String>,
    /// What to do where k-hat says that the fit cannot be relied on
    #[arg(long, value_enum)]
    pub(super) fallback: Option<Fallback>,
    /// Seed of all randomness
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// Write the fit as JSON to a file
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args)]
pub(super) struct TestArgs {
    /// The folder with the models
    pub(super) dir: PathBuf,
    /// Write the snapshots instead of comparing with them
    #[arg(long)]
    pub(super) accept: bool,
}

/// The stages that can be printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Stage {
    /// The syntax tree
    Ast,
    /// Parameters and terms
    Model,
    /// The expression graph
    Graph,
    /// The schedule
    Plan,
}

#[derive(Args)]
pub(super) struct DumpArgs {
    #[command(flatten)]
    pub(super) model: ModelArgs,
    /// Which stage
    #[arg(long, value_enum)]
    pub(super) stage: Stage,
    /// The graph as a drawing for Graphviz
    #[arg(long)]
    pub(super) dot: bool,
}

#[derive(Args)]
pub(super) struct FmtArgs {
    /// The model files
    #[arg(required = true)]
    pub(super) models: Vec<PathBuf>,
    /// Change nothing; exit with 1 if a file is not in canonical layout
    #[arg(long)]
    pub(super) check: bool,
}

/// What can be listed.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Catalogue {
    /// Distributions
    Distributions,
    /// Functions
    Functions,
    /// How constrained parameters are represented
    Transforms,
    /// The same, by constraint
    Constraints,
}

#[derive(Args)]
pub(super) struct ListArgs {
    /// Which table
    #[arg(value_enum)]
    pub(super) what: Catalogue,
    /// One entry, in full
    pub(super) name: Option<String>,
}
