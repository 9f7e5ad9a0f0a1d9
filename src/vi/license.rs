//! What the theorems license for a target whose constants are certified: the algorithm, its step rule, and
//! what they promise.

use super::bound::{Bound, Measure};
use super::estimator::Estimator;
use super::method::Method;
use super::noise::{Constants, Geometry};
use super::step::Rule;
use super::table::find;

/// Most steps that a plan is sought for: more than any machine will run.
pub const MOST_STEPS: usize = 1 << 62;

/// A method with a step rule and the theorem that covers them.
#[derive(Clone, Copy, Debug)]
pub struct License {
    /// The method.
    pub method: &'static Method,
    /// The step rule.
    pub rule: &'static Rule,
    /// What the theorem bounds.
    pub measure: Measure,
    /// The quantities of the bound.
    pub bound: Bound,
}

/// The paper's three algorithms with the rules of its theorems: concave, strongly concave, Gaussian.
const PLANS: [(&str, &str, Case); 5] = [
    ("proj-stl", "stl_gaussian", Case::Gaussian),
    ("prox-energy", "prox_decay", Case::Strong),
    ("proj-entropy", "proj_decay", Case::Strong),
    ("prox-energy", "prox_concave", Case::Concave),
    ("proj-entropy", "proj_concave", Case::Concave),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Gaussian,
    Strong,
    Concave,
}

/// `a` of the three estimators: energy, entropy, STL.
pub fn noise_constants(dimension: usize, constants: Constants, gaussian: bool) -> [f64; 3] {
    let geometry = geometry(dimension, constants, gaussian);
    ["energy", "entropy", "stl"].map(|name| {
        let noise = find::<Estimator>(name).ok().and_then(|e| (e.noise)(&geometry));
        noise.map_or(f64::NAN, |n| n.a)
    })
}

fn geometry(dimension: usize, constants: Constants, gaussian: bool) -> Geometry {
    let before = Geometry::before_fit(dimension, 3.0, constants);
    if gaussian { Geometry { residual: 0.0, to_residual_mode: 0.0, ..before } } else { before }
}

/// Everything licensed for a log-concave target with these constants, when `‖w⁰ - w*‖²` is at most `start`.
pub fn licenses(dimension: usize, constants: Constants, gaussian: bool, start: f64) -> Vec<License> {
    let geometry = geometry(dimension, constants, gaussian);
    let covered = |case: Case| match case {
        Case::Gaussian => gaussian && constants.strong_concavity > 0.0,
        Case::Strong => constants.strong_concavity > 0.0,
        Case::Concave => constants.strong_concavity >= 0.0,
    };
    PLANS
        .iter()
        .filter(|(_, _, case)| covered(*case))
        .filter_map(|(method, rule, _)| {
            let (method, rule) = (find::<Method>(method).ok()?, find::<Rule>(rule).ok()?);
            let estimator = find::<Estimator>(method.estimator).ok()?;
            let bound = Bound {
                noise: (estimator.noise)(&geometry)?,
                smoothness: constants.smoothness,
                strong_concavity: constants.strong_concavity,
                start,
                to_mode: geometry.to_mode,
            };
            Some(License { method, rule, measure: rule.guarantee?.measure, bound })
        })
        .collect()
}

impl License {
    /// The bound after a number of steps; None if it is not finite.
    pub fn after(&self, steps: usize) -> Option<f64> {
        let guarantee = self.rule.guarantee?;
        (guarantee.bound)(&self.bound, f64::NAN, steps).filter(|b| b.is_finite())
    }

    /// The fewest steps after which the bound is at most `epsilon`; None if no number of steps is known to
    /// suffice.
    pub fn steps_for(&self, epsilon: f64) -> Option<usize> {
        let enough = |t: usize| self.after(t).is_some_and(|b| b <= epsilon);
        let mut high = 2;
        while !enough(high) {
            high = high.checked_mul(2).filter(|t| *t <= MOST_STEPS)?;
        }
        let mut low = high / 2;
        while high - low > 1 {
            let mid = low + (high - low) / 2;
            if enough(mid) { high = mid } else { low = mid }
        }
        Some(high)
    }
}

/// The license that needs the fewest steps for `epsilon`, with their number.
pub fn cheapest(licenses: &[License], epsilon: f64) -> Option<(License, usize)> {
    // A distance from the optimum says more than a gap of the ELBO, so it is preferred where there is one.
    let distance = licenses.iter().any(|l| l.measure == Measure::Distance);
    licenses
        .iter()
        .filter(|l| (l.measure == Measure::Distance) == distance)
        .filter_map(|l| Some((*l, l.steps_for(epsilon)?)))
        .min_by_key(|(_, steps)| *steps)
}
