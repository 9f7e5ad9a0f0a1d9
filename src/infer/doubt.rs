//! What is to be said of a fit whatever made it: why it is poor, what it overlooks, which of its numbers are none.

use super::improper::reasons;
use super::ridge::endless_margins;
use super::symmetry::symmetry;
use super::{Fit, KHAT_LIMIT, Output};
use crate::target::{ModelTarget, Target};

/// Most names told.
const NAMED: usize = 4;
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

/// Adds to a fit the flags and notes that its numbers and the model give reason for. [`fit_model`](super::fit_model) does that by itself.
pub fn doubt(target: &ModelTarget, fit: &mut Fit) {
    fit.flags.splice(0..0, reasons(target, fit));
    fit.notes.extend(target.lowered().legend.iter().cloned());
    fit.flags.extend(flat_priors(target, fit));
    fit.flags.extend(endless_margins(target, fit));
    fit.flags.extend(symmetry(target, fit));
    fit.flags.extend(rounded(fit));
    fit.flags.extend(vanished(target, fit));
    fit.flags.extend(not_finite(fit));
    let parameters = fit.outputs.len().saturating_sub(target.beside());
    let far = |o: &Output| has_long_tails(o) && o.sd > FAR * (o.q95 - o.q5);
    fit.flags.extend(long_tails(&fit.outputs[..parameters], far));
    if !fit.outputs[..parameters].iter().any(far) {
        fit.notes.extend(long_tails(&fit.outputs, has_long_tails));
    }
}

/// The warning about flat priors where an approximation is poor.
fn flat_priors(target: &ModelTarget, fit: &Fit) -> Option<String> {
    if fit.khat < KHAT_LIMIT {
        return None;
    }
    let flat = target.lowered().parameters.iter().filter(|p| p.improper);
    let told = first_few(&flat.map(|p| p.named.name.as_str()).collect::<Vec<_>>())?;
    Some(format!(
        "flat priors ({told}) are no distributions: where the data do not hold what they leave open (the scale of few groups, or of few \
         rows) there is no posterior, and nothing to be fitted; give them priors that are, such as `half_normal` for a scale"
    ))
}

/// The warning about a log density so large that its differences are rounding errors.
fn rounded(fit: &Fit) -> Option<String> {
    (fit.elbo.abs() * f64::EPSILON > ROUNDING).then(|| {
        format!(
            "the log density is about {:.0e} where the posterior is, and the differences that make the answer are lost in its rounding errors; \
             bring data and priors to the same scale",
            fit.elbo
        )
    })
}

/// The warning about positive parameters of which nothing is left.
fn vanished(target: &ModelTarget, fit: &Fit) -> Option<String> {
    let positive: Vec<&str> = target
        .lowered()
        .parameters
        .iter()
        .filter(|p| p.form.transform_name() == "lower")
        .map(|p| p.named.name.as_str())
        .collect();
    let owner = |o: &Output| positive.contains(&o.name.split('[').next().unwrap_or(&o.name));
    let names = first_few(&names(&fit.outputs, |o| o.q5 > 0.0 && o.q95 < NOTHING && owner(o)))?;
    Some(format!(
        "next to nothing is left of {names}: where data are matched exactly the density grows without end as their scale goes to 0, and there \
         is no posterior; look for an outcome among its own predictors, for values that are all the same, and for more \
         coefficients than rows"
    ))
}

/// The warning about quantities whose summaries are not finite.
fn not_finite(fit: &Fit) -> Option<String> {
    let finite = |o: &Output| [o.mean, o.sd, o.q5, o.q50, o.q95].iter().all(|x| x.is_finite());
    let names = first_few(&names(&fit.outputs, |o| !finite(o)))?;
    Some(format!(
        "{names}: not a number, or infinite, at some draws, and so are the summaries; look at what is computed there \
         (`log` of a negative number, a division by zero, an overflow)"
    ))
}

/// What is to be said of quantities that may have no standard deviation.
fn long_tails(outputs: &[Output], are_long: impl Fn(&Output) -> bool) -> Option<String> {
    let names = first_few(&names(outputs, are_long))?;
    Some(format!(
        "the tails of {names} are so long that a few draws make the mean and the standard deviation, and there may be none: go by the quantiles"
    ))
}

fn has_long_tails(o: &Output) -> bool {
    let varies = o.q95 > o.q5 && o.sd > CONSTANT * o.q50.abs();
    varies && o.sd.is_finite() && o.sd > LONG * (o.q95 - o.q5)
}

/// The quantities of which this holds.
fn names(outputs: &[Output], of: impl Fn(&Output) -> bool) -> Vec<&str> {
    outputs.iter().filter(|o| of(o)).map(|o| o.name.as_str()).collect()
}

/// The first of these names, and how many more there are; None if there is none.
pub(super) fn first_few(names: &[&str]) -> Option<String> {
    let more = if names.len() > NAMED { format!(" and {} more", names.len() - NAMED) } else { String::new() };
    (!names.is_empty()).then(|| format!("{}{more}", names[..names.len().min(NAMED)].join(", ")))
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
