//! Finds where the outer coordinates are likely, by solving at few points: round after round a parabola
//! through the log density there.
//!
//! The gradient of that log density takes a solution on either side in every coordinate, so a search that
//! follows it takes hundreds of solutions for each step. A parabola through a hundred values has the whole
//! Gaussian, and is not misled by what is small.

use crate::infer::gaussian::Gaussian;
use crate::infer::nested::anchor::Anchor;
use crate::infer::nested::anchors::around;
use crate::infer::nested::conditional::Conditional;
use crate::infer::nested::lanes::{LANES, part};
use crate::infer::nested::marginal::widths;
use crate::infer::nested::solver::Solver;
use crate::num::linalg::{cholesky, dot, lower_product, solve_cholesky, solve_lower, symmetric_eigen};
use crate::num::stream::child;
use crate::vi::Scale;

/// Who draws, for seeds of its own.
const PURPOSE: u64 = 0x6578_706c;

/// Most rounds.
const ROUNDS: usize = 8;
/// Points for each term of a parabola, and fewest in all; those that count for each term.
const POINTS_EACH: usize = 4;
const FEWEST: usize = 64;
const COUNTING_EACH: f64 = 1.5;
/// Fewest points, as a share of all, that must have modes.
const SOUND: f64 = 0.6;
/// The longest step, the least curvature believed, and the least and largest standard deviation, all in those
/// of the round before.
const LONGEST: f64 = 4.0;
const FLATTEST: f64 = 0.1;
const WIDTHS: [f64; 2] = [0.15, 3.0];
/// The step and the change of scales that end it.
const SHORT: f64 = 0.5;
const ALIKE: std::ops::Range<f64> = 0.65..1.5;
/// Most of Newton's steps, the longest (of logarithms of scales mostly), the share of the last step that
/// differences are taken over with the widest and the narrowest, and twice what is left to gain, in nats,
/// when the mode is reached.
const NEWTON: usize = 30;
const LONGEST_STEP: f64 = 1.0;
const WIDTH: f64 = 0.05;
const NARROWEST: f64 = 1e-3;
const REACHED: f64 = 0.01;

/// A Gaussian for the outer coordinates, with which the conditional is centred; None where too few points
/// have modes.
pub(super) fn explore(conditional: &mut Conditional, seed: u64) -> Option<Gaussian> {
    if conditional.is_large() {
        return climb(conditional);
    }
    let d = conditional.parts.outer.len();
    let mut q = Gaussian { mean: vec![0.0; d], factor: Scale::identity(d) };
    let terms = (d + 1) * (d + 2) / 2;
    let count = (POINTS_EACH * terms).max(FEWEST).next_multiple_of(LANES);
    for round in 0..ROUNDS as u64 {
        let anchors = around(conditional, &q, count, child(seed, PURPOSE, round));
        if (anchors.len() as f64) < SOUND * count as f64 {
            return None;
        }
        let parabola = Parabola::through(&anchors, &q)?;
        q = parabola.follow(&q);
        conditional.recentre(&q.mean, &widths(&q.scales()));
        if parabola.settled() {
            break;
        }
    }
    Some(q)
}

