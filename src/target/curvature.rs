//! Second derivatives of a log density form by form: where it is a sum of functions of one affine form each,
//! once some coordinates are given, its Hessian in the others is `Σ φ″(t) a aᵀ`, and the graph says so.

use super::given::{Opened, hand_over};
use super::{DRAWS, ModelTarget};
use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::real::{F16, Packed, Real, Zero};
use crate::plan::{Plan, Workspace};
use crate::structure::{Affine, separate_given};
use std::ops::Range;

/// A number for each of sixteen points.
type Lanes = [f64; DRAWS];

/// The functions of a log density, and the forms that they are functions of.
pub struct Curvature {
    /// What follows from the given coordinates alone, and where the forms read it.
    shared: Plan,
    places: Vec<Range<usize>>,
    /// All forms; those of given coordinates alone among them.
    affine: Affine,
    /// The sum of the functions.
    functions: Plan,
    /// The forms in which other coordinates occur.
    varying: Vec<Varying>,
    dimension: usize,
    end: usize,
}

/// A form in which coordinates occur that are not given.
pub struct Varying {
    /// Which of all forms it is.
    form: usize,
    /// Which of the coordinates that are not given occur, and their coefficients.
    pub terms: Vec<(u32, f64)>,
}

impl ModelTarget {
    /// The curvature of the log density in these coordinates, ascending, given all others; None if it is not
    /// a sum of functions of one affine form each.
    pub(super) fn curvature_of(&self, inner: &[usize]) -> Option<Curvature> {
        let dimension = self.lowered().dimension;
        let outer: Vec<usize> = (0..dimension).filter(|i| inner.binary_search(i).is_err()).collect();
        let (graph, terms) = (&self.lowered().graph, self.term_nodes());
        let Opened { graph: open, read, places, others, end, .. } =
            Opened::new(graph, &terms, &outer, dimension);
        let separable = separate_given(&open, &others, end, &|i| inner.binary_search(&i).is_err())?;
        let shared = Plan::new(graph, &read, dimension);
        let functions = Plan::of_sum(&separable.graph, &separable.roots, separable.affine.len());
        let of_form = |form: usize| {
            let (columns, values) = separable.affine.row(form);
            let inner = columns.iter().zip(values).filter_map(|(&column, &value)| {
                let at = inner.binary_search(&(column as usize)).ok().filter(|_| value != 0.0)?;
                Some((at as u32, value))
            });
            Varying { form, terms: inner.collect() }
        };
        let varying = (0..separable.affine.len()).map(of_form).filter(|v| !v.terms.is_empty()).collect();
        Some(Curvature { shared, places, affine: separable.affine, functions, varying, dimension, end })
    }
}

impl Curvature {
    /// The forms whose second derivatives are told.
    pub fn varying(&self) -> &[Varying] {
        &self.varying
    }

    /// Operations that second derivatives take at one point.
    pub fn operations(&self) -> usize {
        2 * self.functions.operations() + 2 * self.affine.entries() + self.shared.operations()
    }

    /// Buffers of one thread.
    pub fn evaluator(&self) -> CurvatureEvaluator<'_> {
        CurvatureEvaluator {
            of: self,
            shared: Workspace::new(&self.shared),
            functions: Workspace::new(&self.functions),
            values: vec![F16::zero(); self.end],
            forms: vec![[0.0; DRAWS]; self.affine.len()],
        }
    }
}

/// Evaluates second derivatives.
pub struct CurvatureEvaluator<'c> {
    of: &'c Curvature,
    shared: Workspace<F16>,
    functions: Workspace<F16>,
    values: Vec<F16>,
    forms: Vec<Lanes>,
}

impl CurvatureEvaluator<'_> {
    /// The second derivative in each varying form at sixteen points (coordinate `i` of point `b` at `i * 16 +
    /// b`), by differences of the first over these widths to either side: exact where it is constant.
    pub fn second(&mut self, z: &[f64], widths: &[f64], into: &mut Vec<Lanes>) {
        let of = self.of;
        F16::flat_mut(&mut self.values)[..of.dimension * DRAWS].copy_from_slice(z);
        self.shared.inputs(&of.shared).copy_from_slice(&self.values[..of.dimension]);
        self.shared.forward(&of.shared, false);
        hand_over(&self.shared, (&of.shared, &of.places), &mut self.values);
        best_lanes(Combine { affine: &of.affine, values: &self.values, into: &mut self.forms });
        into.clear();
        into.resize(of.varying.len(), [0.0; DRAWS]);
        for side in [1.0, -1.0] {
            let inputs = F16::flat_mut(self.functions.inputs(&of.functions));
            inputs.copy_from_slice(self.forms.as_flattened());
            for (varying, width) in of.varying.iter().zip(widths) {
                let at = varying.form * DRAWS;
                inputs[at..at + DRAWS].iter_mut().for_each(|x| *x += side * width);
            }
            self.functions.forward(&of.functions, true);
            self.functions.reverse(&of.functions);
            let slopes = self.functions.gradient(&of.functions);
            for ((to, varying), width) in into.iter_mut().zip(&of.varying).zip(widths) {
                let slope = slopes[varying.form];
                (0..DRAWS).for_each(|b| to[b] += side * slope.lane(b) / (2.0 * width));
            }
        }
    }
}

