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
use std::time::Instant;

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
    interrupt::listen();
    let (mut bar, mut start) = (Bar::new(args.json), None);
    let mut watch = |p: &vi::Progress| {
        let start = start.get_or_insert_with(Instant::now);
        let left = start.elapsed().as_secs_f64() / p.step as f64 * p.steps.saturating_sub(p.step) as f64;
        bar.show(&format!(
            "step {} of {}  ELBO {:.3} ± {:.3}  step size {:.2e}  {left:.1} s left",
            p.step, p.steps, p.elbo, p.elbo_se, p.step_size
        ));
        interrupt::asked()
    };
    fit_by_descent(target, &descent, options, &mut watch).map_err(|e| no_answer(method.name, &e))
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
