//! What is to be said of a fit whatever made it: why it is poor, what it overlooks, which of its numbers are none.

use super::improper::reasons;
use super::ridge::endless_margins;
use super::symmetry::symmetry;
use super::{Finding, Fit, KHAT_LIMIT, Output};
use crate::target::{ModelTarget, Target};

/// Rounding errors of a log density, in nats, that can be told from none.
const ROUNDING: f64 = 0.01;
/// A standard deviation of so many times what nine tenths of the draws span is that of a few draws far away.
const LONG: f64 = 5.0;
/// The same of a parameter, from which on its mean is that of these draws too, and no answer.
const FAR: f64 = 100.0;
/// A positive parameter below this is zero but for rounding, where data are of any usual size.
const NOTHING: f64 = 1e-12;
/// A standard deviation of this share of the value is rounding: that of the diagonal of a correlation matrix, say.
const CONSTANT: f64 = 1e-12;

/// Adds to a fit the findings that its numbers and the model give reason for. [`fit_model`](super::fit_model) does that by itself.
pub fn doubt(target: &ModelTarget, fit: &mut Fit) {
    let first = reasons(target, fit);
    fit.findings.splice(0..0, first);
    fit.findings.extend(target.lowered().legend.iter().map(|text| Finding::Coding { text: text.clone() }));
    fit.findings.extend(flat_priors(target, fit));
    fit.findings.extend(endless_margins(target, fit));
    fit.findings.extend(symmetry(target, fit));
    fit.findings.extend(rounded(fit));
    fit.findings.extend(vanished(target, fit));
    fit.findings.extend(not_finite(fit));
    let parameters = fit.outputs.len().saturating_sub(target.beside());
    let far = |o: &Output| has_long_tails(o) && o.sd > FAR * (o.q95 - o.q5);
    let names = names(&fit.outputs[..parameters], far);
    let derived = self::names(&fit.outputs, has_long_tails);
    match (names.is_empty(), derived.is_empty()) {
        (false, _) => fit.findings.push(Finding::LongTails { names }),
        (true, false) => fit.findings.push(Finding::LongTailsDerived { names: derived }),
        (true, true) => {}
    }
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
fn rounded(fit: &Fit) -> Option<Finding> {
    let lost = fit.elbo.abs() * f64::EPSILON > ROUNDING;
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
