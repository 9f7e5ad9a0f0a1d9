//! Whether there is a posterior at all: the margins of parameters with flat priors, followed to the ends of
//! double precision.
//!
//! A flat prior has no mass to share out; the data must make one. With one coordinate held and the others at
//! their mode, Laplace's approximation `max log p - ½ log |H|` falls far out like the margin of that
//! coordinate. If it falls no faster than one over the distance, up to where numbers end, its integral has no
//! end. Effects of groups are taken in standardised coordinates, in which a scale that goes to zero or to
//! infinity leaves them as they are.

use crate::infer::finding::Finding;
use crate::infer::options::Stop;
use crate::infer::search::ascent;
use crate::num::linalg::{cholesky, dot, log_det_cholesky, solve_cholesky};
use crate::target::{Evaluator, ModelTarget, Target};
use std::ops::ControlFlow;

/// How far from the mode each place lies beside the last: at first, for a logarithm ends near 700, and from
/// so far on.
const FURTHER: f64 = 2.0;
const LEAPS: f64 = 16.0;
const LEAPS_FROM: f64 = 1024.0;
/// The farthest place: beyond it squares are no numbers.
const FARTHEST: f64 = 1e150;
/// A margin so many nats below the highest is the end, for no stretch of numbers makes up for it: all of them
/// are `e^710` long.
const NOTHING: f64 = 800.0;
/// A margin that falls like a power of the distance no larger than this has no mass, but for the error of
/// such powers.
const NO_MASS: f64 = 1.05;
/// A larger power that is the same, but for a share, from place to place so often in a row is that of a tail.
const MASS: f64 = 1.2;
const STEADY: usize = 8;
const SAME: f64 = 0.1;
/// Most steps of a search for the mode of the others.
const STEPS: usize = 200;
/// Most steps by Newton's method, most halvings of one, and the gain in nats of a step that is none any more.
const NEWTON_STEPS: usize = 30;
const HALVINGS: i32 = 30;
const AT_TOP: f64 = 1e-4;
/// The share of a log density below which its differences are rounding.
const ROUNDING: f64 = 1e-12;
/// Most coordinates beside the one that is held.
const MOST_OTHERS: usize = 150;
/// Coordinates of one parameter that are followed: they play the same part.
const EACH: usize = 3;
/// Operations after which no further coordinate is followed, those of scales being first: about half a
/// second.
const WORK: usize = 1_000_000_000;

/// The finding about parameters without a proper prior whose margins do not end, for a target in coordinates
/// that suit it.
pub(in crate::infer) fn endless_margins(target: &ModelTarget, stop: &Stop) -> Option<Finding> {
    let candidates = candidates(target);
    if candidates.is_empty() || target.dimension() > MOST_OTHERS || target.solves_equations() {
        return None;
    }
    let centre = centre(target)?;
    let names = target.coordinate_names();
    let mut margins = Margins { target, evaluator: target.evaluator(), gradients: 0 };
    let mut endless: Vec<String> = Vec::new();
    for i in candidates {
        if margins.gradients.saturating_mul(target.operations()) > WORK || stop.requested() {
            break;
        }
        if [1.0, -1.0].iter().any(|side| margins.is_endless(i, &centre, *side)) {
            endless.push(names[i].clone());
        }
    }
    (!endless.is_empty()).then_some(Finding::EndlessMargin { names: endless })
}

/// Coordinates of parameters with flat priors, a few of each, those with bounds first.
fn candidates(target: &ModelTarget) -> Vec<usize> {
    let mut open: Vec<_> = target.lowered().parameters.iter().filter(|p| p.improper || p.unproved).collect();
    open.sort_by_key(|p| p.form.transform_name() == "real");
    let few = |offset: usize, size: usize| (offset..offset + size).step_by(size.div_ceil(EACH).max(1));
    open.into_iter().flat_map(|p| few(p.offset, p.size)).collect()
}

/// A place from which margins are followed: where a search for the mode ends, or the origin if it runs away.
fn centre(target: &ModelTarget) -> Option<Vec<f64>> {
    let origin = vec![0.0; target.dimension()];
    let mut top = origin.clone();
    ascent::follow(&mut *target.evaluator(), origin.clone(), STEPS, &mut |place| {
        top.clone_from(&place.z);
        ControlFlow::Continue(())
    })?;
    let is_near = top.iter().all(|z| z.abs() < LEAPS_FROM);
    Some(if is_near { top } else { origin })
}

