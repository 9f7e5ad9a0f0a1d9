//! How an answer compares with the priors that were stated in numbers: far outside one, or no different from
//! it.

use crate::dist::End;
use crate::infer::finding::Finding;
use crate::infer::fit::Fit;
use crate::infer::importance::summary::Output;
use crate::lower::{Stated, TermKind};
use crate::target::ModelTarget;

/// A prior that gives nineteen twentieths of the posterior, and all beyond, no more than this is in conflict
/// with the data: a normal prior whose mean is 4.8 of its standard deviations away.
const HARDLY: f64 = 1e-6;
/// Quantiles of the posterior whose prior probabilities are this near to their own are those of the prior.
const SAME: f64 = 0.01;

/// The findings about parameters with stated priors, where there are data.
pub(in crate::infer) fn beside_priors(target: &ModelTarget, fit: &Fit) -> Vec<Finding> {
    let lowered = target.lowered();
    if !lowered.terms.iter().any(|t| t.kind == TermKind::Likelihood) {
        return Vec::new();
    }
    let sizes: Vec<usize> =
        lowered.parameters.iter().map(|p| lowered.graph.node(p.named.node).len()).collect();
    let (mut conflicts, mut kept) = (Vec::new(), Vec::new());
    for stated in &lowered.stated {
        let first: usize = sizes[..stated.parameter].iter().sum();
        let Some(outputs) = fit.outputs.get(first..first + stated.args.len()) else { continue };
        for (output, args) in outputs.iter().zip(&stated.args) {
            let Some(prior) = Prior::new(stated, args) else { continue };
            if prior.hardly_reaches(output) {
                conflicts.push((output, prior.middle(), prior.width()));
            } else if prior.is_kept(output) {
                kept.push(output.name.clone());
            }
        }
    }
    let mut found = Vec::new();
    if let Some((first, middle, width)) = conflicts.first() {
        found.push(Finding::PriorConflict {
            names: conflicts.iter().map(|(o, ..)| o.name.clone()).collect(),
            posterior: [first.mean, first.sd],
            prior: [*middle, *width],
        });
    }
    if !kept.is_empty() {
        found.push(Finding::PriorKept { names: kept });
    }
    found
}

/// The prior of one element, between the bounds that it was declared with.
struct Prior<'a> {
    stated: &'a Stated,
    args: &'a [f64],
    /// The probabilities below the lower bound, and above the upper.
    outside: [f64; 2],
}

impl<'a> Prior<'a> {
    fn new(stated: &'a Stated, args: &'a [f64]) -> Option<Prior<'a>> {
        let (lcdf, lccdf) = (stated.row.lcdf?, stated.row.lccdf?);
        stated.row.quantile?;
        let at = |x: f64| [&[x][..], args].concat();
        let support = stated.row.support.interval();
        let starts = match support {
            Some((End::At(low) | End::Past(low), _)) => low,
            _ => f64::NEG_INFINITY,
        };
        let [low, high] = stated.bounds;
        let below = if low > starts { lcdf.at(&at(low)).exp() } else { 0.0 };
        let above = if high.is_finite() { lccdf.at(&at(high)).exp() } else { 0.0 };
        let mass = 1.0 - below - above;
        (mass > 0.0).then_some(Prior { stated, args, outside: [below, above] })
    }

    fn mass(&self) -> f64 {
        1.0 - self.outside[0] - self.outside[1]
    }

    /// P(X ≤ x), or P(X > x) if `above`.
    fn probability(&self, x: f64, above: bool) -> f64 {
        let row = if above { self.stated.row.lccdf } else { self.stated.row.lcdf };
        let all = [&[x][..], self.args].concat();
        let tail = row.map_or(f64::NAN, |row| row.at(&all).exp());
        (tail - self.outside[usize::from(above)]) / self.mass()
    }

    fn quantile(&self, p: f64) -> f64 {
        let q =
            self.stated.row.quantile.map_or(f64::NAN, |q| q(self.outside[0] + p * self.mass(), self.args));
        q.clamp(self.stated.bounds[0], self.stated.bounds[1])
    }

    fn middle(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Half the width of what holds 68 % of it: the standard deviation, if it is normal.
    fn width(&self) -> f64 {
        0.5 * (self.quantile(0.841_344_746) - self.quantile(0.158_655_254))
    }

    fn hardly_reaches(&self, o: &Output) -> bool {
        self.probability(o.q5, true) < HARDLY || self.probability(o.q95, false) < HARDLY
    }

    fn is_kept(&self, o: &Output) -> bool {
        let near = |x: f64, p: f64| (self.probability(x, false) - p).abs() < SAME;
        near(o.q5, 0.05) && near(o.q50, 0.5) && near(o.q95, 0.95)
    }
}
