//! A certificate as text and as the JSON file that can be audited.

use crate::certify::{Certificate, Share};
use crate::infer::certified::Plan;
use crate::source::Span;
use crate::vi::Constants;
use crate::vi::bound::Measure;
use crate::vi::license::noise_constants;
use serde_json::{Value, json as object};
use std::fmt::Write;

/// The version of the file's layout.
pub const VERSION: u32 = 1;
/// Steps for which a bound is shown beside the plan.
const SHOWN_STEPS: usize = 10_000;

/// What a certificate is printed from.
pub struct Context<'a> {
    /// The text of the model.
    pub source: &'a str,
    /// What was found.
    pub certificate: &'a Certificate,
    /// The plans in raw and in whitened coordinates.
    pub plans: &'a [Option<Plan>; 2],
    /// The error asked for.
    pub epsilon: f64,
}

impl Context<'_> {
    /// The plan with fewer steps.
    pub fn best(&self) -> Option<&Plan> {
        let steps = |p: &&Plan| p.chosen.map_or(usize::MAX, |(_, steps)| steps);
        self.plans.iter().flatten().min_by_key(steps)
    }

    fn place(&self, span: Span) -> (usize, usize, &str) {
        let (line, column) = span.line_column(self.source);
        (line, column, span.text(self.source).lines().next().unwrap_or("").trim())
    }

    fn noise(&self) -> Option<[f64; 3]> {
        let (m, mu) = (self.certificate.smoothness()?, self.certificate.least?);
        let constants = Constants { smoothness: m, strong_concavity: mu };
        let exact = self.certificate.tier == crate::certify::Tier::Exact;
        Some(noise_constants(self.certificate.dimension, constants, exact))
    }

    /// The certificate as JSON, without the hashes of what it was made from.
    pub fn json(&self) -> Value {
        let c = self.certificate;
        let chosen = self.best().and_then(|p| p.chosen);
        let noise = self.noise();
        object!({
            "version": VERSION,
            "tier": c.tier.name(),
            "meaning": c.tier.meaning(),
            "dimension": c.dimension,
            "M": c.smoothness(),
            "mu": c.least,
            "condition": condition(c.smoothness(), c.least),
            "whitened": {
                "M": c.whitened.map(|_| 1.0),
                "mu": c.whitened,
                "condition": condition(c.whitened.map(|_| 1.0), c.whitened),
            },
            "a": {
                "energy": noise.map(|n| n[0]),
                "entropy": noise.map(|n| n[1]),
                "stl": noise.map(|n| n[2]),
            },
            "epsilon": self.epsilon,
            "steps": chosen.map(|(_, steps)| steps),
            "bound": chosen.and_then(|(license, steps)| license.after(steps)),
            "plan": {
                "raw": self.plans[0].as_ref().map(plan),
                "whitened": self.plans[1].as_ref().map(plan),
            },
            "from": { "M": self.shares(&c.most_from), "mu": self.shares(&c.least_from) },
            "nodes": c.bounds.iter().map(|b| {
                let (line, column, text) = self.place(b.span);
                object!({
                    "node": b.node.0, "operation": b.operation, "line": line, "column": column, "text": text,
                    "terms": b.terms, "least": finite(b.least), "most": finite(b.most),
                })
            }).collect::<Vec<_>>(),
            "obstacles": c.obstacles.iter().map(|o| {
                let (line, column, text) = self.place(o.span);
                object!({ "line": line, "column": column, "text": text, "reason": o.reason, "help": o.help })
            }).collect::<Vec<_>>(),
        })
    }

    fn shares(&self, shares: &[Share]) -> Vec<Value> {
        let one = |s: &Share| {
            let (line, column, text) = self.place(s.span);
            object!({ "line": line, "column": column, "text": text, "part": s.part })
        };
        shares.iter().map(one).collect()
    }

    /// The certificate for a terminal.
    pub fn text(&self) -> String {
        let c = self.certificate;
        let mut out = format!("{}: {}\n\n", c.tier.name(), c.tier.meaning());
        let _ = writeln!(out, "{:<34} {:>14} {:>14}", "", "raw", "whitened");
        let _ = writeln!(out, "{:<34} {:>14}", "dimension d", c.dimension);
        let mut line = |name: &str, raw: Option<f64>, whitened: Option<f64>| {
            let _ = writeln!(out, "{name:<34} {:>14} {:>14}", show(raw), show(whitened));
        };
        let unit = c.whitened.map(|_| 1.0);
        line("smoothness M", c.smoothness(), unit);
        line("strong concavity mu", c.least, c.whitened);
        line("condition number M / mu", condition(c.smoothness(), c.least), condition(unit, c.whitened));
        self.write_shares(&mut out, "M", &c.most_from);
        self.write_shares(&mut out, "mu", &c.least_from);
        self.write_plans(&mut out);
        for o in &c.obstacles {
            let (line, column, text) = self.place(o.span);
            let _ =
                writeln!(out, "\nline {line}, column {column}: {text}\n  {}\n  help: {}", o.reason, o.help);
        }
        out
    }

    fn write_shares(&self, out: &mut String, name: &str, shares: &[Share]) {
        if shares.is_empty() {
            return;
        }
        let _ = writeln!(out, "\nwhere {name} comes from");
        for s in shares {
            let (line, _, text) = self.place(s.span);
            let _ = writeln!(out, "  {:>12}  line {line}: {text}", show(Some(s.part)));
        }
    }

    fn write_plans(&self, out: &mut String) {
        let named = ["raw coordinates", "whitened coordinates"].into_iter().zip(self.plans);
        for (name, plan) in named.filter_map(|(name, plan)| Some((name, plan.as_ref()?))) {
            let _ = writeln!(out, "\nplan in {name}");
            let Some((license, steps)) = plan.chosen else {
                let rules: Vec<&str> = plan.licenses.iter().map(|l| l.rule.doc).collect();
                let _ = writeln!(out, "  licensed: {}", rules.join("; "));
                let _ = writeln!(
                    out,
                    "  no number of steps is known to suffice: the distance to the optimum is bounded only if mu > 0"
                );
                continue;
            };
            let what = match license.measure {
                Measure::Distance => "E|w - w*|^2",
                Measure::Gap => "E ELBO gap",
            };
            let _ = writeln!(out, "  {}: {}", license.method.name, license.rule.doc);
            let _ = writeln!(
                out,
                "  {what} <= {} after {steps} steps; <= {} after {SHOWN_STEPS}",
                show(license.after(steps)),
                show(license.after(SHOWN_STEPS))
            );
        }
    }
}

