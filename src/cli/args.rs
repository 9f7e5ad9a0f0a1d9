//! The arguments of every command.

use super::Failure;
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
    /// Say what is certain about a model: its tier, the constants M and mu, the plan that the theorems license
    Certify(CertifyArgs),
    /// Print the methods of `fit --method`, one line each
    Methods,
    /// Check a model: names, types, shapes, supports; with data, the binding too
    Check(ModelArgs),
    /// Print the parameter layout, the log density (prior, likelihood and Jacobian apart) and its gradient
    Grad(GradArgs),
    /// Time the gradient: one draw, a draw of a batch, and which line of the model costs what
    Bench(BenchArgs),
    /// Snapshot-test the gradients of all model files in a folder, each with the data of the same name: NAME.csv, NAME.groups.csv
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
pub(super) struct BenchArgs {
    #[command(flatten)]
    pub(super) model: ModelArgs,
    /// Draws of a batch
    #[arg(long, default_value_t = 16)]
    pub(super) batch: usize,
    /// Threads that may work on a batch
    #[arg(long, default_value_t = 1)]
    pub(super) threads: usize,
    /// Seconds spent on each measurement
    #[arg(long, default_value_t = 0.5)]
    pub(super) seconds: f64,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args)]
pub(super) struct FitArgs {
    #[command(flatten)]
    pub(super) model: ModelArgs,
    /// One of `stickler methods`, instead of what suits the model; `all` compares them
    #[arg(long)]
    pub(super) method: Option<String>,
    /// With a method of stochastic gradients, the factor of the covariance: triangular, symmetric, diagonal
    #[arg(long)]
    pub(super) factor: Option<String>,
    /// With a method of stochastic gradients, the estimator: energy, entropy, stl
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
    /// Run exactly the plan that the theorems license, and print the bound that holds for this run
    #[arg(long, conflicts_with_all = ["method", "factor", "estimator", "step", "batch", "average"])]
    pub(super) certified: bool,
    /// With --certified: the error to be certain of
    #[arg(long, default_value_t = 0.01, requires = "certified")]
    pub(super) epsilon: f64,
    /// Seed of all randomness
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// Where to start: `zeros`, a seed for a standard normal point, or a JSON file {"points": [[...]]} of coordinates
    #[arg(long, value_name = "FILE|zeros|SEED")]
    pub(super) init: Option<String>,
    /// Use so many of the observations in each step
    #[arg(long, value_name = "N")]
    pub(super) subsample: Option<usize>,
    /// Write to a file: posterior draws if it ends in .csv, the fit as JSON if not
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Number of draws in a .csv
    #[arg(long, default_value_t = 4000)]
    pub(super) draws: usize,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Clone)]
pub(super) struct CertifyArgs {
    /// The model file (.ppl or .model); with --verify, the one named in the certificate unless given
    pub(super) model: Option<PathBuf>,
    /// Data files (.csv, .tsv, .json); a name is looked up in all of them
    pub(super) data: Vec<PathBuf>,
    /// Give a scalar on the command line; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(super) set: Vec<String>,
    /// The error for which the number of steps is given
    #[arg(long, default_value_t = 0.01)]
    pub(super) epsilon: f64,
    /// Write the certificate as JSON to a file
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Derive the certificate in this file again and compare
    #[arg(long, value_name = "FILE")]
    pub(super) verify: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl CertifyArgs {
    /// The model and its data.
    pub(super) fn model(&self) -> Result<ModelArgs, Failure> {
        let Some(model) = self.model.clone() else {
            return Err(Failure::Usage("name a model file, or a certificate with --verify".into()));
        };
        Ok(ModelArgs { model, data: self.data.clone(), set: self.set.clone() })
    }
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
    /// What is certified, node by node
    Certificate,
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
