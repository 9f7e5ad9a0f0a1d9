//! Where a fit starts: `w⁰` from the configuration, checked and packed.

use super::Error;
use super::factor::Factor;
use super::method::{Config, Start};

/// Width of the draws at which the curvature near the start is looked at.
pub(super) const GLANCE: f64 = 1e-2;

/// `w⁰`, in the set that the operator keeps to.
pub(super) fn starting_point(
    config: &Config,
    d: usize,
    factor: &mut dyn Factor,
    floor: f64,
) -> Result<Vec<f64>, Error> {
    let mut w = packed(config, d, factor)?;
    if w.iter().any(|x| !x.is_finite()) {
        return refuse("made of finite numbers".into(), "one that is not".into());
    }
    let positive = factor.load(&w[d..]);
    if config.operator.floors {
        factor.project(&mut w[d..], floor);
    } else if !positive {
        return refuse("positive definite in its factor".into(), "one that is not".into());
    }
    if !factor.load(&w[d..]) {
        return refuse("positive definite in its factor".into(), "one that is not".into());
    }
    Ok(w)
}

/// The mean and the numbers that stand for `C`.
fn packed(config: &Config, d: usize, factor: &dyn Factor) -> Result<Vec<f64>, Error> {
    // Without a constant the width is set once the curvature at the start has been looked at.
    let narrow = config.constants.map_or(GLANCE, |c| 1.0 / c.smoothness.sqrt());
    let (mean, scale) = match &config.start {
        Start::Narrow => (vec![0.0; d], narrow),
        Start::NarrowAt(mean) => (mean.clone(), narrow),
        Start::Standard => (vec![0.0; d], 1.0),
        Start::Scaled { mean, scale } => (mean.clone(), *scale),
        Start::Given { mean, .. } => (mean.clone(), f64::NAN),
    };
    if mean.len() != d {
        return refuse(format!("a mean of {d} numbers"), format!("{} numbers", mean.len()));
    }
    let mut w = mean;
    w.resize(d + factor.count(), 0.0);
    match &config.start {
        Start::Given { factor: dense, .. } if dense.len() == d * d => factor.pack(dense, &mut w[d..]),
        Start::Given { factor: dense, .. } => {
            return refuse(format!("a factor of {d} × {d} numbers"), format!("{} numbers", dense.len()));
        }
        Start::Narrow | Start::NarrowAt(_) | Start::Standard | Start::Scaled { .. } => {
            (0..d).for_each(|i| w[d + factor.diagonal(i)] = scale);
        }
    }
    Ok(w)
}

fn refuse<T>(expected: String, found: String) -> Result<T, Error> {
    Err(Error::Configuration { field: "start", expected, found })
}
