//! What is to be said of a fit whatever made it: why it is poor, what it overlooks, which of its numbers are
//! none.

use crate::infer::diagnose::margins::endless_margins;
use crate::infer::diagnose::priors::beside_priors;
use crate::infer::diagnose::symmetry::{around, symmetry};
use crate::infer::diagnose::tails::reasons;
use crate::infer::finding::Finding;
use crate::infer::fit::Fit;
use crate::infer::importance::summary::Output;
use crate::infer::model::Model;
use crate::infer::options::Stop;
use crate::infer::policy::KHAT_LIMIT;
use crate::target::{ModelTarget, Target};

/// Rounding errors of a log density, in nats, that can be told from none.
const ROUNDING: f64 = 0.01;
/// Points about the answer at which the gradient is looked at.
const LOOKS: u64 = 16;
/// A standard deviation of so many times what nine tenths of the draws span is that of a few draws far away.
const LONG: f64 = 5.0;
/// The same of a parameter, from which on its mean is that of these draws too, and no answer.
const FAR: f64 = 100.0;
/// A positive parameter below this is zero but for rounding, where data are of any usual size.
const NOTHING: f64 = 1e-12;
/// A standard deviation of this share of the value is rounding: that of the diagonal of a correlation matrix,
/// say.
const CONSTANT: f64 = 1e-12;

/// A fit with the findings that its numbers and the model give reason for.
/// [`fit_model`](crate::infer::fit_model) does that by itself.
pub fn doubt(model: &Model, target: &ModelTarget, fit: Fit, stop: &Stop) -> Fit {
    let mut findings: Vec<Finding> = reasons(target, &fit).into_iter().collect();
    findings.extend(fit.findings.iter().cloned());
    let fit = Fit { findings, ..fit };
    let coding = target.lowered().legend.iter().map(|text| Finding::Coding { text: text.clone() });
    let mut more: Vec<Finding> = coding.collect();
    more.extend(flat_priors(target, &fit));
    more.extend(without_end(model, target, stop));
    more.extend(symmetry(target, &fit));
    more.extend(rounded(target, &fit));
    more.extend(vanished(target, &fit));
    more.extend(not_finite(&fit));
    more.extend(no_number(target, &fit));
    more.extend(beside_priors(target, &fit));
    let (long_tails, outputs) = long_tails(target, &fit);
    more.extend(long_tails);
    Fit { outputs, ..fit }.noting(more)
}

/// The finding about quantities whose mean and standard deviation a few draws make, and all quantities with
/// what that says of their errors. What lies between two numbers has both.
fn long_tails(target: &ModelTarget, fit: &Fit) -> (Option<Finding>, Vec<Output>) {
    let mut outputs = fit.outputs.clone();
    if !outputs.iter().any(has_long_tails) {
        return (None, outputs);
    }
    let between = target.bounded_outputs();
    let parameters = outputs.len().saturating_sub(target.beside());
    let (mut far, mut derived) = (Vec::new(), Vec::new());
    for (j, o) in outputs.iter_mut().enumerate() {
        if !has_long_tails(o) || between.get(j).copied().unwrap_or(false) {
            continue;
        }
        // The draws that make such a standard deviation are few: the mean is known no better than one of them
        // tells it.
        o.mcse = o.mcse.max(o.sd / (fit.draws as f64).sqrt());
        let is_far = j < parameters && o.sd > FAR * (o.q95 - o.q5);
        if is_far { far.push(o.name.clone()) } else { derived.push(o.name.clone()) }
    }
    let finding = match (far.is_empty(), derived.is_empty()) {
        (false, _) => Some(Finding::LongTails { names: far }),
        (true, false) => Some(Finding::LongTailsDerived { names: derived }),
        (true, true) => None,
    };
    (finding, outputs)
}

/// The finding about margins without an end, in the coordinates in which effects of groups do not depend on
/// their scale.
fn without_end(model: &Model, target: &ModelTarget, stop: &Stop) -> Option<Finding> {
    if !target.lowered().parameters.iter().any(|p| p.improper || p.unproved) {
        return None;
    }
    match model.standardised() {
        Some(standardised) => endless_margins(&standardised, stop),
        None => endless_margins(target, stop),
    }
}

