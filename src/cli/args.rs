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
pub(super) const EXIT_CODES: &str = "Exit codes: 0 fine, 1 the model or the data are wrong, 2 wrong usage, 3 (fit) an answer that is doubtful.";

#[derive(Subcommand)]
pub(super) enum Command {
    /// Fit a model, and say how far the answer can be trusted
    Fit(Box<FitArgs>),
    /// Say what is certain about a model: its tier, the constants M and mu, the plan that the theorems
    /// license
    Certify(CertifyArgs),
    /// Print the methods of `fit --method`, one line each
    Methods,
    /// Check a model: names, types, shapes, supports; with data, the binding too
    Check(ModelArgs),
    /// Print the parameter layout, the log density (prior, likelihood and Jacobian apart) and its gradient
    Grad(GradArgs),
    /// Time the gradient: one draw, a draw of a batch, and which line of the model costs what
    Bench(BenchArgs),
    /// Snapshot-test the gradients of all model files in a folder, each with the data of the same name:
    /// NAME.csv, NAME.groups.csv
    Test(TestArgs),
    /// Print a stage between text and plan
    Dump(DumpArgs),
    /// Put model files in canonical layout
    Fmt(FmtArgs),
    /// Print the catalogue of distributions, functions, transforms, constraints or findings
    List(ListArgs),
}

/// A model and its data.
#[derive(Args)]
pub(super) struct ModelArgs {
    /// The model file (.ppl or .model)
    pub(super) model: PathBuf,
    /// Data files (.csv, .tsv, .parquet, .arrow, .feather, .json); a name is looked up in all of them
    pub(super) data: Vec<PathBuf>,
    /// Give a scalar on the command line; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(super) set: Vec<String>,
}

impl ModelArgs {
    /// All files that are read.
    pub(super) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.data.iter().chain([&self.model])
    }
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
    #[arg(long, default_value_t = 0.5, value_parser = positive)]
    pub(super) seconds: f64,
    /// Instruction set to hold to: portable, avx2 or avx512 [default: STICKLER_ISA, or the best there is]
    #[arg(long, value_name = "NAME")]
    pub(super) isa: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// A number above zero.
fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x.is_finite() => Ok(x),
        _ => Err("a number above zero is needed".into()),
    }
}

/// Coordinates in which a method of stochastic gradients runs.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Coordinates {
    /// From the mode, with the curvature there scaled away
    Whitened,
    /// The model's own, unconstrained
    Raw,
}

/// The parts of a method of stochastic gradients; each has a default.
#[derive(Args)]
#[group(id = "descent", multiple = true)]
pub(super) struct DescentArgs {
    /// The factor of the covariance: triangular, triangular_full, symmetric, symmetric_full, diagonal
    #[arg(long, help_heading = STOCHASTIC)]
    pub(super) factor: Option<String>,
    /// The estimator of the gradient: energy, entropy, stl, stl_energy
    #[arg(long, help_heading = STOCHASTIC)]
    pub(super) estimator: Option<String>,
    /// What follows a step: prox, projection, none
    #[arg(long, help_heading = STOCHASTIC)]
    pub(super) operator: Option<String>,
    /// The family of the approximation: normal, student_t=6, laplace
    #[arg(long, help_heading = STOCHASTIC)]
    pub(super) family: Option<String>,
    /// The step rule, with its number if it takes one: whitened=0.5, curvature=0.5, constant=0.01,
    /// prox_concave, proj_concave, prox_decay, proj_decay, log_t_over_t=1, stl_gaussian, adam=0.01, dog, dowg
    #[arg(long, help_heading = STOCHASTIC)]
    pub(super) step: Option<String>,
    /// The average of the iterates: polynomial=3, suffix=0.5, last, theta_prox, theta_proj
    #[arg(long, help_heading = STOCHASTIC)]
    pub(super) average: Option<String>,
    /// Draws in pairs of opposite sign
    #[arg(long, help_heading = STOCHASTIC, conflicts_with = "qmc")]
    pub(super) antithetic: bool,
    /// Draws from a scrambled Sobol sequence
    #[arg(long, help_heading = STOCHASTIC)]
    pub(super) qmc: bool,
    /// The coordinates to run in
    #[arg(long, help_heading = STOCHASTIC, value_enum)]
    pub(super) coordinates: Option<Coordinates>,
    /// Where to start, if not at the mode: `zeros`, a seed for a standard normal point, or a JSON file
    /// {"points": [[...]]} of coordinates
    #[arg(long, help_heading = STOCHASTIC, value_name = "FILE|zeros|SEED")]
    pub(super) init: Option<String>,
    /// Use so many of the observations in each step
    #[arg(long, help_heading = STOCHASTIC, value_name = "N")]
    pub(super) subsample: Option<usize>,
}

