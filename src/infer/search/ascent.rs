//! Climbs from a point: quasi-Newton steps, then Newton's, damped where the curvature is not that of a top.

use crate::infer::options::Stop;
use crate::infer::search::whiten;
use crate::num::linalg::{cholesky, dot, solve_cholesky};
use crate::target::{Evaluator, Target};
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// Most steps of the quasi-Newton search.
pub(super) const STEPS: usize = 300;
/// Steps in a row that gain less than this share of what they promise, and less than so many nats: they go
/// from one wall of a funnel to the other.
const POOR: usize = 10;
const SHARE: f64 = 1e-3;
const LITTLE: f64 = 0.1;
/// Pairs that the quasi-Newton search remembers.
const MEMORY: usize = 10;
/// Most Newton steps, and most where there are few coordinates.
const NEWTON: usize = 12;
const MANY_NEWTON: usize = 60;
/// Few coordinates.
const FEW: usize = 100;
/// How often a step is halved before a parabola says by how much it is shortened, and the least share that is
/// tried next.
const HALVES: usize = 2;
const LEAST_SHARE: f64 = 0.1;
/// So many Newton steps must bring what is left to gain down to this share of it: on the way into a funnel
/// they do not.
const PATIENCE: usize = 6;
const LEFT: f64 = 0.3;

/// A coordinate this far out is taken to run off to infinity, unless the search settles there.
const FAR: f64 = 200.0;

pub(super) struct Search<'a> {
    pub(super) evaluator: &'a mut dyn Evaluator,
    pub(super) gradients: usize,
    pub(super) stop: &'a Stop,
}

/// A point with its log density and gradient.
#[derive(Clone)]
pub(in crate::infer) struct Place {
    pub(in crate::infer) z: Vec<f64>,
    pub(in crate::infer) value: f64,
    pub(in crate::infer) slope: Vec<f64>,
}

/// Climbs from a point by L-BFGS, showing the places it comes through, the start first; the number of
/// gradients, or None if the start is not finite.
pub(in crate::infer) fn follow(
    evaluator: &mut dyn Evaluator,
    start: Vec<f64>,
    steps: usize,
    visit: &mut dyn FnMut(&Place) -> ControlFlow<()>,
) -> Option<usize> {
    let never = Stop::default();
    let mut search = Search { evaluator, gradients: 0, stop: &never };
    let start = search.place(start)?;
    if visit(&start).is_continue() {
        search.climb_past(start, steps, visit);
    }
    Some(search.gradients)
}

/// Whether a coordinate may be on its way to infinity.
pub(super) fn far(place: &Place) -> bool {
    place.z.iter().any(|x| x.abs() > FAR)
}

/// Whether a place is a top: little to gain by a Newton step, and the curvature positive definite.
pub(super) fn settled(place: &Place, curvature: Option<&[f64]>) -> bool {
    let d = place.z.len();
    let Some(mut factor) = curvature.map(<[f64]>::to_vec) else { return false };
    if cholesky(&mut factor, d).is_err() {
        return false;
    }
    let mut step = place.slope.clone();
    solve_cholesky(&factor, d, &mut step);
    dot(&step, &place.slope) < 1e-3
}