/// The same where solving takes long, by Newton's steps from second differences: all that a step needs is
/// solved for together.
fn climb(conditional: &mut Conditional) -> Option<Gaussian> {
    let d = conditional.parts.outer.len();
    let (mut at, mut width) = (vec![0.0; d], WIDTH);
    let mut highest: Option<(f64, Vec<f64>)> = None;
    for _ in 0..NEWTON {
        let (value, slope, curvature) = differences(conditional, &at, width)?;
        // A step that led down is taken back by half.
        if let Some((_, before)) = highest.as_ref().filter(|(highest, _)| value < *highest) {
            at.iter_mut().zip(before).for_each(|(x, before)| *x = 0.5 * (*x + before));
            continue;
        }
        highest = Some((value, at.clone()));
        let eigen = symmetric_eigen(&curvature, d)?;
        let (mut step, mut decrement) = (vec![0.0; d], 0.0);
        let mut covariance = vec![0.0; d * d];
        for (axis, value) in eigen.vectors.chunks_exact(d).zip(&eigen.values) {
            let (along, curvature) = (dot(axis, &slope), value.abs().max(FLATTEST));
            decrement += along * along / curvature;
            for i in 0..d {
                step[i] += axis[i] * along / curvature;
                (0..d).for_each(|j| covariance[i * d + j] += axis[i] * axis[j] / curvature);
            }
        }
        let length = dot(&step, &step).sqrt();
        at.iter_mut().zip(&step).for_each(|(x, step)| *x += step * (LONGEST_STEP / length).min(1.0));
        width = (WIDTH * length).clamp(NARROWEST, WIDTH);
        if decrement < REACHED {
            cholesky(&mut covariance, d).ok()?;
            (0..d).for_each(|i| covariance[i * d + i + 1..(i + 1) * d].fill(0.0));
            let q = Gaussian { mean: at, factor: Scale::Dense(covariance) };
            conditional.recentre(&q.mean, &widths(&q.scales()));
            return Some(q);
        }
    }
    None
}

/// The log density of the outer coordinates at a point, its gradient and minus its Hessian, by differences
/// of this width; None where there is no mode.
fn differences(conditional: &Conditional, at: &[f64], width: f64) -> Option<(f64, Vec<f64>, Vec<f64>)> {
    let d = at.len();
    let mut moves: Vec<Vec<(usize, f64)>> = vec![Vec::new()];
    moves.extend((0..d).flat_map(|i| [vec![(i, width)], vec![(i, -width)]]));
    moves.extend((0..d).flat_map(|i| (0..i).map(move |j| vec![(i, width), (j, width)])));
    let count = moves.len();
    let mut points: Vec<f64> = at.iter().flat_map(|x| std::iter::repeat_n(*x, count)).collect();
    for (k, moves) in moves.iter().enumerate() {
        moves.iter().for_each(|&(i, by)| points[i * count + k] += by);
    }
    let mut solver = Solver::new(conditional).anchoring();
    let mut values = Vec::with_capacity(count);
    for first in (0..count).step_by(LANES) {
        let some = first..count.min(first + LANES);
        solver.solve(&part(&points, count, some.clone()), some.len());
        values.extend_from_slice(&solver.log_marginal[..some.len()]);
    }
    let value = values[0];
    let (ahead, behind) = (|i: usize| values[1 + 2 * i], |i: usize| values[2 + 2 * i]);
    let slope = (0..d).map(|i| (ahead(i) - behind(i)) / (2.0 * width)).collect();
    let mut curvature = vec![0.0; d * d];
    let mut both = values[1 + 2 * d..].iter();
    for i in 0..d {
        curvature[i * d + i] = (2.0 * value - ahead(i) - behind(i)) / (width * width);
        for j in 0..i {
            let x = (ahead(i) + ahead(j) - value - both.next()?) / (width * width);
            (curvature[i * d + j], curvature[j * d + i]) = (x, x);
        }
    }
    values.iter().all(|x| x.is_finite()).then_some((value, slope, curvature))
}

/// What a parabola through log densities says in the coordinates of a Gaussian: along each principal axis how
/// far its top is, and how wide it is.
struct Parabola {
    /// Axis `i` at `i * d`.
    axes: Vec<f64>,
    steps: Vec<f64>,
    widths: Vec<f64>,
}

