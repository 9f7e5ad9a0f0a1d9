//! The coordinates in which a certified plan runs: the model's own, or those in which the upper bound on the
//! curvature is the identity.

use crate::certify::{Certificate, Sparse};
use crate::infer::search::ascent;
use crate::num::linalg::{Pattern, cholesky, dot, solve_lower_many, solve_lower_transposed_many};
use crate::target::{Evaluator, Target};
use crate::vi::{self, Constants};
use std::ops::ControlFlow;

/// Most steps of the search for the centre.
const STEPS: usize = 200;
/// The search ends where the centre is so near to the mode, in units of √(d/μ), that the bound on the start
/// does not notice.
const NEAR: f64 = 1e-3;

/// Coordinates in which a plan runs: `z = centre + L z'`.
#[derive(Clone, Debug)]
pub struct Coordinates {
    /// The centre: the mode, as far as it was found.
    pub centre: Vec<f64>,
    /// `L = R⁻ᵀ`; None for the raw coordinates.
    pub(super) whitening: Option<Whitening>,
    /// `M` and `μ` in these coordinates.
    pub constants: Constants,
    /// A bound on `‖w⁰ - w*‖²` for the start `(centre, I/√M)`.
    pub start: f64,
}

/// The Cholesky factor R of the upper bound on the curvature.
#[derive(Clone, Debug)]
pub(super) enum Whitening {
    /// By rows.
    Dense(Vec<f64>),
    /// With few entries; the new coordinates stand in the order of elimination.
    Sparse(Pattern, Vec<[f64; 1]>),
}

impl Whitening {
    /// From the upper bound of a certificate; None where that is not held, or not positive definite.
    fn of(certificate: &Certificate) -> Option<Whitening> {
        if let Some(most) = &certificate.most_matrix {
            let mut root = most.clone();
            cholesky(&mut root, certificate.dimension).ok()?;
            return Some(Whitening::Dense(root));
        }
        let Sparse { pairs, values } = certificate.most_sparse.as_ref()?;
        let pattern = Pattern::new(certificate.dimension, pairs);
        let values: Vec<[f64; 1]> = values.iter().map(|x| [*x]).collect();
        let mut factor = Vec::new();
        pattern.factor(&values, &mut factor);
        let sound = pattern.pivots(&factor).iter().all(|p| p[0] > 0.0);
        sound.then_some(Whitening::Sparse(pattern, factor))
    }

    /// `R⁻¹ x` for each column of [d, n]: gradients become those in the new coordinates.
    pub(super) fn gradients(&self, x: &mut [f64], [d, n]: [usize; 2]) {
        match self {
            Whitening::Dense(root) => solve_lower_many(root, x, [d, n]),
            Whitening::Sparse(pattern, factor) => {
                each_column(x, n, |column| pattern.solve_lower(factor, column));
            }
        }
    }

    /// `R⁻ᵀ x` for each column of [d, n]: new coordinates become the model's own.
    pub(super) fn points(&self, x: &mut [f64], [d, n]: [usize; 2]) {
        match self {
            Whitening::Dense(root) => solve_lower_transposed_many(root, x, [d, n]),
            Whitening::Sparse(pattern, factor) => {
                each_column(x, n, |column| pattern.solve_transposed(factor, column));
            }
        }
    }
}

fn each_column(x: &mut [f64], n: usize, mut f: impl FnMut(&mut Vec<[f64; 1]>)) {
    for k in 0..n {
        let mut column: Vec<[f64; 1]> = x.iter().skip(k).step_by(n).map(|x| [*x]).collect();
        f(&mut column);
        x.iter_mut().skip(k).step_by(n).zip(&column).for_each(|(x, c)| *x = c[0]);
    }
}

