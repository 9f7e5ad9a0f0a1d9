//! Extreme eigenvalues of sparse symmetric matrices: proved by Cholesky factorisations where these stay
//! sparse.

use super::Sparse;
use super::spectrum::End;
use crate::num::linalg::Pattern;
use std::collections::HashMap;

/// Rounds of halving an interval of eigenvalues: to about 1e-15 of the largest.
const HALVINGS: usize = 50;
/// Most products and sums of a factorisation that is made as often.
const MOST_WORK: usize = 20_000_000;
/// How far beyond an eigenvalue, in units of the largest entry, a shift leaves the matrix safely definite.
const BEYOND: f64 = 1e-8;
/// Steps of inverse iteration.
const ITERATIONS: usize = 8;
/// Steps of power iteration.
const POWERS: usize = 300;

/// The pattern of a matrix whose factor stays sparse enough.
fn pattern(d: usize, pairs: &[(u32, u32)]) -> Option<Pattern> {
    Some(Pattern::new(d, pairs)).filter(|pattern| pattern.work() <= MOST_WORK)
}

/// An upper bound on the largest eigenvalue of `sign · H`, by halving: σ is one if σ I - sign · H is positive
/// definite. None where factors take too much work.
pub(super) fn most(d: usize, Sparse { pairs, values }: &Sparse, sign: f64) -> Option<f64> {
    let pattern = pattern(d, pairs)?;
    let mut centre = vec![0.0; d];
    let mut radius = vec![0.0; d];
    for (&(i, j), &v) in pairs.iter().zip(values) {
        if i == j {
            centre[i as usize] += sign * v;
        } else {
            radius[i as usize] += v.abs();
            radius[j as usize] += v.abs();
        }
    }
    let top = |f: &dyn Fn(usize) -> f64| (0..d).map(f).fold(f64::NEG_INFINITY, f64::max);
    let (mut low, mut high) = (top(&|i| centre[i]), top(&|i| centre[i] + radius[i]));
    let holds = |sigma: f64| {
        let shift = |(i, j): (u32, u32)| if i == j { sigma } else { 0.0 };
        let shifted = pairs.iter().zip(values).map(|(&pair, &v)| shift(pair) - sign * v).collect();
        is_semidefinite(&pattern, pairs, shifted, 0.0)
    };
    for _ in 0..HALVINGS {
        let mid = 0.5 * (low + high);
        if holds(mid) { high = mid } else { low = mid }
    }
    Some(high)
}

/// An upper bound on the largest eigenvalue without any factor: for every positive x no eigenvalue of H is
/// larger than the largest (|H| x)_i / x_i (Collatz and Wielandt). Power iteration brings x near to where
/// that is an equality for |H|.
pub(super) fn perron(d: usize, Sparse { pairs, values }: &Sparse) -> f64 {
    let product = |x: &[f64]| {
        let mut y = vec![0.0; d];
        for (&(i, j), v) in pairs.iter().zip(values) {
            let (i, j) = (i as usize, j as usize);
            y[i] += v.abs() * x[j];
            if i != j {
                y[j] += v.abs() * x[i];
            }
        }
        y
    };
    let (mut x, mut best) = (vec![1.0; d], f64::INFINITY);
    for _ in 0..POWERS {
        let y = product(&x);
        let ratios = y.iter().zip(&x).map(|(y, x)| y / x);
        let bound = ratios.fold(0.0, |m: f64, r| if r > m || r.is_nan() { r } else { m });
        best = best.min(bound);
        // A part of x itself keeps two halves that only meet each other from taking turns, and every entry
        // positive.
        let largest = y.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        x.iter_mut().zip(&y).for_each(|(x, y)| *x = 0.5 * *x + 0.5 * (y / largest));
    }
    // No row is a sum of more than d products, each rounded.
    best * (1.0 + (d as f64 + 4.0) * f64::EPSILON)
}

/// The largest μ ≥ 0 that can be vouched for with A - μ B positive semi-definite, where the sums in A and B
/// are off by no more than the errors given.
pub(super) fn relative(d: usize, (a, off_a): (&Sparse, f64), (b, off_b): (&Sparse, f64)) -> Option<f64> {
    let mut all: HashMap<(u32, u32), (f64, f64)> = HashMap::new();
    a.pairs.iter().zip(&a.values).for_each(|(place, v)| all.entry(*place).or_default().0 = *v);
    b.pairs.iter().zip(&b.values).for_each(|(place, v)| all.entry(*place).or_default().1 = *v);
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_unstable_by_key(|(place, _)| *place);
    let pairs: Vec<(u32, u32)> = all.iter().map(|(place, _)| *place).collect();
    let pattern = pattern(d, &pairs)?;
    let holds = |mu: f64| {
        let values: Vec<f64> = all.iter().map(|(_, (a, b))| a - mu * b).collect();
        is_semidefinite(&pattern, &pairs, values, off_a + mu * off_b)
    };
    let (mut low, mut high) = (0.0, 1.0);
    if holds(1.0) {
        return Some(1.0);
    }
    for _ in 0..HALVINGS {
        let mid = 0.5 * (low + high);
        if holds(mid) { low = mid } else { high = mid }
    }
    (low > 0.0 || holds(0.0)).then_some(low)
}

/// The unit vector of an extreme eigenvalue by inverse iteration, from a shift a little beyond it.
pub(super) fn direction(
    d: usize,
    Sparse { pairs, values }: &Sparse,
    end: End,
    value: f64,
) -> Option<Vec<f64>> {
    let sign = match end {
        End::Least => 1.0,
        End::Most => -1.0,
    };
    let largest = values.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
    let shift = value - sign * BEYOND * largest;
    let shifted = |(&(i, j), &v): (&(u32, u32), &f64)| [sign * (v - if i == j { shift } else { 0.0 })];
    let shifted: Vec<[f64; 1]> = pairs.iter().zip(values).map(shifted).collect();
    let pattern = pattern(d, pairs)?;
    let mut factor = Vec::new();
    pattern.factor(&shifted, &mut factor);
    // A start that is orthogonal to no direction that a model singles out.
    let mut v: Vec<[f64; 1]> = (0..d).map(|i| [1.0 + 0.5 * (1.0 + i as f64).sin()]).collect();
    for _ in 0..ITERATIONS {
        pattern.solve_lower(&factor, &mut v);
        pattern.solve_transposed(&factor, &mut v);
        let length = v.iter().map(|x| x[0] * x[0]).sum::<f64>().sqrt();
        v.iter_mut().for_each(|x| x[0] /= length);
    }
    let v: Vec<f64> = v.into_iter().map(|[x]| x).collect();
    v.iter().all(|x| x.is_finite()).then_some(v)
}

/// Whether a sparse symmetric matrix that may be off by `error` is positive semi-definite, for certain: what
/// is left after more than all rounding is taken from its diagonal can still be factored.
fn is_semidefinite(pattern: &Pattern, pairs: &[(u32, u32)], mut values: Vec<f64>, error: f64) -> bool {
    let mut diagonal = vec![0.0; pattern.dimension()];
    let on_it = |((i, j), _): &(&(u32, u32), &mut f64)| i == j;
    pairs.iter().zip(&mut values).filter(on_it).for_each(|((i, _), v)| diagonal[*i as usize] = *v);
    let slack = error + pattern.rounding(&diagonal);
    pairs.iter().zip(&mut values).filter(on_it).for_each(|(_, v)| *v -= slack);
    slack.is_finite() && pattern.is_positive_definite(&values)
}
