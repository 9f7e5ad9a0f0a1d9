//! The best Gaussian for a sum of functions of affine forms: no Monte Carlo noise, by quadrature and Newton
//! steps.
//!
//! Under `q = N(m, S)` each form `t_i = a_i·z + c_i` is normal, so the ELBO and its derivatives are
//! one-dimensional integrals by Gauss-Hermite rules. The optimum has `S⁻¹ = Σ E[-φ_i''] a_i a_iᵀ` and `Σ
//! E[φ_i'] a_i = 0`, and `E φ'' = E[φ' s] / σ` for `t = μ + σ s`, so that first derivatives suffice.

mod family;
mod forms;
mod full;
mod sparse;

use crate::infer::gaussian::Gaussian;
use crate::num::hermite::Rule;
use crate::num::linalg::{add_symmetric_product, invert_lower};
use crate::num::real::LN_2PI;
use crate::plan::Plan;
use crate::structure::Separable;
use crate::target::{Evaluator, PlanEvaluator};
use crate::vi::Scale;
use forms::{Forms, Moments};
use rayon::prelude::*;

/// Points of the first rule; doubled until the answer no longer moves.
const FIRST: usize = 16;
/// Points of the last.
const LAST: usize = 128;
/// Most Newton steps for one rule.
const STEPS: usize = 100;
/// The decrement, in nats, at which a rule's optimum is reached.
const REACHED: f64 = 1e-12;
/// An ELBO that the last rule moves by more, in nats, is none: under a Gaussian, functions such as
/// exp(exp(t)) have no expectation.
const UNSETTLED: f64 = 0.01;
/// The same for all rules together, beside this share of it.
const WANDERED: f64 = 1.0;
const SHARE: f64 = 0.01;
/// Points to each side of its mean, in standard deviations, at which it is seen whether a function is
/// concave: the first, and from each to the next.
const WIDE: usize = 16;
const NEAREST: f64 = 0.5;
const FURTHER: f64 = 1.6;
/// Rounding errors of slopes, as shares of their size there, and of their size near the mean.
const ROUNDING: [f64; 2] = [1e-9, 1e-11];

/// The optimum.
pub(in crate::infer) struct Solution {
    pub(in crate::infer) q: Gaussian,
    /// Its ELBO with all constants.
    pub(in crate::infer) elbo: f64,
    /// An estimate of what is left to gain.
    pub(in crate::infer) gap: f64,
    /// Whether every function is quadratic, so that the posterior is Gaussian.
    pub(in crate::infer) quadratic: bool,
    /// Whether every function was seen to be concave, near and far from its mean: then there is no other
    /// mode.
    pub(in crate::infer) concave: bool,
    /// Evaluations of all functions at one point each.
    pub(in crate::infer) evaluations: usize,
}

/// What the ELBO looks like at a Gaussian.
struct Look {
    elbo: f64,
    /// Gradient in the mean.
    gradient: Vec<f64>,
    /// `Σ E[-φ_i''] a_i a_iᵀ`.
    curvature: Vec<f64>,
    quadratic: bool,
}

struct Problem<'a> {
    forms: Forms<'a>,
    evaluator: &'a mut dyn Evaluator,
    evaluations: usize,
    /// Room for the points at which all functions are evaluated, and for their slopes.
    points: Vec<f64>,
    slopes: Vec<f64>,
}

/// Solves in `d` dimensions; None if the curvature is not positive definite on the way or something is not
/// finite.
pub(in crate::infer) fn solve(separable: &Separable, d: usize) -> Option<Solution> {
    let plan = Plan::new(&separable.graph, &separable.roots, separable.affine.len());
    let mut evaluator = PlanEvaluator::new(&plan);
    let mut problem = Problem {
        forms: Forms::new(&separable.affine, d),
        evaluator: &mut evaluator,
        evaluations: 0,
        points: Vec::new(),
        slopes: Vec::new(),
    };
    let mut at = problem.narrow()?;
    let mut points = FIRST;
    let (mut first, mut before) = (f64::NAN, f64::NAN);
    loop {
        let rule = Rule::new(points)?;
        let (look, gap) = problem.climb(&mut at, &rule)?;
        let settled = (look.elbo - before).abs() <= 1e-9 * (1.0 + look.elbo.abs());
        if look.quadratic || settled || points >= LAST {
            let error = if settled || look.quadratic { 0.0 } else { (look.elbo - before).abs() };
            if error > UNSETTLED || (look.elbo - first).abs() > WANDERED + SHARE * first.abs() {
                return None;
            }
            return Some(Solution {
                concave: look.quadratic || problem.is_concave(&at),
                q: Gaussian {
                    mean: at.mean,
                    factor: Scale::Dense(problem.forms.family.triangle(&at.precision, at.root)?),
                },
                elbo: look.elbo,
                gap: gap + error,
                quadratic: look.quadratic,
                evaluations: problem.evaluations,
            });
        }
        first = if before.is_nan() { look.elbo } else { first };
        before = look.elbo;
        points *= 2;
    }
}

/// A Gaussian, with its precision beside the root of its covariance.
struct At {
    mean: Vec<f64>,
    root: Vec<f64>,
    precision: Vec<f64>,
}

