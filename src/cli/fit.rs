//! `stickler fit`: fits a model and says how far the answer can be trusted.

use super::answer::Answer;
use super::args::{Fallback, FitArgs};
use super::{Failure, Outcome, descent, interrupt, load};
use crate::certify::Certificate;
use crate::infer::certified::promise;
use crate::infer::methods::{self, Named};
use crate::infer::{self, Attempt, Finding, Fit, KHAT_LIMIT, Nuts, Options, Progress, Rule};
use crate::report::{self, CertifiedRun, Vouched};
use crate::source::{Diagnostic, Severity};
use crate::target::{ModelTarget, Target};
use crate::vi;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// The warning about a parameter that nothing holds; there is nothing to fit then.
const IMPROPER: &str = "improper-posterior";
/// Most statements marked in an error.
const MARKED: usize = 3;
/// Exit code of an answer with a finding that makes it doubtful.
const FLAGGED: u8 = 3;
/// The method that is all of them.
pub(super) const ALL: &str = "all";
/// The method that samples.
pub(super) const NUTS: &str = "nuts";

pub(super) fn run(args: &FitArgs) -> Outcome {
    let loaded = load::model(&args.model)?;
    let target = &loaded.target;
    let warnings = &target.lowered().warnings;
    let endless = |w: &&Diagnostic| w.code == IMPROPER;
    if warnings.iter().any(|w| endless(&w)) {
        let as_error = |w: &Diagnostic| Diagnostic { severity: Severity::Error, ..w.clone() };
        let wrong: Vec<Diagnostic> = warnings.iter().filter(endless).map(as_error).collect();
        return Err(loaded.source.failure(&wrong));
    }
    loaded.source.warn(warnings);
    if args.draws.is_some() && !args.out.as_deref().is_some_and(is_csv) {
        eprintln!("warning: --draws is the number of draws in a .csv, and --out names none");
    }
    let out = args.out.as_deref().map(|path| open(path, args)).transpose()?;
    if let Some(seconds) = args.max_seconds {
        interrupt::after(seconds);
    }
    if target.dimension() == 0 {
        return Err(Failure::Wrong("error[nothing-to-fit]: the model has no parameters\n".into()));
    }
    if args.method.as_deref() == Some(ALL) {
        return compare(&loaded, args, out);
    }
    let (certificate, (fit, run)) = certified_and_fitted(&loaded, args)?;
    let vouched = vouch(target, certificate, &fit, run, args.seed);
    let exit = if fit.is_doubtful() { FLAGGED } else { 0 };
    let path = match &args.method {
        _ if fit.path == infer::Path::Nuts => fit.path.name(),
        Some(method) => method.as_str(),
        None if args.certified => "certified",
        None => fit.path.name(),
    };
    let json = report::json(&fit, path, exit, &vouched);
    // Before anything is printed: a reader who closes the pipe ends the program.
    if let Some(out) = out {
        let text = if is_csv(out.path()) { report::csv(&fit) } else { format!("{json:#}\n") };
        out.write(&text)?;
    }
    if args.json {
        outln!("{json}");
    } else {
        if args.trace {
            outln!("{}", report::trace_text(&fit));
        }
        out!("{}", report::text(&fit, path, &vouched));
    }
    Ok(ExitCode::from(exit))
}

/// Draws that judge the Gaussian of a method.
const OWN: usize = 4096;

/// Draws that are written where nobody says how many.
const DRAWS: usize = 4000;

/// Endings of tables that a user would not expect JSON in.
const TABLES: [&str; 5] = ["tsv", "parquet", "arrow", "feather", "xlsx"];

/// Opens the file for the answer; a name that promises another form than it would have is refused.
fn open(path: &Path, args: &FitArgs) -> Result<Answer, Failure> {
    let end = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    let refused = |why: String| Err(Failure::Usage(format!("cannot write {}: {why}", path.display())));
    if TABLES.contains(&end.as_str()) {
        return refused(format!(
            "a name that ends in .csv gets the draws, any other the fit as JSON, and not .{end}"
        ));
    }
    if is_csv(path) && args.draws == Some(0) {
        return refused("--draws must be at least 1".into());
    }
    if is_csv(path) && args.method.as_deref() == Some(ALL) {
        return refused("a comparison of methods has no draws; give a name that ends in .json".into());
    }
    Answer::open(path, args.model.files())
}