impl Search<'_> {
    /// Evaluates a point; None where anything is not finite.
    pub(super) fn place(&mut self, z: Vec<f64>) -> Option<Place> {
        let (mut value, mut slope) = ([0.0], vec![0.0; z.len()]);
        self.evaluator.evaluate(&z, 1, &mut value, &mut slope);
        self.gradients += 1;
        let good = value[0].is_finite() && slope.iter().all(|g| g.is_finite());
        good.then_some(Place { z, value: value[0], slope })
    }

    pub(super) fn climb(&mut self, at: Place, steps: usize) -> Place {
        self.climb_past(at, steps, &mut |_| ControlFlow::Continue(()))
    }

    /// L-BFGS ascent with a backtracking line search, for which a value that is not finite is only a bad
    /// value.
    pub(super) fn climb_past(
        &mut self,
        mut at: Place,
        steps: usize,
        visit: &mut dyn FnMut(&Place) -> ControlFlow<()>,
    ) -> Place {
        let mut pairs: VecDeque<(Vec<f64>, Vec<f64>)> = VecDeque::new();
        let mut poor = 0;
        for _ in 0..steps {
            if dot(&at.slope, &at.slope).sqrt() < 1e-7 || self.stop.requested() {
                break;
            }
            let mut direction = two_loop(&at.slope, &pairs);
            if dot(&direction, &at.slope) <= 0.0 {
                pairs.clear();
                direction = two_loop(&at.slope, &pairs);
            }
            let Some(next) = self.along(&at, &direction) else {
                if pairs.is_empty() {
                    break;
                }
                pairs.clear();
                continue;
            };
            let s: Vec<f64> = next.z.iter().zip(&at.z).map(|(a, b)| a - b).collect();
            let y: Vec<f64> = at.slope.iter().zip(&next.slope).map(|(a, b)| a - b).collect();
            let gain = next.value - at.value;
            if dot(&s, &y) > 1e-12 * dot(&y, &y) {
                pairs.push_back((s, y));
                if pairs.len() > MEMORY {
                    pairs.pop_front();
                }
            }
            poor = if gain < LITTLE.min(SHARE * dot(&direction, &at.slope)) { poor + 1 } else { 0 };
            at = next;
            if visit(&at).is_break() || gain < 1e-11 * (1.0 + at.value.abs()) || poor == POOR {
                break;
            }
        }
        at
    }

    /// The first point along a direction, from a full step on, that gains a share of what the slope promises:
    /// after a few halves the next is where the parabola through the last has its top.
    pub(super) fn along(&mut self, at: &Place, direction: &[f64]) -> Option<Place> {
        let promised = dot(direction, &at.slope);
        let mut step = 1.0;
        for tried in 0..40 {
            let z = at.z.iter().zip(direction).map(|(z, d)| z + step * d).collect();
            let next = self.place(z);
            let gain = next.as_ref().map_or(f64::NAN, |next| next.value - at.value);
            if gain >= 1e-4 * step * promised {
                return next;
            }
            step *= if tried < HALVES { 0.5 } else { shortened(step * promised, gain) };
        }
        None
    }

    /// Minus the Hessian at a point; None if it is not finite.
    pub(super) fn curvature(&mut self, target: &dyn Target, z: &[f64]) -> Option<Vec<f64>> {
        self.gradients += 2 * z.len();
        whiten::shared_curvature(target, self.evaluator, z)
    }

    /// Newton steps, damped where the curvature is not positive definite, while they gain; the curvature
    /// where they end.
    pub(super) fn polish(&mut self, target: &dyn Target, mut at: Place) -> (Place, Option<Vec<f64>>) {
        let d = at.z.len();
        let mut curvature = self.curvature(target, &at.z);
        let mut before = f64::INFINITY;
        for taken in 0..if d <= FEW { MANY_NEWTON } else { NEWTON } {
            let Some(h) = &curvature else { break };
            let Some(step) = newton(h, &at.slope) else { break };
            let decrement = dot(&step, &at.slope);
            if decrement < 1e-22 || self.stop.requested() {
                break;
            }
            if taken % PATIENCE == 0 {
                if decrement > LEFT * before {
                    break;
                }
                before = decrement;
            }
            let z: Vec<f64> = at.z.iter().zip(&step).map(|(z, s)| z + s).collect();
            // Within rounding of the top the value says nothing, and a full step is the right one.
            let next = if decrement < 1e-7 { self.place(z) } else { self.along(&at, &step) };
            let Some(next) = next else { break };
            at = next;
            if decrement < 1e-10 {
                break;
            }
            curvature = self.curvature(target, &at.z);
        }
        (at, curvature)
    }
}

/// The share of a step to try next where it promised so much and the log density changed by so much: the top
/// of the parabola through both, within bounds; half where it is not a number.
pub(in crate::infer) fn shortened(promised: f64, change: f64) -> f64 {
    let share = 0.5 * promised / (promised - change);
    if share.is_finite() { share.clamp(LEAST_SHARE, 0.5) } else { 0.5 }
}

/// The Newton step for a curvature; one that is not positive definite gets more of its own diagonal until it
/// is.
fn newton(h: &[f64], slope: &[f64]) -> Option<Vec<f64>> {
    let d = slope.len();
    let top = (0..d).fold(f64::MIN_POSITIVE, |t, i| t.max(h[i * d + i].abs()));
    for damping in [0.0, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0] {
        let mut factor = h.to_vec();
        (0..d).for_each(|i| factor[i * d + i] += damping * h[i * d + i].abs().max(1e-8 * top));
        if cholesky(&mut factor, d).is_ok() {
            let mut step = slope.to_vec();
            solve_cholesky(&factor, d, &mut step);
            if step.iter().all(|x| x.is_finite()) {
                return Some(step);
            }
        }
    }
    None
}

/// The quasi-Newton direction of ascent: the slope through the remembered pairs.
fn two_loop(slope: &[f64], pairs: &VecDeque<(Vec<f64>, Vec<f64>)>) -> Vec<f64> {
    let mut q = slope.to_vec();
    let mut shares = Vec::with_capacity(pairs.len());
    for (s, y) in pairs.iter().rev() {
        let share = dot(s, &q) / dot(s, y);
        q.iter_mut().zip(y).for_each(|(q, y)| *q -= share * y);
        shares.push(share);
    }
    let scale =
        pairs.back().map_or_else(|| 1.0 / dot(slope, slope).sqrt().max(1.0), |(s, y)| dot(s, y) / dot(y, y));
    q.iter_mut().for_each(|q| *q *= scale);
    for ((s, y), share) in pairs.iter().zip(shares.iter().rev()) {
        let back = dot(y, &q) / dot(s, y);
        q.iter_mut().zip(s).for_each(|(q, s)| *q += (share - back) * s);
    }
    q
}
