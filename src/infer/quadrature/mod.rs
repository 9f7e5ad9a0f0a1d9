//! The best Gaussian for a sum of functions of affine forms: no Monte Carlo noise, by quadrature and Newton steps.
//!
//! Under `q = N(m, S)` each form `t_i = a_i·z + c_i` is normal, so the ELBO and its derivatives are one-dimensional integrals
//! by Gauss-Hermite rules. The optimum has `S⁻¹ = Σ E[-φ_i''] a_i a_iᵀ` and `Σ E[φ_i'] a_i = 0`, and `E φ'' = E[φ' s] / σ` for
//! `t = μ + σ s`, so that first derivatives suffice.

mod family;
mod full;
mod sparse;

use super::gaussian::Gaussian;
use crate::num::hermite::Rule;
use crate::num::linalg::add_transposed_product;
use crate::num::real::LN_2PI;
use crate::plan::Plan;
use crate::structure::{Affine, Separable};
use crate::target::{Evaluator, PlanEvaluator};
use crate::vi::Scale;
use family::{Family, family, spreads};
use std::ops::Range;

/// Points of the first rule; doubled until the answer no longer moves.
const FIRST: usize = 16;
/// Points of the last.
const LAST: usize = 128;
/// Most Newton steps for one rule.
const STEPS: usize = 100;
/// The decrement, in nats, at which a rule's optimum is reached.
const REACHED: f64 = 1e-12;
/// Rows of a design matrix handled at once.
const ROWS: usize = 1024;

/// The optimum.
pub(super) struct Solution {
    pub(super) q: Gaussian,
    /// Its ELBO with all constants.
    pub(super) elbo: f64,
    /// An estimate of what is left to gain.
    pub(super) gap: f64,
    /// Whether every function is quadratic, so that the posterior is Gaussian.
    pub(super) quadratic: bool,
    /// Evaluations of all functions at one point each.
    pub(super) evaluations: usize,
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
    affine: &'a Affine,
    /// Rows with the same columns.
    runs: Vec<Range<usize>>,
    /// What precision matrices these rows give.
    family: Box<dyn Family>,
    evaluator: &'a mut dyn Evaluator,
    d: usize,
    evaluations: usize,
}

