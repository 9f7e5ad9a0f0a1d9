//! `stickler fit --method` with a method of stochastic gradients: options to parts, progress step by step.

use super::args::{Coordinates, DescentArgs, FitArgs};
use super::fit::{Bar, no_answer};
use super::{Failure, grad, interrupt, load};
use crate::certify::Certificate;
use crate::infer::methods::{Descent, fit_by_descent};
use crate::infer::{Fit, Options};
use crate::source::Diagnostic;
use crate::target::{ModelTarget, Target};
use crate::vi::{self, table::find};
use std::ops::ControlFlow;
use std::time::Instant;

/// Characters of the bar: a line stays within 80 columns.
const BAR: usize = 10;

pub(super) fn fit(
    target: &ModelTarget,
    source: &load::Source,
    certificate: &Certificate,
    method: &vi::Method,
    options: &Options,
    args: &FitArgs,
) -> Result<Fit, Failure> {
    let d = target.dimension();
    let mut descent = Descent::named(method.name, d).and_then(|d| choose(d, &args.descent)).map_err(usage)?;
    descent.certificate = Some(certificate);
    if let Some(steps) = args.steps {
        (descent.config.steps, descent.rounds) = (steps, 1);
    }
    descent.config.batch = args.batch.unwrap_or(descent.config.batch);
    descent.config.seed = args.seed;
    descent.config.threads = std::thread::available_parallelism().map_or(1, Into::into);
    if let Some(init) = &args.descent.init {
        descent.init = grad::points("--init", init, d)?.into_iter().next();
    }
    let observations;
    if let Some(size) = args.descent.subsample {
        observations = vi::Observations::of(target).map_err(|e| source.failure(&[inseparable(&e)]))?;
        descent.subsample = Some((&observations, size));
    }
    fit_by_descent(target, &descent, options, &mut watcher(args)).map_err(|e| no_answer(method.name, &e))
}

/// Shows progress, and stops at Ctrl-C.
pub(super) fn watcher(args: &FitArgs) -> impl FnMut(&vi::Progress<'_>) -> ControlFlow<()> {
    interrupt::listen();
    let (mut bar, mut begun) = (Bar::new(args.json), Instant::now());
    move |p| {
        // A further run starts counting anew.
        if p.step == 1 {
            begun = Instant::now();
        }
        bar.show(|| progress(p, begun.elapsed().as_secs_f64()));
        interrupt::asked()
    }
}

/// A bar, and what the steps say; `seconds` since the first of them.
fn progress(p: &vi::Progress, seconds: f64) -> String {
    let done = p.step * BAR / p.steps.max(1);
    let left = match p.step {
        0 | 1 => String::new(),
        step => format!("  {:.0} s left", seconds / (step - 1) as f64 * p.steps.saturating_sub(step) as f64),
    };
    format!(
        "[{}{}] {:>3} %  ELBO {:.3} ± {:.3}  step size {:.1e}{left}",
        "#".repeat(done),
        "-".repeat(BAR.saturating_sub(done)),
        100 * p.step / p.steps.max(1),
        p.elbo,
        p.elbo_se,
        p.step_size
    )
}

fn usage(error: vi::Error) -> Failure {
    Failure::Usage(error.to_string())
}

/// The method with the parts that were asked for in place of its own.
fn choose<'a>(mut descent: Descent<'a>, args: &DescentArgs) -> Result<Descent<'a>, vi::Error> {
    let config = &mut descent.config;
    if let Some(name) = &args.factor {
        config.factor = find(name)?;
    }
    if let Some(name) = &args.estimator {
        config.estimator = find(name)?;
    }
    if let Some(name) = &args.operator {
        config.operator = find(name)?;
    }
    if let Some(family) = &args.family {
        config.family = family.parse()?;
    }
    if let Some(rule) = &args.step {
        config.step = Some(rule.parse()?);
    }
    if let Some(average) = &args.average {
        config.average = Some(average.parse()?);
    }
    if args.antithetic {
        config.draws = find("antithetic")?;
    }
    if args.qmc {
        config.draws = find("sobol")?;
    }
    descent.raw = args.coordinates == Some(Coordinates::Raw);
    Ok(descent)
}

/// Why observations cannot be taken apart, at the statement that says so.
fn inseparable(why: &vi::NotSeparable) -> Diagnostic {
    let error = Diagnostic::error("not-separable", why.to_string())
        .help("--subsample needs statements about data that are sums over rows: leave it out");
    match why {
        vi::NotSeparable::NoSum(span) | vi::NotSeparable::Rows { span, .. } => error.label(*span, ""),
        vi::NotSeparable::NoData => error,
    }
}
