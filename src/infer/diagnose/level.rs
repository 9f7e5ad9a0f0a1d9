//! Directions along which nothing that a model says changes: with improper priors there may be some, and no
//! posterior then.

use crate::infer::diagnose::tails::along;
use crate::infer::finding::first_few;
use crate::num::linalg::{dot, symmetric_eigen};
use crate::num::stream::Stream;
use crate::target::{Evaluator, ModelTarget, Target};

/// Who draws: points at which nothing changes.
const PURPOSE: u64 = 0x6c65_766c;
/// Points that are looked at, and how far from the origin their coordinates lie.
const POINTS: u64 = 3;
const SPREAD: f64 = 0.5;
/// Most coordinates with flat priors that are looked at.
const MOST: usize = 300;
/// A direction whose curvature is a smaller share of the largest may be level: no less, for its square must
/// be more than rounding.
const FLAT: f64 = 1e-6;
/// How far along it, in standard deviations of a coordinate alone, and by how much a log density may differ
/// there, in nats and relative to its size: where two columns are nearly the same it falls by more.
const FAR: [f64; 3] = [1e2, -1e4, 1e5];
const NATS: f64 = 1e-3;
const SAME: f64 = 1e-11;

/// The parameters that move along a direction in which the log density is the same everywhere.
pub(in crate::infer) fn level(target: &ModelTarget) -> Option<String> {
    let points: Vec<Vec<f64>> = (0..POINTS).map(|k| point(target.dimension(), k)).collect();
    let flat = flat_coordinates(target, &points)?;
    let mut evaluator = target.evaluator();
    let step = flattest(&mut *evaluator, &points, &flat)?;
    if !points.iter().all(|point| is_level(&mut *evaluator, point, &step)) {
        return None;
    }
    let longest = step.iter().fold(0.0_f64, |m, s| m.max(s.abs()));
    let names = target.coordinate_names();
    let moved: Vec<String> =
        flat.iter().filter(|&&i| step[i].abs() > 1e-3 * longest).map(|&i| names[i].clone()).collect();
    (!moved.is_empty()).then(|| first_few(&moved))
}

fn point(d: usize, k: u64) -> Vec<f64> {
    let mut z = vec![0.0; d];
    Stream::new(1, PURPOSE, k).fill_normal(&mut z);
    z.iter_mut().for_each(|z| *z *= SPREAD);
    z
}

/// Coordinates that the prior says nothing of; None where there are none, or too many.
fn flat_coordinates(target: &ModelTarget, points: &[Vec<f64>]) -> Option<Vec<usize>> {
    let prior = target.prior()?;
    let mut evaluator = prior.evaluator();
    let mut flat: Vec<usize> = (0..target.dimension()).collect();
    let (mut value, mut gradient) = ([0.0], vec![0.0; flat.len()]);
    for point in points {
        evaluator.evaluate(point, 1, &mut value, &mut gradient);
        flat.retain(|&i| gradient[i] == 0.0);
    }
    (1..=MOST).contains(&flat.len()).then_some(flat)
}

/// The direction of these coordinates with the least curvature at all points, if that is next to nothing, in
/// steps of a standard deviation that a coordinate would have by itself.
fn flattest(evaluator: &mut dyn Evaluator, points: &[Vec<f64>], flat: &[usize]) -> Option<Vec<f64>> {
    let (d, k) = (points[0].len(), flat.len());
    let mut directions = vec![0.0; d * k];
    flat.iter().enumerate().for_each(|(j, &i)| directions[i * k + j] = 1.0);
    let (mut products, mut scales) = (vec![0.0; d * k], vec![0.0_f64; k]);
    let mut curvatures = Vec::new();
    for point in points {
        evaluator.hessian_vectors(point, &directions, k, &mut products);
        let of_flat: Vec<f64> = flat.iter().flat_map(|&i| products[i * k..(i + 1) * k].to_vec()).collect();
        (0..k).for_each(|j| scales[j] = scales[j].max(of_flat[j * k + j].abs()));
        curvatures.push(of_flat);
    }
    let scales: Vec<f64> = scales.iter().map(|h| if *h > 0.0 { h.sqrt().recip() } else { 1.0 }).collect();
    // The sum of the squares of all: what no point sees is in its kernel.
    let mut squares = vec![0.0; k * k];
    for h in &mut curvatures {
        (0..k * k).for_each(|p| h[p] *= scales[p / k] * scales[p % k]);
        for (p, square) in squares.iter_mut().enumerate() {
            *square += dot(&h[p / k * k..(p / k + 1) * k], &h[p % k * k..(p % k + 1) * k]);
        }
    }
    let eigen = symmetric_eigen(&squares, k)?;
    let least = (0..k).min_by(|&a, &b| eigen.values[a].total_cmp(&eigen.values[b]))?;
    let largest = eigen.values.iter().copied().fold(0.0, f64::max);
    if eigen.values[least] > FLAT * FLAT * largest {
        return None;
    }
    let mut step = vec![0.0; d];
    flat.iter().enumerate().for_each(|(j, &i)| step[i] = scales[j] * eigen.vectors[least * k + j]);
    Some(step)
}

/// Whether the log density is the same along a step from a point, however far.
fn is_level(evaluator: &mut dyn Evaluator, point: &[f64], step: &[f64]) -> bool {
    let mut at = |far: f64| along(evaluator, point, step, far);
    let here = at(0.0);
    here.is_finite() && FAR.iter().all(|far| (at(*far) - here).abs() <= NATS + SAME * here.abs())
}