impl Problem<'_> {
    /// A start in which no form has a standard deviation above one half.
    fn narrow(&self) -> Option<At> {
        let precision = self.forms.family.identity((2.0 * self.forms.longest()).powi(2));
        Some(At { mean: vec![0.0; self.forms.d], root: self.forms.family.root(&precision)?, precision })
    }

    /// Newton steps, each halved until the ELBO rises, to the optimum for this rule.
    fn climb(&mut self, at: &mut At, rule: &Rule) -> Option<(Look, f64)> {
        let mut look = self.look(&at.mean, &at.root, rule)?;
        // A Gaussian may become so narrow that any function is quadratic under it.
        let quadratic = look.quadratic;
        let mut gap = f64::INFINITY;
        for k in 1..=STEPS {
            // What a step gains is only worth knowing exactly where it may be the last.
            let reached = REACHED * (1.0 + 1e-3 * look.elbo.abs());
            let enough = if k < STEPS { reached } else { f64::INFINITY };
            let mut step = Some(1.0);
            let mut moved = None;
            while let Some(share) = step {
                if let Some((next_at, decrement)) = self.step(at, &look, share, enough) {
                    gap = if share == 1.0 { decrement } else { gap.min(decrement) };
                    if let Some(next) = self.look(&next_at.mean, &next_at.root, rule)
                        && next.elbo >= look.elbo - 1e-12 * (1.0 + look.elbo.abs())
                    {
                        moved = Some((next_at, next));
                        break;
                    }
                }
                step = Some(0.5 * share).filter(|s| *s > 1e-4);
            }
            (*at, look) = moved?;
            if gap <= reached {
                break;
            }
        }
        look.quadratic &= quadratic;
        Some((look, gap))
    }

    /// Whether the slopes of all functions fall, as far as can be seen.
    fn is_concave(&mut self, at: &At) -> bool {
        let far: Vec<f64> = (0..WIDE as i32).map(|k| NEAREST * FURTHER.powi(k)).collect();
        let steps: Vec<f64> = far.iter().rev().map(|s| -s).chain([0.0]).chain(far.iter().copied()).collect();
        let forms = self.forms.under(&at.mean, &at.root);
        self.evaluate(&forms, &steps);
        self.slopes.par_chunks(steps.len()).all(fall)
    }

    /// A share of the way to the Gaussian that the curvature and gradient here call for, and the gain that
    /// they predict; where the mean alone gains more than `enough`, that of the mean alone.
    fn step(&self, at: &At, look: &Look, share: f64, enough: f64) -> Option<(At, f64)> {
        let blend = |(p, h): (&f64, &f64)| (1.0 - share) * p + share * h;
        let precision: Vec<f64> = at.precision.iter().zip(&look.curvature).map(blend).collect();
        let root = self.forms.family.root(&precision)?;
        let (direction, square) = self.forms.family.solve(&root, &look.gradient);
        let mean: Vec<f64> = at.mean.iter().zip(&direction).map(|(m, x)| m + share * x).collect();
        let mut decrement = 0.5 * square;
        if decrement <= enough {
            let difference: Vec<f64> =
                precision.iter().zip(&at.precision).map(|(new, old)| new - old).collect();
            decrement += self.forms.family.gain(&root, &difference);
        }
        mean.iter().all(|x| x.is_finite()).then_some((At { mean, root, precision }, decrement))
    }

    /// The sums of all functions where each form is so many of its standard deviations from its mean; their
    /// slopes are kept.
    fn evaluate(&mut self, forms: &[[f64; 2]], steps: &[f64]) -> Vec<f64> {
        let (n, q) = (self.forms.len(), steps.len());
        self.points.resize(n * q, 0.0);
        self.points.par_chunks_mut(q).zip(forms).for_each(|(row, [centre, spread])| {
            row.iter_mut().zip(steps).for_each(|(t, s)| *t = centre + spread * s);
        });
        let mut values = vec![0.0; q];
        self.slopes.resize(n * q, 0.0);
        self.evaluator.evaluate(&self.points, q, &mut values, &mut self.slopes);
        self.evaluations += q;
        values
    }

    /// The ELBO and its derivatives at `N(mean, C Cᵀ)`.
    fn look(&mut self, mean: &[f64], root: &[f64], rule: &Rule) -> Option<Look> {
        let forms = self.forms.under(mean, root);
        let (q, values) = (rule.points.len(), self.evaluate(&forms, &rule.points));
        let moments: Vec<Moments> =
            self.slopes.par_chunks(q).zip(&forms).map(|(g, form)| Moments::new(g, form[1], rule)).collect();
        let energy: f64 = values.iter().zip(&rule.weights).map(|(v, w)| v * w).sum();
        let entropy = 0.5 * self.forms.d as f64 * (1.0 + LN_2PI) + self.forms.family.log_det(root);
        let (gradient, curvature) = self.forms.gather(&moments);
        let finite = energy.is_finite() && gradient.iter().chain(&curvature).all(|x| x.is_finite());
        let quadratic = moments.iter().all(|m| m.quadratic);
        finite.then_some(Look { elbo: energy + entropy, gradient, curvature, quadratic })
    }
}

/// Whether slopes at ascending points fall, but for rounding errors; those that are not finite say nothing.
fn fall(slopes: &[f64]) -> bool {
    let middle = slopes.len() / 2;
    let near = &slopes[middle - WIDE / 4..=middle + WIDE / 4];
    let floor = ROUNDING[1] * near.iter().filter(|g| g.is_finite()).fold(0.0_f64, |m, g| m.max(g.abs()));
    let rises = |w: &[f64]| w[1] - w[0] > ROUNDING[0] * (w[0].abs() + w[1].abs()) + floor;
    !slopes.windows(2).any(|w| w.iter().all(|g| g.is_finite()) && rises(w))
}

/// `(C Cᵀ)⁻¹`.
pub(in crate::infer) fn precision(factor: &[f64], d: usize) -> Option<Vec<f64>> {
    let inverse = invert_lower(factor, d);
    let mut out = vec![0.0; d * d];
    add_symmetric_product(1.0, &inverse, &inverse, [d, d], &mut out);
    out.iter().all(|x| x.is_finite()).then_some(out)
}
