//! A row of the table of distributions: everything true of one, beside its formula.

use crate::facts::Range;
use crate::graph::{BuildError, Builder, NodeId};
use crate::ops::scalar::ScalarRow;
use rand_chacha::ChaCha8Rng;
use std::f64::consts::PI;

/// A distribution, with Stan's name and parameterisation.
pub struct Distribution {
    /// Its name in the language.
    pub name: &'static str,
    /// One line for the manual.
    pub doc: &'static str,
    /// The log density in the language itself, in terms of `x` and the arguments' names (of `f`, where an
    /// argument is called `x`): what the manual prints and what the kernel is tested against.
    pub formula: &'static str,
    /// Its arguments, in order.
    pub args: &'static [ArgSpec],
    /// Where its values lie.
    pub support: Support,
    /// Whether its values are integers.
    pub discrete: bool,
    /// Axes of one value: 0 for a number, 1 for a vector, 2 for a matrix.
    pub event: usize,
    /// Its log density.
    pub density: Density,
    /// log P(X ≤ x), a function of x and the arguments.
    pub lcdf: Option<&'static ScalarRow>,
    /// log P(X > x), a function of x and the arguments.
    pub lccdf: Option<&'static ScalarRow>,
    /// The smallest x with P(X ≤ x) ≥ p.
    pub quantile: Option<fn(p: f64, args: &[f64]) -> f64>,
    /// Draws a value.
    pub sample: Sampler,
    /// How to write it as a function of something with a fixed distribution, for `noncentered`.
    pub noncentered: Option<Noncentered>,
    /// Distributions that say the same in terms of another argument, where an argument is a function of it.
    pub links: &'static [Link],
    /// Points for the table tests: in the tails too.
    pub probes: &'static [Probe],
}

/// A distribution with argument `arg` = `of`(y) is the distribution `to` with y in that place:
/// poisson(exp(y)) is poisson_log(y), computed without the detour and with better-known derivatives.
pub struct Link {
    /// The argument, counted from 0.
    pub arg: usize,
    /// The function.
    pub of: &'static ScalarRow,
    /// The distribution, whose other arguments are the same.
    pub to: &'static Distribution,
}

impl Distribution {
    /// The places of location and scale among its arguments, where it is one of any location and scale: its
    /// standardised form runs over all numbers.
    pub fn location_scale(&self) -> Option<[usize; 2]> {
        let form = self.noncentered.as_ref()?;
        let place = |name: &str| self.args.iter().position(|a| a.name == name);
        let whole = form.base.support == Support::REAL;
        Some([place("mu")?, place("sigma")?]).filter(|_| whole && self.event == 0)
    }
}

impl std::fmt::Debug for Distribution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// An argument of a distribution.
#[derive(Debug)]
pub struct ArgSpec {
    /// Its name, for `normal(mu = 0, sigma = 1)` and for messages.
    pub name: &'static str,
    /// The values it may take.
    pub domain: Domain,
    /// Axes that belong to one event: 0 for a number, 1 for a vector, 2 for a matrix.
    pub rank: usize,
    /// Its value when it is not given.
    pub default: Option<f64>,
}

impl ArgSpec {
    /// A number, any real one.
    pub const fn real(name: &'static str) -> Self {
        Self { name, domain: Domain::Real, rank: 0, default: None }
    }

    /// A number above zero.
    pub const fn positive(name: &'static str) -> Self {
        Self { name, domain: Domain::Positive, rank: 0, default: None }
    }
}

/// The values an argument may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// Any real number.
    Real,
    /// x > 0
    Positive,
    /// x ≥ 0
    NonNegative,
    /// 0 ≤ x ≤ 1
    Unit,
    /// 0, 1, 2, ... known before the fit
    Count,
    /// Positive entries that sum to 1.
    Simplex,
    /// Increasing entries.
    Ordered,
    /// Symmetric and positive definite.
    Covariance,
    /// Lower triangular with a positive diagonal.
    CholeskyFactor,
    /// Known before the fit, any real number.
    Data,
}

impl Domain {
    /// The numbers it consists of, where it says something of each entry by itself.
    pub fn range(self) -> Option<Range> {
        match self {
            Domain::Positive => Some(Range::POSITIVE),
            Domain::NonNegative | Domain::Count | Domain::Simplex => Some(Range::NON_NEGATIVE),
            Domain::Unit => Some(Range::UNIT),
            Domain::Real | Domain::Ordered | Domain::Covariance | Domain::CholeskyFactor | Domain::Data => {
                None
            }
        }
    }
}

