//! The Gaussian to start from: its covariance is the inverse curvature, made positive definite where it is
//! not.

use crate::infer::gaussian::Gaussian;
use crate::num::linalg::{cholesky, invert_lower, symmetric_eigen};
use crate::target::{Evaluator, Target};
use crate::vi::Scale;
use rayon::prelude::*;
use std::ops::Range;

/// Curvature below this share of what a coordinate has alone is rounding.
const ROUNDING: f64 = 1e-13;
/// Curvature of a direction that the mode says nothing about: the unit scale of unconstrained coordinates.
const UNKNOWN: f64 = 1.0;
/// Smallest curvature believed: a standard deviation of a thousand.
const FLATTEST: f64 = 1e-6;

/// Columns of a Hessian that one evaluator finds where threads share them, and fewest where that is worth
/// while. Each has an evaluator of its own, so that the numbers do not depend on which thread it is.
const COLUMNS: usize = 16;
const WORTH_THREADS: usize = 64;

/// Minus the Hessian at a point, by rows; None if it is not finite.
pub(in crate::infer) fn curvature(evaluator: &mut dyn Evaluator, z: &[f64]) -> Option<Vec<f64>> {
    let d = z.len();
    negated(&columns(evaluator, z, 0..d), d)
}

/// The same, where the columns of a large one are shared by all threads.
pub(in crate::infer) fn shared_curvature(
    target: &dyn Target,
    evaluator: &mut dyn Evaluator,
    z: &[f64],
) -> Option<Vec<f64>> {
    let d = z.len();
    if d < WORTH_THREADS {
        return curvature(evaluator, z);
    }
    let firsts: Vec<usize> = (0..d).step_by(COLUMNS).collect();
    let some = |&first: &usize| columns(&mut *target.evaluator(), z, first..d.min(first + COLUMNS));
    let parts: Vec<Vec<f64>> = firsts.par_iter().map(some).collect();
    let mut h = vec![0.0; d * d];
    for (first, part) in firsts.iter().zip(&parts) {
        let rows = h.chunks_exact_mut(d).zip(part.chunks_exact(part.len() / d));
        rows.for_each(|(row, part)| row[*first..first + part.len()].copy_from_slice(part));
    }
    negated(&h, d)
}

/// Some columns of the Hessian, row by row.
fn columns(evaluator: &mut dyn Evaluator, z: &[f64], which: Range<usize>) -> Vec<f64> {
    let (d, count) = (z.len(), which.len());
    let mut units = vec![0.0; d * count];
    which.enumerate().for_each(|(k, i)| units[i * count + k] = 1.0);
    let mut h = vec![0.0; d * count];
    evaluator.hessian_vectors(z, &units, count, &mut h);
    h
}

/// Minus the symmetric part of a matrix; None if it is not finite.
fn negated(h: &[f64], d: usize) -> Option<Vec<f64>> {
    let minus: Vec<f64> = (0..d * d).map(|p| -0.5 * (h[p] + h[p % d * d + p / d])).collect();
    minus.iter().all(|x| x.is_finite()).then_some(minus)
}

/// The start with a full factor.
pub(in crate::infer) fn dense(point: Vec<f64>, curvature: Option<Vec<f64>>) -> Gaussian {
    let d = point.len();
    let factor = curvature
        .and_then(|h| {
            safe_inverse_root(&h, d).or_else(|| regularised(&h, d).and_then(|h| safe_inverse_root(&h, d)))
        })
        .unwrap_or_else(|| (0..d * d).map(|p| f64::from(p / d == p % d)).collect());
    Gaussian { mean: point, factor: Scale::Dense(factor) }
}

/// The start with a diagonal factor.
pub(in crate::infer) fn diagonal(evaluator: &mut dyn Evaluator, point: Vec<f64>) -> Gaussian {
    let scales = scales(evaluator, &point);
    Gaussian { mean: point, factor: Scale::Diagonal(scales) }
}

/// The standard deviation that the curvature at a point gives each coordinate by itself.
pub(in crate::infer) fn scales(evaluator: &mut dyn Evaluator, point: &[f64]) -> Vec<f64> {
    let d = point.len();
    let (mut unit, mut column) = (vec![0.0; d], vec![0.0; d]);
    let scale = |i: usize| {
        unit[i] = 1.0;
        evaluator.hessian_vectors(point, &unit, 1, &mut column);
        unit[i] = 0.0;
        1.0 / believed(-column[i], 0.0).sqrt()
    };
    (0..d).map(scale).collect()
}

/// Lower triangular C with C Cᵀ = H⁻¹, or None unless H is safely positive definite. What is rounding is
/// judged with every coordinate in units of its own curvature: a column in the millions makes none of the
/// others flat.
fn safe_inverse_root(h: &[f64], d: usize) -> Option<Vec<f64>> {
    let unit: Vec<f64> = (0..d).map(|i| h[i * d + i].sqrt()).collect();
    if unit.iter().any(|u| !(*u > 0.0)) {
        return None;
    }
    let even: Vec<f64> = (0..d * d).map(|p| h[p] / (unit[p / d] * unit[p % d])).collect();
    let mut c = inverse_root(&even, d, ROUNDING)?;
    c.chunks_exact_mut(d).zip(&unit).for_each(|(row, u)| row.iter_mut().for_each(|x| *x /= u));
    (0..d).all(|i| c[i * d + i].powi(-2) >= FLATTEST * 1e-2).then_some(c)
}

/// Lower triangular C with C Cᵀ = H⁻¹, or None unless every pivot of H is at least `least`.
///
/// With the order of the coordinates reversed, H = L Lᵀ; put back in order, L⁻ᵀ is lower triangular.
pub(in crate::infer) fn inverse_root(h: &[f64], d: usize, least: f64) -> Option<Vec<f64>> {
    let n = d * d;
    let mut l: Vec<f64> = (0..n).map(|p| h[n - 1 - p]).collect();
    cholesky(&mut l, d).ok()?;
    if (0..d).any(|i| l[i * d + i].powi(2) < least) {
        return None;
    }
    let inverse = invert_lower(&l, d);
    let c: Vec<f64> = (0..n).map(|p| inverse[(d - 1 - p % d) * d + (d - 1 - p / d)]).collect();
    c.iter().all(|x| x.is_finite()).then_some(c)
}

/// The curvature with its eigenvalues replaced by ones that can be believed.
fn regularised(h: &[f64], d: usize) -> Option<Vec<f64>> {
    let eigen = symmetric_eigen(h, d)?;
    let top = eigen.values.iter().fold(0.0_f64, |t, x| t.max(x.abs()));
    let mut out = vec![0.0; d * d];
    for (value, v) in eigen.values.iter().zip(eigen.vectors.chunks_exact(d)) {
        let value = believed(*value, 1e-10 * top);
        for (row, x) in out.chunks_exact_mut(d).zip(v) {
            row.iter_mut().zip(v).for_each(|(o, v)| *o += value * x * v);
        }
    }
    Some(out)
}

fn believed(value: f64, least: f64) -> f64 {
    if value > least.max(FLATTEST) {
        value
    } else if value.is_finite() {
        value.abs().max(UNKNOWN)
    } else {
        UNKNOWN
    }
}
