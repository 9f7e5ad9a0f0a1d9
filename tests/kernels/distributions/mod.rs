//! Laws of every distribution of numbers, over the table: a row is tested the moment it is registered.

use crate::common;
mod plan;
mod probability;
mod reference;
mod sampling;
mod slopes;

use common::value;
use stickler::dist::{Density, Distribution, Domain, LOG_X, LOG1M_X, Part, Probe, Support, TABLE};
use stickler::ops::scalar::ScalarRow;

/// The distributions of single numbers whose density is a sum of elementwise parts.
fn rows() -> impl Iterator<Item = (&'static Distribution, &'static [Part])> {
    TABLE.iter().copied().filter(|d| d.event == 0).filter_map(|d| match d.density {
        Density::Parts(parts) => Some((d, parts)),
        Density::Events(_) => None,
    })
}

/// Those with continuous values.
fn continuous() -> impl Iterator<Item = &'static Distribution> {
    rows().map(|(d, _)| d).filter(|d| !d.discrete && d.support != Support::Anywhere)
}

/// The value and the arguments of a probe as numbers.
fn numbers(probe: &Probe) -> (f64, Vec<f64>) {
    (probe.x[0], probe.args.iter().map(|a| a[0]).collect())
}

/// What a part is a function of, at a value and arguments.
fn inputs(part: &Part, x: f64, args: &[f64]) -> Vec<f64> {
    let input = |&k: &usize| match k {
        0 => x,
        LOG_X => x.ln(),
        LOG1M_X => (-x).ln_1p(),
        k => args[k - 1],
    };
    part.of.iter().map(input).collect()
}

/// The terms of the log density.
fn terms(parts: &[Part], x: f64, args: &[f64]) -> Vec<f64> {
    parts.iter().map(|part| value(part.row, &inputs(part, x, args))).collect()
}

/// The log density.
fn log_density(dist: &Distribution, x: f64, args: &[f64]) -> f64 {
    match dist.density {
        Density::Parts(parts) => terms(parts, x, args).iter().sum(),
        Density::Events(_) => f64::NAN,
    }
}

/// A row that is a function of the value and all arguments.
fn at(row: &'static ScalarRow, x: f64, args: &[f64]) -> f64 {
    let mut all = vec![x];
    all.extend(args);
    value(row, &all)
}

/// Positions (0 is the value) that hold data rather than parameters: no derivative is asked for there.
fn data_positions(dist: &Distribution) -> Vec<usize> {
    let counts =
        dist.args.iter().enumerate().filter(|(_, a)| matches!(a.domain, Domain::Count | Domain::Data));
    let mut fixed: Vec<usize> = counts.map(|(k, _)| k + 1).collect();
    if dist.discrete {
        fixed.extend([0, LOG_X, LOG1M_X]);
    }
    fixed
}