struct Margins<'t> {
    target: &'t ModelTarget,
    evaluator: Box<dyn Evaluator + 't>,
    gradients: usize,
}

impl Margins<'_> {
    /// Whether the margin of a coordinate has no end on one side of a centre.
    fn is_endless(&mut self, i: usize, centre: &[f64], side: f64) -> bool {
        let mut others = centre.to_vec();
        others.remove(i);
        let (mut far, mut last, mut highest) = (1.0, None::<(f64, f64)>, f64::NEG_INFINITY);
        let (mut power, mut steady) = (f64::INFINITY, 0);
        while far <= FARTHEST {
            let from = others.clone();
            let Some(margin) = self.margin(i, centre[i] + side * far, &mut others) else {
                // A search that ended where numbers do says nothing of the way there.
                if last.is_none() && centre.iter().any(|z| *z != 0.0) {
                    return self.is_endless(i, &vec![0.0; centre.len()], side);
                }
                // What overflows or is lost in rounding hides how a margin ends; a bound is its end.
                return power < NO_MASS && self.is_hidden(i, centre[i] + side * far, &from);
            };
            highest = f64::max(highest, margin);
            if margin < highest - NOTHING {
                return false;
            }
            if let Some((before, distance)) = last {
                let new = (before - margin) / (far / distance).ln();
                steady = if new > MASS && (new - power).abs() < SAME * new { steady + 1 } else { 0 };
                power = new;
                if steady >= STEADY {
                    return false;
                }
            }
            last = Some((margin, far));
            far *= if far < LEAPS_FROM { FURTHER } else { LEAPS };
        }
        power < NO_MASS
    }

    /// The logarithm of the margin of a coordinate, up to a constant, by Laplace's approximation around the
    /// mode of the others, searched from a place that it is left in.
    fn margin(&mut self, at: usize, value: f64, others: &mut Vec<f64>) -> Option<f64> {
        let n = others.len();
        let mut held = Held { inner: &mut *self.evaluator, at, value };
        let mut top = [f64::NAN];
        if n == 0 {
            held.log_density(others, 1, &mut top);
            self.gradients += 1;
            return Some(top[0]).filter(|x| x.is_finite());
        }
        let factor = newton(&mut held, others, &mut top[0], &mut self.gradients).or_else(|| {
            self.gradients += ascent::follow(&mut held, others.clone(), STEPS, &mut |place| {
                top[0] = place.value;
                others.clone_from(&place.z);
                ControlFlow::Continue(())
            })?;
            newton(&mut held, others, &mut top[0], &mut self.gradients)
        })?;
        let curvature = |i: usize| factor[i * n..=i * n + i].iter().map(|l| l * l).sum::<f64>();
        if (0..n).any(|i| is_lost(curvature(i), others[i])) {
            return None;
        }
        let margin = top[0] - 0.5 * log_det_cholesky(&factor, n);
        margin.is_finite().then_some(margin)
    }

    /// Whether numbers overflow where a coordinate is held, or no longer tell the top of the others from its
    /// neighbours.
    fn is_hidden(&mut self, at: usize, value: f64, others: &[f64]) -> bool {
        let n = others.len();
        let mut held = Held { inner: &mut *self.evaluator, at, value };
        let curvature = held.curvature(others);
        self.gradients += 2 * n;
        (0..n).any(|i| is_lost(curvature[i * n + i], others[i]))
            || self.target.overflows(&[&others[..at], &[value], &others[at..]].concat())
    }
}

/// Whether a log density of this curvature falls so much from one number to the next that no step finds its
/// top.
fn is_lost(curvature: f64, z: f64) -> bool {
    curvature * (f64::EPSILON * z).powi(2) > AT_TOP
}

