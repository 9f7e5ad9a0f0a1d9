//! The attempts of a fit, planned and made, for people and for programs.

use crate::infer::{Fit, Outcome, Strategy, Tried};
use serde_json::{Value, json as object};
use std::fmt::Write;

/// What is known of a model and what would be tried, for `dump --stage strategy`.
pub fn strategy_text(strategy: &Strategy) -> String {
    let facts = &strategy.facts;
    let mut out = format!("facts\n  {} unconstrained coordinates\n", facts.dimension);
    let known = [
        (facts.additive, "the log density is a sum of functions of affine forms"),
        (facts.gaussian, "the posterior is Gaussian, as the graph proves"),
        (facts.effects, "effects of groups, whose coordinates can be chosen"),
        (facts.states, "innovations that lead to states"),
        (facts.coordinates_asked_for, "the model says in which coordinates effects are to be taken"),
        (facts.nuts, "NUTS is asked for"),
    ];
    for (_, words) in known.iter().filter(|(holds, _)| *holds) {
        let _ = writeln!(out, "  {words}");
    }
    out.push_str("attempts, in order\n");
    for (k, planned) in strategy.attempts.iter().enumerate() {
        let _ = writeln!(out, "  {}. {}: {}", k + 1, planned.attempt.name(), planned.why);
        if k + 1 < strategy.attempts.len() {
            let _ = writeln!(out, "     the rest is left out {}", planned.enough.words());
        }
    }
    out
}

/// What was tried and what came of it, for `fit --trace`.
pub fn trace_text(fit: &Fit) -> String {
    let mut out = String::from("attempts\n");
    let given = fit.trace.iter().rposition(|tried| tried.outcome.as_ref().is_some_and(|o| o.preferred));
    for (k, tried) in fit.trace.iter().enumerate() {
        let _ = writeln!(out, "  {}. {}: {}", k + 1, tried.attempt.name(), tried.why);
        let _ = writeln!(out, "     {}", came_of(tried, given == Some(k)));
    }
    out
}

fn came_of(tried: &Tried, given: bool) -> String {
    let Some(of) = &tried.outcome else {
        return format!("no answer of this kind; {:.2} s", tried.seconds);
    };
    let doubts = if of.doubts.is_empty() { "no doubts".to_string() } else { of.doubts.join(", ") };
    let verdict = match (given, of.preferred) {
        (true, _) => "kept",
        (false, true) => "kept until a later one",
        (false, false) => "not kept",
    };
    let because = because(of);
    format!(
        "{} gradients, {:.2} s, k-hat {:.2}, log evidence {:.2}, {doubts}: {verdict} ({because})",
        of.gradients, tried.seconds, of.khat, of.log_evidence
    )
}

fn because(of: &Outcome) -> String {
    match of.preferred {
        true => of.because.words().to_string(),
        false => format!("the answer before it: {}", of.because.words()),
    }
}

/// The same for programs.
pub(super) fn trace_json(fit: &Fit) -> Vec<Value> {
    let one = |tried: &Tried| {
        object!({
            "attempt": tried.attempt.name(),
            "why": tried.why,
            "seconds": tried.seconds,
            "outcome": tried.outcome.as_ref().map(|of| object!({
                "gradients": of.gradients, "khat": of.khat, "log_evidence": of.log_evidence,
                "doubts": of.doubts, "preferred": of.preferred, "because": because(of),
            })),
        })
    };
    fit.trace.iter().map(one).collect()
}
