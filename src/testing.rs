//! Snapshot-tests of gradients: for `stickler test`, and for people's own repositories through insta.
//!
//! A test of your own, with `stickler` and `insta` among your dev-dependencies:
//!
//! ```no_run
//! use stickler::{data::Dataset, target::ModelTarget, testing};
//!
//! # /*
//! #[test]
//! # */
//! fn the_gradient_stays_as_it_is() {
//!     let model = std::fs::read_to_string("models/schools.ppl").unwrap();
//!     let data = Dataset::read(&["models/schools.csv"]).unwrap();
//!     let target = ModelTarget::new(&model, &data).unwrap();
//!     insta::assert_snapshot!(testing::snapshot(&target).unwrap());
//! }
//! ```
//!
//! `cargo insta review` shows what has changed and accepts it. What is compared is text:
//!
//! ```
//! use stickler::{data::Dataset, target::ModelTarget, testing};
//! let data = Dataset::from_texts(&[("data.csv", "y\n1.0\n2.0\n")]).unwrap();
//! let text = "data { y : real[N] }\nparam mu ~ normal(0, 1)\ny ~ normal(mu, 1)";
//! let model = ModelTarget::new(text, &data).unwrap();
//! let snapshot = testing::snapshot(&model).unwrap();
//! assert!(snapshot.contains("d/d mu               3.00000000e0"), "{snapshot}");
//! ```

use crate::num::stream::Stream;
use crate::target::{ModelTarget, Target};
use std::fmt::Write;

/// Seed of the points at which gradients are taken.
const SEED: u64 = 20_261_115;
/// Number of points: zeros, then seeded ones.
const POINTS: usize = 3;
/// Spread of the seeded points.
const SPREAD: f64 = 0.5;
/// Digits of a number in a snapshot: enough to show a mistake, few enough to survive another order of
/// additions.
const DIGITS: usize = 9;

/// Why a model's gradient cannot be trusted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// The log density is not a number anywhere that was tried.
    #[error("the log density is not finite at any of the points that were tried")]
    NotFinite,
    /// The gradient is not the derivative.
    #[error(
        "the derivative in {coordinate} at point {point} is {gradient}, but finite differences give {difference}"
    )]
    NotTheDerivative {
        /// Which coordinate.
        coordinate: String,
        /// Which point, from 1.
        point: usize,
        /// The gradient.
        gradient: f64,
        /// The finite difference.
        difference: f64,
    },
    /// The snapshot is not the one that was stored.
    #[error("line {line} differs from the stored snapshot:\n  stored: {stored}\n  now:    {now}")]
    Differs {
        /// Line of the snapshot, from 1.
        line: usize,
        /// What was stored.
        stored: String,
        /// What it is now.
        now: String,
    },
}

/// Value and gradient at fixed seeded points as readable text, after a check against finite differences.
pub fn snapshot(model: &ModelTarget) -> Result<String, Fault> {
    let names = model.coordinate_names();
    let mut text = format!("{} coordinates\n", names.len());
    let mut finite = 0;
    for (i, z) in points(model.dimension()).iter().enumerate() {
        let (value, gradient) = evaluate(model, z);
        if !value.is_finite() {
            let _ = writeln!(text, "\npoint {}: the log density is not finite", i + 1);
            continue;
        }
        finite += 1;
        check(model, z, &gradient, i + 1, &names)?;
        let split = model.split(z);
        let _ = writeln!(text, "\npoint {}", i + 1);
        for (name, x) in [
            ("log prior", split.prior),
            ("log likelihood", split.likelihood),
            ("log Jacobian", split.jacobian),
        ] {
            let _ = writeln!(text, "  {name:<20} {}", digits(x));
        }
        for (name, g) in names.iter().zip(&gradient) {
            let _ = writeln!(text, "  d/d {name:<16} {}", digits(*g));
        }
    }
    if finite == 0 { Err(Fault::NotFinite) } else { Ok(text) }
}

/// Compares a snapshot with a stored one: words exactly, numbers to within rounding of their printed digits.
pub fn compare(stored: &str, now: &str) -> Result<(), Fault> {
    let lines = stored.lines().count().max(now.lines().count());
    for i in 0..lines {
        let (a, b) = (stored.lines().nth(i).unwrap_or(""), now.lines().nth(i).unwrap_or(""));
        let (words_a, words_b): (Vec<&str>, Vec<&str>) =
            (a.split_whitespace().collect(), b.split_whitespace().collect());
        if words_a.len() != words_b.len() || words_a.iter().zip(&words_b).any(|(x, y)| !close(x, y)) {
            return Err(Fault::Differs { line: i + 1, stored: a.trim().into(), now: b.trim().into() });
        }
    }
    Ok(())
}

fn close(a: &str, b: &str) -> bool {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(x), Ok(y)) => (x - y).abs() <= 1e-7 * x.abs().max(y.abs()).max(1e-3),
        _ => a == b,
    }
}

fn digits(x: f64) -> String {
    format!("{:.*e}", DIGITS - 1, x)
}

fn points(dimension: usize) -> Vec<Vec<f64>> {
    (0..POINTS)
        .map(|k| {
            let mut z = vec![0.0; dimension];
            if k > 0 {
                Stream::new(SEED, 0, k as u64).fill_normal(&mut z);
                z.iter_mut().for_each(|x| *x *= SPREAD);
            }
            z
        })
        .collect()
}

fn evaluate(model: &ModelTarget, z: &[f64]) -> (f64, Vec<f64>) {
    let (mut value, mut gradient) = ([0.0], vec![0.0; z.len()]);
    model.evaluator().evaluate(z, 1, &mut value, &mut gradient);
    (value[0], gradient)
}

/// Five-point central differences, at the better of two step sizes.
fn check(
    model: &ModelTarget,
    z: &[f64],
    gradient: &[f64],
    point: usize,
    names: &[String],
) -> Result<(), Fault> {
    let mut evaluator = model.evaluator();
    let mut at = |i: usize, h: f64| {
        let mut moved = z.to_vec();
        moved[i] += h;
        let mut value = [0.0];
        evaluator.log_density(&moved, 1, &mut value);
        value[0]
    };
    let size = gradient.iter().fold(1.0_f64, |m, g| m.max(g.abs()));
    let level = at(0, 0.0).abs();
    for (i, &g) in gradient.iter().enumerate() {
        let difference = |h: f64, at: &mut dyn FnMut(usize, f64) -> f64| {
            (8.0 * (at(i, h) - at(i, -h)) - (at(i, 2.0 * h) - at(i, -2.0 * h))) / (12.0 * h)
        };
        let found: Vec<f64> = [1e-2, 1e-3, 1e-4].iter().map(|&h| difference(h, &mut at)).collect();
        let best = found
            .iter()
            .copied()
            .fold(f64::NAN, |b, d| if (d - g).abs() < (b - g).abs() || b.is_nan() { d } else { b });
        // How far two step sizes agree shows how far finite differences can be trusted at all.
        let noise = found.windows(2).map(|w| (w[0] - w[1]).abs()).fold(f64::INFINITY, f64::min);
        let allowed = 1e-6 * g.abs().max(1e-3 * size).max(1.0) + 1e-11 * level + noise;
        if (best - g).abs() > allowed || !g.is_finite() {
            return Err(Fault::NotTheDerivative {
                coordinate: names[i].clone(),
                point,
                gradient: g,
                difference: best,
            });
        }
    }
    Ok(())
}
