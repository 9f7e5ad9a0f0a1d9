//! Log densities, log cdfs and quantiles against values computed with mpmath
//! (`tests/reference/distributions*.py`).

use super::{at, log_density, rows, terms};
use crate::common::slopes;
use serde::Deserialize;
use std::collections::BTreeSet;
use stickler::dist::{Density, Distribution, find};
use stickler::ops::scalar::ScalarRow;

/// A distribution at a point, computed elsewhere.
#[derive(Deserialize)]
struct Reference {
    dist: String,
    x: Vec<f64>,
    args: Vec<Vec<f64>>,
    value: f64,
    lcdf: Option<f64>,
    lccdf: Option<f64>,
    p: Option<f64>,
    quantile: Option<f64>,
}

/// The points of distributions of numbers, with the row and the arguments as numbers.
fn references() -> Vec<(&'static Distribution, Reference, Vec<f64>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir("tests/reference").unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with("distributions") && name.ends_with(".json") {
            let text = std::fs::read_to_string(&path).unwrap();
            all.extend(serde_json::from_str::<Vec<Reference>>(&text).unwrap());
        }
    }
    let numbers = |r: &Reference| r.args.iter().map(|a| a[0]).collect();
    let rows = all.into_iter().filter_map(|r| {
        let dist = find(&r.dist)?;
        let single = dist.event == 0 && dist.args.iter().all(|a| a.rank == 0);
        single.then(|| (dist, numbers(&r), r)).map(|(d, a, r)| (d, r, a))
    });
    rows.collect()
}

fn report(wrong: &[String], of: usize) {
    assert!(wrong.is_empty(), "{} of {of}:\n{}", wrong.len(), wrong.join("\n"));
}

/// To 1e-12 relative, plus 1e-15 of the terms that the density is the sum of.
#[test]
fn log_densities() {
    let (all, mut wrong, mut seen) = (references(), Vec::new(), BTreeSet::new());
    for (dist, r, args) in &all {
        let Density::Parts(parts) = dist.density else { continue };
        seen.insert(dist.name);
        let got = log_density(dist, r.x[0], args);
        let size: f64 = terms(parts, r.x[0], args).iter().map(|t| t.abs()).sum();
        if !((got - r.value).abs() <= 1e-12 * r.value.abs() + 1e-15 * (1.0 + size)) {
            wrong.push(format!("{} at {:?}, {args:?} is {got}, not {}", r.dist, r.x, r.value));
        }
    }
    report(&wrong, all.len());
    for (dist, _) in rows() {
        assert!(seen.contains(dist.name), "{} has no reference values", dist.name);
    }
}

/// To 1e-12 relative, plus 4 units of rounding in x and in each argument; where it is a sum of probabilities,
/// in the terms of their logs.
fn check_probability(
    dist: &Distribution,
    row: &'static ScalarRow,
    x: f64,
    args: &[f64],
    expected: f64,
) -> Option<String> {
    let got = at(row, x, args);
    let all: Vec<f64> = std::iter::once(x).chain(args.iter().copied()).collect();
    let moved: f64 =
        all.iter().zip(slopes(row, &all)).map(|(x, s)| (x * s).abs()).filter(|m| m.is_finite()).sum();
    let summed = match dist.density {
        Density::Parts(parts) if dist.discrete => terms(parts, x, args).iter().map(|t| t.abs()).sum(),
        Density::Parts(_) | Density::Events(_) => 0.0,
    };
    // The references of discrete distributions leave 1e-50 where a probability is exactly 1.
    let close =
        (got - expected).abs() <= 1e-12 * expected.abs() + 4.0 * f64::EPSILON * (moved + summed) + 1e-50;
    (!close).then(|| format!("{} at {x}, {args:?} is {got}, not {expected}", row.name))
}

#[test]
fn log_cdfs_and_log_ccdfs() {
    let (all, mut wrong) = (references(), Vec::new());
    for (dist, r, args) in &all {
        for (row, expected) in [(dist.lcdf, r.lcdf), (dist.lccdf, r.lccdf)] {
            if let (Some(row), Some(expected)) = (row, expected) {
                wrong.extend(check_probability(dist, row, r.x[0], args, expected));
            }
        }
    }
    report(&wrong, all.len());
}

/// To 1e-12 relative, plus 8 units of rounding in p and in the arguments.
#[test]
fn quantiles() {
    let (all, mut wrong) = (references(), Vec::new());
    for (dist, r, args) in &all {
        let (Some(quantile), Some(p), Some(expected)) = (dist.quantile, r.p, r.quantile) else { continue };
        let got = quantile(p, args);
        let by_p = p.min(1.0) / log_density(dist, expected, args).exp();
        let location: f64 = args.iter().filter(|_| dist.noncentered.is_some()).map(|a| a.abs()).sum();
        let rounding = 8.0 * f64::EPSILON * (by_p + location);
        if !((got - expected).abs() <= 1e-12 * expected.abs() + rounding) {
            wrong.push(format!("{} quantile of {p}, {args:?} is {got}, not {expected}", r.dist));
        }
    }
    report(&wrong, all.len());
}