const STOCHASTIC: &str = "With a method of stochastic gradients";

impl DescentArgs {
    /// The options that were given.
    pub(super) fn given(&self) -> Vec<&'static str> {
        let all = [
            ("--factor", self.factor.is_some()),
            ("--estimator", self.estimator.is_some()),
            ("--operator", self.operator.is_some()),
            ("--family", self.family.is_some()),
            ("--step", self.step.is_some()),
            ("--average", self.average.is_some()),
            ("--antithetic", self.antithetic),
            ("--qmc", self.qmc),
            ("--coordinates", self.coordinates.is_some()),
            ("--init", self.init.is_some()),
            ("--subsample", self.subsample.is_some()),
        ];
        all.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
    }
}

#[derive(Args)]
pub(super) struct FitArgs {
    #[command(flatten)]
    pub(super) model: ModelArgs,
    /// One of `stickler methods`, instead of what suits the model; `all` compares them
    #[arg(long)]
    pub(super) method: Option<String>,
    #[command(flatten)]
    pub(super) descent: DescentArgs,
    /// Number of steps
    #[arg(long)]
    pub(super) steps: Option<usize>,
    /// Draws a step
    #[arg(long)]
    pub(super) batch: Option<usize>,
    /// What to do where k-hat says that the fit cannot be relied on
    #[arg(long, value_enum)]
    pub(super) fallback: Option<Fallback>,
    /// Run exactly the plan that the theorems license, and print the bound that holds for this run
    #[arg(long, conflicts_with_all = ["method", "batch", "descent"])]
    pub(super) certified: bool,
    /// With --certified: the error to be certain of
    #[arg(long, default_value_t = 0.01, requires = "certified")]
    pub(super) epsilon: f64,
    /// Seconds after which the fit ends with the best answer that it has; one that is not done is flagged
    #[arg(long, value_name = "S", value_parser = positive)]
    pub(super) max_seconds: Option<f64>,
    /// Seed of all randomness
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// Write to a file: posterior draws if it ends in .csv, the fit as JSON if not
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Number of draws in a .csv [default: 4000]; NUTS makes its chains long enough for them
    #[arg(long)]
    pub(super) draws: Option<usize>,
    /// Print attempt by attempt what was tried, why, and what came of it
    #[arg(long, conflicts_with_all = ["method", "certified"])]
    pub(super) trace: bool,

    /// Change a threshold of the fit, as NAME=VALUE; docs/internals/inference.md lists them. For those who
    /// study the fit: the defaults are meant for everything.
    #[arg(long, value_name = "NAME=VALUE", hide = true)]
    pub(super) policy: Vec<String>,

    /// Leave out an attempt of the plan, or a rule; docs/ablation.py lists them. For those who study the fit:
    /// the defaults are meant for everything.
    #[arg(long, value_name = "ATTEMPT", hide = true)]
    pub(super) without: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Clone)]
pub(super) struct CertifyArgs {
    /// The model file (.ppl or .model); with --verify, the one named in the certificate unless given
    pub(super) model: Option<PathBuf>,
    /// Data files (.csv, .tsv, .parquet, .arrow, .feather, .json); a name is looked up in all of them
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
    /// Parameters and terms; without data, with the names of sizes
    Model,
    /// The expression graph
    Graph,
    /// The schedule
    Plan,
    /// The programs of the functions that the schedule calls
    Kernels,
    /// What is certified, node by node
    Certificate,
    /// What is known before the fit, and the attempts that this calls for
    Strategy,
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
    /// What parameters can be, as it is written
    Constraints,
    /// What a fit may say of its answer
    Findings,
}

#[derive(Args)]
pub(super) struct ListArgs {
    /// Which table
    #[arg(value_enum)]
    pub(super) what: Catalogue,
    /// One entry, in full
    pub(super) name: Option<String>,
}