/// The finding about a log density or a gradient that is no number at some points about the answer.
fn no_number(target: &ModelTarget, fit: &Fit) -> Option<Finding> {
    if fit.has("not-a-number") || !fit.as_declared || fit.mean.len() != target.dimension() {
        return None;
    }
    let d = target.dimension();
    let mut evaluator = target.evaluator();
    let is_astray = |z: &Vec<f64>| {
        let (mut value, mut slope) = ([0.0], vec![0.0; d]);
        evaluator.evaluate(z, 1, &mut value, &mut slope);
        value[0].is_nan() || value[0].is_finite() && slope.iter().any(|g| g.is_nan())
    };
    let point = (0..LOOKS).map(|k| around(target, fit, k)).find(is_astray)?;
    Some(Finding::NotANumber { trouble: Box::new(target.trouble(&point)?) })
}

/// The finding about flat priors where an approximation is poor.
fn flat_priors(target: &ModelTarget, fit: &Fit) -> Option<Finding> {
    if fit.khat < KHAT_LIMIT {
        return None;
    }
    let flat = target.lowered().parameters.iter().filter(|p| p.improper);
    let names: Vec<String> = flat.map(|p| p.named.name.clone()).collect();
    (!names.is_empty()).then_some(Finding::FlatPriors { names })
}

/// The finding about a log density so large that its differences are rounding errors.
fn rounded(target: &ModelTarget, fit: &Fit) -> Option<Finding> {
    let reals = target.lowered().parameters.iter().filter(|p| p.form.transform_name() == "real");
    let reals: Vec<&str> = reals.map(|p| p.named.name.as_str()).collect();
    let is_real = |o: &Output| o.name.split('[').next().is_some_and(|owner| reals.contains(&owner));
    // A number that may be any is not known to the last of its bits.
    let exact = |o: &Output| is_real(o) && o.sd < CONSTANT * o.mean.abs();
    let lost = fit.elbo.abs() * f64::EPSILON > ROUNDING || fit.outputs.iter().any(exact);
    lost.then_some(Finding::LostInRounding { log_density: fit.elbo })
}

/// The finding about positive parameters of which nothing is left.
fn vanished(target: &ModelTarget, fit: &Fit) -> Option<Finding> {
    let positive: Vec<&str> = target
        .lowered()
        .parameters
        .iter()
        .filter(|p| p.form.transform_name() == "lower")
        .map(|p| p.named.name.as_str())
        .collect();
    let owner = |o: &Output| positive.contains(&o.name.split('[').next().unwrap_or(&o.name));
    let names = names(&fit.outputs, |o| o.q5 > 0.0 && o.q95 < NOTHING && owner(o));
    (!names.is_empty()).then_some(Finding::Vanished { names })
}

/// The finding about quantities whose summaries are not finite.
fn not_finite(fit: &Fit) -> Option<Finding> {
    let finite = |o: &Output| [o.mean, o.sd, o.q5, o.q50, o.q95].iter().all(|x| x.is_finite());
    let names = names(&fit.outputs, |o| !finite(o));
    (!names.is_empty()).then_some(Finding::NotFinite { names })
}

/// Whether a quantity may have no standard deviation.
fn has_long_tails(o: &Output) -> bool {
    let varies = o.q95 > o.q5 && o.sd > CONSTANT * o.q50.abs();
    varies && o.sd.is_finite() && o.sd > LONG * (o.q95 - o.q5)
}

/// The quantities of which this holds.
fn names(outputs: &[Output], of: impl Fn(&Output) -> bool) -> Vec<String> {
    outputs.iter().filter(|o| of(o)).map(|o| o.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quantity around 1, with 90 % of its draws this far apart.
    fn around_one(sd: f64, width: f64) -> Output {
        let (q5, q95) = (1.0 - width / 2.0, 1.0 + width / 2.0);
        Output { name: "x".into(), mean: 1.0, sd, mcse: 0.0, q5, q50: 1.0, q95 }
    }

    #[test]
    fn rounding_errors_are_no_long_tails() {
        assert!(has_long_tails(&around_one(100.0, 3.0)));
        assert!(!has_long_tails(&around_one(1.0, 3.0)));
        assert!(!has_long_tails(&around_one(4e-15, 4.0 * f64::EPSILON)));
    }
}