/// Where the values of a distribution lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Support {
    /// Numbers between two ends (each number of an event, when it is an array).
    Interval(End, End),
    /// Integers between two ends, both included.
    Integers(End, End),
    /// Angles: any number, with a period of 2π; those of a parameter lie in (-π, π).
    Circle,
    /// Vectors of positive numbers that sum to 1.
    Simplex,
    /// Vectors of counts.
    Counts,
    /// Correlation matrices.
    CorrMatrix,
    /// Covariance matrices.
    CovMatrix,
    /// Cholesky factors of correlation matrices.
    CholeskyCorr,
    /// Wherever the declared type says (`flat`).
    Anywhere,
}

/// An end of a support.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// A number, possibly infinite.
    At(f64),
    /// A number at which the density is zero: the values come as near as they like.
    Past(f64),
    /// The value of an argument, by position.
    Arg(usize),
    /// The number of entries along the last axis of an argument, by position.
    Length(usize),
}

impl Support {
    /// All real numbers.
    pub const REAL: Support = Support::Interval(End::At(f64::NEG_INFINITY), End::At(f64::INFINITY));
    /// Numbers above zero; the density at zero is for the distribution to say.
    pub const POSITIVE: Support = Support::Interval(End::At(0.0), End::At(f64::INFINITY));
    /// Numbers above zero, never zero itself.
    pub const ABOVE_ZERO: Support = Support::Interval(End::Past(0.0), End::At(f64::INFINITY));
    /// Numbers between zero and one.
    pub const UNIT: Support = Support::Interval(End::At(0.0), End::At(1.0));
    /// Numbers between 0 and 1, at which the density is zero or infinite.
    pub const INSIDE_UNIT: Support = Support::Interval(End::Past(0.0), End::Past(1.0));
    /// 0, 1, 2, ...
    pub const COUNT: Support = Support::Integers(End::At(0.0), End::At(f64::INFINITY));
    /// 0 or 1.
    pub const BINARY: Support = Support::Integers(End::At(0.0), End::At(1.0));

    /// The ends between which the density of a number integrates to 1.
    pub fn interval(self) -> Option<(End, End)> {
        match self {
            Support::Interval(low, high) => Some((low, high)),
            Support::Circle => Some((End::At(-PI), End::At(PI))),
            Support::Integers(..)
            | Support::Simplex
            | Support::Counts
            | Support::CorrMatrix
            | Support::CovMatrix
            | Support::CholeskyCorr
            | Support::Anywhere => None,
        }
    }
}

/// Builds a node from `x` and the arguments.
pub type Build = fn(&mut Builder, x: NodeId, args: &[NodeId]) -> Result<NodeId, BuildError>;

/// How the log density is computed.
pub enum Density {
    /// A sum of elementwise functions, each of only some of `x` and the arguments. What depends on data alone
    /// is then computed once, and what depends on a scalar alone once for all elements.
    Parts(&'static [Part]),
    /// Built from operations on whole arrays: the log density of each event, an array over the axes before
    /// the event's.
    Events(Build),
}

/// A summand of a log density.
pub struct Part {
    /// The function.
    pub row: &'static ScalarRow,
    /// What it is a function of: 0 is `x`, k is argument k, [`LOG_X`] is log x, [`LOG1M_X`] is log(1 - x).
    pub of: &'static [usize],
}

/// In [`Part::of`]: log x, a node of its own, so that it is computed once where x is data.
pub const LOG_X: usize = usize::MAX;
/// In [`Part::of`]: log(1 - x), likewise.
pub const LOG1M_X: usize = usize::MAX - 1;

/// How values are drawn.
pub enum Sampler {
    /// A number from numbers.
    Number(fn(&mut ChaCha8Rng, args: &[f64]) -> f64),
    /// An array from one event's arguments, each flat in row-major order.
    Event(fn(&mut ChaCha8Rng, args: &[&[f64]], out: &mut [f64])),
    /// It cannot be drawn from (an improper density).
    None,
}

/// x = transform(z, arguments) with z distributed as `base`.
pub struct Noncentered {
    /// The distribution of each number of `z`.
    pub base: &'static Distribution,
    /// Its arguments.
    pub base_args: &'static [BaseArg],
    /// x from z and the arguments.
    pub build: Build,
}

/// An argument of a base distribution.
#[derive(Clone, Copy, Debug)]
pub enum BaseArg {
    /// A number.
    Number(f64),
    /// The same as an argument of the distribution itself.
    Arg(usize),
}

/// A point at which the table tests look: a value and arguments. Arrays are flat; their shape follows from
/// `size`.
pub struct Probe {
    /// The value (one number, or the numbers of one event).
    pub x: &'static [f64],
    /// The arguments, each as many numbers as it has.
    pub args: &'static [&'static [f64]],
}