impl Parabola {
    /// By least squares, with weights that fall with the density; None where too few points count.
    fn through(anchors: &[Anchor], q: &Gaussian) -> Option<Parabola> {
        let d = q.mean.len();
        let Scale::Dense(factor) = &q.factor else { return None };
        let standard = |anchor: &Anchor| {
            let mut s: Vec<f64> = anchor.at.iter().zip(&q.mean).map(|(x, m)| x - m).collect();
            solve_lower(factor, d, &mut s);
            s
        };
        let basis: Vec<Vec<f64>> = anchors.iter().map(|a| terms(&standard(a))).collect();
        let m = (d + 1) * (d + 2) / 2;
        let values: Vec<f64> = anchors.iter().map(|a| a.value).collect();
        let weights = weights(&values, COUNTING_EACH * m as f64)?;
        let (mut gram, mut right) = (vec![0.0; m * m], vec![0.0; m]);
        for ((row, value), weight) in basis.iter().zip(&values).zip(&weights) {
            for i in 0..m {
                right[i] += weight * row[i] * value;
                gram[i * m..=i * m + i].iter_mut().zip(row).for_each(|(g, x)| *g += weight * row[i] * x);
            }
        }
        cholesky(&mut gram, m).ok()?;
        solve_cholesky(&gram, m, &mut right);
        let mut curvature = vec![0.0; d * d];
        let mut second = right[1 + d..].iter();
        for i in 0..d {
            for j in 0..=i {
                let x = -second.next().copied()?;
                // The diagonal has half a second derivative.
                curvature[i * d + j] = if i == j { 2.0 * x } else { x };
                curvature[j * d + i] = curvature[i * d + j];
            }
        }
        Parabola::new(&right[1..=d], &curvature)
    }

    /// From a gradient and a curvature.
    fn new(slope: &[f64], curvature: &[f64]) -> Option<Parabola> {
        let d = slope.len();
        let eigen = symmetric_eigen(curvature, d)?;
        let axes = eigen.vectors;
        let curvatures: Vec<f64> = eigen.values.iter().map(|x| x.max(FLATTEST)).collect();
        let rows = axes.chunks_exact(d).zip(&curvatures);
        let steps = rows.map(|(axis, c)| (dot(axis, slope) / c).clamp(-LONGEST, LONGEST)).collect();
        let widths = curvatures.iter().map(|c| c.sqrt().recip().clamp(WIDTHS[0], WIDTHS[1])).collect();
        Some(Parabola { axes, steps, widths })
    }

    /// Whether it is where the Gaussian is.
    fn settled(&self) -> bool {
        self.steps.iter().all(|s| s.abs() < SHORT) && self.widths.iter().all(|w| ALIKE.contains(w))
    }

    /// The Gaussian that it is the log density of.
    fn follow(&self, q: &Gaussian) -> Gaussian {
        let d = self.steps.len();
        let mut local = vec![0.0; d];
        let mut covariance = vec![0.0; d * d];
        for ((axis, step), width) in self.axes.chunks_exact(d).zip(&self.steps).zip(&self.widths) {
            for i in 0..d {
                local[i] += step * axis[i];
                (0..d).for_each(|j| covariance[i * d + j] += width * width * axis[i] * axis[j]);
            }
        }
        let mut mean = vec![0.0; d];
        q.factor.apply(&local, [d, 1], &mut mean);
        mean.iter_mut().zip(&q.mean).for_each(|(x, m)| *x += m);
        let mut factor = q.factor.dense(d);
        if cholesky(&mut covariance, d).is_ok() {
            (0..d).for_each(|i| covariance[i * d + i + 1..(i + 1) * d].fill(0.0));
            let old = std::mem::replace(&mut factor, vec![0.0; d * d]);
            lower_product(&old, &covariance, [d, d], &mut factor);
        }
        Gaussian { mean, factor: Scale::Dense(factor) }
    }
}

/// One, the coordinates, and their products in pairs.
fn terms(s: &[f64]) -> Vec<f64> {
    let mut out = vec![1.0];
    out.extend(s);
    for i in 0..s.len() {
        out.extend((0..=i).map(|j| s[i] * s[j]));
    }
    out
}

/// Weights that fall with the density as steeply as leaves so many of them effective; None if there are not
/// as many points.
fn weights(values: &[f64], effective: f64) -> Option<Vec<f64>> {
    if (values.len() as f64) < effective {
        return None;
    }
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut flatter = 1.0;
    for _ in 0..60 {
        let weights: Vec<f64> = values.iter().map(|v| ((v - top) / flatter).exp()).collect();
        let sum: f64 = weights.iter().sum();
        if sum * sum >= effective * dot(&weights, &weights) {
            return Some(weights);
        }
        flatter *= 1.5;
    }
    None
}
