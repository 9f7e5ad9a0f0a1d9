//! What a fit gives: the approximation, its ELBO, and how it came about.

use super::scale::Scale;
use super::table::Choice;
use super::{average::Average, family::Family, step::Rule};
use nalgebra::{DMatrix, DVector};

/// A fitted approximation `z = m + C u`.
#[derive(Clone, Debug)]
pub struct Run {
    /// `m`.
    pub mean: Vec<f64>,
    /// `C`.
    pub scale: Scale,
    /// The ELBO `E log p(z, x) - E log q(z)` with all constants, estimated from fresh draws; minus infinity
    /// if one of them fell outside the support.
    pub elbo: f64,
    /// Standard error of `elbo`.
    pub elbo_se: f64,
    /// Number of draws behind `elbo`.
    pub elbo_draws: usize,
    /// Steps taken.
    pub steps: usize,
    /// Gradients of the log density evaluated in the steps, one for each draw.
    pub gradients: usize,
    /// Steps that were taken back because something was not finite or `C` was not positive definite.
    pub rejected: usize,
    /// Whether the watcher stopped the fit before its last step.
    pub stopped: bool,
    /// What happened along the way, at most as many records as the configuration asked for, and the last
    /// step.
    pub trace: Vec<Record>,
    /// The family of the approximation.
    pub family: Choice<Family>,
    /// The step rule that was used.
    pub step: Choice<Rule>,
    /// The average that `mean` and `factor` are.
    pub average: Choice<Average>,
    /// The last iterate `w`, packed as its factor packs it.
    pub last: Vec<f64>,
    /// The averaged `w`, packed likewise.
    pub averaged: Vec<f64>,
}

impl Run {
    /// `C` by rows, `d × d`.
    pub fn factor(&self) -> Vec<f64> {
        self.scale.dense(self.mean.len())
    }

    /// The covariance `C Cᵀ`.
    pub fn covariance(&self) -> DMatrix<f64> {
        self.scale.covariance(self.mean.len())
    }

    /// The standard deviation of each coordinate.
    pub fn sd(&self) -> DVector<f64> {
        self.scale.lengths(self.mean.len()).into()
    }
}

/// A stretch of steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// Number of steps taken at its end.
    pub step: usize,
    /// Mean of `log p - log q` over the draws of the stretch: the ELBO along it.
    pub elbo: f64,
    /// Standard error of that mean.
    pub elbo_se: f64,
    /// The last step size (the geometric mean over coordinates if each had its own).
    pub step_size: f64,
    /// Norm of the last gradient estimate.
    pub gradient_norm: f64,
}

/// The fit as a watcher sees it after each step.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Steps taken.
    pub step: usize,
    /// Steps to take in all.
    pub steps: usize,
    /// The ELBO along the latest stretch, from the draws of the steps themselves.
    pub elbo: f64,
    /// Its standard error.
    pub elbo_se: f64,
    /// The step size just used.
    pub step_size: f64,
    /// Gradients evaluated so far.
    pub gradients: usize,
    /// Steps taken back so far.
    pub rejected: usize,
    /// The iterate `w = (m, c)`, packed as its factor packs it.
    pub iterate: &'a [f64],
    /// The running average.
    pub average: &'a [f64],
}

/// Mean and spread of a stream of numbers (Welford).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Tally {
    /// A number that is not finite makes the mean minus infinity, for good.
    pub(super) fn add(&mut self, x: f64) {
        self.count += 1.0;
        if !x.is_finite() || self.squares == f64::INFINITY {
            (self.mean, self.squares) = (f64::NEG_INFINITY, f64::INFINITY);
            return;
        }
        let delta = x - self.mean;
        self.mean += delta / self.count;
        self.squares += delta * (x - self.mean);
    }

    pub(super) fn merge(self, other: Tally) -> Tally {
        let count = self.count + other.count;
        if count == 0.0 || self.squares == f64::INFINITY {
            return self;
        }
        if other.squares == f64::INFINITY {
            return other;
        }
        let delta = other.mean - self.mean;
        Tally {
            count,
            mean: self.mean + delta * other.count / count,
            squares: self.squares + other.squares + delta * delta * self.count * other.count / count,
        }
    }

    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    pub(super) fn standard_error(&self) -> f64 {
        (self.squares / (self.count - 1.0).max(1.0) / self.count.max(1.0)).sqrt()
    }
}
