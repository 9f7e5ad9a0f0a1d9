//! A fit as a table for a terminal.

use super::Vouched;
use crate::infer::{Finding, Fit, Path};
use std::fmt::Write;

/// The fit as text: the quantities, then what is known of the answer.
pub fn text(fit: &Fit, path: &str, vouched: &Vouched) -> String {
    let width = fit.outputs.iter().map(|o| o.name.chars().count()).max().unwrap_or(9).max(9);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{:<width$} {:>11} {:>11} {:>11} {:>11} {:>11} {:>9}",
        "parameter", "mean", "sd", "5%", "50%", "95%", "mcse"
    );
    for o in &fit.outputs {
        let numbers: Vec<String> =
            [o.mean, o.sd, o.q5, o.q50, o.q95].iter().map(|&x| format!("{:>11}", beside(x, o.sd))).collect();
        let _ = writeln!(out, "{:<width$} {} {:>9}", o.name, numbers.join(" "), number(o.mcse));
    }
    reached(&mut out, fit, path);
    certain(&mut out, vouched);
    let mut findings: Vec<&Finding> = fit.findings.iter().collect();
    findings.sort_by_key(|finding| finding.severity());
    for finding in findings {
        let _ = writeln!(out, "{}: {finding}", finding.severity().name());
    }
    out
}

/// How good the approximation is: that which was corrected, or that in whose coordinates chains ran.
fn reached(out: &mut String, fit: &Fit, path: &str) {
    let (elbo, se, khat) = (fit.elbo, fit.elbo_se, fit.khat);
    let cost = format!("by {path}, {} gradients, {:.3} s", fit.gradients, fit.seconds);
    if fit.path == Path::Nuts {
        let _ = writeln!(out, "\ndraws {cost}");
        let _ = writeln!(
            out,
            "the Gaussian that gave them their coordinates: ELBO {elbo:.3} ± {se:.3}, PSIS k-hat {khat:.2}"
        );
        return;
    }
    let _ = writeln!(out, "\nELBO {elbo:.3} ± {se:.3} {cost}");
    if fit.gap_nats.is_finite() {
        let _ = writeln!(out, "estimated optimisation gap: {} nats", number(fit.gap_nats));
    }
    let _ = writeln!(out, "PSIS k-hat {khat:.2}: {}", verdict(khat));
}

/// What is certain, apart from what is estimated.
fn certain(out: &mut String, vouched: &Vouched) {
    if let Some(run) = &vouched.run {
        let bound = run.bound.map_or("no bound (a step was taken back)".into(), |b| {
            format!("{} <= {}", run.measure, number(b))
        });
        let _ = writeln!(
            out,
            "certified run: {} with step {} in {} coordinates, {} steps: {bound}",
            run.method, run.step, run.coordinates, run.steps
        );
    }
    let Some(p) = &vouched.promise else { return };
    let _ = writeln!(out, "certified ({}), at 97.5 % confidence:", vouched.tier.name());
    let _ = writeln!(
        out,
        "  KL(q || p) <= {} nats; optimisation gap <= {} nats",
        number(p.kl),
        number(p.gap_nats)
    );
    let _ = writeln!(
        out,
        "  every mean of the Gaussian within {} of its standard deviations",
        number(p.mean_error)
    );
    let _ = writeln!(out, "  {:.3} <= log p(x) <= {:.3}", p.evidence_least, p.evidence_most);
}

fn verdict(khat: f64) -> &'static str {
    match khat {
        k if k < 0.5 => "the approximation is good, and what is left is corrected by importance weights",
        k if k < 0.7 => "the approximation is fair, and corrected by importance weights",
        _ => "the approximation may be poor",
    }
}

/// Four significant digits.
fn number(x: f64) -> String {
    significant(x, 4)
}

/// As many digits as show a hundredth of the standard deviation, and four at least.
fn beside(x: f64, sd: f64) -> String {
    let both = sd > 0.0 && sd.is_finite() && x != 0.0 && x.is_finite();
    significant(x, if both { (magnitude(x) - magnitude(sd) + 3).clamp(4, MOST_DIGITS) } else { 4 })
}

/// Most digits that are told.
const MOST_DIGITS: i32 = 12;

/// The power of ten of the first digit.
fn magnitude(x: f64) -> i32 {
    x.abs().log10().floor() as i32
}

fn significant(x: f64, digits: i32) -> String {
    if x == 0.0 {
        return "0.000".into();
    }
    let plain = (1e-3..1e6).contains(&x.abs()) || digits > magnitude(x) && (1.0..1e10).contains(&x.abs());
    if plain {
        let places = (digits - 1 - magnitude(x)).clamp(0, 6) as usize;
        format!("{x:.places$}")
    } else {
        format!("{x:.places$e}", places = digits as usize - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::beside;

    #[test]
    fn digits_follow_the_spread_where_there_is_one() {
        assert_eq!(beside(1.0, 0.0), "1.000");
        assert_eq!(beside(0.0, 2.0), "0.000");
        assert_eq!(beside(12_345.678, 0.5), "12345.678");
        assert_eq!(beside(f64::INFINITY, f64::INFINITY), "inf");
    }
}
