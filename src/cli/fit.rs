//! `stickler fit`: fits a model and says how far the answer can be trusted.

use super::args::FitArgs;
use super::{Failure, Outcome, load};
use crate::infer::{self, Fit, Options};
use crate::report;
use crate::target::{ModelTarget, Target};
use crate::vi;
use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Instant;

/// Exit code of an answer that comes with a warning.
const FLAGGED: u8 = 3;

pub(super) fn run(args: &FitArgs) -> Outcome {
    let loaded = load::model(&args.model)?;
    let target = &loaded.target;
    if target.dimension() == 0 {
        return Err(Failure::Wrong("error[nothing-to-fit]: the model has no parameters\n".into()));
    }
    let fit = match &args.method {
        Some(method) => named(target, method, args)?,
        None => by_itself(&loaded, args)?,
    };
    let exit = if fit.flags.is_empty() { 0 } else { FLAGGED };
    let path = args.method.as_deref().unwrap_or(fit.path.name());
    let json = report::json(&fit, path, exit);
    if let Some(path) = &args.out {
        std::fs::write(path, format!("{json:#}\n"))
            .map_err(|e| Failure::Usage(format!("cannot write {}: {e}", path.display())))?;
    }
    if args.json {
        println!("{json}");
    } else {
        print!("{}", report::text(&fit, path));
    }
    Ok(ExitCode::from(exit))
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
    let options = Options { seed: args.seed, fallback: args.fallback.is_some(), ..Options::default() };
    let mut bar = Bar::new(args.json);
    let model = infer::Model { program: &loaded.program, source: &loaded.source.text, data: &loaded.data };
    infer::fit_model(&model, &loaded.target, &options, &mut |p| {
        bar.show(&format!(
            "{} gradients  ELBO {:.3} ± {:.3}  gap {:.3} nats",
            p.gradients, p.elbo, p.elbo_se, p.gap_nats
        ));
        ControlFlow::Continue(())
    })
    .map_err(|e| Failure::Wrong(format!("error[fit]: {e}\n")))
}

/// One of the methods of the table.
fn named(target: &ModelTarget, method: &str, args: &FitArgs) -> Result<Fit, Failure> {
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
    let run = vi::fit(target, &config, &mut |p| {
        let left =
            start.elapsed().as_secs_f64() / p.step.max(1) as f64 * p.steps.saturating_sub(p.step) as f64;
        bar.show(&format!(
            "step {} of {}  ELBO {:.3} ± {:.3}  step size {:.2e}  {left:.1} s left",
            p.step, p.steps, p.elbo, p.elbo_se, p.step_size
        ));
        ControlFlow::Continue(())
    })
    .map_err(usage)?;
    let options = Options { seed: args.seed, ..Options::default() };
    let Some(mut fit) = infer::assess(target, &run.mean, &run.covariance(), &options) else {
        return Err(Failure::Wrong(format!(
            "error[fit]: `{method}` ended with a covariance that is not positive definite\n"
        )));
    };
    fit.gap_nats = f64::NAN;
    fit.gradients += run.gradients;
    fit.seconds = start.elapsed().as_secs_f64();
    Ok(fit)
}

/// Progress on stderr, where that is a terminal.
struct Bar {
    shown: Option<Instant>,
    quiet: bool,
}

impl Bar {
    fn new(quiet: bool) -> Self {
        Self { shown: None, quiet: quiet || !std::io::stderr().is_terminal() }
    }

    fn show(&mut self, text: &str) {
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
