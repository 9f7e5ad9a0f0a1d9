//! `stickler fit`: fits a model and says how far the answer can be trusted.

use super::args::FitArgs;
use super::{Failure, Outcome, grad, interrupt, load};
use crate::certify::{Certificate, certify};
use crate::infer::certified::promise;
use crate::infer::methods::{self, Named};
use crate::infer::{self, Fit, Gaussian, Options, Progress};
use crate::report::{self, CertifiedRun, Vouched};
use crate::source::Diagnostic;
use crate::target::{ModelTarget, Target};
use crate::vi;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Exit code of an answer that comes with a warning.
const FLAGGED: u8 = 3;
/// The method that is all of them.
pub(super) const ALL: &str = "all";

pub(super) fn run(args: &FitArgs) -> Outcome {
    let loaded = load::model(&args.model)?;
    let target = &loaded.target;
    if target.dimension() == 0 {
        return Err(Failure::Wrong("error[nothing-to-fit]: the model has no parameters\n".into()));
    }
    if args.method.as_deref() == Some(ALL) {
        return compare(&loaded, args);
    }
    let certificate = certify(target.lowered());
    let (fit, run) = match &args.method {
        Some(method) => (named(target, &loaded.source, method, args)?, None),
        None if args.certified => {
            let (fit, run) = super::certified::fit(target, &loaded.source, &certificate, args)?;
            (fit, Some(run))
        }
        None => (by_itself(&loaded, args)?, None),
    };
    let vouched = vouch(target, &certificate, &fit, run, args.seed);
    let exit = if fit.flags.is_empty() { 0 } else { FLAGGED };
    let path = match &args.method {
        Some(method) => method.as_str(),
        None if args.certified => "certified",
        None => fit.path.name(),
    };
    let json = report::json(&fit, path, exit, &vouched);
    if let Some(path) = &args.out {
        let text = if is_csv(path) { report::csv(&fit) } else { format!("{json:#}\n") };
        std::fs::write(path, text)
            .map_err(|e| Failure::Usage(format!("cannot write {}: {e}", path.display())))?;
    }
    if args.json {
        println!("{json}");
    } else {
        print!("{}", report::text(&fit, path, &vouched));
    }
    Ok(ExitCode::from(exit))
}

/// What the certificate says about this fit.
fn vouch(
    target: &ModelTarget,
    certificate: &Certificate,
    fit: &Fit,
    run: Option<CertifiedRun>,
    seed: u64,
) -> Vouched {
    let q = Gaussian { mean: fit.mean.clone(), factor: fit.factor.clone() };
    let work = target.lowered().graph.iter().map(|(_, node)| node.len()).sum();
    let promise = fit.as_declared.then(|| promise(target, certificate, &q, work, seed)).flatten();
    Vouched { tier: certificate.tier, promise, run }
}

fn is_csv(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"))
}

fn options(args: &FitArgs) -> Options {
    let keep = if args.out.as_deref().is_some_and(is_csv) { args.draws } else { 0 };
    Options { seed: args.seed, keep, fallback: args.fallback.is_some(), ..Options::default() }
}

/// The default: structure, mode, whitening, a fit in whitened coordinates, checked and corrected.
fn by_itself(loaded: &load::Loaded, args: &FitArgs) -> Result<Fit, Failure> {
    if args.factor.is_some() || args.estimator.is_some() || args.step.is_some() || args.average.is_some() {
        return Err(Failure::Usage("--factor, --estimator, --step and --average go with --method".into()));
    }
    if args.steps.is_some() || args.batch.is_some() {
        return Err(Failure::Usage(
            "--steps and --batch go with --method; by itself `fit` stops when it is done".into(),
        ));
    }
    if args.init.is_some() || args.subsample.is_some() {
        return Err(Failure::Usage(
            "--init and --subsample go with --method; by itself `fit` finds its start and uses all observations".into(),
        ));
    }
    let options = options(args);
    interrupt::listen();
    let mut bar = Bar::new(args.json);
    let model = infer::Model { program: &loaded.program, source: &loaded.source.text, data: &loaded.data };
    infer::fit_model(&model, &loaded.target, &options, &mut |p| {
        bar.show(&progress(p));
        interrupt::asked()
    })
    .map_err(|e| Failure::Wrong(format!("error[fit]: {e}\n")))
}

/// How far a fit has come, without what it does not say.
fn progress(p: &Progress) -> String {
    let mut text = format!("{} gradients", p.gradients);
    for (what, number, unit) in [("ELBO", p.elbo, ""), ("±", p.elbo_se, ""), ("gap", p.gap_nats, " nats")] {
        if number.is_finite() {
            text += &format!("  {what} {number:.3}{unit}");
        }
    }
    text
}

/// Every method, in one table.
fn compare(loaded: &load::Loaded, args: &FitArgs) -> Outcome {
    let chosen =
        [&args.factor, &args.estimator, &args.step, &args.average, &args.init].iter().any(|o| o.is_some());
    if chosen
        || [args.steps, args.batch, args.subsample].iter().any(|o| o.is_some())
        || args.fallback.is_some()
    {
        return Err(Failure::Usage(
            "--method all runs each method with its own settings: give --seed, --json and --out alone".into(),
        ));
    }
    interrupt::listen();
    let mut bar = Bar::new(false);
    let model = infer::Model { program: &loaded.program, source: &loaded.source.text, data: &loaded.data };
    let found = infer::compare::compare(&model, &loaded.target, &options(args), &mut |method, p| {
        bar.show(&format!("{method}: {}", progress(p)));
        interrupt::asked()
    });
    drop(bar);
    let json = report::comparison_json(&found);
    if let Some(path) = &args.out {
        std::fs::write(path, format!("{json:#}\n"))
            .map_err(|e| Failure::Usage(format!("cannot write {}: {e}", path.display())))?;
    }
    if args.json {
        println!("{json}");
    } else {
        print!("{}", report::comparison_text(&found));
    }
    Ok(ExitCode::SUCCESS)
}

