//! Flat priors that leave a posterior without an end: where few coordinates are fitted, the margin of a parameter is followed far out.
//!
//! Along a curved ridge (a product of two parameters, say) no straight line shows what the margin does. Far out the others are
//! near their mode given the one that is held, and Laplace's approximation there, `max log p - ½ log |H|`, falls like the margin.

use super::sample::Proposal;
use super::{Finding, Fit, mode};
use crate::num::linalg::{cholesky, log_det_cholesky};
use crate::target::{Evaluator, ModelTarget, Target};
use std::ops::ControlFlow;

/// How far out, in robust standard deviations.
const FAR: [f64; 3] = [30.0, 100.0, 300.0];
/// A margin that falls like a power of the distance below this, the same from each place to the next but for so much, has no mean at least, and
/// from 1 on downwards no mass.
const POWER: f64 = 1.2;
const SAME: f64 = 0.2;
/// Most steps of a search for the mode of the others.
const STEPS: usize = 300;
/// Standard deviations between the outer quantiles of a normal distribution.
const SPAN: f64 = 3.29;

/// The warning about parameters without a proper prior whose margins do not end.
pub(super) fn endless_margins(target: &ModelTarget, fit: &Fit) -> Option<Finding> {
    if !fit.as_declared || !matches!(fit.proposal, Proposal::Cells(_)) || fit.mean.len() != target.dimension()
    {
        return None;
    }
    let names = target.coordinate_names();
    let lowered = target.lowered();
    let open = lowered.parameters.iter().filter(|p| p.improper && p.form.transform_name() == "real");
    let endless: Vec<String> = open
        .flat_map(|p| p.offset..p.offset + p.size)
        .filter(|&i| is_endless(target, fit, i, &names[i]).unwrap_or(false))
        .map(|i| names[i].clone())
        .collect();
    (!endless.is_empty()).then_some(Finding::EndlessMargin { names: endless })
}

/// Whether the margin of a coordinate falls too slowly on one side; None where that cannot be seen.
fn is_endless(target: &ModelTarget, fit: &Fit, i: usize, name: &str) -> Option<bool> {
    let output = fit.outputs.iter().find(|o| o.name == name)?;
    let sd = (output.q95 - output.q5) / SPAN;
    let mut others: Vec<f64> = fit.mean.clone();
    others.remove(i);
    let side = |side: f64| {
        let mut from = others.clone();
        let mut values = [0.0; FAR.len()];
        for (value, far) in values.iter_mut().zip(FAR) {
            *value = margin(target, i, output.q50 + side * far * sd, &mut from)?;
        }
        let [first, second] = [0, 1].map(|k| (values[k] - values[k + 1]) / (FAR[k + 1] / FAR[k]).ln());
        Some(second < POWER && (first - second).abs() < SAME)
    };
    Some(side(1.0).unwrap_or(false) || side(-1.0).unwrap_or(false))
}

/// The logarithm of the margin of a coordinate, up to a constant, by Laplace's approximation around the mode of the others, searched from a
/// place that it is left in.
fn margin(target: &ModelTarget, at: usize, value: f64, others: &mut Vec<f64>) -> Option<f64> {
    let mut held = Held { inner: target.evaluator(), at, value };
    let n = others.len();
    let mut top = [f64::NEG_INFINITY];
    mode::follow(&mut held, others.clone(), STEPS, &mut |place| {
        others.clone_from(&place.z);
        ControlFlow::Continue(())
    })?;
    held.log_density(others, 1, &mut top);
    let units: Vec<f64> = (0..n * n).map(|p| f64::from(p / n == p % n)).collect();
    let mut curvature = vec![0.0; n * n];
    held.hessian_vectors(others, &units, n, &mut curvature);
    curvature.iter_mut().for_each(|h| *h = -*h);
    cholesky(&mut curvature, n).ok()?;
    Some(top[0] - 0.5 * log_det_cholesky(&curvature, n))
}

/// A target with one coordinate held.
struct Held<'t> {
    inner: Box<dyn Evaluator + 't>,
    at: usize,
    value: f64,
}

impl Held<'_> {
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

    /// With flat factors of a slope the mass is that of da / |a|, which has no end; with a prior on both, or one alone, it has one.
    #[test]
    fn products_of_flat_factors_have_no_end() {
        let data =
            Dataset::from_texts(&[("d.csv", "y,x\n1.2,0.5\n0.7,-0.3\n2,1.1\n-0.4,-1\n1.5,0.2\n")]).unwrap();
        for (priors, is_told) in [
            ("param a ~ flat()\nparam b ~ flat()\n", true),
            ("param a ~ normal(0, 1)\nparam b ~ flat()\n", true),
            ("param a ~ normal(0, 1)\nparam b ~ normal(0, 1)\n", false),
            ("param a : real > 1 ~ flat()\nlet b = 1 / a\n", false),
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
