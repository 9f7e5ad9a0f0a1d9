//! `stickler fit --certified`: runs exactly the plan that the theorems license.

use super::Failure;
use super::args::FitArgs;
use super::descent::watcher;
use super::fit::options;
use super::load::Source;
use crate::certify::Certificate;
use crate::infer::certified::{Plan, plans, run};
use crate::infer::{self, Ending, Finding, Fit, Origin};
use crate::report::CertifiedRun;
use crate::target::ModelTarget;
use crate::vi::bound::Measure;
use crate::vi::license::License;
use std::time::Instant;

/// Most steps that are run without being asked for.
const MOST_STEPS: usize = 200_000;
/// Most coordinates of a run: a step touches the square of that many numbers.
const MOST_COORDINATES: usize = 2000;

pub(super) fn fit(
    target: &ModelTarget,
    source: &Source,
    certificate: &Certificate,
    args: &FitArgs,
) -> Result<(Fit, CertifiedRun), Failure> {
    if !(args.epsilon > 0.0) {
        return Err(Failure::Usage("--epsilon must be positive".into()));
    }
    let d = certificate.dimension;
    if d > MOST_COORDINATES {
        return Err(Failure::Wrong(format!(
            "error[too-large]: the theorems are about a Gaussian with a full covariance, and with {d} coordinates each step of it touches {} numbers\n  = help: `stickler fit` without --certified takes a cheaper form; `stickler certify` prints the plan up to any size\n",
            d * d
        )));
    }
    let plans = plans(target, certificate, args.epsilon);
    let Some((coordinates, plan, license, needed)) = choose(&plans) else {
        return Err(Failure::Wrong(refusal(source, certificate)));
    };
    let steps = args.steps.unwrap_or(needed.min(MOST_STEPS));
    let clock = Instant::now();
    let done = run(target, plan, &license, steps, args.seed, &mut watcher(args))
        .map_err(|e| Failure::Usage(e.to_string()))?;
    let findings = match done.steps < steps {
        true => vec![Finding::StepsStopped { taken: done.steps, planned: steps }],
        false if steps < needed => {
            vec![Finding::StepsTooFew { needed, taken: steps, epsilon: args.epsilon }]
        }
        false => Vec::new(),
    };
    let ending = if done.steps < steps { Ending::Stopped } else { Ending::Budget };
    let origin = Origin { findings, ..Origin::new(ending, f64::NAN, done.gradients, clock) };
    let Ok(fit) = infer::assess(target, &done.mean, &done.covariance, origin, &options(args)) else {
        return Err(Failure::Wrong(
            "error[fit]: the plan ended with a covariance that is not positive definite\n".into(),
        ));
    };
    let measure = match license.measure {
        Measure::Distance => "E|w - w*|^2",
        Measure::Gap => "E ELBO gap",
    };
    let run = CertifiedRun {
        method: license.method.name,
        step: license.rule.name,
        coordinates,
        steps: done.steps,
        measure,
        bound: done.bound,
    };
    Ok((fit, run))
}

/// The plan with the fewest steps.
fn choose(plans: &[Option<Plan>; 2]) -> Option<(&'static str, &Plan, License, usize)> {
    ["raw", "whitened"]
        .into_iter()
        .zip(plans)
        .filter_map(|(name, plan)| {
            let plan = plan.as_ref()?;
            let (license, steps) = plan.chosen?;
            Some((name, plan, license, steps))
        })
        .min_by_key(|(_, _, _, steps)| *steps)
}

/// Why there is no plan.
fn refusal(source: &Source, certificate: &Certificate) -> String {
    let mut text = format!(
        "error[no-certificate]: no theorem bounds a run on this model ({}): {}\n",
        certificate.tier.name(),
        certificate.tier.meaning()
    );
    for o in certificate.obstacles.iter().take(3) {
        let (line, _) = o.span.line_column(&source.text);
        text += &format!("  line {line}: {}\n", o.reason);
    }
    if certificate.obstacles.is_empty() {
        text += "  without strong concavity the distance to the optimum is not bounded beforehand; give every parameter a proper prior\n";
    }
    text + "  = help: `stickler fit` without --certified needs no certificate; `stickler certify` shows all reasons\n"
}