/// The certificate of the model, and the fit that the arguments ask for; with the run that theorems license,
/// where that is what they ask for.
fn certified_and_fitted<'l>(
    loaded: &'l load::Loaded,
    args: &FitArgs,
) -> Result<(&'l Certificate, (Fit, Option<CertifiedRun>)), Failure> {
    let certified = || loaded.target.certificate();
    match &args.method {
        Some(method) if method != NUTS => {
            let certificate = certified();
            let fit = named(loaded, certificate, method, args)?;
            let own = own_khat(&loaded.target, method, &fit, args.seed);
            let fit = infer::doubt(&loaded.model(), &loaded.target, fit.noting(own), &interrupt::stop());
            Ok((certificate, (fit, None)))
        }
        None if args.certified => {
            let certificate = certified();
            let (fit, run) = super::certified::fit(&loaded.target, &loaded.source, certificate, args)?;
            let fit = infer::doubt(&loaded.model(), &loaded.target, fit, &interrupt::stop());
            Ok((certificate, (fit, Some(run))))
        }
        // A fit by itself asks little of the certificate: they are made at the same time.
        _ => std::thread::scope(|scope| {
            let certificate = scope.spawn(certified);
            let fit = by_itself(loaded, args)?;
            match certificate.join() {
                Ok(certificate) => Ok((certificate, (fit, None))),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }),
    }
}

/// The note about a Gaussian that is much better or worse than the draws that correct it, as those of other
/// proposals may be: [`ALL`] tells its own.
fn own_khat(target: &ModelTarget, method: &str, fit: &Fit, seed: u64) -> Option<Finding> {
    let q = fit.approximation().filter(|_| fit.path != infer::Path::Nuts)?;
    let own = methods::judge(target, &methods::Approximation::Gaussian(q), OWN, seed).khat;
    let differ = (own < KHAT_LIMIT) != (fit.khat < KHAT_LIMIT);
    differ.then(|| Finding::OwnKhat { khat: fit.khat, own, method: method.into() })
}

/// What the certificate says about this fit.
fn vouch(
    target: &ModelTarget,
    certificate: &Certificate,
    fit: &Fit,
    run: Option<CertifiedRun>,
    seed: u64,
) -> Vouched {
    let work = target.lowered().graph.iter().map(|(_, node)| node.len()).sum();
    let promise = fit.approximation().and_then(|q| promise(target, certificate, &q, work, seed));
    Vouched { tier: certificate.tier, promise, run }
}

fn is_csv(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"))
}

pub(super) fn options(args: &FitArgs) -> Options {
    let keep = if args.out.as_deref().is_some_and(is_csv) { args.draws.unwrap_or(DRAWS) } else { 0 };
    let nuts = match (&args.method, &args.fallback) {
        (Some(method), _) if method == NUTS => Nuts::Always,
        (_, Some(Fallback::Nuts)) => Nuts::WherePoor,
        (_, None) => Nuts::Never,
    };
    Options { seed: args.seed, keep, nuts, stop: interrupt::stop(), ..Options::default() }
}

/// The same with the thresholds and the attempts that were asked for.
fn studied(args: &FitArgs) -> Result<Options, Failure> {
    let mut options = options(args);
    for change in &args.policy {
        let wrong = |why: String| Failure::Usage(format!("--policy {change}: {why}"));
        let Some((name, value)) = change.split_once('=') else {
            return Err(wrong("it takes NAME=VALUE".into()));
        };
        let value = value.parse().map_err(|_| wrong(format!("`{value}` is not a number")))?;
        options.policy.set(name, value).map_err(|error| wrong(error.to_string()))?;
    }
    for name in &args.without {
        let attempt = Attempt::ALL.into_iter().find(|attempt| attempt.name() == name);
        let rule = Rule::ALL.into_iter().find(|rule| rule.name() == name);
        if attempt.is_none() && rule.is_none() {
            return Err(Failure::Usage(format!(
                "--without {name}: there is no such attempt, and no such rule"
            )));
        }
        options.without.extend(attempt);
        options.without_rules.extend(rule);
    }
    Ok(options)
}

/// The default: structure, mode, whitening, a fit in whitened coordinates, checked and corrected.
fn by_itself(loaded: &load::Loaded, args: &FitArgs) -> Result<Fit, Failure> {
    if let [first, ..] = args.descent.given()[..] {
        return Err(Failure::Usage(format!(
            "{first} goes with a --method of steps; by itself `fit` chooses what suits the model"
        )));
    }
    if args.steps.is_some() || args.batch.is_some() {
        return Err(Failure::Usage(
            "--steps and --batch go with a --method of steps (`stickler methods` lists them); NUTS, and `fit` by itself, stop when they are done".into(),
        ));
    }
    let options = studied(args)?;
    interrupt::listen();
    let mut bar = Bar::new(args.json);
    let model = loaded.model();
    let mut watch = |p: &infer::Progress| {
        bar.show(|| progress(p));
        interrupt::asked()
    };
    // As one of the workers: what is shared out then begins at once, and not when another thread has woken
    // up.
    rayon::scope(|_| infer::fit_model(&model, &loaded.target, &options, &mut watch))
        .map_err(|e| no_fit(loaded, &e))
}

/// Why there is no fit; the statements whose part of the log density is not finite at the origin are marked,
/// or those whose slopes are not.
pub(super) fn no_fit(loaded: &load::Loaded, error: &infer::Error) -> Failure {
    let target = &loaded.target;
    let finite = target.finite_terms(&vec![0.0; target.dimension()]);
    let marks = ["at the origin this is not finite", "at the origin this is finite, but its slopes are not"];
    let first = finite.iter().any(|[value, _]| !value);
    let (which, text) = if first { (0, marks[0]) } else { (1, marks[1]) };
    let mut marked = Vec::new();
    for (term, finite) in target.lowered().terms.iter().zip(&finite) {
        if !finite[which] && !marked.contains(&term.span) {
            marked.push(term.span);
        }
    }
    let code = if matches!(error, infer::Error::Level(_)) { "improper-posterior" } else { "fit" };
    let start = Diagnostic::error(code, error.to_string());
    loaded.source.failure(&[marked.iter().take(MARKED).fold(start, |d, span| d.label(*span, text))])
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
fn compare(loaded: &load::Loaded, args: &FitArgs, out: Option<Answer>) -> Outcome {
    let numbers = args.steps.is_some() || args.batch.is_some();
    if numbers || args.fallback.is_some() || !args.descent.given().is_empty() {
        return Err(Failure::Usage(
            "--method all runs each method with its own settings: give --seed, --json and --out alone".into(),
        ));
    }
    interrupt::listen();
    let mut bar = Bar::new(false);
    let model = loaded.model();
    let found = infer::compare::compare(&model, &loaded.target, &options(args), &mut |method, p| {
        bar.show(|| format!("{method}: {}", progress(p)));
        interrupt::asked()
    });
    drop(bar);
    let json = report::comparison_json(&found);
    if let Some(out) = out {
        out.write(&format!("{json:#}\n"))?;
    }
    if args.json {
        outln!("{json}");
    } else {
        out!("{}", report::comparison_text(&found));
    }
    Ok(ExitCode::SUCCESS)
}

/// One of the methods.
fn named(
    loaded: &load::Loaded,
    certificate: &Certificate,
    method: &str,
    args: &FitArgs,
) -> Result<Fit, Failure> {
    let sampler = ["hmc", "mcmc", "sampling", "sample", "gibbs", "metropolis"].contains(&method);
    let hint = if sampler { format!("; the method that samples is `{NUTS}`") } else { String::new() };
    match methods::find(method).map_err(|e| Failure::Usage(format!("{e}, {NUTS}, {ALL}{hint}")))? {
        Named::Direct(method) => direct(&loaded.target, method, args),
        Named::Stochastic(method) => {
            descent::fit(&loaded.target, &loaded.source, certificate, method, &options(args), args)
        }
    }
}

/// A method that finds its own start and takes steps of its own.
fn direct(target: &ModelTarget, method: &methods::Method, args: &FitArgs) -> Result<Fit, Failure> {
    let name = method.name;
    if let [first, ..] = args.descent.given()[..] {
        let others: Vec<&str> = methods::all()
            .filter_map(|m| match m {
                Named::Direct(_) => None,
                Named::Stochastic(m) => Some(m.name),
            })
            .collect();
        return Err(Failure::Usage(format!(
            "{first} is not for `{name}`; it goes with {}",
            others.join(", ")
        )));
    }
    let settings = methods::Settings { steps: args.steps, batch: args.batch, start: None };
    interrupt::listen();
    let mut bar = Bar::new(args.json);
    let found = methods::fit(target, method, &settings, &options(args), &mut |p| {
        bar.show(|| progress(p));
        interrupt::asked()
    });
    let fit = found.map_err(|e| no_answer(name, &e))?;
    let stopped = fit.status == infer::Ending::Stopped;
    Ok(fit.noting(stopped.then(|| Finding::MethodStopped { method: name.into() })))
}

/// Why a method has no answer: its settings, or the model.
pub(super) fn no_answer(name: &str, error: &methods::Error) -> Failure {
    match error {
        methods::Error::NotTunable | methods::Error::Nothing => Failure::Usage(format!("`{name}`: {error}")),
        methods::Error::Descent(vi::Error::NonFinite { .. })
        | methods::Error::Start(_)
        | methods::Error::NoMode
        | methods::Error::Flat
        | methods::Error::TooMany { .. }
        | methods::Error::NotFinite
        | methods::Error::NoPath => Failure::Wrong(format!("error[fit]: `{name}` has no answer: {error}\n")),
        methods::Error::Descent(wrong) => Failure::Usage(wrong.to_string()),
    }
}

/// Back to the beginning of the line, with nothing on it.
const CLEAR: &str = "\r\x1b[K";

/// Progress on stderr, where that is a terminal.
pub(super) struct Bar {
    shown: Option<Instant>,
    quiet: bool,
}

impl Bar {
    pub(super) fn new(quiet: bool) -> Self {
        Self { shown: None, quiet: quiet || !std::io::stderr().is_terminal() }
    }

    pub(super) fn show(&mut self, text: impl FnOnce() -> String) {
        if self.quiet || self.shown.is_some_and(|t| t.elapsed().as_millis() < 100) {
            return;
        }
        self.shown = Some(Instant::now());
        eprint!("{CLEAR}{}", text());
        let _ = std::io::stderr().flush();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if self.shown.is_some() {
            eprint!("{CLEAR}");
        }
    }
}
