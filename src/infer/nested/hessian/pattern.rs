//! Finds which entries of the Hessian of the inner coordinates are not zero, by differences of gradients.

use crate::infer::nested::lanes::PURPOSE;
use crate::infer::nested::partition::{How, Partition};
use crate::num::stream::Stream;
use crate::target::{DRAWS, Evaluator, Target};

/// Entries of a Hessian below this share of their diagonals are rounding.
pub(in crate::infer) const ROUNDING: f64 = 1e-10;
/// Outer coordinates of the points at which the pattern of a Hessian is found, give or take a little: at
/// round numbers an entry may vanish that does not elsewhere (a correlation of zero).
pub(in crate::infer) const PROBES: [f64; 5] = [0.0, 1.0, -1.0, 2.5, -2.5];
pub(in crate::infer) const LITTLE: f64 = 0.1;
/// Most inner coordinates of which every pair may count.
const MOST_PAIRED: usize = 150;
/// Random directions in which the gradient is looked at, how far out, and how much larger it may be twice as
/// far.
const DIRECTIONS: usize = 4;
const FAR: f64 = 10.0;
const TWICE_AS_FAR: f64 = 2.5;
/// Columns of a Hessian found together, one less than fill a batch.
const BLOCK: usize = 63;

/// The rows of each column of the inner Hessian that are not zero somewhere, and its diagonal at the origin
/// (or near it); None unless the diagonal is that of a Gaussian, or nearly so where modes are searched: far
/// from them heavy tails bend the other way.
///
/// A pattern that is not the same at all points is one of small numbers rather than of zeros (a kernel is
/// diagonal to rounding where its range is short): then every pair counts, if there are not too many.
pub(in crate::infer) fn pattern(
    target: &dyn Target,
    parts: &Partition,
    seed: u64,
) -> Option<(Vec<Vec<usize>>, Vec<f64>)> {
    let k = parts.inner.len();
    let mut evaluator = target.evaluator();
    let mut stream = Stream::new(seed, PURPOSE, 0);
    let mut found: Vec<Found> = Vec::new();
    for scale in PROBES {
        let mut z = vec![0.0; target.dimension()];
        parts.outer.iter().for_each(|&i| z[i] = scale + LITTLE * stream.uniform());
        parts.inner.iter().for_each(|&i| z[i] = 0.5 * stream.normal());
        found.extend(hessian(&mut *evaluator, &z, parts));
    }
    let (first, others) = found.split_first()?;
    let diagonal = sound(target, parts, &first.diagonal, seed)?;
    let mut columns = first.columns.clone();
    if others.iter().any(|f| f.columns != columns) {
        if k <= MOST_PAIRED {
            columns = vec![(0..k).collect(); k];
        } else {
            others
                .iter()
                .for_each(|f| columns.iter_mut().zip(&f.columns).for_each(|(all, new)| all.extend(new)));
            columns.iter_mut().for_each(|c| c.sort_unstable());
            columns.iter_mut().for_each(Vec::dedup);
        }
    }
    symmetrise(&mut columns);
    Some((columns, diagonal))
}

/// The diagonal with ones in place of what is not positive; None unless it is that of a Gaussian, or nearly
/// so where modes are searched.
pub(in crate::infer) fn sound(
    target: &dyn Target,
    parts: &Partition,
    diagonal: &[f64],
    seed: u64,
) -> Option<Vec<f64>> {
    let (k, sound) = (diagonal.len(), diagonal.iter().filter(|x| **x > 0.0).count());
    let mut stream = Stream::new(seed, PURPOSE, 4);
    let mut nearly =
        || parts.how == How::Searched && 2 * sound >= k && tame(&mut *target.evaluator(), parts, &mut stream);
    (sound == k || nearly()).then(|| diagonal.iter().map(|x| if *x > 0.0 { *x } else { 1.0 }).collect())
}

/// Whether the gradient in the inner coordinates grows no faster than that of a Gaussian, far out in random
/// directions: that of heavy tails around what is linear does not. Where a curved mean makes it grow faster,
/// there may be several modes, of which a search finds one.
fn tame(evaluator: &mut dyn Evaluator, parts: &Partition, stream: &mut Stream) -> bool {
    let d = parts.inner.len() + parts.outer.len();
    (0..DIRECTIONS).all(|_| {
        let mut points = vec![0.0; 2 * d];
        for &i in &parts.inner {
            let far = FAR * stream.normal();
            points[2 * i..2 * i + 2].copy_from_slice(&[far, 2.0 * far]);
        }
        let (mut values, mut g) = ([0.0; 2], vec![0.0; 2 * d]);
        evaluator.evaluate(&points, 2, &mut values, &mut g);
        let size = |b: usize| parts.inner.iter().map(|i| g[2 * i + b].powi(2)).sum::<f64>().sqrt();
        size(1) <= TWICE_AS_FAR * size(0)
    })
}

/// Every row is also a column.
fn symmetrise(columns: &mut [Vec<usize>]) {
    let pairs: Vec<(usize, usize)> =
        columns.iter().enumerate().flat_map(|(j, rows)| rows.iter().map(move |&i| (i, j))).collect();
    for (i, j) in pairs {
        if let Err(place) = columns[i].binary_search(&j) {
            columns[i].insert(place, j);
        }
    }
}

struct Found {
    diagonal: Vec<f64>,
    columns: Vec<Vec<usize>>,
}

/// The diagonal of minus the inner Hessian at a point, and the rows of each column that are not zero; None if
/// something is not finite.
fn hessian(evaluator: &mut dyn Evaluator, z: &[f64], parts: &Partition) -> Option<Found> {
    let (d, k) = (z.len(), parts.inner.len());
    // Small steps, unless any step will do.
    let (step, rounding) = match parts.how {
        How::Quadratic => (1.0, ROUNDING),
        How::Searched => (1e-6, 1e-8),
    };
    let mut columns: Vec<Vec<(usize, f64)>> = Vec::with_capacity(k);
    let mut diagonal = Vec::with_capacity(k);
    for first in (0..k).step_by(BLOCK) {
        // The first draw of each batch does not move, so that what does not depend on a coordinate has a
        // difference of zero: to the last bit, as long as all draws are computed alike, sixteen at once.
        let count = BLOCK.min(k - first);
        let width = (1 + count).next_multiple_of(DRAWS);
        let mut points: Vec<f64> = z.iter().flat_map(|x| std::iter::repeat_n(*x, width)).collect();
        (1..=count).for_each(|b| points[parts.inner[first + b - 1] * width + b] += step);
        let (mut values, mut g) = (vec![0.0; width], vec![0.0; d * width]);
        evaluator.evaluate(&points, width, &mut values, &mut g);
        for b in 1..=count {
            let at = |i: usize| (g[i * width] - g[i * width + b]) / step;
            let column = parts.inner.iter().enumerate().map(|(row, &i)| (row, at(i))).filter(|x| x.1 != 0.0);
            columns.push(column.collect());
            diagonal.push(at(parts.inner[first + b - 1]));
        }
    }
    if !columns.iter().flatten().all(|x| x.1.is_finite()) {
        return None;
    }
    for (j, column) in columns.iter_mut().enumerate() {
        column.retain(|&(i, x)| i != j && x.abs() > rounding * (diagonal[i] * diagonal[j]).abs().sqrt());
        column.push((j, diagonal[j]));
        column.sort_unstable_by_key(|x| x.0);
    }
    let columns = columns.iter().map(|column| column.iter().map(|x| x.0).collect()).collect();
    Some(Found { columns, diagonal })
}