/// Climbs by Newton's steps, which no scale misleads, to a top: the factor of the curvature there. None where
/// the curvature is none of a top, or steps do not climb.
fn newton(held: &mut Held, z: &mut Vec<f64>, top: &mut f64, gradients: &mut usize) -> Option<Vec<f64>> {
    let n = z.len();
    let (mut slope, mut value) = (vec![0.0; n], [f64::NAN]);
    for _ in 0..NEWTON_STEPS {
        held.evaluate(z, 1, &mut value, &mut slope);
        *top = value[0];
        let mut factor = held.curvature(z);
        *gradients += 2 * n + 1;
        cholesky(&mut factor, n).ok()?;
        let mut step = slope.clone();
        solve_cholesky(&factor, n, &mut step);
        let gain = dot(&step, &slope);
        if gain < AT_TOP + ROUNDING * value[0].abs() {
            return value[0].is_finite().then_some(factor);
        }
        let climbs = |k: i32| {
            let next: Vec<f64> = z.iter().zip(&step).map(|(z, s)| z + s * 0.5_f64.powi(k)).collect();
            let mut at = [f64::NAN];
            held.log_density(&next, 1, &mut at);
            *gradients += 1;
            (at[0] > value[0]).then_some(next)
        };
        *z = (0..HALVINGS).find_map(climbs)?;
    }
    None
}

/// An evaluator with one coordinate held.
struct Held<'t> {
    inner: &'t mut dyn Evaluator,
    at: usize,
    value: f64,
}

impl Held<'_> {
    /// Minus the Hessian in the others.
    fn curvature(&mut self, others: &[f64]) -> Vec<f64> {
        let n = others.len();
        let units: Vec<f64> = (0..n * n).map(|p| f64::from(p / n == p % n)).collect();
        let mut hessian = vec![0.0; n * n];
        self.hessian_vectors(others, &units, n, &mut hessian);
        hessian.iter().map(|h| -h).collect()
    }

    /// Draws of the others with this one put in its place.
    fn whole(&self, others: &[f64], draws: usize, value: f64) -> Vec<f64> {
        let (before, after) = others.split_at(self.at * draws);
        [before, &vec![value; draws], after].concat()
    }
}
impl Evaluator for Held<'_> {
    fn evaluate(&mut self, z: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]) {
        let whole = self.whole(z, draws, self.value);
        let mut slopes = vec![0.0; whole.len()];
        self.inner.evaluate(&whole, draws, log_density, &mut slopes);
        slopes.drain(self.at * draws..(self.at + 1) * draws);
        gradient[..slopes.len()].copy_from_slice(&slopes);
    }

    fn log_density(&mut self, z: &[f64], draws: usize, log_density: &mut [f64]) {
        let whole = self.whole(z, draws, self.value);
        self.inner.log_density(&whole, draws, log_density);
    }

    fn hessian_vectors(&mut self, z: &[f64], v: &[f64], count: usize, out: &mut [f64]) {
        let (whole, directions) = (self.whole(z, 1, self.value), self.whole(v, count, 0.0));
        let mut products = vec![0.0; directions.len()];
        self.inner.hessian_vectors(&whole, &directions, count, &mut products);
        products.drain(self.at * count..(self.at + 1) * count);
        out[..products.len()].copy_from_slice(&products);
    }
}

#[cfg(test)]
mod tests {
    use crate::data::Dataset;
    use crate::infer::{Model, Options, fit_model};
    use crate::target::ModelTarget;
    use std::ops::ControlFlow;

    /// With flat factors of a slope the mass is that of da / |a|, which has no end; with a prior on both, or
    /// one alone, it has one.
    #[test]
    fn products_of_flat_factors_have_no_end() {
        let data =
            Dataset::from_texts(&[("d.csv", "y,x\n1.2,0.5\n0.7,-0.3\n2,1.1\n-0.4,-1\n1.5,0.2\n")]).unwrap();
        for (priors, is_told) in [
            ("param a ~ flat()\nparam b ~ flat()\n", true),
            ("param a ~ normal(0, 1)\nparam b ~ flat()\n", true),
            ("param a ~ normal(0, 1)\nparam b ~ normal(0, 1)\n", false),
            ("param a : real > 1 ~ flat()\nlet b = 1 / a\n", true),
        ] {
            let text = format!("data {{ y : real[N]; x : real[N] }}\n{priors}y ~ normal(a * b * x + b, 1)");
            let text = if priors.contains("let") { text } else { text.replace(" + b", "") };
            let program = crate::syntax::parse(&text).unwrap();
            let model = Model { program: &program, source: &text, data: &data };
            let target = ModelTarget::new(&text, &data).unwrap();
            let fit =
                fit_model(&model, &target, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
            let told = fit.has("endless-margin") || fit.has("endless");
            assert_eq!(told, is_told, "{text}\n{:?}", fit.findings);
        }
    }
}