/// Solves in `d` dimensions; None if the curvature is not positive definite on the way or something is not finite.
pub(super) fn solve(separable: &Separable, d: usize) -> Option<Solution> {
    let plan = Plan::new(&separable.graph, &separable.roots, separable.affine.len());
    let mut evaluator = PlanEvaluator::new(&plan);
    let runs = runs(&separable.affine);
    let family = family(&separable.affine, &runs, d);
    let mut problem =
        Problem { affine: &separable.affine, runs, family, evaluator: &mut evaluator, d, evaluations: 0 };
    let mut at = problem.narrow()?;
    let mut points = FIRST;
    let mut before = f64::NAN;
    loop {
        let rule = Rule::new(points)?;
        let (look, gap) = problem.climb(&mut at, &rule)?;
        let settled = (look.elbo - before).abs() <= 1e-9 * (1.0 + look.elbo.abs());
        if look.quadratic || settled || points >= LAST {
            let error = if settled || look.quadratic { 0.0 } else { (look.elbo - before).abs() };
            return Some(Solution {
                q: Gaussian {
                    mean: at.mean,
                    factor: Scale::Dense(problem.family.triangle(&at.precision, at.root)?),
                },
                elbo: look.elbo,
                gap: gap + error,
                quadratic: look.quadratic,
                evaluations: problem.evaluations,
            });
        }
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
        let norm = |i: usize| self.affine.row(i).1.iter().map(|v| v * v).sum::<f64>().sqrt();
        let longest = (0..self.affine.len()).map(norm).fold(1.0, f64::max);
        let precision = self.family.identity((2.0 * longest).powi(2));
        Some(At { mean: vec![0.0; self.d], root: self.family.root(&precision)?, precision })
    }

    /// Newton steps, each halved until the ELBO rises, to the optimum for this rule.
    fn climb(&mut self, at: &mut At, rule: &Rule) -> Option<(Look, f64)> {
        let mut look = self.look(&at.mean, &at.root, rule)?;
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
        Some((look, gap))
    }

    /// A share of the way to the Gaussian that the curvature and gradient here call for, and the gain that they predict; where the mean
    /// alone gains more than `enough`, that of the mean alone.
    fn step(&self, at: &At, look: &Look, share: f64, enough: f64) -> Option<(At, f64)> {
        let blend = |(p, h): (&f64, &f64)| (1.0 - share) * p + share * h;
        let precision: Vec<f64> = at.precision.iter().zip(&look.curvature).map(blend).collect();
        let root = self.family.root(&precision)?;
        let (direction, square) = self.family.solve(&root, &look.gradient);
        let mean: Vec<f64> = at.mean.iter().zip(&direction).map(|(m, x)| m + share * x).collect();
        let mut decrement = 0.5 * square;
        if decrement <= enough {
            let difference: Vec<f64> =
                precision.iter().zip(&at.precision).map(|(new, old)| new - old).collect();
            decrement += self.family.gain(&root, &difference);
        }
        mean.iter().all(|x| x.is_finite()).then_some((At { mean, root, precision }, decrement))
    }

    /// The ELBO and its derivatives at `N(mean, C Cᵀ)`.
    fn look(&mut self, mean: &[f64], root: &[f64], rule: &Rule) -> Option<Look> {
        let (n, q) = (self.affine.len(), rule.points.len());
        let centre = self.centres(mean);
        let spread = self.spreads(root);
        let mut t = vec![0.0; n * q];
        for (i, row) in t.chunks_exact_mut(q).enumerate() {
            row.iter_mut().zip(&rule.points).for_each(|(t, s)| *t = centre[i] + spread[i] * s);
        }
        let (mut values, mut slopes) = (vec![0.0; q], vec![0.0; n * q]);
        self.evaluator.evaluate(&t, q, &mut values, &mut slopes);
        self.evaluations += q;
        let (mut first, mut second, mut quadratic) = (vec![0.0; n], vec![0.0; n], true);
        for (i, row) in slopes.chunks_exact(q).enumerate() {
            let mut moments = [0.0; 2];
            for ((g, w), s) in row.iter().zip(&rule.weights).zip(&rule.points) {
                moments[0] += w * g;
                moments[1] += w * g * s;
            }
            first[i] = moments[0];
            second[i] = if spread[i] > 0.0 { -moments[1] / spread[i] } else { 0.0 };
            let scale = row.iter().fold(0.0_f64, |m, g| m.max(g.abs()));
            quadratic &= row
                .iter()
                .zip(&rule.points)
                .all(|(g, s)| (g - moments[0] - moments[1] * s).abs() <= 1e-11 * scale);
        }
        let energy: f64 = values.iter().zip(&rule.weights).map(|(v, w)| v * w).sum();
        let entropy = 0.5 * self.d as f64 * (1.0 + LN_2PI) + self.family.log_det(root);
        let (gradient, curvature) = self.gather(&first, &second);
        let finite = energy.is_finite() && gradient.iter().chain(&curvature).all(|x| x.is_finite());
        finite.then_some(Look { elbo: energy + entropy, gradient, curvature, quadratic })
    }

    fn centres(&self, mean: &[f64]) -> Vec<f64> {
        let at = |i: usize| {
            let (columns, values) = self.affine.row(i);
            columns.iter().zip(values).map(|(&c, v)| v * mean[c as usize]).sum::<f64>()
                + self.affine.constant[i]
        };
        (0..self.affine.len()).map(at).collect()
    }

    /// `‖Cᵀ a_i‖` for each row.
    fn spreads(&self, root: &[f64]) -> Vec<f64> {
        let (of, mut out) = (self.family.columns(root), Vec::with_capacity(self.affine.len()));
        for run in &self.runs {
            let (columns, _) = self.affine.row(run.start);
            spreads(&of(columns), &self.values(run), [run.len(), columns.len()], &mut out);
        }
        out
    }

    /// The coefficients of rows with the same columns, row by row.
    fn values(&self, run: &Range<usize>) -> Vec<f64> {
        run.clone().flat_map(|i| self.affine.row(i).1.iter().copied()).collect()
    }

    /// `Σ first_i a_i` and `Σ second_i a_i a_iᵀ`.
    fn gather(&self, first: &[f64], second: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut gradient, mut curvature) = (vec![0.0; self.d], self.family.zero());
        for (which, run) in self.runs.iter().enumerate() {
            let (columns, _) = self.affine.row(run.start);
            let (count, k) = (run.len(), columns.len());
            let rows = self.values(run);
            let scaled: Vec<f64> =
                rows.iter().enumerate().map(|(e, x)| x * second[run.start + e / k]).collect();
            let (mut g, mut h) = (vec![0.0; k], vec![0.0; k * k]);
            add_transposed_product(1.0, &rows, &scaled, [k, count, k], &mut h);
            add_transposed_product(1.0, &rows, &first[run.clone()], [k, count, 1], &mut g);
            columns.iter().zip(&g).for_each(|(&a, g)| gradient[a as usize] += g);
            self.family.add(which, columns, &h, &mut curvature);
        }
        (gradient, curvature)
    }
}

/// Consecutive rows with the same columns, not too many at once.
fn runs(affine: &Affine) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for i in 0..affine.len() {
        match out.last_mut() {
            Some(run) if run.len() < ROWS && affine.row(run.start).0 == affine.row(i).0 => run.end = i + 1,
            _ => out.push(i..i + 1),
        }
    }
    out
}

/// `(C Cᵀ)⁻¹`.
pub(super) fn precision(factor: &[f64], d: usize) -> Option<Vec<f64>> {
    let mut inverse: Vec<f64> = (0..d * d).map(|p| f64::from(p / d == p % d)).collect();
    crate::num::linalg::solve_lower_many(factor, &mut inverse, [d, d]);
    let mut out = vec![0.0; d * d];
    add_transposed_product(1.0, &inverse, &inverse, [d, d, d], &mut out);
    out.iter().all(|x| x.is_finite()).then_some(out)
}