/// One of the methods.
fn named(target: &ModelTarget, source: &load::Source, method: &str, args: &FitArgs) -> Result<Fit, Failure> {
    match methods::find(method).map_err(|e| Failure::Usage(e.to_string()))? {
        Named::Direct(method) => direct(target, method, args),
        Named::Stochastic(method) => stochastic(target, source, method.name, args),
    }
}

/// A method that finds its own start and takes steps of its own.
fn direct(target: &ModelTarget, method: &methods::Method, args: &FitArgs) -> Result<Fit, Failure> {
    let name = method.name;
    let parts = [&args.factor, &args.estimator, &args.step, &args.average, &args.init];
    if parts.iter().any(|o| o.is_some()) || args.subsample.is_some() {
        let others: Vec<&str> = methods::all()
            .filter_map(|m| match m {
                Named::Direct(_) => None,
                Named::Stochastic(m) => Some(m.name),
            })
            .collect();
        return Err(Failure::Usage(format!(
            "--factor, --estimator, --step, --average, --init and --subsample are not for `{name}`; they go with {}",
            others.join(", ")
        )));
    }
    let settings = methods::Settings { steps: args.steps, batch: args.batch, start: None };
    interrupt::listen();
    let mut bar = Bar::new(args.json);
    let found = methods::fit(target, method, &settings, &options(args), &mut |p| {
        bar.show(&progress(p));
        interrupt::asked()
    });
    let mut fit = found.map_err(|e| match e {
        methods::Error::NotTunable | methods::Error::Nothing => Failure::Usage(format!("`{name}`: {e}")),
        methods::Error::Start(_)
        | methods::Error::NoMode
        | methods::Error::Flat
        | methods::Error::TooMany { .. }
        | methods::Error::NotFinite
        | methods::Error::NoPath => Failure::Wrong(format!("error[fit]: `{name}` has no answer: {e}\n")),
    })?;
    if fit.status == infer::Ending::Stopped {
        fit.flags.push(format!("`{name}` was stopped before it was done"));
    }
    Ok(fit)
}

/// A method of stochastic gradients.
fn stochastic(
    target: &ModelTarget,
    source: &load::Source,
    method: &str,
    args: &FitArgs,
) -> Result<Fit, Failure> {
    let usage = |e: vi::Error| Failure::Usage(e.to_string());
    let mut config = vi::Config::named(method).map_err(usage)?;
    if let Some(name) = &args.factor {
        config.factor = vi::table::find(name).map_err(usage)?;
    }
    if let Some(name) = &args.estimator {
        config.estimator = vi::table::find(name).map_err(usage)?;
    }
    if let Some(rule) = &args.step {
        config.step = Some(rule.parse().map_err(usage)?);
    }
    if let Some(average) = &args.average {
        config.average = Some(average.parse().map_err(usage)?);
    }
    config.steps = args.steps.unwrap_or(config.steps);
    config.batch = args.batch.unwrap_or(config.batch);
    config.seed = args.seed;
    let mut bar = Bar::new(args.json);
    let start = Instant::now();
    if let Some(init) = &args.init {
        let points = grad::points("--init", init, target.dimension())?;
        config.start = vi::Start::NarrowAt(points.into_iter().next().unwrap_or_default());
    }
    interrupt::listen();
    let mut watch = |p: &vi::Progress| {
        let left =
            start.elapsed().as_secs_f64() / p.step.max(1) as f64 * p.steps.saturating_sub(p.step) as f64;
        bar.show(&format!(
            "step {} of {}  ELBO {:.3} ± {:.3}  step size {:.2e}  {left:.1} s left",
            p.step, p.steps, p.elbo, p.elbo_se, p.step_size
        ));
        interrupt::asked()
    };
    let run = match args.subsample {
        None => vi::fit(target, &config, &mut watch),
        Some(size) => {
            let observations =
                vi::Observations::of(target).map_err(|e| source.failure(&[inseparable(&e)]))?;
            vi::fit_subsampled(&observations, size, &config, &mut watch)
        }
    }
    .map_err(usage)?;
    let options = options(args);
    let Some(mut fit) = infer::assess(target, &run.mean, &run.covariance(), &options) else {
        return Err(Failure::Wrong(format!(
            "error[fit]: `{method}` ended with a covariance that is not positive definite\n"
        )));
    };
    fit.gap_nats = f64::NAN;
    fit.gradients += run.gradients;
    fit.seconds = start.elapsed().as_secs_f64();
    if run.stopped {
        fit.flags.push(format!("stopped after {} of {} steps", run.steps, config.steps));
    }
    Ok(fit)
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

/// Progress on stderr, where that is a terminal.
pub(super) struct Bar {
    shown: Option<Instant>,
    quiet: bool,
}

impl Bar {
    pub(super) fn new(quiet: bool) -> Self {
        Self { shown: None, quiet: quiet || !std::io::stderr().is_terminal() }
    }

    pub(super) fn show(&mut self, text: &str) {
        if self.quiet || self.shown.is_some_and(|t| t.elapsed().as_millis() < 100) {
            return;
        }
        self.shown = Some(Instant::now());
        eprint!("\r{text:<90}");
        let _ = std::io::stderr().flush();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if self.shown.is_some() {
            eprint!("\r{:90}\r", "");
        }
    }
}
