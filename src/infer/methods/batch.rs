//! Batches of draws: standard normals in pairs of opposite sign, and the target at many points at once.

use crate::infer::gaussian::Gaussian;
use crate::infer::importance::elbo::Elbo;
use crate::infer::importance::errors::Layout;
use crate::num::linalg::dot;
use crate::num::real::LN_2PI;
use crate::num::sobol::Sobol;
use crate::num::stream::Stream;
use crate::target::Target;
use crate::vi::Scale;
use rayon::prelude::*;

/// Who draws: scrambled Sobol points.
const PURPOSE: u64 = 0x6d65_7468;
/// Dimensions up to which draws are Sobol points: beyond, few points are no better spread than random ones.
const SPREAD: usize = 24;
/// Points evaluated together.
const CHUNK: usize = 32;

/// `rows × n` standard normals, draw b + ⌈n/2⌉ being minus draw b; evenly spread where there are few rows.
pub(super) fn normals(mut stream: Stream, rows: usize, n: usize) -> Vec<f64> {
    let half = n.div_ceil(2);
    let mut plus = vec![0.0; rows * half];
    match (rows <= SPREAD).then(|| Sobol::new(rows, stream.bits(), PURPOSE)) {
        Some(sobol) => sobol.fill_normal(0, half, &mut plus),
        None => stream.fill_normal(&mut plus),
    }
    let mut u = vec![0.0; rows * n];
    for (row, plus) in u.chunks_exact_mut(n).zip(plus.chunks_exact(half)) {
        let (first, second) = row.split_at_mut(half);
        first.copy_from_slice(plus);
        second.iter_mut().zip(plus).for_each(|(m, p)| *m = -*p);
    }
    u
}

/// log p at each of `n` points and the gradients, `d × n`; None if anything is not finite.
pub(super) fn evaluate(target: &dyn Target, z: &[f64], n: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    let d = z.len() / n;
    let piece = |evaluator: &mut Box<dyn crate::target::Evaluator + '_>, first: usize| {
        let b = CHUNK.min(n - first);
        let points: Vec<f64> =
            z.chunks_exact(n).flat_map(|row| row[first..first + b].iter().copied()).collect();
        let (mut value, mut slope) = (vec![0.0; b], vec![0.0; d * b]);
        evaluator.evaluate(&points, b, &mut value, &mut slope);
        let good = value.iter().chain(&slope).all(|x| x.is_finite());
        good.then_some((value, slope))
    };
    let firsts: Vec<usize> = (0..n).step_by(CHUNK).collect();
    let pieces: Option<Vec<_>> =
        firsts.into_par_iter().map_init(|| target.evaluator(), |e, first| piece(e, first)).collect();
    let (mut values, mut slopes) = (Vec::with_capacity(n), vec![0.0; d * n]);
    for (value, slope) in pieces? {
        let (first, b) = (values.len(), value.len());
        for (row, from) in slopes.chunks_exact_mut(n).zip(slope.chunks_exact(b)) {
            row[first..first + b].copy_from_slice(from);
        }
        values.extend(value);
    }
    Some((values, slopes))
}

/// Points of a Gaussian with what the target is there.
pub(super) struct Batch {
    pub(super) z: Vec<f64>,
    pub(super) slope: Vec<f64>,
    /// The ELBO by this batch and its standard error.
    pub(super) elbo: Elbo,
}

/// The target at draws of a Gaussian; None if anything is not finite.
pub(super) fn at_draws(target: &dyn Target, q: &Gaussian, stream: Stream, n: usize) -> Option<Batch> {
    let d = q.mean.len();
    let u = normals(stream, d, n);
    let mut z = vec![0.0; d * n];
    q.factor.apply(&u, [d, n], &mut z);
    add_to_rows(&mut z, &q.mean, n);
    let (value, slope) = evaluate(target, &z, n)?;
    let mut logs = value;
    for row in u.chunks_exact(n) {
        logs.iter_mut().zip(row).for_each(|(l, u)| *l += 0.5 * u * u);
    }
    let elbo = Elbo::of(&logs, Layout::INDEPENDENT);
    let constant = q.factor.log_det(d) + 0.5 * d as f64 * LN_2PI;
    Some(Batch { z, slope, elbo: elbo.plus(constant) })
}

/// Adds a number to each row.
pub(super) fn add_to_rows(z: &mut [f64], shift: &[f64], n: usize) {
    z.chunks_exact_mut(n).zip(shift).for_each(|(row, m)| row.iter_mut().for_each(|z| *z += m));
}

/// The mean of each row.
pub(super) fn row_means(x: &[f64], n: usize) -> Vec<f64> {
    x.chunks_exact(n).map(|row| row.iter().sum::<f64>() / n as f64).collect()
}

/// Draws for a deterministic objective whose second moments are those of the standard normal: the leading
/// rows are orthonormal, the others orthogonal to them and of unit length, in mean squares. With as many
/// leading rows as rows, all second moments are exact. The pairs of opposite sign make the odd moments exact.
pub(super) fn matched(stream: Stream, rows: usize, lead: usize, n: usize) -> Vec<f64> {
    let mut u = normals(stream, rows, n);
    for i in 0..rows {
        let (before, rest) = u.split_at_mut(i * n);
        let row = &mut rest[..n];
        // Twice, because once leaves rounding where a row is nearly in the span of the others.
        for _ in 0..2 {
            for other in before.chunks_exact(n).take(lead) {
                let share = dot(other, row) / n as f64;
                row.iter_mut().zip(other).for_each(|(x, o)| *x -= share * o);
            }
        }
        let scale = (dot(row, row) / n as f64).sqrt();
        row.iter_mut().for_each(|x| *x /= scale);
    }
    u
}

/// The Gaussian with half the standard deviations.
pub(super) fn narrower(q: &Gaussian) -> Gaussian {
    let halved = |c: &[f64]| c.iter().map(|x| 0.5 * x).collect();
    let factor = match &q.factor {
        Scale::Dense(c) => Scale::Dense(halved(c)),
        Scale::Diagonal(s) => Scale::Diagonal(halved(s)),
    };
    Gaussian { mean: q.mean.clone(), factor }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matched_draws_have_the_moments_of_the_standard_normal() {
        let (rows, n) = (5, 24);
        for lead in [5, 2] {
            let u = matched(Stream::new(3, 1, 0), rows, lead, n);
            for i in 0..rows {
                let row = &u[i * n..(i + 1) * n];
                assert!(row.iter().sum::<f64>().abs() < 1e-12);
                for j in 0..lead {
                    let moment = dot(row, &u[j * n..(j + 1) * n]) / n as f64;
                    assert!((moment - f64::from(i == j)).abs() < 1e-12, "{i} {j} {moment}");
                }
            }
        }
    }
}