/// The certificate node by node, for `stickler dump`.
pub fn dump(source: &str, certificate: &Certificate) -> String {
    let c = certificate;
    let mut out = format!(
        "{}, d = {}, M = {}, mu = {}\n",
        c.tier.name(),
        c.dimension,
        show(c.smoothness()),
        show(c.least)
    );
    for b in &c.bounds {
        let (line, column) = b.span.line_column(source);
        let range = format!("[{}, {}]", show(Some(b.least)), show(Some(b.most)));
        let _ = writeln!(out, "%{} {} x {} in {range} from {line}:{column}", b.node.0, b.operation, b.terms);
    }
    for o in &c.obstacles {
        let (line, column) = o.span.line_column(source);
        let _ = writeln!(out, "obstacle at {line}:{column}: {}", o.reason);
    }
    out
}

fn condition(most: Option<f64>, least: Option<f64>) -> Option<f64> {
    Some(most? / least.filter(|m| *m > 0.0)?)
}

fn plan(plan: &Plan) -> Value {
    object!({
        "M": plan.frame.constants.smoothness,
        "mu": plan.frame.constants.strong_concavity,
        "start": finite(plan.frame.start),
        "method": plan.chosen.map(|(l, _)| l.method.name),
        "step": plan.chosen.map(|(l, _)| l.rule.name),
        "measure": plan.chosen.map(|(l, _)| match l.measure {
            Measure::Distance => "squared distance of w from the optimum",
            Measure::Gap => "ELBO gap",
        }),
        "steps": plan.chosen.map(|(_, steps)| steps),
        "bound": plan.chosen.and_then(|(l, steps)| l.after(steps)),
        "licensed": plan.licenses.iter().map(|l| object!({
            "method": l.method.name, "step": l.rule.name, "a": finite(l.bound.noise.a), "b": finite(l.bound.noise.b),
            "bound_after_10000": l.after(SHOWN_STEPS),
        })).collect::<Vec<_>>(),
    })
}

fn finite(x: f64) -> Option<f64> {
    Some(x).filter(|x| x.is_finite())
}

fn show(x: Option<f64>) -> String {
    match x {
        None => "-".into(),
        Some(0.0) => "0".into(),
        Some(x) if x.is_infinite() => {
            if x > 0.0 {
                "inf".into()
            } else {
                "-inf".into()
            }
        }
        Some(x) if (1e-3..1e6).contains(&x.abs()) => {
            let places = (5 - x.abs().log10().floor() as i32).clamp(0, 8) as usize;
            let text = format!("{x:.places$}");
            if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.').to_string()
            } else {
                text
            }
        }
        Some(x) => format!("{x:.3e}"),
    }
}
