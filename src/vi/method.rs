//! Methods by name: a factor, an estimator and an operator that belong together, and the configuration of a
//! fit.

use super::Error;
use super::average::Average;
use super::draws::Draws;
use super::estimator::Estimator;
use super::factor::Space;
use super::family::Family;
use super::noise::Constants;
use super::operator::Operator;
use super::step::Rule;
use super::table::{Choice, Row, find};

/// A row of the table of methods.
#[derive(Debug)]
pub struct Method {
    /// Name.
    pub name: &'static str,
    /// One line of explanation.
    pub doc: &'static str,
    /// Name of its factor.
    pub factor: &'static str,
    /// Name of its estimator.
    pub estimator: &'static str,
    /// Name of its operator.
    pub operator: &'static str,
    /// Its step rule, if it is not left to [`Config::step`].
    pub step: Option<&'static str>,
}

const fn method(
    name: &'static str,
    factor: &'static str,
    estimator: &'static str,
    operator: &'static str,
    step: Option<&'static str>,
    doc: &'static str,
) -> Method {
    Method { name, doc, factor, estimator, operator, step }
}

impl Row for Method {
    const KIND: &'static str = "method";

    #[rustfmt::skip]
    fn table() -> &'static [Method] {
        static TABLE: [Method; 8] = [
            method("prox-energy",  "triangular", "energy",     "prox",       None, "Prox-SGD on the energy estimator (paper, algorithm 1)"),
            method("proj-entropy", "symmetric",  "entropy",    "projection", None, "projected SGD on the entropy estimator (paper, algorithm 2)"),
            method("proj-stl",     "symmetric",  "stl",        "projection", None, "projected SGD on the STL estimator (paper, algorithm 3)"),
            method("prox-stl",     "triangular", "stl_energy", "prox",       None, "Prox-SGD on the STL estimator of the free energy; O(d²) a step and little noise"),
            method("prox-energy-symmetric", "symmetric", "energy", "prox",   None, "Prox-SGD on the energy estimator with symmetric factors"),
            method("mean-field",   "diagonal",   "stl_energy", "prox",       None, "Prox-SGD on the STL estimator with independent coordinates; O(d) a step"),
            method("sgd-stl",      "triangular", "stl",        "none",       None, "plain SGD on the STL estimator, for comparison"),
            method("adam-entropy", "triangular", "entropy",    "none",       Some("adam"), "Adam on the entropy estimator: what most tools do, for comparison"),
        ];
        &TABLE
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }
}

/// Where a fit starts.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Start {
    /// `m = 0`, `C = I/√M` with `M` the constant given, or the curvature at 0. No optimum is narrower, so the
    /// first draws are near `m`, where the gradients are small.
    #[default]
    Narrow,
    /// `m` given, and `C` as for [`Start::Narrow`] with the curvature at `m`.
    NarrowAt(Vec<f64>),
    /// `m = 0`, `C = I`.
    Standard,
    /// `m` given, `C` a multiple of the identity.
    Scaled {
        /// `m`.
        mean: Vec<f64>,
        /// The multiple.
        scale: f64,
    },
    /// `m` and `C` given; `C` by rows, replaced by the nearest matrix of the factor's space.
    Given {
        /// `m`.
        mean: Vec<f64>,
        /// `C`.
        factor: Vec<f64>,
    },
}

/// Everything that decides a fit, save the target.
#[derive(Clone, Debug)]
pub struct Config {
    /// The base of the family.
    pub family: Choice<Family>,
    /// The space of `C`.
    pub factor: &'static Space,
    /// The gradient estimator.
    pub estimator: &'static Estimator,
    /// The operator after the step.
    pub operator: &'static Operator,
    /// The step rule. Without one: the rule of the theorem if `constants` are given, else `curvature`.
    pub step: Option<Choice<Rule>>,
    /// The average. Without one: the one that suits the step rule.
    pub average: Option<Choice<Average>>,
    /// The base draws.
    pub draws: &'static Draws,
    /// Number of steps `T`.
    pub steps: usize,
    /// Draws a step `B`.
    pub batch: usize,
    /// Seed of all randomness.
    pub seed: u64,
    /// Threads among which the draws of a batch are split; the answer does not depend on it.
    pub threads: usize,
    /// Where to start.
    pub start: Start,
    /// `M` and `μ`, where they are known.
    pub constants: Option<Constants>,
    /// Draws for the ELBO at the end.
    pub elbo_draws: usize,
    /// At most this many records in the trace.
    pub trace: usize,
}

/// Most draws a step by default, and fewest.
const BATCH: [usize; 2] = [16, 128];
/// Fewest draws in all by default.
const DRAWS: usize = 32_000;
/// Draws for each entry of a full factor whose estimate keeps its noise to the end.
const NOISY: usize = 40;
/// Most numbers that the draws of all steps touch by default.
const WORK: usize = 20_000_000_000;
/// Fewest steps by default.
const STEPS: usize = 300;

impl Config {
    /// The configuration of a method by name, with draws and steps for a target of this many coordinates.
    ///
    /// With a full factor the second moment of a step grows by `1 + (d+2)/B`, so draws a step grow with `d`.
    /// At the optimum of a whitened target the mean of `N` draws of the energy or the entropy estimator
    /// leaves a gap of about `d²/4N` nats; what STL leaves is small.
    pub fn suited(method: &str, dimension: usize) -> Result<Config, Error> {
        let mut config = Config::named(method)?;
        if !config.factor.full_rank {
            return Ok(config);
        }
        let square = dimension.saturating_mul(dimension).max(1);
        config.batch = dimension.checked_next_power_of_two().unwrap_or(BATCH[1]).clamp(BATCH[0], BATCH[1]);
        let noisy = if config.estimator.sticks { 0 } else { NOISY.saturating_mul(square) };
        let draws = noisy.max(DRAWS).min(WORK / square);
        config.steps = (draws / config.batch).max(STEPS);
        Ok(config)
    }

    /// The configuration of a method by name, with its defaults.
    pub fn named(method: &str) -> Result<Config, Error> {
        let method = find::<Method>(method)?;
        Ok(Config {
            family: Choice::named("normal")?,
            factor: find(method.factor)?,
            estimator: find(method.estimator)?,
            operator: find(method.operator)?,
            step: method.step.map(Choice::named).transpose()?,
            average: None,
            draws: find("iid")?,
            steps: 2000,
            batch: 16,
            seed: 1,
            threads: 1,
            start: Start::Narrow,
            constants: None,
            elbo_draws: 1000,
            trace: 100,
        })
    }
}