/// The forms at sixteen points.
struct Combine<'a> {
    affine: &'a Affine,
    values: &'a [F16],
    into: &'a mut [Lanes],
}

impl LaneWork<F16> for Combine<'_> {
    type Out = ();

    #[inline(always)]
    fn run<U: Real>(self, view: View<F16, U>) {
        let values = view.slice(self.values);
        for i in 0..self.into.len() {
            let (columns, coefficients) = self.affine.row(i);
            let mut sum = U::splat(self.affine.constant[i]);
            for k in 0..columns.len() {
                sum += U::splat(coefficients[k]) * values[columns[k] as usize];
            }
            view.store(sum, &mut self.into[i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::target::Target;

    /// Crossed effects: the Hessian from the functions of forms is that of the log density, entry by entry.
    #[test]
    fn forms_make_up_the_hessian() {
        let rows: Vec<String> = (0..40)
            .map(|i| format!("{},g{},h{},{}", i % 2, i % 5, (i * i) % 7, 0.1 * f64::from(i)))
            .collect();
        let text = |y: &str| format!("y,g,h,x\n{}\n", rows.join("\n")).replace("y,", y);
        let data = Dataset::from_texts(&[("data.csv", &text("y,"))]).unwrap();
        for likelihood in
            ["y ~ normal(a + b * x + u[g] + v[h], s)", "y ~ bernoulli_logit(a + b * x + u[g] + v[h])"]
        {
            let model = format!(
                "data {{ y : {}[N]\n g : category[N] of G\n h : category[N] of H\n x : real[N] }}\n\
                 param s ~ half_normal(1)\nparam t ~ half_normal(1)\nparam a ~ normal(0, 1)\n\
                 param b ~ student_t(4, 0, 1)\nparam u[G] ~ normal(0, t)\nparam v[H] ~ normal(a, s)\n{likelihood}",
                if likelihood.contains("logit") { "binary" } else { "real" },
            );
            let target = ModelTarget::new(&model, &data).unwrap();
            let d = target.dimension();
            let inner: Vec<usize> = (2..d).collect();
            let curvature = target.curvature_of(&inner).unwrap();
            let z: Vec<f64> = (0..d).map(|i| 0.3 * (1.7 * i as f64).sin()).collect();
            let lanes: Vec<f64> = z.iter().flat_map(|x| [*x; DRAWS]).collect();
            let mut second = Vec::new();
            curvature.evaluator().second(&lanes, &vec![1e-4; curvature.varying().len()], &mut second);
            let k = inner.len();
            let mut hessian = vec![0.0; k * k];
            for (varying, second) in curvature.varying().iter().zip(&second) {
                for (i, a) in &varying.terms {
                    for (j, b) in &varying.terms {
                        hessian[*i as usize * k + *j as usize] += second[3] * a * b;
                    }
                }
            }
            let mut evaluator = target.evaluator();
            for j in 0..k {
                let unit: Vec<f64> = (0..d).map(|i| f64::from(i == inner[j])).collect();
                let mut column = vec![0.0; d];
                evaluator.hessian_vectors(&z, &unit, 1, &mut column);
                for i in 0..k {
                    let (found, exact) = (hessian[i * k + j], column[inner[i]]);
                    assert!((found - exact).abs() < 1e-6 * (1.0 + exact.abs()), "{i} {j} {found} {exact}");
                }
            }
        }
    }

    /// A product of two coordinates that both vary in one function is no function of one form.
    #[test]
    fn what_is_no_sum_of_such_functions_is_none() {
        let data = Dataset::from_texts(&[("data.csv", "y\n1\n2\n4\n")]).unwrap();
        let text = "data { y : real[N] }\nparam a ~ normal(0, 1)\nparam s ~ half_normal(1)\ny ~ normal(a, s)";
        let target = ModelTarget::new(text, &data).unwrap();
        assert!(target.curvature_of(&[0, 1]).is_none());
        assert!(target.curvature_of(&[0]).is_some());
    }
}