impl Coordinates {
    /// The raw and the whitened coordinates of a certified target; None where the constants are not
    /// certified.
    pub(super) fn both(target: &dyn Target, certificate: &Certificate) -> [Option<Coordinates>; 2] {
        let (Some(smoothness), Some(mu)) = (certificate.smoothness(), certificate.strong_concavity()) else {
            return [None, None];
        };
        let constants = Constants { smoothness, strong_concavity: mu };
        let d = target.dimension();
        let raw = Coordinates { centre: vec![0.0; d], whitening: None, constants, start: f64::INFINITY };
        let whitened = certificate.whitened.and_then(|mu| {
            let constants = Constants { smoothness: 1.0, strong_concavity: mu };
            Some(Coordinates { whitening: Some(Whitening::of(certificate)?), constants, ..raw.clone() })
        });
        // Without strong concavity nothing bounds the way from a start to the optimum, wherever it is.
        if !(mu > 0.0) {
            return [Some(raw), whitened];
        }
        let best = whitened.as_ref().unwrap_or(&raw);
        let steepest = NEAR * (d as f64 * best.constants.strong_concavity.min(mu / smoothness)).sqrt();
        let Some(centre) = best.climb(target, steepest) else { return [None, None] };
        let mut evaluator = target.evaluator();
        let (mut value, mut slope) = ([0.0], vec![0.0; d]);
        evaluator.evaluate(&centre, 1, &mut value, &mut slope);
        [Some(raw), whitened].map(|coordinates| Some(coordinates?.centred(&centre, slope.clone())))
    }

    /// The start is bounded by `(‖w⁰ - w̄‖ + √(d/μ))²`, with ‖centre - mode‖ ≤ ‖∇ log p(centre)‖ / μ by
    /// strong concavity.
    fn centred(self, centre: &[f64], mut slope: Vec<f64>) -> Coordinates {
        let d = centre.len();
        if let Some(whitening) = &self.whitening {
            whitening.gradients(&mut slope, [d, 1]);
        }
        let Constants { smoothness, strong_concavity: mu } = self.constants;
        let off = dot(&slope, &slope).sqrt() / mu;
        let to_mode = (off * off + d as f64 / smoothness).sqrt();
        Coordinates { start: vi::bound::start_from_mode(to_mode, d, mu), centre: centre.to_vec(), ..self }
    }

    /// A point where the slope, in these coordinates, is no larger than `steepest`, or as near to it as the
    /// search comes; None where the log density is not finite.
    fn climb(&self, target: &dyn Target, steepest: f64) -> Option<Vec<f64>> {
        let moved = Moved { target, coordinates: self };
        let mut evaluator = moved.evaluator();
        let d = target.dimension();
        let (mut value, mut slope) = ([0.0], vec![0.0; d]);
        evaluator.evaluate(&vec![0.0; d], 1, &mut value, &mut slope);
        // A step of one over the smoothness gains; where the log density is quadratic, a whitened one leads
        // to the mode.
        let mut best: Vec<f64> = slope.iter().map(|g| g / self.constants.smoothness).collect();
        ascent::follow(evaluator.as_mut(), best.clone(), STEPS, &mut |place| {
            best.clone_from(&place.z);
            let flat = dot(&place.slope, &place.slope).sqrt() <= steepest;
            if flat { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if let Some(whitening) = &self.whitening {
            whitening.points(&mut best, [d, 1]);
        }
        Some(best)
    }
}

/// A target in other coordinates.
pub(super) struct Moved<'a> {
    pub(super) target: &'a dyn Target,
    pub(super) coordinates: &'a Coordinates,
}

impl Target for Moved<'_> {
    fn dimension(&self) -> usize {
        self.target.dimension()
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        Box::new(MovedEvaluator {
            inner: self.target.evaluator(),
            coordinates: self.coordinates,
            point: Vec::new(),
        })
    }
}

struct MovedEvaluator<'a> {
    inner: Box<dyn Evaluator + 'a>,
    coordinates: &'a Coordinates,
    point: Vec<f64>,
}

impl Evaluator for MovedEvaluator<'_> {
    fn evaluate(&mut self, z: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]) {
        let d = self.coordinates.centre.len();
        self.point.clear();
        self.point.extend_from_slice(z);
        if let Some(whitening) = &self.coordinates.whitening {
            whitening.points(&mut self.point, [d, draws]);
        }
        for (row, centre) in self.point.chunks_mut(draws).zip(&self.coordinates.centre) {
            row.iter_mut().for_each(|x| *x += centre);
        }
        self.inner.evaluate(&self.point, draws, log_density, gradient);
        if let Some(whitening) = &self.coordinates.whitening {
            whitening.gradients(gradient, [d, draws]);
        }
    }
}
