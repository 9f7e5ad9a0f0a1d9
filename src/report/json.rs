//! A fit as JSON.

use super::Vouched;
use super::strategy::trace_json;
use crate::infer::certified::Promise;
use crate::infer::{Ending, Finding, Fit, Output, Severity};
use serde_json::{Map, Value, json as object};

/// The fit, found by `path`. Among the quantities a number that is not finite is the text "NaN", "Inf" or
/// "-Inf", as in data files; elsewhere it is null.
pub fn json(fit: &Fit, path: &str, exit: u8, vouched: &Vouched) -> Value {
    object!({
        "status": status(fit.status),
        "exit": exit,
        "path": path,
        "tier": vouched.tier.name(),
        "elbo": fit.elbo,
        "elbo_se": fit.elbo_se,
        "gap_nats": fit.gap_nats,
        "khat": fit.khat,
        "half_variance": fit.half_variance,
        "log_evidence": fit.log_evidence,
        "seconds": fit.seconds,
        "gradients": fit.gradients,
        "parameters": table(&fit.outputs),
        "gaussian": table(&fit.gaussian),
        "chains": fit.chains.as_ref().map(|c| object!({
            "count": c.count, "length": c.length, "rhat": c.rhat, "effective": c.effective, "divergent": c.divergent,
        })),
        "findings": fit.findings.iter().map(finding).collect::<Vec<_>>(),
        "trace": trace_json(fit),
        "flags": texts(fit, true),
        "notes": texts(fit, false),
        "certified": vouched.promise.as_ref().map(promise),
        "certified_run": vouched.run.as_ref().map(|run| object!({
            "method": run.method, "step": run.step, "coordinates": run.coordinates, "steps": run.steps,
            "measure": run.measure, "bound": run.bound,
        })),
    })
}

/// The findings in words: those that make the answer doubtful, or the others.
fn texts(fit: &Fit, doubtful: bool) -> Vec<String> {
    let of = |finding: &&Finding| (finding.severity() == Severity::Doubtful) == doubtful;
    fit.findings.iter().filter(of).map(Finding::to_string).collect()
}

/// A finding: its code, its severity, and what it says in words.
fn finding(finding: &Finding) -> Value {
    object!({ "code": finding.code(), "severity": finding.severity().name(), "text": finding.to_string() })
}

/// Bounds at an upper confidence limit of 97.5 %.
fn promise(p: &Promise) -> Value {
    object!({
        "confidence": 0.975,
        "mu_whitened": p.curvature,
        "fisher": p.fisher,
        "fisher_se": p.fisher_se,
        "kl_bound": p.kl,
        "mean_error_sd_bound": p.mean_error,
        "gap_nats_bound": p.gap_nats,
        "log_evidence_bounds": [p.evidence_least, p.evidence_most],
    })
}

/// How a fit ended, in a word.
pub(super) fn status(ending: Ending) -> &'static str {
    match ending {
        Ending::Exact => "exact",
        Ending::Converged => "converged",
        Ending::Budget => "budget",
        Ending::Stopped => "stopped",
    }
}

/// A number, or a text that says which kind of number it is not.
pub fn number(x: f64) -> Value {
    match x {
        x if x.is_nan() => "NaN".into(),
        f64::INFINITY => "Inf".into(),
        f64::NEG_INFINITY => "-Inf".into(),
        x => x.into(),
    }
}

fn table(outputs: &[Output]) -> Value {
    let rows = outputs.iter().map(|o| {
        let row = object!({
            "mean": number(o.mean), "sd": number(o.sd), "mcse": number(o.mcse),
            "q5": number(o.q5), "q50": number(o.q50), "q95": number(o.q95),
        });
        (o.name.clone(), row)
    });
    Value::Object(rows.collect::<Map<_, _>>())
}
