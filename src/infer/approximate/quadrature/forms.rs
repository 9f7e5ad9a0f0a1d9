//! The affine forms of a model, in runs of rows with the same columns: how they lie under a Gaussian, and
//! what their functions ask of it.

use crate::infer::approximate::quadrature::family::{Family, spreads};
use crate::infer::approximate::quadrature::full::Full;
use crate::infer::approximate::quadrature::sparse::Sparse;
use crate::num::hermite::Rule;
use crate::num::linalg::{add_symmetric_product, dot};
use crate::structure::Affine;
use rayon::prelude::*;
use std::ops::Range;

/// Rows of a design matrix handled at once.
const ROWS: usize = 1024;
/// Runs of rows whose curvatures are held at once.
const TOGETHER: usize = 64;

/// The forms.
pub(in crate::infer) struct Forms<'a> {
    affine: &'a Affine,
    /// Rows with the same columns.
    runs: Vec<Range<usize>>,
    /// What precision matrices these rows give.
    pub(in crate::infer) family: Box<dyn Family>,
    /// Variables.
    pub(in crate::infer) d: usize,
}

impl<'a> Forms<'a> {
    /// The forms of `d` variables.
    pub(in crate::infer) fn new(affine: &'a Affine, d: usize) -> Self {
        let runs = runs(affine);
        let family = family(affine, &runs, d);
        Forms { affine, runs, family, d }
    }

    /// How many there are.
    pub(in crate::infer) fn len(&self) -> usize {
        self.affine.len()
    }

    /// The largest norm of a row, at least one.
    pub(in crate::infer) fn longest(&self) -> f64 {
        let norm = |i: usize| self.affine.row(i).1.iter().map(|v| v * v).sum::<f64>().sqrt();
        (0..self.len()).map(norm).fold(1.0, f64::max)
    }

    /// Mean and standard deviation of each form under `N(m, C Cᵀ)`: `a_i·m + c_i` and `‖Cᵀ a_i‖`.
    pub(in crate::infer) fn under(&self, mean: &[f64], root: &[f64]) -> Vec<[f64; 2]> {
        let of = self.family.columns(root);
        let some = |run: &Range<usize>| {
            let (columns, rows) = self.rows(run);
            let (first, k) = (run.start, columns.len());
            let means: Vec<f64> = columns.iter().map(|&c| mean[c as usize]).collect();
            let spreads = spreads(&of(columns), rows, [run.len(), k]);
            let form = move |(e, spread): (usize, f64)| {
                [dot(&rows[e * k..(e + 1) * k], &means) + self.affine.constant[first + e], spread]
            };
            spreads.into_iter().enumerate().map(form)
        };
        self.runs.par_iter().flat_map_iter(some).collect()
    }

    /// The columns of a run of rows, and their coefficients, row by row.
    fn rows(&self, run: &Range<usize>) -> (&[u32], &[f64]) {
        (self.affine.row(run.start).0, self.affine.coefficients(run.clone()))
    }

    /// `Σ first_i a_i` and `Σ second_i a_i a_iᵀ`.
    pub(in crate::infer) fn gather(&self, moments: &[Moments]) -> (Vec<f64>, Vec<f64>) {
        let part = |run: &Range<usize>| {
            let ((columns, rows), own) = (self.rows(run), &moments[run.clone()]);
            let k = columns.len();
            let (mut g, mut h) = (vec![0.0; k], vec![0.0; k * k]);
            let mut scaled = rows.to_vec();
            for (row, m) in scaled.chunks_exact_mut(k.max(1)).zip(own) {
                g.iter_mut().zip(&*row).for_each(|(g, x)| *g += m.first * x);
                row.iter_mut().for_each(|x| *x *= m.second);
            }
            add_symmetric_product(1.0, rows, &scaled, [k, run.len()], &mut h);
            (g, h)
        };
        let (mut gradient, mut curvature) = (vec![0.0; self.d], self.family.zero());
        // Parts are added in the order of the rows, whatever the number of threads.
        for first in (0..self.runs.len()).step_by(TOGETHER) {
            let some = first..self.runs.len().min(first + TOGETHER);
            let parts: Vec<_> = self.runs[some.clone()].par_iter().map(part).collect();
            for (run, (g, h)) in some.zip(&parts) {
                let columns = self.rows(&self.runs[run]).0;
                columns.iter().zip(g).for_each(|(&a, g)| gradient[a as usize] += g);
                self.family.add(run, columns, h, &mut curvature);
            }
        }
        (gradient, curvature)
    }
}

/// What a rule says of the slopes of one function.
pub(in crate::infer) struct Moments {
    /// `E φ'`.
    first: f64,
    /// `-E φ''`.
    second: f64,
    /// Whether the slopes are those of a quadratic function.
    pub(in crate::infer) quadratic: bool,
}

impl Moments {
    /// From slopes at the points of the rule, for a form with this standard deviation.
    pub(in crate::infer) fn new(slopes: &[f64], spread: f64, rule: &Rule) -> Moments {
        let (mut first, mut along, mut scale) = (0.0, 0.0, 0.0_f64);
        for ((g, w), s) in slopes.iter().zip(&rule.weights).zip(&rule.points) {
            first += w * g;
            along += w * g * s;
            scale = scale.max(g.abs());
        }
        let straight = |(g, s): (&f64, &f64)| (g - first - along * s).abs() <= 1e-11 * scale;
        Moments {
            first,
            second: if spread > 0.0 { -along / spread } else { 0.0 },
            quadratic: slopes.iter().zip(&rule.points).all(straight),
        }
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

/// The family of rows with the same columns in runs: by single entries where there are few.
fn family(affine: &Affine, runs: &[Range<usize>], d: usize) -> Box<dyn Family> {
    match Sparse::new(affine, runs, d) {
        Some(sparse) => Box::new(sparse),
        None => Box::new(Full { d }),
    }
}
